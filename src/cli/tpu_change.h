// SPDX-License-Identifier: Apache-2.0
// What the actions of `muster tpu` share that change something in the cloud.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/tpu.h"
#include "cloud/tpu_removal.h"
#include "sys/interrupt.h"

namespace muster::cli {

// Says what will be done and asks whether to go on. usage-invalid: there is
// nobody to ask and --yes is not given; cancelled: the answer was no.
Status Confirm(const TpuCall& call, const std::string& what);

// Waits that Ctrl-C ends between two requests. Keep it alive while the waiting
// is in use.
struct Stoppable {
  std::unique_ptr<sys::Interrupt> interrupt;
  cloud::Waiting waiting;
};
Result<Stoppable> MakeStoppable(const Settings& settings);
// An API whose repeats end by it as well.
Result<cloud::TpuApi> OpenApi(const TpuCall& call, const Stoppable& stoppable);

inline constexpr const char* kTpuPrices =
    "https://cloud.google.com/tpu/pricing";

// "TPU `t` of zone us-west4-a", "queued resource …".
std::string NameOf(const cloud::MadeTpu& made);
// "TPU `t` (v5litepod-8, READY) of zone us-west4-a of project p (…)".
std::string Described(const cloud::TpuApi& api, const cloud::TpuNode& node);
// Says of each what goes on in the cloud, how to stop it and how to go on.
void PrintLeft(const std::vector<cloud::MadeTpu>& left,
               const std::string& go_on = "the same command again");
// The same for what could not be removed; the first error.
Status PrintRemoved(const std::vector<cloud::Removed>& removed);

// What has to go for the node to go: itself, or the queued resource that it
// belongs to.
cloud::MadeTpu WhatGoes(const cloud::TpuApi& api, const cloud::TpuNode& node);
// Removes what was just seen and waits until it is gone. cancelled: Ctrl-C,
// which says that the removal goes on.
Status RemoveSeen(cloud::TpuApi& api, const cloud::MadeTpu& made,
                  const sys::Host& host, const Stoppable& stoppable);

// Whether the port of ssh is open on every worker.
Status DialSsh(const cloud::TpuNode& node);
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
