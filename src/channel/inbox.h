// SPDX-License-Identifier: Apache-2.0
// The receiving half of every link: keeps what arrives before a handler is set,
// and calls handlers from the loop only.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>

#include "channel/link.h"
#include "sys/time/loop.h"

namespace muster::channel {

// A larger message is never sent and loses the link on which it comes.
inline constexpr std::size_t kMaxMessage = 8U << 20;

// The loop's thread. Handlers may destroy the link in whose callback they run:
// whoever delivers holds a shared_ptr meanwhile.
class Inbox : public std::enable_shared_from_this<Inbox> {
 public:
  explicit Inbox(sys::Loop& loop) : loop_(loop) {}

  void OnMessage(std::function<void(Envelope)> handler);
  void OnLost(std::function<void(const Error&)> handler);
  // Nothing is called any more.
  void Close();

  // Call these from a posted task, never from within the owner's calls. What
  // was delivered before the loss is handled before it.
  void Deliver(Envelope message);
  void Lose(Error why);
  bool closed() const { return closed_; }

 private:
  void FlushSoon();
  void Flush();

  sys::Loop& loop_;
  bool closed_ = false;
  std::function<void(Envelope)> on_message_;
  std::function<void(const Error&)> on_lost_;
  std::deque<Envelope> waiting_;
  std::optional<Error> loss_;
};

}  // namespace muster::channel
