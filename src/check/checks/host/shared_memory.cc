// SPDX-License-Identifier: Apache-2.0
// /dev/shm: loader workers of PyTorch and NCCL pass data through it, and die of
// SIGBUS when it is full.
#include "base/text.h"
#include "check/check.h"

namespace muster::check::host_shared_memory {
namespace {

constexpr char kPlace[] = "/dev/shm";
// With less nothing works that uses it.
constexpr std::uint64_t kLeast = std::uint64_t{16} << 20;
// What a container has unless it was given more, too small for loader workers.
constexpr std::uint64_t kDefaultOfContainers = std::uint64_t{64} << 20;

Outcome Run(const Context& context) {
  const auto space = context.machine.SpaceOf(kPlace);
  if (!space) {
    return Judge({FromError(space.error())}, "");
  }
  const std::string seen = BytesText(space->free_bytes) + " of " +
                           BytesText(space->bytes) + " are free";
  // A size of 0 is no limit.
  if (space->bytes == 0) {
    return Pass("no limit");
  }
  const bool full = space->free_bytes < kLeast;
  if (!full && space->bytes > kDefaultOfContainers) {
    return Pass(seen);
  }
  Finding finding = MakeProblem(
      context, Cause::kShmTooSmall,
      std::string(kPlace) + (full ? " is full: " : " is small: ") + seen,
      {{seen, "statvfs", {{"path", std::string(kPlace)}}}},
      full ? Confidence::kCertain : Confidence::kPossible);
  finding.severity = full ? Severity::kError : Severity::kWarning;
  return Judge({std::move(finding)}, "");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "host.shared-memory",
                   .title = "/dev/shm has enough space",
                   .after_failure = true,
                   .fix = {"on your own machine, enlarge it",
                           "mount -o remount,size=8G /dev/shm"},
                   .run = Run};

}  // namespace muster::check::host_shared_memory
