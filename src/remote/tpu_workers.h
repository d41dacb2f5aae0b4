// SPDX-License-Identifier: Apache-2.0
// The workers of a TPU as hosts that ssh gets to.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cloud/tpu/worker_address.h"
#include "finding/finding.h"
#include "remote/ssh.h"
#include "resolve/platform/cloud_tpu.h"
#include "resolve/resolve.h"
#include "settings/run_flags.h"
#include "sys/host.h"

namespace muster::remote {

struct ReachedWorker {
  int index = 0;
  std::string internal;  // its address for the other workers
  std::string label;     // "worker 2"
  SshLogin login;
};
struct ReachedTpu {
  resolve::TpuNode node;
  std::vector<ReachedWorker> workers;
  std::string how;  // which addresses, user and key, and why: one line
};

// A TPU that is READY. preempted, tpu-unhealthy: it is not; usage-invalid: what
// cloud/tpu_reach.h says. `account`: who asks the API.
Result<ReachedTpu> Reach(const resolve::TpuNode& node,
                         const settings::ReachFlags& flags,
                         const std::string& account, const sys::Host& host);

// The TPU that `--tpu` names, through the resolver of `muster resolve --tpu`,
// whatever its state.
Result<resolve::TpuNode> FindTpu(const resolve::Request& request,
                                 const sys::Host& host);
// It, as the account that asks the API.
Result<ReachedTpu> ReachTpu(const resolve::TpuNode& node,
                            const settings::ReachFlags& flags,
                            const sys::Host& host);
// FindTpu, then this.
Result<ReachedTpu> ReachTpu(const resolve::Request& request,
                            const settings::ReachFlags& flags,
                            const sys::Host& host);
// Whether --tpu alone describes the cluster, and is a name that the API knows.
bool NamesTpu(const resolve::Request& request, const sys::Host& host);

// A warning when only some of the workers take part.
std::optional<Finding> PartOfSlice(const ReachedTpu& tpu);

// Asks until the API says why nobody answers, at most 10 s: it learns of a
// preemption later than its workers' peers. nullopt: it says that all is well,
// or could not be asked, which is printed. Blocks.
std::optional<Finding> WhyTpuGone(
    const std::function<Result<cloud::TpuNode>()>& ask);
// The same through the resolver.
std::optional<Finding> WhyTpuGone(const resolve::TpuPlace& place,
                                  const sys::Host& host);

}  // namespace muster::remote
