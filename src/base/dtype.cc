// SPDX-License-Identifier: Apache-2.0
#include "muster/dtype.h"

#include <array>

#include "muster/error.h"

namespace muster {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  std::size_t size;
};

// In the order of the enum.
constexpr std::array kDTypes = {
    DTypeRow{DType::kFloat32, "F32", 4},   DTypeRow{DType::kFloat64, "F64", 8},
    DTypeRow{DType::kBFloat16, "BF16", 2}, DTypeRow{DType::kFloat16, "F16", 2},
    DTypeRow{DType::kInt8, "I8", 1},       DTypeRow{DType::kInt32, "I32", 4},
    DTypeRow{DType::kInt64, "I64", 8},     DTypeRow{DType::kUInt8, "U8", 1},
    DTypeRow{DType::kBool, "BOOL", 1},
};

const DTypeRow& RowOf(DType dtype) {
  const auto at = static_cast<std::size_t>(dtype);
  MUSTER_CHECK(at < kDTypes.size() && kDTypes[at].dtype == dtype);
  return kDTypes[at];
}

}  // namespace

std::size_t SizeOf(DType dtype) {
  return RowOf(dtype).size;
}

std::string_view ToString(DType dtype) {
  return RowOf(dtype).name;
}

std::optional<DType> DTypeFromText(std::string_view text) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == text) {
      return row.dtype;
    }
  }
  return std::nullopt;
}

}  // namespace muster
