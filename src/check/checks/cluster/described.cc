// SPDX-License-Identifier: Apache-2.0
// World facts: how many, which ranks, at which addresses; what the sources of
// the cluster say against each other.
#include "check/check.h"

namespace muster::check::cluster_described {
namespace {

Outcome Run(const Context& context) {
  std::vector<Finding> findings = context.cluster_findings;
  if (context.cluster == nullptr) {
    return findings.empty() ? Broken("no source was read")
                            : Judge(std::move(findings), "");
  }
  const Cluster& cluster = *context.cluster;
  std::string detail = std::to_string(cluster.size.value) +
                       (cluster.size.value == 1 ? " member" : " members") +
                       " (" + cluster.size.source + ")";
  if (cluster.self) {
    detail += ", this is rank " + std::to_string(cluster.self->value);
  }
  return Judge(std::move(findings), std::move(detail));
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "cluster.described",
                   .title = "the sources agree on the members of the cluster",
                   .scope = Scope::kCluster,
                   // A run shows what resolve finds of it.
                   .before_run = BeforeRun::kNever,
                   .run = Run};

}  // namespace muster::check::cluster_described
