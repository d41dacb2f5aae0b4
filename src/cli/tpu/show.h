// SPDX-License-Identifier: Apache-2.0
// One TPU, one queued resource: found by name, shown as JSON.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "cli/tpu/tpu.h"

namespace muster::cli {

Json ToJson(const cloud::TpuNode& node);
Json ToJson(const cloud::QueuedResource& queued);
// What came over the network as one cell of a table.
std::string OrDash(const std::string& text);
// Warns of zones that did not answer.
void PrintUnreachable(const std::vector<std::string>& zones);

// As FindNode of cli/tpu.h.
Result<cloud::QueuedResource> FindQueued(const TpuCall& call,
                                         cloud::TpuApi& api);

}  // namespace muster::cli
