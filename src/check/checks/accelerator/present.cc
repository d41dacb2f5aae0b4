// SPDX-License-Identifier: Apache-2.0
// The accelerator that the environment asks for is visible as device files.
#include <algorithm>

#include "base/text.h"
#include "check/check.h"

namespace muster::check::accelerator_present {
namespace {

// Who asks for the platform: "env PJRT_DEVICE"; empty: nobody.
std::string WhoWants(const sys::Env& env, const std::string& platform) {
  for (const char* name : {"PJRT_DEVICE", "JAX_PLATFORMS"}) {
    const auto words = Split(Lower(env.Get(name).value_or("")), ',');
    // JAX does not start where one of several cannot be initialized.
    if (std::find(words.begin(), words.end(), platform) != words.end()) {
      return std::string("env ") + name;
    }
  }
  return "";
}

std::optional<Finding> FindTpuByName(const Context& context) {
  const sys::Fs& fs = context.host.fs;
  const std::string wants = WhoWants(context.host.env, "tpu");
  const int on_bus = TpusOnBus(fs);
  if (!TpuDevices(fs).empty() || (wants.empty() && on_bus == 0)) {
    return std::nullopt;
  }
  Finding finding = MakeProblem(
      context, Cause::kDeviceMissing,
      wants.empty() ? Count(on_bus, "TPU chip") +
                          " on the PCI bus, but no /dev/accel* or /dev/vfio/N"
                    : wants + " requires a TPU, but no chip is visible",
      {{"no /dev/accel*, no /dev/vfio/N, " + Count(on_bus, "chip") +
            " on the PCI bus",
        "/dev and /sys/bus/pci"}});
  if (wants.empty()) {
    finding.severity = Severity::kWarning;
  }
  return finding;
}

std::optional<Finding> LookForGpu(const Context& context) {
  const std::string wants = WhoWants(context.host.env, "cuda");
  if (wants.empty() || !GpuDevices(context.host.fs).empty()) {
    return std::nullopt;
  }
  const int on_bus = GpusOnBus(context.host.fs);
  return MakeProblem(
      context, Cause::kDeviceMissing,
      wants + " requires a GPU, but none is visible",
      {{"no /dev/nvidiaN, " + Count(on_bus, "GPU") + " on the PCI bus",
        "/dev and /sys/bus/pci"}});
}

Outcome Run(const Context& context) {
  std::vector<Finding> findings;
  if (auto finding = FindTpuByName(context)) {
    findings.push_back(*std::move(finding));
  }
  if (auto finding = LookForGpu(context)) {
    findings.push_back(*std::move(finding));
  }
  const auto tpu = static_cast<int>(TpuDevices(context.host.fs).size());
  const auto gpu = static_cast<int>(GpuDevices(context.host.fs).size());
  if (findings.empty() && tpu + gpu == 0) {
    return Skip("none found, none required");
  }
  return Judge(std::move(findings),
               Count(tpu, "TPU chip") + ", " + Count(gpu, "GPU"));
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "accelerator.present",
                   .title = "the required accelerator is visible",
                   .run = Run};

}  // namespace muster::check::accelerator_present
