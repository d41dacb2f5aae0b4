// SPDX-License-Identifier: Apache-2.0
// Processes and threads: the limit of the user, and that of the cgroups.
#include "base/text.h"
#include "check/check.h"
#include "sys/cgroup/cgroup.h"

namespace muster::check::host_processes {
namespace {

// Threads of one framework's process with its loader workers, at the least.
constexpr std::int64_t kPerRank = 64;

Finding Tight(const Context& context, std::int64_t left, std::int64_t need,
              const Seen& seen) {
  return MakeProblem(context, Cause::kOsLimit,
                     std::to_string(left) +
                         " more processes and threads can be started, but " +
                         Count(RanksHere(context), "rank") + " need " +
                         std::to_string(need),
                     {seen});
}

// root is not bound by its own limit.
bool IsRoot(const sys::Fs& fs) {
  return Field(fs.Read("/proc/self/status").value_or(""), "Uid") == 0;
}

Outcome Run(const Context& context) {
  const sys::Fs& fs = context.host.fs;
  const auto limit = ReadLimit(fs, "Max processes");
  if (!limit) {
    return Broken("/proc/self/limits does not contain the limit");
  }
  const std::int64_t need = RanksHere(context) * kPerRank;
  if (limit->soft && *limit->soft < need && !IsRoot(fs)) {
    return Judge({Tight(context, *limit->soft, need,
                        {"Max processes " + std::to_string(*limit->soft),
                         "/proc/self/limits"})},
                 "");
  }
  for (const std::string& directory :
       sys::FindCgroup(fs, "pids", 0).directories) {
    const auto most = NumberIn(fs, sys::JoinPath(directory, "pids.max"));
    const auto now = NumberIn(fs, sys::JoinPath(directory, "pids.current"));
    if (most && now && *most - *now < need) {
      return Judge({Tight(context, *most - *now, need,
                          {"pids.max " + std::to_string(*most) +
                               ", pids.current " + std::to_string(*now),
                           directory})},
                   "");
    }
  }
  return Pass(limit->soft ? "limit of the user " + std::to_string(*limit->soft)
                          : "unlimited for the user");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "host.processes",
                   .title = "the limit of processes and threads is sufficient",
                   .after_failure = true,
                   .fix = {"raise the limit of the container or of the user"},
                   .run = Run};

}  // namespace muster::check::host_processes
