// SPDX-License-Identifier: Apache-2.0
// Space and inodes where checkpoints and the files of a run go.
#include <set>

#include "base/text.h"
#include "check/check.h"

namespace muster::check::storage_space {
namespace {

// Not even the log of a run fits.
constexpr std::uint64_t kLeast = std::uint64_t{64} << 20;
constexpr std::uint64_t kLeastFiles = 128;
// A checkpoint of a small model with its optimizer.
constexpr std::uint64_t kFew = std::uint64_t{1} << 30;

std::optional<Finding> Look(const Context& context, const std::string& path,
                            const sys::Space& space) {
  // Some file systems count no inodes.
  const bool no_files = space.files > 0 && space.free_files < kLeastFiles;
  if (!no_files && space.free_bytes >= kFew) {
    return std::nullopt;
  }
  const std::string seen = no_files ? std::to_string(space.free_files) +
                                          " of " + std::to_string(space.files) +
                                          " inodes are free"
                                    : BytesText(space.free_bytes) + " of " +
                                          BytesText(space.bytes) + " are free";
  Finding finding =
      MakeProblem(context, Cause::kDiskFull,
                  "the file system of `" + Printable(path) + "` is low on " +
                      (no_files ? "inodes: " : "space: ") + seen,
                  {{seen, "statvfs", {{"path", path}}}});
  if (!no_files && space.free_bytes >= kLeast) {
    finding.severity = Severity::kWarning;
    finding.confidence = Confidence::kPossible;
  }
  return finding;
}

Outcome Run(const Context& context) {
  std::vector<std::string> paths = context.checkpoints;
  paths.push_back(context.runs_dir);
  std::vector<Finding> findings;
  std::vector<std::string> good;
  std::set<std::string> seen;
  std::string unread;
  for (const std::string& path : paths) {
    const std::string place = NearestExisting(context.host, path);
    if (IsRemote(path) || !seen.insert(place).second) {
      continue;
    }
    const auto space = context.machine.SpaceOf(place);
    if (!space) {
      unread = space.error().message();
    } else if (auto finding = Look(context, place, *space)) {
      findings.push_back(*std::move(finding));
    } else {
      good.push_back(BytesText(space->free_bytes) + " free at " + place);
    }
  }
  // A full one fails the check, whatever the others would show.
  return findings.empty() && !unread.empty()
             ? Broken(unread)
             : Judge(std::move(findings), Join(good, ", "));
}

}  // namespace

extern const Check kCheck;
const Check kCheck{
    .id = "storage.space",
    .title = "the disks have enough space for checkpoints and logs",
    .may_wait = true,
    .after_failure = true,
    .before_run = BeforeRun::kSeveralHosts,
    .run = Run};

}  // namespace muster::check::storage_space
