// SPDX-License-Identifier: Apache-2.0
// The data can be read by the host that opens it.
#include <algorithm>
#include <optional>

#include "base/text.h"
#include "check/check.h"
#include "sys/file/fs.h"

namespace muster::check::storage_data {
namespace {

Finding Unreadable(const Context& context, const std::string& path,
                   const Error& why) {
  const bool missing = why.cause() == Cause::kFileMissing;
  return MakeProblem(
      context, missing ? Cause::kDataPathUnreachable : why.cause(),
      "the data at `" + Printable(path) + "` " +
          (missing ? "does not exist on this host" : "is not readable"),
      {{why.message(), "access", {{"path", path}}}});
}

// What is looked at in a folder; files of a data set have one owner mostly.
constexpr std::size_t kMaxFiles = 16;

// A folder may be listed and its files not be read, and one where nothing is
// mounted is there, too.
std::optional<Finding> WrongInside(const Context& context,
                                   const std::string& path) {
  const auto names = context.host.fs.List(path);
  if (!names) {
    // A file.
    return std::nullopt;
  }
  if (names->empty()) {
    Finding finding = MakeProblem(
        context, Cause::kDataPathUnreachable,
        "the data folder `" + Printable(path) + "` is empty on this host",
        {{"it contains no files: is its disk mounted?",
          "list",
          {{"path", path}}}},
        Confidence::kPossible);
    finding.severity = Severity::kWarning;
    return finding;
  }
  for (std::size_t i = 0; i < std::min(names->size(), kMaxFiles); ++i) {
    const std::string file = sys::JoinPath(path, (*names)[i]);
    const auto may = context.machine.MayAccess(file, sys::Access::kRead);
    if (!may && may.error().cause() == Cause::kFilePermission) {
      return Unreadable(context, file, may.error());
    }
  }
  return std::nullopt;
}

Outcome Run(const Context& context) {
  if (context.data.empty()) {
    return Skip("--data is not given");
  }
  std::vector<Finding> findings;
  std::vector<std::string> good;
  for (const std::string& path : context.data) {
    if (IsRemote(path)) {
      good.push_back(path + " is not on this host, not checked");
      continue;
    }
    const auto may = context.machine.MayAccess(path, sys::Access::kRead);
    if (!may) {
      findings.push_back(Unreadable(context, path, may.error()));
    } else if (auto wrong = WrongInside(context, path)) {
      findings.push_back(*std::move(wrong));
    } else {
      good.push_back(path);
    }
  }
  return Judge(std::move(findings), Join(good, ", "));
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "storage.data",
                   .title = "the data is readable",
                   .may_wait = true,
                   // A run is told no folder.
                   .before_run = BeforeRun::kNever,
                   .run = Run};

}  // namespace muster::check::storage_data
