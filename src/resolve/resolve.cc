// SPDX-License-Identifier: Apache-2.0
#include "resolve/resolve.h"

#include "base/text.h"
#include "cluster/members.h"
#include "resolve/contradictions.h"
#include "resolve/self.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve {
namespace {

constexpr const char* kNothing = "default: nothing describes a cluster";

// One process on this host. A rank that was told all the same has no cluster to
// be a rank of.
Result<Claim> Default(const Request& request, const sys::Host& host) {
  MUSTER_ASSIGN(const auto told, ToldRank(request, host));
  if (told) {
    return Error(Cause::kLaunchEnvMissing,
                 "the rank is " + std::to_string(told->value) + " (" +
                     told->source +
                     "), and nothing tells who the other members are: give "
                     "--hosts or set MUSTER_HOSTS")
        .With(Observed("env.partial",
                       {{"set", told->source}, {"missing", "MUSTER_HOSTS"}},
                       host));
  }
  Claim claim{.source = "default", .cluster = Unplaced({1, kNothing})};
  claim.cluster.one_host = true;
  return claim;
}

Error Contradict(const std::vector<Contradiction>& all, const sys::Host& host) {
  std::vector<std::string> texts;
  texts.reserve(all.size());
  for (const Contradiction& one : all) {
    texts.push_back(ToText(one));
  }
  Error error(Cause::kClusterSpecInvalid,
              "two descriptions of the cluster contradict each other: " +
                  Join(texts, "; "));
  for (const Contradiction& one : all) {
    for (const Sourced<std::string>& value : {one.first, one.second}) {
      // NOLINTNEXTLINE(bugprone-use-after-move): With() adds to it in place.
      static_cast<void>(std::move(error).With(Observed(
          "spec.contradiction",
          {{"what", one.what},
           {"value", value.value},
           {"source", value.source},
           {"text",
            "the " + one.what + " is " + value.value + ": " + value.source}},
          host)));
    }
  }
  return error;
}

Finding Remark(const Contradiction& one) {
  Finding finding =
      MakeFinding(Cause::kClusterSpecInvalid,
                  ToText(one) + ": the first is used", Confidence::kPossible);
  finding.severity = Severity::kWarning;
  return finding;
}

Result<std::vector<Claim>> ReadClaims(const Request& request,
                                      const sys::Host& host,
                                      std::vector<Silence>& silent) {
  std::vector<Claim> claims;
  for (const Source* source : AllSources()) {
    std::string why = source->match(request, host);
    if (!why.empty()) {
      silent.push_back({std::string(source->name), std::move(why)});
      continue;
    }
    MUSTER_ASSIGN(auto claim, source->read(request, host));
    MUSTER_TRY(CheckAddresses(claim.cluster, host, claim.remarks));
    claims.push_back(std::move(claim));
  }
  if (claims.empty()) {
    MUSTER_ASSIGN(auto claim, Default(request, host));
    claims.push_back(std::move(claim));
  }
  return claims;
}

// --rank or MUSTER_RANK beside a source that tells the own rank itself.
Status CheckToldRank(const Claim& claim, const Request& request,
                     const sys::Host& host) {
  MUSTER_ASSIGN(const auto told, ToldRank(request, host));
  const auto& self = claim.cluster.self;
  if (!told || (self && self->value == told->value) ||
      (!self && claim.cluster.size.value == 1)) {
    return Ok();
  }
  const Sourced<std::string> other =
      self ? Sourced<std::string>{std::to_string(self->value), self->source}
           : Sourced<std::string>{"every rank of this host",
                                  claim.cluster.size.source};
  return Contradict(
      {{"own rank", {std::to_string(told->value), told->source}, other}}, host);
}

}  // namespace

Fact Observed(std::string name, std::map<std::string, FactValue> fields,
              const sys::Host& host) {
  return {.name = std::move(name),
          .fields = std::move(fields),
          .subject = "this host",
          .by = "resolve on " + host.env.Hostname(),
          .at = host.clock.WallNow()};
}

Result<Resolved> Resolve(const Request& request, const sys::Host& host) {
  Resolved resolved;
  MUSTER_ASSIGN(resolved.claims, ReadClaims(request, host, resolved.silent));
  const Claim& winner = resolved.claims.front();
  std::vector<Contradiction> fatal;
  for (const Claim& claim : resolved.claims) {
    MUSTER_TRY(CheckToldRank(claim, request, host));
    resolved.findings.insert(resolved.findings.end(), claim.remarks.begin(),
                             claim.remarks.end());
    for (Contradiction& one : Compare(winner, claim)) {
      if (one.fatal) {
        fatal.push_back(std::move(one));
      } else {
        resolved.findings.push_back(Remark(one));
      }
    }
  }
  if (!fatal.empty()) {
    return Contradict(fatal, host);
  }
  resolved.cluster = winner.cluster;
  // A later source may know what the winner does not tell.
  for (const Claim& claim : resolved.claims) {
    if (!resolved.cluster.coordinator) {
      resolved.cluster.coordinator = claim.cluster.coordinator;
    }
  }
  return resolved;
}

}  // namespace muster::resolve
