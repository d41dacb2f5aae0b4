// SPDX-License-Identifier: Apache-2.0
// What TensorFlow's resolvers say of a map of tasks.
#pragma once

#include "resolve/resolve.h"

namespace muster::resolve {

struct MasterRules {
  // A cluster of one task is driven in process: its master is "".
  bool one_task_is_local = false;
  // The task whose address is the master where none is told.
  const char* default_type = nullptr;
};

// Lets the request override task, index and RPC layer, and tells the master:
// "" when no task is known.
Status ApplyTensorflow(const Request& request, const MasterRules& rules,
                       Claim& claim);

}  // namespace muster::resolve
