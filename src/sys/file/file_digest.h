// SPDX-License-Identifier: Apache-2.0
// A digest of a file or a folder that is equal where the bytes are, and bounded
// in what it reads: of large ones the ends.
#pragma once

#include <cstdint>
#include <string>

#include "muster/deadline.h"
#include "muster/error.h"

namespace muster::sys {

struct DigestLimits {
  std::uint64_t bytes = std::uint64_t{64} << 20;  // that are read in all
  std::size_t files = 10'000;                     // below a folder
};

struct FileDigest {
  std::string digest;  // of names and sizes of all, and of what was read
  std::uint64_t size = 0;
  std::size_t files = 1;
  bool whole = true;  // every byte was read
};
// Of a folder: names below it, sizes, and the bytes of the files in the order
// of their names, until the limit; of a file that is larger than what is left
// the first and the last half of that. Links to folders are not followed.
// deadline-exceeded: it takes longer; os-limit: there are more files; errors of
// Fs::Read. May wait for a disk.
Result<FileDigest> DigestOf(const std::string& path, const DigestLimits& limits,
                            Deadline deadline);

}  // namespace muster::sys
