// SPDX-License-Identifier: Apache-2.0
#include "connect/transport.h"

#include "base/text.h"

namespace muster::connect {

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

}  // namespace muster::connect
