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

Status CheckBundle(CommandLine& line) {
  return line.inputs.empty()
             ? Usage(
                   "nothing to pack: give the folder of a run or logs, as in "
                   "`muster bundle runs/latest`")
             : Ok();
}

}  // namespace

Verb DescribeBundle() {
  return {
      .path = "bundle",
      .summary =
          "pack a run or logs without secrets, to explain them elsewhere",
      .about =
          "Pack the folder of a run, or logs, into one archive that `muster "
          "explain` reads anywhere. Removes tokens, keys, passwords and URL "
          "signatures, keeps only known environment variables, and prints what "
          "it removed.",
      .examples =
          {{"muster bundle runs/latest"},
           {"muster bundle rank0.log rank1.log --archive failed.tar.gz"},
           {"muster explain failed.tar.gz"}},
      .exits = {{"1", "the archive cannot be written"},
                {"2", "there is nothing to pack"}},
      .argument = {.name = "RUN|LOG",
                   .repeats = true,
                   .values = kRuns | kFiles | kFolders,
                   .take = To(&CommandLine::inputs)},
      .groups = {{"Flags",
                  {{"--archive", "FILE",
                    "output file (default muster-bundle.tar.gz)",
                    To(&CommandLine::archive)},
                   {"--redact-email", "", "remove email addresses, too",
                    To(&CommandLine::redact_emails)}}}},
      .check = CheckBundle,
      .run = BundleVerb};
}

}  // namespace muster::cli
