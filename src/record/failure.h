// SPDX-License-Identifier: Apache-2.0
// Why an attempt did not end well: a value that is decided upon and recorded.
#pragma once

#include <cstdint>

#include "muster/cause.h"

namespace muster::record {

// The root of an attempt that did not end well, as far as a decision needs it.
struct Failure {
  enum class Kind {
    kExit,         // a rank ended by itself with a status
    kSignal,       // a signal that we did not send ended a rank
    kNotStarted,   // the program is not there (127) or not executable (126)
    kHostLost,     // its agent went away
    kStandstill,   // alive without progress
    kSetUp,        // the roll call or the launch failed
    kInterrupted,  // Ctrl-C, TERM, HUP
  };
  Kind kind = Kind::kExit;
  Cause cause = Cause::kAppException;
  int rank = -1;
  int status = 0;          // exit status, or the signal's number
  std::uint64_t step = 0;  // where the rank was; 0: it told none

  bool operator==(const Failure&) const = default;
};

}  // namespace muster::record
