// SPDX-License-Identifier: Apache-2.0
#include "sys/signal/caught_signals.h"

namespace muster::sys {

CaughtSignals::CaughtSignals(std::span<const int> signals, void (*handler)(int),
                             int flags) {
  for (const int signal : signals) {
    struct sigaction before {};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler == SIG_IGN) {
      continue;
    }
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigaction(signal, &action, nullptr);
    before_.emplace(signal, before);
  }
}

CaughtSignals::~CaughtSignals() {
  for (const auto& [signal, before] : before_) {
    sigaction(signal, &before, nullptr);
  }
}

}  // namespace muster::sys
