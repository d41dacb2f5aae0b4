// SPDX-License-Identifier: Apache-2.0
// The event loop: one thread that owns sockets, children and timers.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "muster/deadline.h"
#include "muster/error.h"

namespace muster::sys {

// epoll, an eventfd for Post, a timer queue. Everything but Post, Quit and
// InLoop may be called only from the loop's thread (the one in Run) or before
// Run. Callbacks run on that thread, one at a time, never inside the call that
// armed them; a callback may cancel anything, itself included.
class Loop {
 public:
  // Cancels its timer or watch when destroyed. May be destroyed after the Loop.
  class Handle {
   public:
    Handle() = default;
    Handle(Handle&&) noexcept;
    Handle& operator=(Handle&&) noexcept;
    ~Handle();
    void Cancel();
    bool active() const;

   private:
    friend class Loop;
    struct State;
    std::shared_ptr<State> state_;  // shared by the Loop, which may go first
  };

  static Result<std::unique_ptr<Loop>> Make();
  ~Loop();

  // Dispatches until Quit. May be called again afterward.
  void Run();
  void Quit();                            // any thread
  void Post(std::function<void()> task);  // any thread; order is kept
  bool InLoop() const;                    // any thread

  // Calls `ready` whenever fd is readable (or hung up, or in error).
  [[nodiscard]] Handle OnReadable(int fd, std::function<void()> ready);
  [[nodiscard]] Handle OnWritable(int fd, std::function<void()> ready);
  [[nodiscard]] Handle After(Duration delay, std::function<void()> task);
  [[nodiscard]] Handle Every(Duration period, std::function<void()> task);

 private:
  struct Inner;
  explicit Loop(std::unique_ptr<Inner> inner);
  std::unique_ptr<Inner> inner_;
};

}  // namespace muster::sys
