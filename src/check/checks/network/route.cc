// SPDX-License-Identifier: Apache-2.0
// There is a way to every peer, by an interface that peers can answer to; an
// interface that a variable names is there.
#include <algorithm>
#include <array>

#include "base/text.h"
#include "check/check.h"

namespace muster::check::network_route {
namespace {

constexpr std::array kChoices{"GLOO_SOCKET_IFNAME", "TP_SOCKET_IFNAME",
                              "NCCL_SOCKET_IFNAME"};

// NCCL: "=eth0" is exact, "eth" is a prefix, "^lo" excludes.
bool IsThere(const std::vector<std::string>& interfaces,
             const std::string& variable, std::string wanted) {
  const bool prefix = variable.starts_with("NCCL") && !wanted.starts_with('=');
  if (wanted.starts_with('=')) {
    wanted.erase(0, 1);
  }
  return std::any_of(interfaces.begin(), interfaces.end(),
                     [&](const std::string& one) {
                       return prefix ? one.starts_with(wanted) : one == wanted;
                     });
}

void AddMissing(const Context& context, std::vector<Finding>& findings) {
  const auto interfaces = context.host.fs.List("/sys/class/net");
  if (!interfaces) {
    return;
  }
  for (const char* variable : kChoices) {
    const std::string value = context.host.env.Get(variable).value_or("");
    const auto words = Split(value, ',');
    if (words.empty() || value.starts_with('^') ||
        std::any_of(words.begin(), words.end(), [&](const auto& word) {
          return IsThere(*interfaces, variable, std::string(Trim(word)));
        })) {
      continue;
    }
    findings.push_back(MakeProblem(
        context, Cause::kNetWrongInterface,
        std::string(variable) + " names `" + Printable(value) +
            "`, but this host has no such interface",
        {{"interfaces here: " + Join(*interfaces, ", "), "/sys/class/net"}}));
  }
}

Outcome Run(const Context& context) {
  std::vector<Finding> findings;
  AddMissing(context, findings);
  std::vector<std::string> sources;
  for (const std::string& host : HostsOf(*context.cluster)) {
    if (!Address{.host = host}.IsNumeric()) {
      continue;
    }
    const auto own = context.machine.RouteTo(host);
    if (!own) {
      findings.push_back(MakeProblem(
          context, own.error().cause(), own.error().message(),
          {{own.error().message(), "connect of a datagram socket"}}));
    } else if (std::find(sources.begin(), sources.end(), *own) ==
               sources.end()) {
      sources.push_back(*own);
    }
  }
  return Judge(std::move(findings),
               sources.empty() ? "no numeric addresses to check"
                               : "source address " + Join(sources, ", "));
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "network.route",
                   .title = "this host has a route to every peer",
                   .needs = "cluster.described",
                   .before_run = BeforeRun::kSeveralHosts,
                   .run = Run};

}  // namespace muster::check::network_route
