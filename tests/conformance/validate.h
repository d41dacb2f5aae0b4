// SPDX-License-Identifier: Apache-2.0
// Whether hosts, TPU workers and launchers agree with what a program asks for.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "muster/error.h"
#include "sys/env.h"

namespace muster::conformance {

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

// That a step has the numbers of devices and nodes that a program asks for.
// rank-world-mismatch names both.
struct Asked {
  std::optional<int> num_devices, num_nodes;
};
Status ValidateSlurm(const Asked& asked, const sys::Env& env);
// The same for WORLD_SIZE of torch's launcher.
Status ValidateTorchrun(const Asked& asked, const sys::Env& env);

}  // namespace muster::conformance
