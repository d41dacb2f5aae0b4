// SPDX-License-Identifier: Apache-2.0
// The host of rank 0 takes the connections of all members: the time that their
// handshakes take, the queue in which they wait, and the table of neighbors.
// Files and memory for them are counted by host.open-files and host.memory.
#include <algorithm>

#include "base/text.h"
#include "check/check.h"

namespace muster::check::cluster_coordinator {
namespace {

// A handshake over TLS takes 7 ms of a core; each member makes three.
constexpr std::chrono::milliseconds kPerMember{3 * 7};
// Half of the time for which members look for each other.
constexpr std::chrono::seconds kMaxTime{30};

Outcome Run(const Context& context) {
  if (!Coordinates(context)) {
    return Skip(SeveralHosts(*context.cluster)
                    ? "rank 0 on another host is the coordinator"
                    : "all members are on this host");
  }
  const std::int64_t members = context.cluster->size.value;
  const int cores = std::max(1, context.host.env.Cores());
  const Duration time = kPerMember * members / cores;
  const std::string seen = Count(members, "member") + ", " +
                           Count(cores, "core") + ": " + ToString(time) +
                           " for the handshakes";
  std::vector<Finding> findings;
  if (time > kMaxTime) {
    findings.push_back(MakeProblem(
        context, Cause::kHostOverloaded,
        "the handshakes of " + Count(members, "member") + " take " +
            ToString(time) + " on this host, more than " + ToString(kMaxTime),
        {{seen, "affinity and cgroup"}}, Confidence::kLikely));
  }
  const auto queue = NumberIn(context.host.fs, "/proc/sys/net/core/somaxconn");
  if (queue && *queue < members) {
    findings.push_back(MakeProblem(
        context, Cause::kOsLimit,
        std::to_string(*queue) + " connections can queue at a port, but " +
            std::to_string(members) + " members connect at the same time",
        {{"net.core.somaxconn " + std::to_string(*queue),
          "/proc/sys/net/core/somaxconn"}},
        Confidence::kPossible));
  }
  // Full, it drops packets to whoever is not in it, as a filter would.
  const auto neighbors =
      NumberIn(context.host.fs, "/proc/sys/net/ipv4/neigh/default/gc_thresh3");
  if (neighbors && *neighbors < members) {
    findings.push_back(MakeProblem(
        context, Cause::kOsLimit,
        "the ARP table of the kernel holds " + std::to_string(*neighbors) +
            " hosts, but " + std::to_string(members) +
            " members may be on the same network",
        {{"net.ipv4.neigh.default.gc_thresh3 " + std::to_string(*neighbors),
          "/proc/sys/net/ipv4/neigh/default/gc_thresh3"}},
        Confidence::kPossible));
  }
  return Judge(
      std::move(findings),
      seen + (queue ? ", " + std::to_string(*queue) + " connections can queue"
                    : ""));
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "cluster.coordinator",
                   .title = "the host of rank 0 can serve all members",
                   .needs = "cluster.described",
                   .severity = Severity::kWarning,
                   .fix = {"run rank 0 on a host with more cores, or raise the "
                           "limit: sysctl -w net.core.somaxconn=4096"},
                   .before_run = BeforeRun::kSeveralHosts,
                   .run = Run};

}  // namespace muster::check::cluster_coordinator
