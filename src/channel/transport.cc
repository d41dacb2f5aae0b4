// SPDX-License-Identifier: Apache-2.0
#include "channel/transport.h"

#include <algorithm>

#include "base/text.h"

namespace muster::channel {

std::string_view ToText(Sight sight) {
  switch (sight) {
    case Sight::kAgent:
      return "agent";
    case Sight::kUnresolved:
      return "unresolved";
    case Sight::kRefused:
      return "refused";
    case Sight::kNoAnswer:
      return "no answer";
    case Sight::kForeign:
      return "not muster";
    case Sight::kStranger:
      return "not of this run";
    case Sight::kSilent:
      return "silent";
    case Sight::kClosed:
      return "not allowed";
  }
  return "?";
}

Sighting Unlike(Sight what, Error error) {
  return {.what = what, .agent = std::nullopt, .error = std::move(error)};
}

std::string Observed(const Sighting& sighting, const Address& address) {
  switch (sighting.what) {
    case Sight::kAgent:
      return Who(*sighting.agent) + " answers there";
    case Sight::kRefused:
      return "connection refused: nothing listens there yet";
    case Sight::kUnresolved:
      return "the name `" + Printable(address.host) + "` does not resolve";
    case Sight::kNoAnswer:
      return "no answer: packets get lost, or there is no route";
    case Sight::kForeign:
    case Sight::kStranger:
    case Sight::kSilent:
    case Sight::kClosed:
      break;
  }
  return sighting.error->message();
}

Cause CauseOf(const Sighting& sighting) {
  switch (sighting.what) {
    case Sight::kAgent:
      return Cause::kNetWrongEndpoint;
    case Sight::kRefused:
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
  const std::string at = muster::ToText(address);
  if (one_of_ours) {
    return Error(Cause::kDuplicateIdentity, Who(theirs) + " listens at " + at +
                                                " already, where " + Who(ours) +
                                                " has to");
  }
  return Error(Cause::kNetPortInUse, "port " + std::to_string(address.port) +
                                         " is held by " + Who(theirs) +
                                         ", which listens at " + at);
}

Error OnlyOnLoopback(const Address& address) {
  return Error(Cause::kUsageInvalid,
               "`" + Printable(muster::ToText(address)) +
                   "` is not on the loopback interface (`localhost`, "
                   "127.0.0.0/8, `::1`), where alone agents talk in clear "
                   "text: give all members the same secret with `--token-file "
                   "FILE` (or MUSTER_TOKEN_FILE), or start all ranks on one "
                   "host with `-n N`");
}

}  // namespace muster::channel
