// SPDX-License-Identifier: Apache-2.0
#include "check/check.h"

namespace muster::check {

std::string_view WordOf(Scope scope) {
  return scope == Scope::kCluster ? "cluster" : "host";
}

Finding MakeProblem(const Context& context, Cause cause, std::string what,
                    const std::vector<Seen>& seen, Confidence confidence) {
  std::vector<Fact> facts;
  for (const Seen& one : seen) {
    Fact fact{.name = "check.seen",
              .fields = one.fields,
              .by = one.source,
              .at = context.host.clock.WallNow()};
    fact.fields["text"] = one.what;
    facts.push_back(std::move(fact));
  }
  return MakeFinding(cause, std::move(what), confidence, facts);
}

}  // namespace muster::check
