// SPDX-License-Identifier: Apache-2.0
// Part of verb.h: the list of sub-commands, in the order of the overview. A new
// one is its function Describe… (verbs.h) and a line here.
#include "cli/command_line.h"
#include "cli/verbs.h"
#include "muster/version.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

Result<int> PrintVersion(const CommandLine&, const settings::Settings&,
                         const sys::Host&) {
  sys::PrintResult("muster " + std::string(kVersion) + "\n");
  return 0;
}

Verb DescribeVersion() {
  return {.path = "version",
          .summary = "print the version",
          .about = "Print the version, as `muster --version` does.",
          .examples = {{"muster version"}},
          .run = PrintVersion,
          .has_settings = false};
}

Verb DescribeProgram() {
  return {.path = "",
          .summary = "train on a cluster, or report the exact reason why not",
          .about =
              "muster brings a training cluster from a list of addresses to a "
              "finished training run, or reports the exact reason why not.",
          .examples = {{"muster run -n 2 -- python train.py",
                        "two ranks of this host"},
                       {"muster run --hosts a,b --start ssh -- CMD",
                        "on these hosts, over ssh"},
                       {"muster resolve", "the cluster and rank of this host"},
                       {"muster check", "can this host train?"},
                       {"muster explain train.log", "why did it fail?"}},
          .groups = {{"Flags",
                      {{.names = "-V, --version",
                        .value = "",
                        .help = "print the version",
                        .take = To(&CommandLine::version)}}}},
          .has_settings = false};
}

Take ToSetting(std::string name) {
  return [name = std::move(name)](CommandLine& line, const Flag&,
                                  const std::string& text) {
    line.settings[name] = text;
    return Ok();
  };
}

FlagGroup SettingsOf(std::string_view path) {
  FlagGroup group{"Settings (muster config shows their values and sources)",
                  {}};
  for (const settings::SettingRow& row : settings::SettingRows()) {
    if (row.IsFor(path)) {
      group.flags.push_back({.names = std::string(row.flag),
                             .value = std::string(row.label),
                             .help = std::string(row.doc) + " (default " +
                                     std::string(row.fallback) + ", " +
                                     std::string(row.variable) + ")",
                             .take = ToSetting(std::string(row.name)),
                             .choices = row.words()});
    }
  }
  return group;
}

// What every sub-command has.
void AddCommon(Verb& verb) {
  if (verb.groups.empty()) {
    verb.groups.push_back({"Flags", {}});
  }
  verb.groups.back().flags.push_back({.names = "-h, --help",
                                      .value = "",
                                      .help = "show this help",
                                      .take = To(&CommandLine::help)});
  if (verb.run != nullptr && verb.has_settings) {
    verb.groups.push_back(SettingsOf(verb.path));
  }
}

std::vector<Verb> MakeVerbs() {
  std::vector<Verb> verbs{DescribeProgram(), DescribeRun(), DescribeTorchrun(),
                          DescribeResolve()};
  const auto add = [&](std::vector<Verb> more) {
    verbs.insert(verbs.end(), more.begin(), more.end());
  };
  add(DescribeCheck());
  add({DescribeExplain(), DescribeBundle()});
  add(DescribeRuns());
  add({DescribeLogs()});
  add(DescribeTpu());
  add({DescribeConfig(), DescribeCompletion(), DescribeVersion(),
       DescribeShare()});
  for (Verb& verb : verbs) {
    AddCommon(verb);
  }
  return verbs;
}

}  // namespace

const std::vector<Verb>& Verbs() {
  static const std::vector<Verb> verbs = MakeVerbs();
  return verbs;
}

}  // namespace muster::cli
