// SPDX-License-Identifier: Apache-2.0
// Locked memory: buffers of InfiniBand and of TPUs under VFIO are pinned.
#include "base/text.h"
#include "check/check.h"

namespace muster::check::host_locked_memory {
namespace {

// One buffer pool of NCCL; the default of a login shell is 64 KiB to 8 MiB.
constexpr std::int64_t kNeeded = std::int64_t{1} << 30;

std::string WhoPins(const Context& context) {
  const sys::Fs& fs = context.host.fs;
  const auto adapters = fs.List("/sys/class/infiniband");
  if (adapters && !adapters->empty()) {
    return "InfiniBand (" + adapters->front() + ")";
  }
  for (const std::string& device : TpuDevices(fs)) {
    if (device.starts_with("/dev/vfio/")) {
      return "the TPU under VFIO (" + device + ")";
    }
  }
  return "";
}

Outcome Run(const Context& context) {
  const std::string who = WhoPins(context);
  const auto limit = ReadLimit(context.host.fs, "Max locked memory");
  if (!limit) {
    return Broken("/proc/self/limits does not contain the limit");
  }
  const std::string seen =
      limit->soft ? BytesText(static_cast<std::uint64_t>(*limit->soft))
                  : "unlimited";
  if (who.empty()) {
    return Pass(seen + ", and no device here pins memory");
  }
  if (!limit->soft || *limit->soft >= kNeeded) {
    return Pass(seen);
  }
  return Judge(
      {MakeProblem(context, Cause::kOsLimit,
                   "this process can lock " + seen + " of memory, but " + who +
                       " needs " + BytesText(kNeeded) + " or more",
                   {{"Max locked memory " + seen, "/proc/self/limits"}})},
      "");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{
    .id = "host.locked-memory",
    .title = "the limit of locked memory is sufficient",
    .after_failure = true,
    .fix = {"raise the limit of the shell or service that starts the run",
            "ulimit -l unlimited"},
    .run = Run};

}  // namespace muster::check::host_locked_memory
