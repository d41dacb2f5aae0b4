// SPDX-License-Identifier: Apache-2.0
// Fourth step: as many replicas as the type of the TPU, or --replicas, says.
#include "base/text.h"
#include "check/check.h"
#include "check/facts/targets.h"

namespace muster::check::tpu_replicas {
namespace {

std::string Against(const std::optional<Sourced<int>>& expected) {
  return expected ? ", " + std::to_string(expected->value) + " expected (" +
                        expected->source + ")"
                  : ", no number is required";
}

Outcome AskWorkers(const Context& context) {
  const auto seen = AskOnce(context, context.tpu.workers);
  if (auto silence = JudgeSilence(context, seen)) {
    return *std::move(silence);
  }
  const auto& expected = context.tpu.devices;
  const std::string detail = identify::TextOfReplicas(seen) + Against(expected);
  Outcome outcome =
      Judge(identify::JudgeInventory(
                seen, expected ? std::optional(expected->value) : std::nullopt,
                context.host.clock.WallNow()),
            detail);
  outcome.detail = detail;
  Show(seen, outcome);
  return outcome;
}

Outcome CountHere(const Context& context) {
  const int chips = static_cast<int>(TpuDevices(context.host.fs).size());
  const auto& expected = context.tpu.chips_here;
  const std::string detail =
      Count(chips, "chip") + " on this host" + Against(expected);
  if (!expected || expected->value == chips) {
    return Pass(detail);
  }
  return Judge(
      {MakeProblem(context, Cause::kDeviceMissing, detail,
                   {{Join(TpuDevices(context.host.fs), ", "), "/dev"}})},
      "");
}

Outcome Run(const Context& context) {
  return context.tpu.workers.empty() ? CountHere(context) : AskWorkers(context);
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "tpu.replicas",
                   .title = "the TPU has the expected number of replicas",
                   .needs = "tpu.initialized",
                   .scope = Scope::kCluster,
                   .may_wait = true,
                   .on_request = true,
                   .deadline = kTargetDeadline,
                   .run = Run};

}  // namespace muster::check::tpu_replicas
