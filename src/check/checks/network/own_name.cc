// SPDX-License-Identifier: Apache-2.0
// The own name against the address that peers see: Debian's installer writes
// 127.0.1.1 for it, which a framework then announces.
#include <algorithm>

#include "base/text.h"
#include "check/check.h"

namespace muster::check::network_own_name {
namespace {

// The members are named by this very name, so what it leads to is announced.
bool IsUsed(const Context& context, const std::string& name) {
  const auto hosts = HostsOf(*context.cluster);
  return std::find(hosts.begin(), hosts.end(), name) != hosts.end();
}

Finding Weigh(const Context& context, const std::string& name,
              Finding finding) {
  if (!IsUsed(context, name)) {
    finding.severity = Severity::kWarning;
    finding.confidence = Confidence::kPossible;
  }
  return finding;
}

Outcome Run(const Context& context) {
  if (!SeveralHosts(*context.cluster)) {
    return Skip("all members are on this host");
  }
  if (context.host.names == nullptr) {
    return Skip("names are not resolved here");
  }
  const std::string name = context.host.env.Hostname();
  const auto numbers = context.host.names->Lookup(
      name, Deadline::After(std::chrono::seconds(2)));
  if (!numbers) {
    return Judge(
        {Weigh(context, name,
               MakeProblem(
                   context, Cause::kNetNameResolution,
                   "the hostname `" + Printable(name) + "` does not resolve",
                   {{numbers.error().message(), "getaddrinfo"}}))},
        "");
  }
  const bool reachable = std::any_of(
      numbers->begin(), numbers->end(),
      [](const auto& number) { return !Address{.host = number}.IsLoopback(); });
  const std::string seen = Printable(name) + " is " + Join(*numbers, ", ");
  if (reachable) {
    return Pass(seen);
  }
  return Judge({Weigh(context, name,
                      MakeProblem(context, Cause::kNetLoopbackName,
                                  "the hostname `" + Printable(name) +
                                      "` resolves to " + Join(*numbers, ", ") +
                                      ", where no peer can reach this host",
                                  {{seen, "getaddrinfo"}}))},
               "");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{
    .id = "network.own-name",
    .title = "the hostname resolves to an address that peers can reach",
    .needs = "cluster.described",
    .may_wait = true,
    .before_run = BeforeRun::kSeveralHosts,
    .run = Run};

}  // namespace muster::check::network_own_name
