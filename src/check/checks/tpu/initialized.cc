// SPDX-License-Identifier: Apache-2.0
// Third step: the TPU system can be initialized. A worker that found its chips
// lists them. The chips of this host are visible and free; with --open they are
// initialized, counted and added over.
#include <algorithm>

#include "base/text.h"
#include "check/facts/device_open.h"
#include "check/facts/targets.h"

namespace muster::check::tpu_initialized {
namespace {

bool HasTpu(const identify::TargetReply& seen) {
  return std::any_of(
      seen.server.devices.begin(), seen.server.devices.end(),
      [](const auto& device) { return device.type.starts_with("TPU"); });
}

std::string NotOpened(const Context& context) {
  return context.opening.refused.empty()
             ? "no device was opened"
             : "not opened: " + context.opening.refused;
}

Outcome AskWorkers(const Context& context) {
  const auto seen = AskOnce(context, context.tpu.workers);
  if (auto silence = JudgeSilence(context, seen)) {
    return *std::move(silence);
  }
  std::vector<Seen> without;
  std::string first;
  for (const identify::TargetReply& one : seen) {
    if (!HasTpu(one)) {
      first = first.empty() ? one.target.text : first;
      without.push_back(
          {.what = one.target.text + ": " +
                   (one.missed ? one.missed->message() : one.server.text),
           .source = "WorkerService/GetStatus"});
    }
  }
  Outcome outcome =
      Pass("every worker lists its TPU; " +
           (context.opening.asked ? "--open opens only chips of this host"
                                  : NotOpened(context)));
  if (!without.empty()) {
    outcome =
        Judge({MakeProblem(context, Cause::kDeviceMissing,
                           Count(static_cast<int>(without.size()), "worker") +
                               " of " + std::to_string(seen.size()) +
                               " list no TPU device, the first is " + first +
                               ": the TPU system cannot be initialized there",
                           without)},
              "");
  }
  Show(seen, outcome);
  return outcome;
}

// What another check finds of this host is the reason here, too.
void Take(const Context& context, std::string_view id,
          std::vector<Finding>& findings) {
  for (const Check* check : AllChecks()) {
    if (check->id == id) {
      const Outcome outcome = check->run(context);
      findings.insert(findings.end(), outcome.findings.begin(),
                      outcome.findings.end());
    }
  }
}

Outcome LookHere(const Context& context) {
  const auto chips = TpuDevices(context.host.fs);
  std::vector<Finding> findings;
  Take(context, "accelerator.present", findings);
  Take(context, "accelerator.free", findings);
  if (chips.empty() && findings.empty()) {
    findings.push_back(MakeProblem(
        context, Cause::kDeviceMissing,
        "no TPU chip is visible on this host (" + context.tpu.source + ")",
        {{"no /dev/accel*, no /dev/vfio/N", "/dev"}}));
  }
  if (findings.empty() && context.opening.asked) {
    return OpenDevices(context);
  }
  return Judge(std::move(findings),
               Count(static_cast<int>(chips.size()), "chip") +
                   (chips.size() == 1 ? " is" : " are") +
                   " visible and free; " + NotOpened(context));
}

Outcome Run(const Context& context) {
  return context.tpu.workers.empty() ? LookHere(context) : AskWorkers(context);
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "tpu.initialized",
                   .title = "the TPU system can be initialized",
                   .needs = "tpu.connected",
                   .scope = Scope::kCluster,
                   .may_wait = true,
                   .on_request = true,
                   .deadline = kDeviceOpenTimeout,
                   .run = Run};

}  // namespace muster::check::tpu_initialized
