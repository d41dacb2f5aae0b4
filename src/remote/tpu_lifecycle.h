// SPDX-License-Identifier: Apache-2.0
// What is done to a TPU and told to a person: waits that Ctrl-C ends, removals,
// names. Shared by `muster tpu` and by `muster run --recreate`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cloud/tpu/tpu_api.h"
#include "cloud/tpu/tpu_journal.h"
#include "cloud/tpu/tpu_removal.h"
#include "muster/error.h"
#include "settings/settings.h"
#include "sys/host.h"
#include "sys/signal/interrupt.h"

namespace muster::remote {

// Waits that Ctrl-C ends between two requests. Keep it alive while the waiting
// is in use.
struct Stoppable {
  std::unique_ptr<sys::Interrupt> interrupt;
  cloud::Waiting waiting;
};
Result<Stoppable> MakeStoppable(const settings::Settings& settings);
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

inline constexpr std::uint16_t kSshPort = 22;
// Whether a port, or that of ssh, is open on every worker.
Status DialWorkers(const cloud::TpuNode& node, std::uint16_t port);
Status DialSsh(const cloud::TpuNode& node);
// What the journal keeps of a node or of a queued resource.
cloud::MadeTpu ToMade(const cloud::TpuApi& api, const cloud::TpuNode& node);
cloud::MadeTpu ToMade(const cloud::TpuApi& api,
                      const cloud::QueuedResource& queued);

// "project p (env GOOGLE_CLOUD_PROJECT)".
std::string OfProject(const cloud::TpuApi& api);

}  // namespace muster::remote
