// SPDX-License-Identifier: Apache-2.0
#include "muster/dtype.h"

#include <array>

#include "muster/error.h"

namespace muster {
namespace {

struct Row {
  DType dtype;
  std::string_view name;
  std::size_t size;
};

// In the order of the enum.
constexpr std::array kRows = {
    Row{DType::kFloat32, "F32", 4},   Row{DType::kFloat64, "F64", 8},
    Row{DType::kBFloat16, "BF16", 2}, Row{DType::kFloat16, "F16", 2},
    Row{DType::kInt8, "I8", 1},       Row{DType::kInt32, "I32", 4},
    Row{DType::kInt64, "I64", 8},     Row{DType::kUInt8, "U8", 1},
    Row{DType::kBool, "BOOL", 1},
};

const Row& RowOf(DType dtype) {
  const auto at = static_cast<std::size_t>(dtype);
  MUSTER_CHECK(at < kRows.size() && kRows[at].dtype == dtype);
  return kRows[at];
}

}  // namespace

std::size_t SizeOf(DType dtype) {
  return RowOf(dtype).size;
}

std::string_view ToString(DType dtype) {
  return RowOf(dtype).name;
}

std::optional<DType> DTypeFromText(std::string_view text) {
  for (const Row& row : kRows) {
    if (row.name == text) {
      return row.dtype;
    }
  }
  return std::nullopt;
}

}  // namespace muster
