// SPDX-License-Identifier: Apache-2.0
// The safetensors format: u64 header length | JSON header | one byte buffer
// without holes. Pure functions over bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/checkpoint.h"
#include "muster/error.h"

namespace muster {

inline constexpr std::size_t kMaxHeaderBytes = 100'000'000;

// The bytes before the tensors' (length and header, padded so that the buffer
// starts at a multiple of 8), and the order in which the tensors follow: larger
// elements first, so that each is aligned, then by name. usage-invalid: a name
// twice, reserved or not UTF-8; bytes that do not fit the shape.
struct SafetensorsLayout {
  std::string head;
  std::vector<std::size_t> order;  // indices into the given tensors
  std::uint64_t buffer_bytes = 0;
};
Result<SafetensorsLayout> LayOut(
    std::span<const TensorView> tensors,
    const std::map<std::string, std::string>& metadata);

// Tensors by name, with where they lie in the file.
struct SafetensorsContent {
  struct Place {
    std::uint64_t begin = 0;  // from the start of the file
    std::uint64_t size = 0;
  };
  std::vector<TensorSpec> specs;
  std::vector<Place> places;  // parallel to specs
  std::map<std::string, std::string> metadata;
};
// Checks every bound: the header's length, its JSON, each tensor's type, shape
// and offsets, no overlap, no hole, nothing left over. file-corrupt, with
// `what` (a path) and the first thing that is wrong. `file` may end after the
// header; the file has `file_bytes`.
Result<SafetensorsContent> ParseSafetensors(std::string_view file,
                                            std::uint64_t file_bytes,
                                            std::string_view what);

}  // namespace muster
