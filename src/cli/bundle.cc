// SPDX-License-Identifier: Apache-2.0
#include "diagnose/read/bundle.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/verbs.h"
#include "muster/version.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

constexpr std::string_view kDefaultArchive = "muster-bundle.tar.gz";

std::string RemovedText(const std::map<std::string, int>& removed) {
  std::vector<std::string> parts;
  parts.reserve(removed.size());
  for (const auto& [kind, count] : removed) {
    parts.push_back(Count(count, kind));
  }
  return parts.empty() ? "no secrets" : Join(parts, ", ");
}

std::string Text(const diagnose::Bundle& bundle, const std::string& path) {
  std::string text = path + ": " + BytesText(bundle.archive.size()) + ", " +
                     Count(std::ssize(bundle.files), "file") + "\n";
  text += "removed: " + RemovedText(bundle.removed) + "; " +
          Count(std::ssize(bundle.left_out), "variable") +
          " of the environment left out\n";
  for (const std::string& note : bundle.notes) {
    text += "note: " + Printable(note) + "\n";
  }
  return text + "read it: muster explain " + path + "\n";
}

Json Document(const diagnose::Bundle& bundle, const std::string& path) {
  return Json{{"schema", "muster.bundle/1"},
              {"archive", path},
              {"bytes", bundle.archive.size()},
              {"files", bundle.files},
              {"removed", bundle.removed},
              {"variables_left_out", bundle.left_out.size()},
              {"notes", bundle.notes}};
}

}  // namespace

Result<int> BundleVerb(const CommandLine& line,
                       const settings::Settings& settings,
                       const sys::Host& host) {
  const auto bundle =
      diagnose::MakeBundle(line.inputs, {.environment = host.env.All(),
                                         .version = std::string(kVersion),
                                         .at = host.clock.WallNow(),
                                         .redact_emails = line.redact_emails});
  if (!bundle) {
    sys::PrintError(bundle.error(),
                    settings.output.value == settings::Output::kJson, host.env,
                    "bundle");
    return 2;
  }
  const std::string path =
      line.archive.empty() ? std::string(kDefaultArchive) : line.archive;
  MUSTER_TRY(host.fs.Write(path, bundle->archive));
  settings.output.value == settings::Output::kJson
      ? sys::PrintDocument(Document(*bundle, path))
      : sys::PrintResult(Text(*bundle, path));
  return 0;
}

}  // namespace muster::cli
