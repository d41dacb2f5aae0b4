// SPDX-License-Identifier: Apache-2.0
#include "channel/security/rpc_authorization.h"

#include <algorithm>
#include <array>

#include "base/json_fwd.h"
#include "base/text.h"
#include "channel/agent_calls.h"

namespace muster::channel {
namespace {

// The service's own calls and those of grpc.health.v1.
constexpr auto kTable = std::to_array<Rule>({
    {.method = "/muster.v1.Agent/Identify",
     .proof = Proof::kToken,
     .at_coordinator = Callers::kAnyone,
     .at_member = Callers::kCoordinator,
     .needs_run = false},
    {.method = "/muster.v1.Agent/Join",
     .proof = Proof::kToken,
     .at_coordinator = Callers::kMembers,
     .at_member = Callers::kMembers,
     .needs_run = false},
    {.method = "/muster.v1.Agent/Attend",
     .proof = Proof::kRun,
     .at_coordinator = Callers::kMembers,
     .at_member = Callers::kMembers,
     .needs_run = true},
    {.method = "/grpc.health.v1.Health/Check",
     .proof = Proof::kToken,
     .at_coordinator = Callers::kAnyone,
     .at_member = Callers::kAnyone,
     .needs_run = false},
    {.method = "/grpc.health.v1.Health/Watch",
     .proof = Proof::kToken,
     .at_coordinator = Callers::kAnyone,
     .at_member = Callers::kAnyone,
     .needs_run = false},
});

constexpr bool HasRow(std::string_view method) {
  return std::any_of(kTable.begin(), kTable.end(), [method](const Rule& rule) {
    return rule.method == method;
  });
}
static_assert(
    std::all_of(kAgentCalls.begin(), kAgentCalls.end(), HasRow),
    "a call in muster.v1.proto has no row in kTable: add the allowed callers");

bool MayCall(Callers callers, const Subject& caller, const Called& called) {
  switch (callers) {
    case Callers::kAnyone:
      return true;
    case Callers::kMembers:
      return caller.role == Role::kMember;
    case Callers::kCoordinator:
      return caller.role != Role::kMember ||
             (called.role == Role::kMember && caller.rank == called.rank);
  }
  return false;
}

std::string_view WhoMay(Callers callers) {
  switch (callers) {
    case Callers::kAnyone:
      return "any holder of the token";
    case Callers::kMembers:
      return "members only";
    case Callers::kCoordinator:
      return "the coordinator or an operator only";
  }
  return "nobody";
}

std::optional<Error> OfAnotherRun(std::string_view theirs,
                                  const Called& called) {
  if (theirs.empty() || called.run.empty() || theirs == called.run) {
    return std::nullopt;
  }
  return Error(Cause::kRankWorldMismatch,
               "the caller belongs to run `" + Printable(theirs) +
                   "`, this is run `" + Printable(called.run) + "`");
}

std::optional<Error> WrongProof(const Call& call, const Rule& rule) {
  const Issuer needed =
      rule.proof == Proof::kRun ? Issuer::kRun : Issuer::kToken;
  const bool fits = rule.proof == Proof::kRun
                        ? !call.certificate->subject->run.empty()
                        : call.certificate->subject->run.empty();
  if (call.issuer == needed && fits) {
    return std::nullopt;
  }
  return Error(Cause::kUsageInvalid,
               rule.proof == Proof::kRun
                   ? "the call is for admitted members, but was made with a "
                     "certificate that proves only the token"
                   : "the call requires a token proof, but was made with a "
                     "certificate of the run");
}

std::optional<Error> WhyNotNow(const Call& call, const Rule& rule,
                               const Called& called) {
  if (call.replayed) {
    return Error(
        Cause::kDuplicateIdentity,
        "the certificate was already used to join: the token proof of " +
            Who(*call.certificate->subject) +
            " was replayed; each is valid for joining once");
  }
  if (call.superseded) {
    return Error(Cause::kDuplicateIdentity,
                 "the slot of " + Who(*call.certificate->subject) +
                     " belongs to another certificate");
  }
  if (rule.needs_run && (call.run.empty() || !call.epoch)) {
    return Error(Cause::kRankWorldMismatch,
                 "the call does not name its run and epoch");
  }
  if (call.epoch && *call.epoch < called.epoch) {
    return Error(Cause::kHeartbeatMissed,
                 "the caller is in epoch " + std::to_string(*call.epoch) +
                     ", but the run continued without it and is in epoch " +
                     std::to_string(called.epoch));
  }
  return std::nullopt;
}

}  // namespace

std::span<const Rule> RpcAuthorizationTable() {
  return kTable;
}

const Rule* RuleOf(std::string_view method) {
  const auto* const rule =
      std::find_if(kTable.begin(), kTable.end(),
                   [&](const Rule& one) { return one.method == method; });
  return rule == kTable.end() ? nullptr : rule;
}

std::optional<Error> WhyNotGood(const std::optional<Certificate>& certificate,
                                Issuer issuer, WallTime now,
                                std::string_view whose) {
  const std::string who(whose);
  if (!certificate) {
    return Error(Cause::kVerPeerMismatch,
                 who + " has no certificate, so it does not have the token");
  }
  if (issuer == Issuer::kUnknown) {
    return Error(Cause::kVerPeerMismatch,
                 who +
                     " does not have this member's token: another authority "
                     "issued its certificate (`" +
                     Printable(certificate->issuer) + "`)");
  }
  if (!certificate->subject || certificate->authority) {
    return Error(Cause::kVerPeerMismatch,
                 "the certificate of " + who +
                     " does not name exactly one member, coordinator or "
                     "operator");
  }
  const Span& good = certificate->good;
  // Without the time of day: what is seen at each look stays the same text.
  if (now < good.from) {
    const auto apart = std::chrono::round<std::chrono::minutes>(
        good.from - now + kClockTolerance);
    return Error(Cause::kClockSkew,
                 "the certificate of " + who +
                     " is not valid yet: the clocks of the two hosts differ by "
                     "about " +
                     muster::ToString(apart));
  }
  if (now > good.until) {
    return Error(Cause::kClockSkew, "the certificate of " + who +
                                        " expired at " +
                                        muster::ToString(good.until) +
                                        " by the clock of this host");
  }
  return std::nullopt;
}

std::optional<Error> WhyRefused(const Call& call, const Called& called) {
  const Rule* const rule = RuleOf(call.method);
  if (rule == nullptr) {
    return Error(Cause::kUsageInvalid, "no caller is allowed to call `" +
                                           Printable(call.method) +
                                           "`: no rule covers it");
  }
  if (call.certificate && call.certificate->subject &&
      call.issuer == Issuer::kUnknown) {
    // A certificate of another run's authority says of which.
    if (auto other = OfAnotherRun(call.certificate->subject->run, called)) {
      return other;
    }
  }
  if (auto bad =
          WhyNotGood(call.certificate, call.issuer, called.now, "the caller")) {
    return bad;
  }
  const Subject& caller = *call.certificate->subject;
  for (const std::string_view run : {std::string_view(caller.run), call.run}) {
    if (auto other = OfAnotherRun(run, called)) {
      return other;
    }
  }
  if (auto wrong = WrongProof(call, *rule)) {
    return wrong;
  }
  const Callers callers =
      called.role == Role::kMember ? rule->at_member : rule->at_coordinator;
  if (!MayCall(callers, caller, called)) {
    return Error(Cause::kUsageInvalid,
                 Who(caller) + " may not make this call: it is for " +
                     std::string(WhoMay(callers)));
  }
  return WhyNotNow(call, *rule, called);
}

}  // namespace muster::channel
