// SPDX-License-Identifier: Apache-2.0
// Names of TPU types and lists of their workers. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/error.h"

namespace muster::accelerator {

// "v4-16", "v5litepod-8", "v6e-4", "tpu7x-8".
struct TpuType {
  std::string text;
  std::string generation;  // "v4", "v5litepod"
  int version = 0;         // 4, 5
  int count = 0;           // TensorCores or chips: CoresPerChip tells
};
std::optional<TpuType> ParseTpuType(std::string_view text);

// What the number of the name counts: two per chip for TensorCores, one for
// chips (v5litepod, v6e).
int CoresPerChip(const TpuType& type);
// Devices that a framework sees on a chip: two on v2, v3 and tpu7x, else one.
int DevicesPerChip(const TpuType& type);
// Hosts of such a slice whose hosts have that many chips.
int HostsOf(const TpuType& type, int chips_per_host);
// Every number of hosts that such a slice may have: hosts of some types come
// with 1, 4 or 8 chips.
std::vector<int> PossibleHosts(const TpuType& type);

// The attribute worker-network-endpoints: "name:id:ip" or plain names.
// cluster-spec-invalid quotes an entry of another form.
Result<std::vector<std::string>> ParseWorkerEndpoints(std::string_view text);

}  // namespace muster::accelerator
