// SPDX-License-Identifier: Apache-2.0
// Ranks times threads against the cores that this process may use.
#include "base/text.h"
#include "check/check.h"

namespace muster::check::cluster_threads {
namespace {

Outcome Run(const Context& context) {
  const int ranks = RanksHere(context);
  const int cores = context.host.env.Cores();
  const auto told =
      ParseInt(context.host.env.Get("OMP_NUM_THREADS").value_or(""));
  const std::int64_t threads = told && *told > 0 ? *told : 1;
  const std::string seen =
      Count(ranks, "rank") + " here, " +
      (told ? "OMP_NUM_THREADS is " + std::to_string(threads)
            : std::string("OMP_NUM_THREADS is not set")) +
      ", " + Count(cores, "core") + " available";
  if (ranks * threads <= cores) {
    return Pass(seen);
  }
  return Judge({MakeProblem(context, Cause::kHostOverloaded,
                            std::to_string(ranks * threads) +
                                " threads share " + Count(cores, "core"),
                            {{seen, "environment, affinity and cgroup"}})},
               "");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "cluster.threads",
                   .title = "each thread of the ranks has its own core",
                   .needs = "cluster.described",
                   .severity = Severity::kWarning,
                   .run = Run};

}  // namespace muster::check::cluster_threads
