// SPDX-License-Identifier: Apache-2.0
// The member's side of the roll call: reaching the coordinator and being
// accepted.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "channel/link.h"
#include "channel/transport.h"
#include "muster/address.h"
#include "muster/deadline.h"
#include "sys/time/clock.h"
#include "sys/time/loop.h"
#include "wire/hello.h"

namespace muster::rendezvous {

// Dials the coordinator until it is accepted, refused or too late. Called and
// calling back on the loop's thread.
class Attending {
 public:
  struct Options {
    Address coordinator;
    int coordinator_rank = 0;  // who has to answer there
    wire::Hello identity;      // what this agent says of itself
    Deadline deadline = Deadline::After(std::chrono::seconds(60));
    // Whenever what is seen at the coordinator's address changes: "the
    // coordinator (10.0.0.7:8476): connection refused: nothing listens there
    // yet".
    std::function<void(const std::string& seen)> on_change;
    // Once: a link on which the coordinator calls, or the cause. Refused by the
    // coordinator: duplicate-identity, ver-peer-mismatch, rank-world-mismatch.
    // Too late: what was seen last, as net-name-resolution,
    // net-timeout-filtered, net-wrong-endpoint (another member or something
    // else answers) or rendezvous-timeout (nobody listens there).
    std::function<void(Result<std::unique_ptr<channel::Link>>)> on_done;
  };

  // The references outlive it.
  static std::unique_ptr<Attending> Start(sys::Loop& loop, sys::Clock& clock,
                                          channel::Transport& transport,
                                          Options options);
  // Gives up; on_done is not called any more. May be destroyed in on_done.
  ~Attending();

 private:
  struct Inner;
  explicit Attending(std::shared_ptr<Inner> inner);
  std::shared_ptr<Inner> inner_;  // also by what is under way on the loop
};

}  // namespace muster::rendezvous
