// SPDX-License-Identifier: Apache-2.0
// The arrays that a compiled program keeps in a device's memory, read from the
// optimized HLO that the plug-in gives: sizes are those of one device, with the
// tiles that the compiler laid them out in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "muster/error.h"

namespace muster::pjrt {

using muster::ToString;  // those declared here do not hide it

enum class Role { kArgument, kOutput, kInside };
std::string_view ToString(Role role);  // "argument"

// Arrays of one role and shape; name and place are those of the first.
struct Array {
  Role role = Role::kInside;
  std::string name;        // "params['w']", "output 1", "jit(step)/dot_general"
  std::string shape;       // "f32[784,512]"
  std::string place;       // "train.py:12", "line 4"; empty: not known
  std::int64_t bytes = 0;  // of each, as it lies in memory
  std::int64_t padding = 0;  // how much of them is padding
  int count = 1;
};

struct Holdings {
  // Largest first, at most kMaxOfARole of each role.
  std::vector<Array> largest;
  // Of all arguments and outputs, and how much of that is padding.
  std::int64_t bytes = 0;
  std::int64_t padding = 0;
};
constexpr std::size_t kMaxOfARole = 3;

// `hlo`: the bytes of an HloModuleProtoWithConfig. Arrays in other memories
// than HBM are left out, as are results that are parts of others. file-corrupt:
// it has no entry computation, or an array of no possible size.
Result<Holdings> ReadHoldings(std::string_view hlo);

}  // namespace muster::pjrt
