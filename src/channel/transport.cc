// SPDX-License-Identifier: Apache-2.0
#include "channel/transport.h"

#include <algorithm>

#include "base/text.h"
#include "sys/net/socket_owner.h"

namespace muster::channel {

std::string_view ToString(ProbeOutcome sight) {
  switch (sight) {
    case ProbeOutcome::kAgent:
      return "agent";
    case ProbeOutcome::kUnresolved:
      return "unresolved";
    case ProbeOutcome::kRefused:
      return "refused";
    case ProbeOutcome::kNoAnswer:
      return "no answer";
    case ProbeOutcome::kForeign:
      return "not muster";
    case ProbeOutcome::kStranger:
      return "not in this run";
    case ProbeOutcome::kSilent:
      return "silent";
    case ProbeOutcome::kClosed:
      return "not allowed";
  }
  return "?";
}

ProbeResult Unlike(ProbeOutcome what, Error error) {
  return {.what = what, .agent = std::nullopt, .error = std::move(error)};
}

std::string Observed(const ProbeResult& sighting, const Address& address) {
  switch (sighting.what) {
    case ProbeOutcome::kAgent:
      return Who(*sighting.agent) + " responds at this address";
    case ProbeOutcome::kRefused:
      return "connection refused: nothing listens on this port yet";
    case ProbeOutcome::kUnresolved:
      return "the name `" + Printable(address.host) + "` does not resolve";
    case ProbeOutcome::kNoAnswer:
      return "no reply: packets are lost, or there is no route";
    case ProbeOutcome::kForeign:
    case ProbeOutcome::kStranger:
    case ProbeOutcome::kSilent:
    case ProbeOutcome::kClosed:
      break;
  }
  return sighting.error->message();
}

Cause CauseOf(const ProbeResult& sighting) {
  switch (sighting.what) {
    case ProbeOutcome::kAgent:
      return Cause::kNetWrongEndpoint;
    case ProbeOutcome::kRefused:
      return Cause::kRendezvousTimeout;
    default:
      return sighting.error->cause();
  }
}

Error TakenBy(const wire::Hello& theirs, const wire::Hello& ours,
              const Address& address) {
  const bool one_of_ours =
      std::any_of(theirs.ranks.begin(), theirs.ranks.end(), [&](int rank) {
        return std::find(ours.ranks.begin(), ours.ranks.end(), rank) !=
               ours.ranks.end();
      });
  const std::string at = muster::ToString(address);
  if (one_of_ours) {
    return Error(Cause::kDuplicateIdentity, Who(theirs) + " listens at " + at +
                                                ", where " + Who(ours) +
                                                " must listen");
  }
  return Error(Cause::kNetPortInUse, "port " + std::to_string(address.port) +
                                         " is in use by " + Who(theirs) +
                                         ", which listens at " + at);
}

std::optional<Error> WhyNotOwnUser(const Address& address,
                                   std::optional<unsigned> user) {
  if (user == sys::OwnUser()) {
    return std::nullopt;
  }
  return Error(
      Cause::kUsageInvalid,
      "the process at `" + Printable(muster::ToString(address)) + "` " +
          (user ? "belongs to user " + std::to_string(*user)
                : "belongs to a user whom the kernel does not name") +
          ", this one to user " + std::to_string(sys::OwnUser()) +
          ": whoever coordinates a run sets what its ranks execute, so another "
          "user needs a secret, `--token-file FILE` "
          "(or MUSTER_TOKEN_FILE)");
}

Error OnlyOnLoopback(const Address& address) {
  return Error(
      Cause::kUsageInvalid,
      "`" + Printable(muster::ToString(address)) +
          "` is not on the loopback interface (`localhost`, 127.0.0.0/8, "
          "`::1`), the only interface for unencrypted connections: give all "
          "members the same secret with `--token-file FILE` (or "
          "MUSTER_TOKEN_FILE), or start all ranks on one host with `-n N`");
}

}  // namespace muster::channel
