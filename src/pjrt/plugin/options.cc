// SPDX-License-Identifier: Apache-2.0
#include "pjrt/plugin/options.h"

#include "wire/proto_fields.h"

namespace muster::pjrt {

std::string Serialize(const CompileOptions& options) {
  const auto number = [](std::uint32_t field, std::int64_t value) {
    return wire::NumberField(field, static_cast<std::uint64_t>(value));
  };
  std::string build = number(1, -1);  // device_ordinal: none
  build += number(4, options.replicas) + number(5, options.partitions);
  if (options.partitions > 1) {
    build += number(6, 1);  // use_spmd_partitioning
  }
  if (options.shardy) {
    build += number(19, 1);  // use_shardy_partitioner
  }
  return wire::BytesField(3, build);  // ExecutableBuildOptionsProto
}

}  // namespace muster::pjrt
