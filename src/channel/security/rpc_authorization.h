// SPDX-License-Identifier: Apache-2.0
// Who may call what on the secured channel: one table, and what is not in it is
// refused.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "channel/security/certificate.h"
#include "channel/security/spiffe_id.h"
#include "muster/error.h"
#include "muster/fact.h"

namespace muster::channel {

// Which certificate a call has to be made with.
enum class Proof {
  kToken,  // of the token's authority: its maker holds the token
  kRun,    // of the run's authority: its owner was admitted to the run
};

// Whose call it may be.
enum class Callers {
  kAnyone,       // with the proof
  kMembers,      // agents of members
  kCoordinator,  // the coordinator, an operator, or the same slot
};

struct Rule {
  std::string_view method;  // "/muster.v1.Agent/Identify"
  Proof proof;
  Callers at_coordinator;
  Callers at_member;
  bool needs_run;  // the call has to name run and epoch
};
std::span<const Rule> AdmissionTable();
// nullptr: nobody may call it.
const Rule* RuleOf(std::string_view method);

// Whose signature is under a certificate.
enum class Issuer { kUnknown, kToken, kRun };

// A call as it arrives.
struct Call {
  std::string_view method;
  std::optional<Certificate> certificate;
  Issuer issuer = Issuer::kUnknown;
  bool replayed = false;    // a joining certificate that has joined before
  bool superseded = false;  // a run certificate whose slot has a newer one
  std::string_view run;     // as the call says; empty: it does not
  std::optional<int> epoch;
};

// Who is called.
struct Called {
  Role role = Role::kMember;
  int rank = 0;
  std::string_view run;  // empty: not known yet
  int epoch = 0;
  WallTime now{};
};

// Why the call is refused; nullopt: it may be made. The first of these that
// holds:
//   usage-invalid         the method is in no rule; the caller is none of those
//                         who may call it
//   ver-peer-mismatch     no certificate, or one of another authority: the
//                         caller has another token or none
//   clock-skew            the certificate is not valid yet, or any more
//   rank-world-mismatch   of another run
//   duplicate-identity    its certificate has been used up
//   heartbeat-missed      of an epoch that is over
std::optional<Error> WhyRefused(const Call& call, const Called& called);

// What is wrong with the certificate alone, as both ends of a connection ask:
// ver-peer-mismatch, clock-skew. `whose`: "the caller".
std::optional<Error> WhyNotGood(const std::optional<Certificate>& certificate,
                                Issuer issuer, WallTime now,
                                std::string_view whose);

}  // namespace muster::channel
