// SPDX-License-Identifier: Apache-2.0
// A link: ordered messages between one agent and the coordinator.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "muster/error.h"
#include "sys/time/loop.h"
#include "wire/envelope.h"

namespace muster::channel {

using wire::Envelope;

// All calls and callbacks on the loop's thread. A link that carries nothing for
// 3 s (each side sends a beat every 500 ms) is lost.
class Link {
 public:
  virtual ~Link() = default;
  // Queued, never blocks. Nothing happens on a lost or closed link.
  virtual void Send(Envelope message) = 0;
  virtual void OnMessage(std::function<void(Envelope)> handler) = 0;
  // Called once: the other side closed (peer-died), fell silent
  // (heartbeat-missed) or sent what no agent sends.
  virtual void OnLost(std::function<void(const Error&)> handler) = 0;
  virtual void Close() = 0;
  // "in-process", "10.0.0.7:41234".
  virtual std::string peer() const = 0;
  // The rank that the other side's certificate is for; nullopt: it has shown
  // none (clear text, in process).
  virtual std::optional<int> proven_rank() const { return std::nullopt; }
};

// The two ends of a link inside this process: delivery by Loop::Post.
std::pair<std::unique_ptr<Link>, std::unique_ptr<Link>> InProcessLinks(
    sys::Loop& loop);

}  // namespace muster::channel
