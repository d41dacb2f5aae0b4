// SPDX-License-Identifier: Apache-2.0
// Every name among the addresses leads to a number here, and another host's
// name does not lead back to this one's loopback.
#include <algorithm>

#include "base/text.h"
#include "check/check.h"
#include "check/resolver.h"

namespace muster::check::network_names {
namespace {

// For all names together; two seconds before the check's own deadline.
constexpr std::chrono::seconds kPatience{3};

bool AllLoopback(const std::vector<std::string>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](const auto& one) {
    return Address{.host = one}.IsLoopback();
  });
}

// What asks for a name here.
std::string ResolverText(const sys::Fs& fs) {
  const auto resolver = ReadResolver(fs);
  return resolver ? ServersText(*resolver) : "cannot be read";
}

// What came of all names.
struct Looks {
  int good = 0;
  std::vector<std::string> unknown;
  std::string why;  // of the first unknown one
  std::vector<std::string> unasked;
  std::vector<Finding> loops;
};

void Look(const Context& context, const std::string& name, Deadline deadline,
          Looks& seen) {
  const auto numbers = context.host.names->Lookup(name, deadline);
  if (!numbers) {
    if (seen.unknown.empty()) {
      seen.why = numbers.error().message();
    }
    seen.unknown.push_back(name);
    return;
  }
  if (!AllLoopback(*numbers) || Address{.host = name}.IsLoopback()) {
    ++seen.good;
    return;
  }
  const std::string text = Join(*numbers, ", ");
  seen.loops.push_back(MakeProblem(
      context, Cause::kNetLoopbackName,
      "the name `" + Printable(name) + "` of a member leads to " + text +
          " on this host",
      {{.what = Printable(name) + " is " + text, .source = "getaddrinfo"}}));
  seen.loops.back().subjects = {name};
}

// One finding for all of them: they have one resolver.
Finding Unknown(const Context& context, const Looks& seen) {
  const auto more = static_cast<std::int64_t>(seen.unknown.size()) - 1;
  std::vector<Seen> facts{
      {.what = seen.why,
       .source = "getaddrinfo",
       .fields = {{"host", seen.unknown.front()}}},
      {.what = ResolverText(context.host.fs), .source = "/etc/resolv.conf"}};
  if (!seen.unasked.empty()) {
    facts.push_back(
        {.what = Count(static_cast<std::int64_t>(seen.unasked.size()), "name") +
                 " not asked for: the time was up",
         .source = "getaddrinfo"});
  }
  Finding finding =
      MakeProblem(context, Cause::kNetNameResolution,
                  "the name `" + Printable(seen.unknown.front()) + "`" +
                      (more > 0 ? " and " + Count(more, "other name") : "") +
                      " of a member does not resolve here",
                  facts);
  finding.subjects = seen.unknown;
  return finding;
}

Looks LookAtAll(const Context& context) {
  Looks seen;
  const Deadline deadline = Deadline::After(kPatience);
  for (const std::string& host : HostsOf(*context.cluster)) {
    if (Address{.host = host}.IsNumeric()) {
      continue;
    }
    if (deadline.Expired()) {
      seen.unasked.push_back(host);
    } else {
      Look(context, host, deadline, seen);
    }
  }
  return seen;
}

Outcome Run(const Context& context) {
  if (context.host.names == nullptr) {
    return Skip("names are not asked for here");
  }
  // On one host a name of its own loopback is right.
  if (!SeveralHosts(*context.cluster)) {
    return Skip("all members are on this host");
  }
  Looks seen = LookAtAll(context);
  std::vector<Finding> findings = std::move(seen.loops);
  if (!seen.unknown.empty()) {
    findings.push_back(Unknown(context, seen));
  }
  if (findings.empty() && !seen.unasked.empty()) {
    return Broken("names were not answered within " +
                  muster::ToText(kPatience));
  }
  return Judge(std::move(findings),
               seen.good == 0 ? "no name has to be looked up"
                              : Count(seen.good, "name") + " looked up");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "network.names",
                   .title = "the names of the members resolve",
                   .needs = "cluster.described",
                   .may_wait = true,
                   .before_run = BeforeRun::kSeveralHosts,
                   .run = Run};

}  // namespace muster::check::network_names
