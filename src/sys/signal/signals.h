// SPDX-License-Identifier: Apache-2.0
// Signals to this process, as calls on the loop: Ctrl-C, TERM.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "muster/error.h"
#include "sys/time/loop.h"

namespace muster::sys {

// While it lives, each of the signals is told on the loop instead of ending the
// process. A signal that is ignored when it is made stays so (nohup). One per
// process; made and destroyed on the loop's thread; any thread may get the
// signal.
class SignalWatch {
 public:
  static Result<std::unique_ptr<SignalWatch>> Make(
      Loop& loop, const std::vector<int>& signals,
      std::function<void(int signal)> caught);
  ~SignalWatch();

 private:
  struct Inner;
  explicit SignalWatch(std::unique_ptr<Inner> inner);
  std::unique_ptr<Inner> inner_;
};

}  // namespace muster::sys
