// SPDX-License-Identifier: Apache-2.0
// Every name among the addresses leads to a number here, and another host's
// name does not lead back to this one's loopback.
#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "base/text.h"
#include "check/check.h"
#include "check/facts/resolv_conf.h"

namespace muster::check::network_names {
namespace {

// For all names together; two seconds before the check's own deadline.
constexpr std::chrono::seconds kTimeout{3};
// As the mesh does: one after another, those of a large cluster take longer
// than that where each is answered.
constexpr std::size_t kAtOnce = 16;

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

// A name and what it leads to; nullopt: not asked for, or not answered, within
// the timeouts.
struct Looked {
  std::string name;
  std::optional<Result<std::vector<std::string>>> numbers;
};

void LookUp(const sys::Names& names, std::vector<Looked>& all) {
  const Deadline deadline = Deadline::After(kTimeout);
  std::atomic<std::size_t> next = 0;
  const auto some = [&] {
    for (auto i = next++; i < all.size() && !deadline.Expired(); i = next++) {
      auto numbers = names.Lookup(all[i].name, deadline);
      // One that ends with the time tells of the time, not of the name.
      if (numbers || !deadline.Expired()) {
        all[i].numbers = std::move(numbers);
      }
    }
  };
  std::vector<std::jthread> threads;
  for (std::size_t i = 1; i < std::min(kAtOnce, all.size()); ++i) {
    threads.emplace_back(some);
  }
  some();
}

// What came of all names.
struct Looks {
  int good = 0;
  std::vector<std::string> unknown;
  std::string why;  // of the first unknown one
  std::vector<std::string> unanswered;
  std::vector<Finding> loops;
};

void Take(const Context& context, const Looked& one, Looks& seen) {
  const std::string& name = one.name;
  if (!one.numbers) {
    seen.unanswered.push_back(name);
    return;
  }
  const auto& numbers = *one.numbers;
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
      "the name `" + Printable(name) + "` of a member resolves to " + text +
          " on this host",
      {{.what = Printable(name) + " is " + text, .source = "getaddrinfo"}}));
  seen.loops.back().subjects = {name};
}

Seen WhoIsAsked(const Context& context) {
  return {.what = ResolverText(context.host.fs), .source = "/etc/resolv.conf"};
}

// One finding for all of them: they have one resolver.
Finding Unknown(const Context& context, const Looks& seen) {
  const auto more = static_cast<std::int64_t>(seen.unknown.size()) - 1;
  std::vector<Seen> facts{{.what = seen.why,
                           .source = "getaddrinfo",
                           .fields = {{"host", seen.unknown.front()}}},
                          WhoIsAsked(context)};
  if (!seen.unanswered.empty()) {
    facts.push_back(
        {.what =
             Count(static_cast<std::int64_t>(seen.unanswered.size()), "name") +
             " without a reply in time",
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

// A warning: a name server may be as slow as that and answer in the end.
Finding Silent(const Context& context, const Looks& seen) {
  const auto names = static_cast<std::int64_t>(seen.unanswered.size());
  Finding finding = MakeProblem(context, Cause::kNetNameResolution,
                                "none of " + Count(names, "name") +
                                    " of members resolved within " +
                                    muster::ToString(kTimeout),
                                {WhoIsAsked(context)}, Confidence::kLikely);
  finding.severity = Severity::kWarning;
  finding.subjects = seen.unanswered;
  return finding;
}

Looks LookAtAll(const Context& context) {
  std::vector<Looked> all;
  for (const std::string& host : HostsOf(*context.cluster)) {
    if (!Address{.host = host}.IsNumeric()) {
      all.push_back({.name = host, .numbers = std::nullopt});
    }
  }
  LookUp(*context.host.names, all);
  Looks seen;
  for (const Looked& one : all) {
    Take(context, one, seen);
  }
  return seen;
}

Outcome Run(const Context& context) {
  if (context.host.names == nullptr) {
    return Skip("names are not resolved here");
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
  if (findings.empty() && !seen.unanswered.empty()) {
    if (seen.good == 0) {
      return Judge({Silent(context, seen)}, "");
    }
    return Broken("names did not resolve within " + muster::ToString(kTimeout));
  }
  return Judge(std::move(findings),
               seen.good == 0 ? "no names to resolve"
                              : Count(seen.good, "name") + " resolved");
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
