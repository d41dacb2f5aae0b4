// SPDX-License-Identifier: Apache-2.0
// The lock file of libtpu belongs to a process that lives. That nobody holds it
// is said only where every process is visible: the fix is to remove the file.
#include <algorithm>

#include "accelerator/device_files.h"
#include "base/text.h"
#include "check/check.h"

namespace muster::check::postmortem_tpu_lock {
namespace {

using accelerator::kTpuLock;

// A container has no thread of the kernel among its processes; what is mounted
// on its /tmp may be mounted in others as well.
bool MayShareTmp(const sys::Fs& fs) {
  if (fs.Read("/proc/2/comm").value_or("") == "kthreadd\n") {
    return false;
  }
  const auto mounts = fs.Read("/proc/self/mounts");
  return mounts && mounts->find(" /tmp ") != std::string::npos;
}

// Why a process may hold the lock unseen; empty: none can. Each is below /proc,
// unless it is hidden from there together with the first one (hidepid=2) or
// runs in another container.
std::string WhyUnseen(const sys::Fs& fs) {
  const auto names = fs.List("/proc");
  if (!names || !std::binary_search(names->begin(), names->end(), "1")) {
    return "processes of other users are not visible";
  }
  std::int64_t closed = 0;
  for (const std::string& name : *names) {
    if (!IsDigits(name)) {
      continue;
    }
    const auto open = fs.List("/proc/" + name + "/fd");
    // One that is gone by now holds nothing.
    if (!open && open.error().cause() != Cause::kFileMissing) {
      ++closed;
    }
  }
  if (closed > 0) {
    return "open files of " + Count(closed, "process") + " are not visible";
  }
  return MayShareTmp(fs) ? "other containers may use this /tmp and are not "
                           "visible"
                         : "";
}

// By what they have open: the kernel shows what a process has mapped under a
// lock of that process, for which a stuck one would keep us waiting.
Outcome Run(const Context& context) {
  const sys::Fs& fs = context.host.fs;
  if (!fs.Exists(kTpuLock)) {
    return Skip(std::string("there is no ") + kTpuLock);
  }
  std::vector<std::string> paths{kTpuLock};
  for (const auto& [folder, prefix] :
       {std::pair("/dev", "accel"), std::pair("/dev/vfio", "")}) {
    const auto files = accelerator::NumberedFiles(fs, folder, prefix);
    paths.insert(paths.end(), files.begin(), files.end());
  }
  const auto holders = context.machine.HoldersOf(paths);
  if (!holders.empty()) {
    return Pass("the TPU or its lock file is open in " +
                sys::ToString(holders));
  }
  if (const std::string why = WhyUnseen(fs); !why.empty()) {
    return Skip("it is unknown whether a process holds the lock file: " + why);
  }
  return Judge({MakeProblem(context, Cause::kDeviceLockStale,
                            std::string(kTpuLock) +
                                " exists, and no process has it or a TPU open",
                            {{"no process has it open", kTpuLock}},
                            Confidence::kLikely)},
               "");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "postmortem.tpu-lock",
                   .title = "a live process holds the libtpu lock file",
                   .on_request = true,
                   .after_failure = true,
                   .severity = Severity::kWarning,
                   .before_run = BeforeRun::kNever,
                   .run = Run};

}  // namespace muster::check::postmortem_tpu_lock
