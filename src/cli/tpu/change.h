// SPDX-License-Identifier: Apache-2.0
// What the actions of `muster tpu` share that change something in the cloud.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/tpu/tpu.h"
#include "cloud/tpu/tpu_removal.h"
#include "remote/tpu_lifecycle.h"
#include "sys/signal/interrupt.h"

namespace muster::cli {

// Says what will be done and asks whether to go on. usage-invalid: there is
// nobody to ask and --yes is not given; cancelled: the answer was no.
Status Confirm(const TpuCall& call, const std::string& what);

// An API whose repeats end by it as well.
Result<cloud::TpuApi> OpenApi(const TpuCall& call,
                              const remote::Stoppable& stoppable);

// What --reach says: nothing for none; ssh where it is not given.
// usage-invalid: no port.
Result<std::function<Status(const cloud::TpuNode&)>> ReachAsked(
    const TpuCall& call);
// A TPU that can be used, and what comes next.
void PrintUsable(const TpuCall& call, const cloud::TpuApi& api,
                 const cloud::TpuNode& node, const char* schema);

Status TpuCreate(const TpuCall& call);
Status TpuWait(const TpuCall& call);
Status TpuStart(const TpuCall& call);
Status TpuStop(const TpuCall& call);
Status TpuDelete(const TpuCall& call);
Status TpuQueuedDelete(const TpuCall& call);
// 0, or the exit code of the first that is left, where a document of JSON tells
// what was removed beside it; an Error: that of the first, or it could not
// begin.
Result<int> TpuReap(const TpuCall& call);

}  // namespace muster::cli
