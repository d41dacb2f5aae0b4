// SPDX-License-Identifier: Apache-2.0
// TPU nodes beyond their addresses: what is known of one that is out of reach,
// whether a run on it can go on, and waiting until it can.
#pragma once

#include <functional>
#include <string>

#include "resolve/platform/cloud_tpu.h"

namespace muster::conformance {

// What is known of the TPU that the request or the environment names. An API
// that is out of reach leaves its facts empty; one that refuses is an error.
struct TpuDescription {
  bool use_api = false;
  resolve::TpuNode node;
};
Result<TpuDescription> DescribeTpu(const resolve::Request& request,
                                   const sys::Host& host);

// A run can go on there: not preempted or terminated, and no loss of memory in
// the last 90 s before `now`.
bool IsRecoverable(const resolve::TpuNode& node, WallTime now);

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

}  // namespace muster::conformance
