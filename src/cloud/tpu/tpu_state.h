// SPDX-License-Identifier: Apache-2.0
// Whether a TPU can be used, is on its way, or is lost. Pure.
#pragma once

#include <optional>
#include <string>

#include "cloud/tpu/tpu_node.h"
#include "muster/deadline.h"
#include "muster/error.h"

namespace muster::cloud {

enum class Way { kThere, kOnTheWay, kLost };

// What a state means for who waits.
struct Outlook {
  Way way = Way::kOnTheWay;
  std::string state;           // "CREATING", "READY with 2 of 4 addresses"
  std::string next;            // what usually comes, and when
  std::optional<Error> error;  // of what is lost, with what to do first
};

// READY, healthy and with an address for each host of its type is there;
// whether they can be reached is not known from it. Lost: preempted
// (PREEMPTED, TERMINATED), tpu-unhealthy (READY and sick), usage-invalid
// (stopped), tpu-not-found (it is being deleted).
Outlook OutlookOf(const TpuNode& node);
// ACTIVE is there: its nodes are. Lost: preempted (SUSPENDED), what its
// failure means (FAILED), tpu-not-found (it is being deleted).
Outlook OutlookOf(const QueuedResource& queued);

// "t is CREATING for 12 s; usually READY within 1 to 10 min".
std::string ProgressText(const std::string& name, const Outlook& outlook,
                         Duration in_state);

}  // namespace muster::cloud
