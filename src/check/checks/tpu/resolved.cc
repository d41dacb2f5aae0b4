// SPDX-License-Identifier: Apache-2.0
// First step of a program that starts on a TPU: which one, and who says so.
#include "base/text.h"
#include "check/check.h"

namespace muster::check::tpu_resolved {
namespace {

std::string Where(const TpuSetup& tpu) {
  if (!tpu.workers.empty()) {
    return Count(static_cast<int>(tpu.workers.size()), "worker") + ", first " +
           ToString(tpu.workers.front().address);
  }
  if (tpu.hosts.size() > 1) {
    return "the chips of " +
           Count(static_cast<int>(tpu.hosts.size() + tpu.left_out), "host") +
           ", which the program opens on each";
  }
  return "the chips of this host, which the program opens";
}

Outcome Run(const Context& context) {
  const TpuSetup& tpu = context.tpu;
  if (!tpu.source.empty()) {
    std::string detail = Where(tpu) + " (" + tpu.source + ")";
    Outcome outcome = Judge(context.cluster_findings, detail);
    outcome.detail = std::move(detail);
    return outcome;
  }
  if (tpu.unasked) {
    return Judge({FromError(*tpu.unasked)}, "");
  }
  if (context.cluster == nullptr && !context.cluster_findings.empty()) {
    return Judge(context.cluster_findings, "");
  }
  return Judge(
      {MakeProblem(context, Cause::kLaunchEnvMissing,
                   "no TPU is specified, and this host has none: use --tpu "
                   "NAME, --tpu grpc://10.0.0.2:8470 or TPU_NAME",
                   {{"no source of the cluster describes a TPU, no "
                     "/dev/accel*, no /dev/vfio/N",
                     "muster resolve -v"}})},
      "");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "tpu.resolved",
                   .title = "the TPU that the program uses is known",
                   .scope = Scope::kCluster,
                   .on_request = true,
                   .run = Run};

}  // namespace muster::check::tpu_resolved
