// SPDX-License-Identifier: Apache-2.0
#include "muster/retry.h"

#include "base/mutex.h"

namespace muster::internal {

bool WaitUntil(Deadline until, std::stop_token stop) {
  Mutex mutex;
  CondVar woken;
  std::stop_callback on_stop(stop, [&] {
    MutexLock lock(mutex);
    woken.NotifyAll();
  });
  MutexLock lock(mutex);
  while (!stop.stop_requested() && !until.Expired()) {
    woken.WaitUntil(mutex, until.when());
  }
  return !stop.stop_requested();
}

bool WaitBeforeRetry(int tries, Deadline deadline, std::stop_token stop) {
  using std::chrono::milliseconds;
  const auto pause =
      std::min<Duration>(milliseconds(50) * (1 << std::min(tries - 1, 6)),
                         std::chrono::seconds(2));
  const Deadline until = deadline.Sooner(Deadline::After(pause));
  return WaitUntil(until, std::move(stop)) && !deadline.Expired();
}

}  // namespace muster::internal
