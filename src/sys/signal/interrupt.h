// SPDX-License-Identifier: Apache-2.0
// Ctrl-C for straight-line code: seen between two steps, in place of an end in
// the middle of one.
#pragma once

#include <memory>
#include <string_view>

#include "muster/deadline.h"
#include "muster/error.h"

namespace muster::sys {

// While it lives, the first Ctrl-C, TERM or HUP is kept; the next of its kind
// ends the process as usual. One that is ignored stays so (nohup). One per
// process; made, asked and destroyed on one thread.
class Interrupt {
 public:
  // `said` is written to stderr at once when the signal comes; it outlives the
  // object. os-limit: no pipe is left.
  static Result<std::unique_ptr<Interrupt>> Make(std::string_view said);
  ~Interrupt();

  bool Came() const;
  // Waits so long; false at once when it has come.
  bool Pause(Duration duration) const;

 private:
  struct Inner;
  explicit Interrupt(std::unique_ptr<Inner> inner);
  std::unique_ptr<Inner> inner_;
};

}  // namespace muster::sys
