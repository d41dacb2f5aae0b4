// SPDX-License-Identifier: Apache-2.0
// `muster config`: every setting, its value, and where that comes from.
#include "base/json.h"
#include "base/text.h"
#include "cli/command_line.h"
#include "cli/tpu/tpu.h"
#include "cli/verbs.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

using settings::SettingRow;

// "run, tpu create".
std::vector<std::string> VerbsOf(const SettingRow& row) {
  std::vector<std::string> verbs;
  for (const Verb& verb : Verbs()) {
    if (verb.run != nullptr && verb.has_settings && row.IsFor(verb.path)) {
      verbs.push_back(verb.path);
    }
  }
  return verbs;
}

Json SettingJson(const SettingRow& row, const Sourced<std::string>& text) {
  return {{"key", settings::KeyOf(row)},  {"value", text.value},
          {"source", text.source},        {"flag", row.flag},
          {"variable", row.variable},     {"default", row.fallback},
          {"sub_commands", VerbsOf(row)}, {"meaning", row.doc}};
}

Result<int> ConfigVerb(const CommandLine& line,
                       const settings::Settings& settings,
                       const sys::Host& host) {
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows{
      {"key", "value", "source", "flag", "variable", "sub-commands"}};
  for (const SettingRow& row : settings::SettingRows()) {
    const auto text = settings::TextOf(row, line.settings, host.env, line.file);
    list.push_back(SettingJson(row, text));
    rows.push_back({settings::KeyOf(row), text.value, text.source,
                    std::string(row.flag), std::string(row.variable),
                    row.verbs == "all" ? "all" : JoinSome(VerbsOf(row), 3)});
  }
  std::vector<std::string> variables;
  for (const auto& [name, value] : line.file.environment) {
    variables.push_back(name);
  }
  if (settings.output.value == settings::Output::kJson) {
    sys::PrintDocument({{"schema", "muster.config/1"},
                        {"files", line.file.paths},
                        {"settings", std::move(list)},
                        {"env", variables}});
    return 0;
  }
  std::string text = TableText(std::move(rows)) + "\n";
  text += line.file.paths.empty()
              ? "no muster.toml was read\n"
              : "read: " + Printable(Join(line.file.paths, ", ")) + "\n";
  if (!variables.empty()) {
    text += "[env] sets " + Printable(Join(variables, ", ")) + " for ranks\n";
  }
  sys::PrintResult(text);
  return 0;
}

}  // namespace

Verb DescribeConfig() {
  return {
      .path = "config",
      .summary = "every setting: its value, its source, where it may be set",
      .about =
          "Print every setting with its value and where that comes from. A "
          "setting is taken from its flag, else from its variable, else from "
          "muster.toml of this folder, else from that of the user "
          "($XDG_CONFIG_HOME/muster/muster.toml, or "
          "~/.config/muster/muster.toml), else it has its default.\n\n"
          "A key of muster.toml is a flag without its dashes; the table [env] "
          "sets variables of the ranks, as --env does:\n\n"
          "  grace = \"30s\"\n"
          "  max-restarts = 5\n"
          "  [env]\n"
          "  OMP_NUM_THREADS = 4\n\n"
          "An unknown key is an error, and so is a file that belongs to "
          "another user than this one and root, or that every user can "
          "change. --config FILE reads one file, whoever owns it; --config "
          "none reads none.",
      .examples = {{"muster config"}, {"muster config --output json"}},
      .exits = {{"0", "the settings are printed"},
                {"2", "a setting or a muster.toml is invalid"}},
      .run = ConfigVerb};
}

}  // namespace muster::cli
