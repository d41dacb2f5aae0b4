// SPDX-License-Identifier: Apache-2.0
// Descriptors: files of the input, a connection to each member, each library's
// own.
#include "base/text.h"
#include "check/check.h"

namespace muster::check::host_open_files {
namespace {

// A rank's own, and what one more member costs a coordinator.
constexpr std::int64_t kBase = 256;
constexpr std::int64_t kPerMember = 4;

Outcome Run(const Context& context) {
  const auto limit = ReadLimit(context.host.fs, "Max open files");
  if (!limit) {
    return Broken("/proc/self/limits does not contain the limit");
  }
  const std::int64_t members =
      context.cluster == nullptr ? 1 : context.cluster->size.value;
  const std::int64_t need = kBase + kPerMember * members;
  if (!limit->soft || *limit->soft >= need) {
    return Pass(limit->soft ? std::to_string(*limit->soft) : "unlimited");
  }
  const std::string hard =
      limit->hard ? std::to_string(*limit->hard) : "unlimited";
  return Judge(
      {MakeProblem(context, Cause::kOsLimit,
                   "a process can open " + std::to_string(*limit->soft) +
                       " files, but a rank of a run with " +
                       Count(members, "member") + " needs " +
                       std::to_string(need),
                   {{"Max open files " + std::to_string(*limit->soft) +
                         ", can be raised to " + hard,
                     "/proc/self/limits"}})},
      "");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "host.open-files",
                   .title = "the limit of open files is sufficient",
                   .after_failure = true,
                   .run = Run};

}  // namespace muster::check::host_open_files
