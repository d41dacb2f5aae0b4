// SPDX-License-Identifier: Apache-2.0
// How agents reach each other: listening, dialing, and looking at an address.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "base/text.h"
#include "channel/link.h"
#include "muster/address.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "sys/time/loop.h"
#include "wire/hello.h"

namespace muster::channel {

using muster::ToString;  // those declared here do not hide it

// What was observed at an address.
enum class ProbeOutcome {
  kAgent,       // an agent of muster answered
  kUnresolved,  // the name does not resolve
  kRefused,     // the host answers, nothing listens on the port
  kNoAnswer,    // no answer, or no route
  kForeign,     // something else answered; the error says what
  kStranger,    // an agent of another run, token or clock; the error says
  kSilent,      // accepts connections and says nothing
  kClosed,      // reachable, but this transport must not speak there
};
std::string_view ToString(ProbeOutcome sight);

struct ProbeResult {
  ProbeOutcome what = ProbeOutcome::kNoAnswer;
  std::optional<wire::Hello> agent;  // exactly when kAgent
  std::optional<Error> error;        // exactly when not kAgent
};
// A sighting of anything but an agent.
ProbeResult Unlike(ProbeOutcome what, Error error);

// What it looked like, in words that stay the same while nothing changes, and
// what it is the cause of when it lasts: a refusing address is right as far as
// anybody knows, so nobody came in time (rendezvous-timeout).
std::string Observed(const ProbeResult& sighting, const Address& address);
Cause CauseOf(const ProbeResult& sighting);

// Why `ours` cannot listen where `theirs` answers: duplicate-identity when it
// claims one of our ranks, else net-port-in-use.
Error TakenBy(const wire::Hello& theirs, const wire::Hello& ours,
              const Address& address);

// Agents listen at an address while it lives; afterward nobody does.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual Address address() const = 0;  // with the port that was taken
};

// Called and calling back on the loop's thread only, never inside the call that
// asked. What was asked for and not yet answered is dropped, unanswered, when
// the transport is destroyed; links and listeners go before it.
class Transport {
 public:
  using OnLink = std::function<void(std::unique_ptr<Link>)>;

  virtual ~Transport() = default;

  // Answers Identify with `identity`, and gives a link per agent that dials; a
  // null on_link refuses them (a member's agent that is not the coordinator).
  // net-port-in-use names who holds the port, duplicate-identity an agent that
  // answers there for one of our ranks; net-wrong-endpoint (not an address of
  // this host), net-name-resolution; usage-invalid where the transport must not
  // listen. May take half a second when the port is taken.
  virtual Result<std::unique_ptr<Listener>> Listen(const Address& address,
                                                   wire::Hello identity,
                                                   OnLink on_link) = 0;

  // Opens a link. net-name-resolution, net-wrong-endpoint, net-timeout-filtered
  // as observed; usage-invalid where the transport must not speak.
  virtual void Dial(
      const Address& address, Deadline deadline,
      std::function<void(Result<std::unique_ptr<Link>>)> done) = 0;

  // Calls for an older attempt are refused from now on, where calls say of
  // which attempt they are.
  virtual void BeginEpoch(int /*attempt*/) {}

  // Looks who is there, once, and says what was observed by the deadline.
  virtual void Identify(const Address& address, Deadline deadline,
                        std::function<void(ProbeResult)> done) = 0;
};

// usage-invalid: without a token agents talk on the loopback interface alone.
Error OnlyOnLoopback(const Address& address);
// Without a token an agent speaks to agents of its own user alone. nullopt:
// that is who listens at this address of the loopback interface. Any thread.
std::optional<Error> WhyNotOwnUser(const Address& address,
                                   std::optional<unsigned> user);

}  // namespace muster::channel
