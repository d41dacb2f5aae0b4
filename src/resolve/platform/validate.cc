// SPDX-License-Identifier: Apache-2.0
#include "resolve/platform/validate.h"

#include <set>

#include "base/text.h"

namespace muster::resolve {
namespace {

template <typename Facts>
std::set<std::string> Values(const std::vector<Facts>& all,
                             std::string Facts::*field) {
  std::set<std::string> values;
  for (const Facts& one : all) {
    values.insert(one.*field);
  }
  return values;
}

Status RequireOne(const std::set<std::string>& values, Cause cause,
                  const std::string& what) {
  if (values.size() < 2) {
    return Ok();
  }
  const std::vector<std::string> list(values.begin(), values.end());
  return Error(cause, what + ": " + Printable(Join(list, ", ")));
}

}  // namespace

Status ValidateTpuHosts(const std::vector<HostFacts>& hosts,
                        const std::vector<WorkerFacts>& workers,
                        bool check_machine_type) {
  if (hosts.empty() || workers.empty()) {
    return Error(Cause::kClusterSpecInvalid,
                 std::string("there are no ") +
                     (hosts.empty() ? "hosts" : "TPU workers"));
  }
  if (hosts.size() != workers.size()) {
    return Error(Cause::kClusterSpecInvalid,
                 Count(std::ssize(hosts), "host") + " and " +
                     Count(std::ssize(workers), "TPU worker") +
                     ": there must be one for each");
  }
  auto zones = Values(hosts, &HostFacts::zone);
  zones.merge(Values(workers, &WorkerFacts::zone));
  MUSTER_TRY(RequireOne(zones, Cause::kClusterSpecInvalid,
                        "hosts and TPU workers are in different zones"));
  if (check_machine_type) {
    MUSTER_TRY(RequireOne(Values(hosts, &HostFacts::machine_type),
                          Cause::kClusterSpecInvalid,
                          "the hosts have different machine types"));
  }
  MUSTER_TRY(RequireOne(Values(workers, &WorkerFacts::accelerator_type),
                        Cause::kClusterSpecInvalid,
                        "the TPU workers have different accelerator types"));
  return RequireOne(Values(workers, &WorkerFacts::runtime_version),
                    Cause::kVerPeerMismatch,
                    "the TPU workers run different runtime versions");
}

}  // namespace muster::resolve
