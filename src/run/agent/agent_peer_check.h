// SPDX-License-Identifier: Apache-2.0
// An agent's part in the meeting before ranks start: it takes connections on
// the ports that it holds for its rank, tries those of the others, and tells
// what it saw.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "base/json_fwd.h"
#include "muster/error.h"
#include "sys/net/net.h"
#include "sys/time/clock.h"
#include "sys/time/loop.h"
#include "wire/hello.h"
#include "wire/mesh_frame.h"

namespace muster::run {

// Loop thread only. What it has sent may still be on its way when it has told,
// so that it is kept until the ports are let go.
class AgentMeeting {
 public:
  struct Options {
    const Json* meet = nullptr;  // body of a "meet"; for the call alone
    int attempt = 0;             // that was called last
    const wire::Hello* identity = nullptr;  // for the call alone
    wire::Signer signer;
    std::span<const sys::Listening> held;  // outlive it
  };
  // `tell`: once, with the body of a "met". usage-invalid: it is of another
  // attempt, not for one rank, or at ports that are not held;
  // ver-peer-mismatch; os-limit.
  static Result<std::unique_ptr<AgentMeeting>> Start(
      sys::Loop& loop, const sys::Clock& clock, const Options& options,
      std::function<void(const Json&)> tell);
  ~AgentMeeting();

 private:
  struct Inner;
  explicit AgentMeeting(std::unique_ptr<Inner> inner);
  std::unique_ptr<Inner> inner_;
};

}  // namespace muster::run
