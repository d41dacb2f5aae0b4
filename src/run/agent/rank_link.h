// SPDX-License-Identifier: Apache-2.0
// The agent's end of the socket to one rank.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>

#include "muster/error.h"
#include "sys/file/fd.h"
#include "sys/time/loop.h"
#include "wire/rank_frame.h"

namespace muster::run {

// Takes what a rank sends apart and queues what it is sent; never waits. What a
// rank sends is not trusted: a frame that is none, or a rank that takes nothing
// while more than kMaxQueued waits for it, ends the link with an error and
// nothing worse. The loop's thread only; may be destroyed in its callbacks.
class RankLink {
 public:
  static constexpr std::size_t kMaxQueued = 16U << 20;

  struct Handlers {
    std::function<void(const wire::RankMessage&)> on_message;
    // Once, never inside Send: the rank has closed its end (nullopt), or why
    // the link was given up.
    std::function<void(std::optional<Error>)> on_end;
  };

  RankLink(sys::Loop& loop, sys::Fd socket, Handlers handlers);
  ~RankLink();

  // The descriptors go with the message and stay open until the link ends.
  void Send(const wire::RankMessage& message,
            std::span<const int> descriptors = {});
  // Delivers all that has arrived: what a rank said before it ended.
  void Drain();
  bool open() const;

 private:
  struct Inner;
  std::shared_ptr<Inner> inner_;  // also by its callbacks on the loop
};

}  // namespace muster::run
