// SPDX-License-Identifier: Apache-2.0
// How names and literal addresses are read here: a search list under which any
// name leads somewhere hides a wrong one, and an IPv6 address may be good on
// one link alone.
#include "check/facts/resolv_conf.h"

#include <algorithm>

#include "base/text.h"
#include "check/check.h"

namespace muster::check::network_resolver {
namespace {

constexpr std::chrono::seconds kTimeout{2};
// Nobody's name, so whoever answers for it answers for every name.
constexpr char kNobody[] = "muster-asks-for-nobody";
// glibc asks no more (MAXNS).
constexpr std::size_t kMaxServers = 3;

bool IsV6(const std::string& host) {
  return host.find(':') != std::string::npos;
}

// fe80::/10 without the interface that it is of: "fe80::1%eth0" has one.
bool NamesNoLink(const std::string& host) {
  return IsV6(host) && Address{.host = host}.IsLinkLocal() &&
         host.find('%') == std::string::npos;
}

void JudgeAddresses(const Context& context, std::vector<Finding>& findings) {
  std::vector<std::string> of_a_link, v4, v6;
  for (const std::string& host : HostsOf(*context.cluster)) {
    if (!Address{.host = host}.IsNumeric()) {
      continue;
    }
    (IsV6(host) ? v6 : v4).push_back(host);
    if (NamesNoLink(host)) {
      of_a_link.push_back(host);
    }
  }
  if (!of_a_link.empty()) {
    findings.push_back(MakeProblem(
        context, Cause::kNetWrongInterface,
        "`" + of_a_link.front() +
            "` is a link-local address without an interface",
        {{Join(of_a_link, ", ") + ": fe80::/10 needs %INTERFACE", "cluster"}}));
    findings.back().subjects = of_a_link;
  } else if (!v4.empty() && !v6.empty()) {
    Finding mixed = MakeProblem(
        context, Cause::kNetWrongInterface,
        "members are listed by IPv4 and by IPv6 addresses: libraries that bind "
        "one family miss the others",
        {{"IPv4: " + v4.front() + ", IPv6: " + v6.front(), "cluster"}},
        Confidence::kPossible);
    mixed.severity = Severity::kWarning;
    findings.push_back(std::move(mixed));
  }
}

void JudgeServers(const Context& context, const Resolver& resolver,
                  std::vector<Finding>& findings) {
  if (resolver.servers.size() > kMaxServers) {
    Finding finding = MakeProblem(
        context, Cause::kNetNameResolution,
        std::to_string(resolver.servers.size()) +
            " name servers are listed, but the C library uses only the first " +
            std::to_string(kMaxServers),
        {{ServersText(resolver), "/etc/resolv.conf"}});
    finding.severity = Severity::kNote;
    findings.push_back(std::move(finding));
  }
  const auto anybody =
      context.host.names->Lookup(kNobody, Deadline::After(kTimeout));
  if (anybody) {
    Finding finding = MakeProblem(
        context, Cause::kNetNameResolution,
        "every name resolves here: a nonexistent name resolves to " +
            Join(*anybody, ", "),
        {{std::string(kNobody) + " is " + Join(*anybody, ", "), "getaddrinfo"},
         {ServersText(resolver), "/etc/resolv.conf"}},
        Confidence::kLikely);
    finding.severity = Severity::kWarning;
    findings.push_back(std::move(finding));
  }
}

Outcome Run(const Context& context) {
  if (context.host.names == nullptr) {
    return Skip("names are not resolved here");
  }
  if (!SeveralHosts(*context.cluster)) {
    return Skip("all members are on this host");
  }
  std::vector<Finding> findings;
  JudgeAddresses(context, findings);
  const auto hosts = HostsOf(*context.cluster);
  const bool any_name =
      std::any_of(hosts.begin(), hosts.end(), [](const std::string& host) {
        return !Address{.host = host}.IsNumeric();
      });
  if (!any_name) {
    return Judge(std::move(findings), "numeric addresses need no name server");
  }
  const auto resolver = ReadResolver(context.host.fs);
  JudgeServers(context, resolver ? *resolver : Resolver(), findings);
  return Judge(std::move(findings),
               resolver
                   ? ServersText(*resolver)
                   : "no /etc/resolv.conf: names are resolved by other means");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "network.resolver",
                   .title = "names and addresses are unambiguous",
                   .needs = "cluster.described",
                   .may_wait = true,
                   .fix = {"show how this host resolves a name",
                           "getent ahosts NAME", Safety::kSafe},
                   .before_run = BeforeRun::kNever,
                   .run = Run};

}  // namespace muster::check::network_resolver
