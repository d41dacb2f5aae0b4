// SPDX-License-Identifier: Apache-2.0
#include "pjrt/options.h"

#include <cstdint>

namespace muster::pjrt {
namespace {

void AppendVarint(std::uint64_t value, std::string& bytes) {
  while (value >= 0x80) {
    bytes += static_cast<char>(0x80 | (value & 0x7F));
    value >>= 7;
  }
  bytes += static_cast<char>(value);
}

void AppendNumber(std::uint64_t field, std::int64_t value, std::string& bytes) {
  AppendVarint(field << 3, bytes);
  AppendVarint(static_cast<std::uint64_t>(value), bytes);
}

}  // namespace

std::string Serialize(const CompileOptions& options) {
  std::string build;           // ExecutableBuildOptionsProto
  AppendNumber(1, -1, build);  // device_ordinal: none
  AppendNumber(4, options.replicas, build);
  AppendNumber(5, options.partitions, build);
  if (options.partitions > 1) {
    AppendNumber(6, 1, build);  // use_spmd_partitioning
  }
  if (options.shardy) {
    AppendNumber(19, 1, build);  // use_shardy_partitioner
  }
  std::string bytes;
  AppendVarint((3U << 3) | 2U, bytes);  // executable_build_options
  AppendVarint(build.size(), bytes);
  return bytes + build;
}

}  // namespace muster::pjrt
