// SPDX-License-Identifier: Apache-2.0
// Files that are read only where others could not have read or written them.
#pragma once

#include <cstddef>
#include <string>

#include "muster/error.h"

namespace muster::sys {

// The bytes of a regular file that belongs to this user or to root and that
// others may neither read nor write; its group may read it where root owns it
// (a Kubernetes Secret with fsGroup). What is checked is what is read, whatever
// happens to the name meanwhile.
//
// file-missing; file-permission says whose it is, its mode and what would be
// right; file-corrupt: no regular file, or larger than the limit.
Result<std::string> ReadPrivateFile(const std::string& path, std::size_t limit);

// The bytes of a regular file that decides what this user's programs do: it
// belongs to this user or to root, and not everyone may write it. Checked and
// reported as above.
Result<std::string> ReadTrustedFile(const std::string& path, std::size_t limit);

}  // namespace muster::sys
