// SPDX-License-Identifier: Apache-2.0
// What accelerators this host has, with kind, driver and holder. None is
// opened; who may not hold one is for accelerator.free to say.
#include "accelerator/device_files.h"
#include "base/json.h"
#include "base/text.h"
#include "check/check.h"

namespace muster::check::accelerator_devices {
namespace {

std::vector<sys::Holder> HoldersOf(const Context& context,
                                   const accelerator::LocalAccelerator& one) {
  return one.path.empty() ? std::vector<sys::Holder>()
                          : context.machine.HoldersOf({one.path});
}

// "/dev/accel0  TPU v4  at 0000:00:04.0  driver gasket  free".
std::string LineOf(const accelerator::LocalAccelerator& one,
                   const std::vector<sys::Holder>& holders) {
  const std::string state = one.path.empty() ? "not accessible"
                            : holders.empty()
                                ? "free"
                                : "held by " + sys::ToString(holders);
  return (one.path.empty() ? "no file" : one.path) + "  " +
         (one.kind.empty() ? "unknown kind" : one.kind) +
         (one.address.empty() ? "" : "  at " + one.address) +
         (one.driver.empty() ? "" : "  driver " + one.driver) + "  " + state;
}

Json DataOf(const accelerator::LocalAccelerator& one,
            const std::vector<sys::Holder>& holders) {
  Json json{{"path", one.path},
            {"kind", one.kind},
            {"bus", one.address},
            {"driver", one.driver},
            {"holders", Json::array()}};
  for (const sys::Holder& holder : holders) {
    json["holders"].push_back(
        {{"pid", holder.pid}, {"command", holder.command}});
  }
  return json;
}

std::string LockText(const Context& context) {
  if (!context.host.fs.Exists(accelerator::kTpuLock)) {
    return "not found";
  }
  const auto holders = context.machine.HoldersOf({accelerator::kTpuLock});
  return holders.empty() ? "stale, not opened by any process"
                         : "open in " + sys::ToString(holders);
}

Outcome Run(const Context& context) {
  const auto found = accelerator::FindAccelerators(context.host.fs);
  if (const auto listed = context.host.fs.List("/dev");
      found.empty() && !listed) {
    return Broken(listed.error().message());
  }
  if (found.empty()) {
    return Skip("no accelerator is visible here");
  }
  std::vector<std::string> lines;
  Json devices = Json::array();
  bool tpu = false;
  for (const accelerator::LocalAccelerator& one : found) {
    const auto holders = HoldersOf(context, one);
    lines.push_back(LineOf(one, holders));
    devices.push_back(DataOf(one, holders));
    tpu = tpu || one.kind.starts_with("TPU");
  }
  Json data{{"devices", std::move(devices)}};
  if (tpu) {
    data["lock"] = LockText(context);
    lines.push_back(std::string("lock ") + accelerator::kTpuLock + ": " +
                    LockText(context));
  }
  if (const auto driver = accelerator::NvidiaModuleVersion(context.host.fs);
      !driver.empty()) {
    data["nvidia"] = driver;
    lines.push_back("NVIDIA driver " + driver);
  }
  Outcome outcome = Pass(Count(static_cast<int>(found.size()), "device"));
  outcome.lines = std::move(lines);
  outcome.data = Dump(data);
  return outcome;
}

}  // namespace

extern const Check kCheck;
const Check kCheck{
    .id = "accelerator.devices",
    .title = "the accelerators of this host and the processes that use them",
    .after_failure = true,
    .before_run = BeforeRun::kNever,
    .run = Run};

}  // namespace muster::check::accelerator_devices
