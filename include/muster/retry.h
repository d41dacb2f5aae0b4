// SPDX-License-Identifier: Apache-2.0
// RetryTransient: retries transient failures, by cause and not by count.
#pragma once

#include <functional>
#include <stop_token>
#include <type_traits>

#include "muster/deadline.h"
#include "muster/error.h"

namespace muster {

namespace internal {
// Waits until the time point. False when a stop was asked for.
bool WaitUntil(Deadline until, std::stop_token stop);
// Waits before the next try (50 ms, doubling to 2 s, cut at the deadline).
// False when the deadline has passed or a stop was asked for.
bool WaitBeforeRetry(int tries, Deadline deadline, std::stop_token stop);
}  // namespace internal

// Calls fn() until it succeeds, fails for a cause that is not retryable
// (RetryOf(cause) is not kTransient), the deadline passes or a stop is
// requested. The last error of fn is returned, with the number of tries as
// context.
template <typename Fn>
std::invoke_result_t<Fn> RetryTransient(Deadline deadline, Fn&& fn,
                                        std::stop_token stop = {}) {
  for (int tries = 1;; ++tries) {
    auto result = fn();
    if (result || RetryOf(result.error().cause()) != Retry::kTransient ||
        !internal::WaitBeforeRetry(tries, deadline, stop)) {
      if (result || tries == 1) {
        return result;
      }
      return std::move(result).error().While("trying " + std::to_string(tries) +
                                             " times");
    }
  }
}

}  // namespace muster
