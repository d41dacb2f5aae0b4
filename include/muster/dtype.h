// SPDX-License-Identifier: Apache-2.0
// Element types of tensors, as collectives and checkpoints name them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace muster {

// An element type.
enum class DType : std::uint8_t {
  kFloat32,
  kFloat64,
  kBFloat16,
  kFloat16,
  kInt8,
  kInt32,
  kInt64,
  kUInt8,
  kBool
};

// Bytes of one element.
std::size_t SizeOf(DType dtype);
// The name of safetensors: "F32", "I64", ….
std::string_view ToText(DType dtype);
// And back; nullopt for any other text.
std::optional<DType> DTypeFromText(std::string_view text);

}  // namespace muster
