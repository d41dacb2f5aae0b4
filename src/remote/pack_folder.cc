// SPDX-License-Identifier: Apache-2.0
#include "remote/pack_folder.h"

#include <cstdint>

#include "base/text.h"
#include "record/journal.h"
#include "sys/process/process.h"
#include "sys/process/run_program.h"

namespace muster::remote {
namespace {

constexpr std::size_t kMaxBytes = 256U << 20;
constexpr auto kTimeout = std::chrono::seconds(60);

Error Unusable(const std::string& folder, const std::string& what) {
  return Error(Cause::kUsageInvalid,
               "flag --copy is `" + Printable(folder) + "`, " + what);
}

struct FolderSize {
  std::int64_t files = 0;
  std::int64_t bytes = 0;
};
Result<FolderSize> SizeOf(const std::string& folder, Deadline deadline) {
  MUSTER_ASSIGN(const auto listed,
                sys::RunProgram(
                    {.argv = {"find", folder, "-type", "f", "-printf", "%s\\n"},
                     .variables = {}},
                    deadline));
  if (!listed.Succeeded()) {
    return Unusable(folder, "which cannot be read as a folder");
  }
  FolderSize size;
  for (const std::string& line : Split(listed.output, '\n')) {
    if (const auto bytes = ParseInt(line)) {
      ++size.files;
      size.bytes += *bytes;
    }
  }
  return size;
}

}  // namespace

Result<Archive> PackFolder(const std::string& folder, const sys::Host& host) {
  if (!host.fs.List(folder)) {
    return Unusable(folder, "which is not a folder");
  }
  const Deadline deadline = Deadline::After(kTimeout);
  // A name that begins with a dash is no flag.
  const std::string path = folder.starts_with("/") ? folder : "./" + folder;
  MUSTER_ASSIGN(const FolderSize size, SizeOf(path, deadline));
  if (size.bytes > static_cast<std::int64_t>(kMaxBytes)) {
    return Unusable(
        folder,
        "which has " + BytesText(static_cast<std::uint64_t>(size.bytes)) +
            ", more than " + BytesText(kMaxBytes) +
            ": read data from a bucket or a disk that all workers share");
  }
  MUSTER_ASSIGN(auto packed,
                sys::RunProgram({.argv = {"tar", "-C", path, "-czf", "-", "."},
                                 .variables = {},
                                 .most_bytes = 2 * kMaxBytes},
                                deadline));
  if (!packed.Succeeded()) {
    return Unusable(folder,
                    "which tar could not pack (" + packed.Ending() + ")");
  }
  Archive archive{
      .bytes = std::move(packed.output),
      .folder = ".muster/copies/" +
                record::MakeRunId(host.clock.WallNow(), sys::OwnPid()),
      .what = "`" + Printable(folder) + "` (" + Count(size.files, "file") +
              ", " + BytesText(static_cast<std::uint64_t>(size.bytes))};
  archive.what += ", packed " + BytesText(archive.bytes.size()) + ")";
  return archive;
}

}  // namespace muster::remote
