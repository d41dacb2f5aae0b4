// SPDX-License-Identifier: Apache-2.0
// An agent's part in the peer check before ranks start: it takes connections on
// the ports that it holds for its rank, tries those of the others, and reports
// what it saw.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "muster/error.h"
#include "sys/net/net.h"
#include "sys/time/clock.h"
#include "sys/time/loop.h"
#include "wire/agent_messages.h"
#include "wire/hello.h"
#include "wire/mesh_frame.h"

namespace muster::run {

// Loop thread only. What it has sent may still be on its way when it has told,
// so that it is kept until the ports are let go.
class AgentPeerCheck {
 public:
  struct Options {
    int attempt = 0;                        // that was called last
    const wire::Hello* identity = nullptr;  // for the call alone
    wire::Signer signer;
    std::span<const sys::Listening> held;  // outlive it
  };
  // `on_result`: once. usage-invalid: the request is of another attempt, not
  // for one rank, or for ports that are not held; os-limit.
  static Result<std::unique_ptr<AgentPeerCheck>> Start(
      sys::Loop& loop, const sys::Clock& clock, wire::PeerCheckRequest request,
      const Options& options,
      std::function<void(const wire::PeerCheckResult&)> on_result);
  ~AgentPeerCheck();

 private:
  struct Inner;
  explicit AgentPeerCheck(std::unique_ptr<Inner> inner);
  std::unique_ptr<Inner> inner_;
};

}  // namespace muster::run
