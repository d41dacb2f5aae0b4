// SPDX-License-Identifier: Apache-2.0
// The chips are held by nobody else, and no lock is left of somebody who is
// gone.
#include <algorithm>
#include <array>

#include "accelerator/device_files.h"
#include "base/text.h"
#include "check/check.h"

namespace muster::check::accelerator_free {
namespace {

// They keep GPUs open on healthy hosts and compute nothing.
constexpr std::array<std::string_view, 7> kHarmless{
    "nvidia-persiste", "nv-hostengine",  "dcgm-exporter", "nvidia-smi", "Xorg",
    "gnome-shell",     "nvidia-device-p"};

std::map<std::string, FactValue> FirstPid(
    const std::vector<sys::Holder>& holders) {
  return {{"pid", std::int64_t{holders.front().pid}}};
}

void AddTpu(const Context& context, const std::vector<std::string>& devices,
            std::vector<Finding>& findings) {
  const auto holders = context.machine.HoldersOf(devices);
  if (!holders.empty()) {
    findings.push_back(MakeProblem(
        context, Cause::kDeviceBusy,
        "the TPU is in use by " + sys::ToString(holders),
        {{Join(devices, ", ") + " open in " + sys::ToString(holders),
          "/proc/*/fd", FirstPid(holders)}}));
    return;
  }
  // A lock that this user may take is taken at the next start.
  const bool locked =
      context.host.fs.Exists(accelerator::kTpuLock) &&
      !context.machine.MayAccess(accelerator::kTpuLock, sys::Access::kWrite) &&
      context.machine.HoldersOf({accelerator::kTpuLock}).empty();
  if (locked) {
    findings.push_back(MakeProblem(
        context, Cause::kDeviceLockStale,
        std::string(accelerator::kTpuLock) +
            " belongs to another user, and no visible process uses the TPU",
        {{"this user has no write permission; no process has it open",
          accelerator::kTpuLock}},
        Confidence::kLikely));
  }
}

void AddGpu(const Context& context, const std::vector<std::string>& devices,
            std::vector<Finding>& findings) {
  auto holders = context.machine.HoldersOf(devices);
  std::erase_if(holders, [](const sys::Holder& one) {
    return std::find(kHarmless.begin(), kHarmless.end(), one.command) !=
           kHarmless.end();
  });
  if (holders.empty()) {
    return;
  }
  Finding finding =
      MakeProblem(context, Cause::kDeviceBusy,
                  "GPUs are in use by " + sys::ToString(holders),
                  {{Join(devices, ", ") + " open in " + sys::ToString(holders),
                    "/proc/*/fd", FirstPid(holders)}},
                  Confidence::kPossible);
  // GPUs may be shared; it is the memory that decides.
  finding.severity = Severity::kWarning;
  findings.push_back(std::move(finding));
}

Outcome Run(const Context& context) {
  const auto tpu = TpuDevices(context.host.fs);
  const auto gpu = GpuDevices(context.host.fs);
  if (tpu.empty() && gpu.empty()) {
    return Skip("no accelerator is visible here");
  }
  std::vector<Finding> findings;
  if (!tpu.empty()) {
    AddTpu(context, tpu, findings);
  }
  if (!gpu.empty()) {
    AddGpu(context, gpu, findings);
  }
  return Judge(std::move(findings), "no visible process is using one");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "accelerator.free",
                   .title = "no other process uses the accelerators",
                   .run = Run};

}  // namespace muster::check::accelerator_free
