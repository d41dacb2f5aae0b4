// SPDX-License-Identifier: Apache-2.0
// Signals that a handler of ours gets, until its owner goes.
#pragma once

#include <signal.h>

#include <map>
#include <span>

namespace muster::sys {

class CaughtSignals {
 public:
  // One that is ignored stays so (nohup). `flags` are those of sigaction.
  CaughtSignals(std::span<const int> signals, void (*handler)(int), int flags);
  ~CaughtSignals();
  CaughtSignals(const CaughtSignals&) = delete;
  CaughtSignals& operator=(const CaughtSignals&) = delete;

 private:
  std::map<int, struct sigaction> before_;
};

}  // namespace muster::sys
