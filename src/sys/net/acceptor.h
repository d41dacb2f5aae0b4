// SPDX-License-Identifier: Apache-2.0
// Accepting connections for somebody else, and never running out of
// descriptors by it.
#pragma once

#include <functional>
#include <thread>

#include "sys/file/fd.h"
#include "sys/net/net.h"

namespace muster::sys {

// Accepts on a thread of its own until it is destroyed. While fewer than a
// sixteenth (at least 32) of this process's descriptors are free, connections
// are closed as they come: who accepts for itself would stop for good, or
// starve the rest of the process.
class Acceptor {
 public:
  // Called on the acceptor's thread; connections do not block, are closed on
  // exec and send small messages at once.
  using OnConnection = std::function<void(Fd)>;

  Acceptor(Listening listening, OnConnection on_connection);
  // Waits for a call of on_connection that is under way.
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  const Address& address() const { return listening_.address; }

 private:
  void Serve();
  void AcceptOne();
  void SayThatFewAreLeft();  // once

  const Listening listening_;
  const OnConnection on_connection_;
  bool said_ = false;  // the thread's
  Fd spare_;           // the thread's: given up to accept, and close, one more
  std::jthread thread_;  // last: it uses the rest
};

}  // namespace muster::sys
