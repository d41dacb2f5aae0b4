// SPDX-License-Identifier: Apache-2.0
// The manifest: what makes a checkpoint complete.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "muster/error.h"

namespace muster {

// The number rises when an older program could not read the files.
inline constexpr int kCheckpointFormat = 1;

struct Manifest {
  std::uint64_t step = 0;
  std::uint64_t bytes = 0;   // of the safetensors file
  std::uint32_t crc32c = 0;  // of all its bytes
  std::string writer;        // "muster 0.1.0"
};

std::string ToString(const Manifest& manifest);
// file-corrupt; ckpt-mismatch when another format wrote it. `what` is the path.
Result<Manifest> ParseManifest(std::string_view text, std::string_view what);

}  // namespace muster
