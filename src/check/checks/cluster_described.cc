// SPDX-License-Identifier: Apache-2.0
// World facts: how many, which ranks, at which addresses; what the sources of
// the cluster say against each other.
#include <set>

#include "check/check.h"

namespace muster::check::cluster_described {
namespace {

// Two members at one address: one of them would not start.
void AddTwins(const Context& context, std::vector<Finding>& findings) {
  std::map<Address, const Member*> first;
  for (const Member& member : context.cluster->members) {
    if (!member.address || member.address->value.port == 0) {
      continue;
    }
    const auto [at, fresh] = first.emplace(member.address->value, &member);
    if (!fresh) {
      findings.push_back(
          MakeProblem(context, Cause::kDuplicateIdentity,
                      "rank " + std::to_string(at->second->rank) +
                          " and rank " + std::to_string(member.rank) +
                          " have the same address `" + ToText(at->first) + "`",
                      {{.what = "rank " + std::to_string(member.rank) + " is " +
                                ToText(at->first),
                        .source = member.address->source}}));
    }
  }
}

Outcome Run(const Context& context) {
  std::vector<Finding> findings = context.cluster_findings;
  if (context.cluster == nullptr) {
    return findings.empty() ? Broken("no source was asked")
                            : Judge(std::move(findings), "");
  }
  AddTwins(context, findings);
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
                   .title = "the sources agree on who is in the cluster",
                   .scope = Scope::kCluster,
                   .run = Run};

}  // namespace muster::check::cluster_described
