// SPDX-License-Identifier: Apache-2.0
// Consistency of what several hosts say.
#pragma once

#include <string>
#include <vector>

#include "muster/error.h"

namespace muster::resolve {

struct HostFacts {
  std::string address, machine_type, zone;
};
struct WorkerFacts {
  std::string address, accelerator_type, zone, runtime_version;
};
// One TPU worker for each host, all of one zone, one type and one version.
// cluster-spec-invalid and ver-peer-mismatch name what differs.
Status ValidateTpuHosts(const std::vector<HostFacts>& hosts,
                        const std::vector<WorkerFacts>& workers,
                        bool check_machine_type);

}  // namespace muster::resolve
