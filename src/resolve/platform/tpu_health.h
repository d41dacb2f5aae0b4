// SPDX-License-Identifier: Apache-2.0
// Whether a run on a TPU can go on, and waiting until it can.
#pragma once

#include <functional>
#include <string>

#include "resolve/platform/cloud_tpu.h"

namespace muster::resolve {

// A run can go on there: not preempted or terminated, and no loss of memory in
// the last 90 s before `now`.
bool IsRecoverable(const TpuNode& node, WallTime now);

// Polls until `health` says HEALTHY: `now_s` and `sleep` are the clock's.
struct HealthWait {
  int timeout_s = 1200;
  int interval_s = 30;
};
struct Waited {
  int seconds = 0;
  int sleeps = 0;
};
Result<Waited> WaitUntilHealthy(
    const std::string& name, const HealthWait& wait,
    const std::function<std::string(int at_s)>& health);

}  // namespace muster::resolve
