// SPDX-License-Identifier: Apache-2.0
#include "cli/tpu/line.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/text.h"

namespace muster::cli {
namespace {

struct Row {
  TpuAction action;
  std::string_view words;  // "queued list"
  bool named;
  std::string_view flags;
};
constexpr std::string_view kOfLists = " --zone --all-zones --quiet ";
constexpr std::string_view kOfChanges = " --zone --yes ";
constexpr std::array kRows{
    Row{TpuAction::kAuth, "auth", false, ""},
    Row{TpuAction::kDoctor, "doctor", false,
        " --zone --type --version --enable --yes "},
    Row{TpuAction::kList, "list", false, kOfLists},
    Row{TpuAction::kDescribe, "describe", true, " --zone "},
    Row{TpuAction::kTypes, "types", false, kOfLists},
    Row{TpuAction::kVersions, "versions", false, kOfLists},
    Row{TpuAction::kQueuedList, "queued list", false, kOfLists},
    Row{TpuAction::kQueuedDescribe, "queued describe", true, " --zone "},
    Row{TpuAction::kSsh, "ssh", true,
        " --zone --worker --address --internal-ip --user --command "},
    Row{TpuAction::kNotebook, "notebook", true,
        " --zone --worker --address --internal-ip --user --port "},
    Row{TpuAction::kCreate, "create", true,
        " --zone --any-zone --type --version --on-demand --spot --reserved "
        "--queued --wait --reach --yes --dry-run --quiet "},
    Row{TpuAction::kWait, "wait", true, " --zone --reach --quiet "},
    Row{TpuAction::kStart, "start", true, kOfChanges},
    Row{TpuAction::kStop, "stop", true, kOfChanges},
    Row{TpuAction::kDelete, "delete", true, kOfChanges},
    Row{TpuAction::kQueuedDelete, "queued delete", true, kOfChanges},
    Row{TpuAction::kReap, "reap", false, " --yes --dry-run "},
};

const Row* RowOf(TpuAction action) {
  const auto found =
      std::find_if(kRows.begin(), kRows.end(),
                   [&](const Row& row) { return row.action == action; });
  return found == kRows.end() ? nullptr : &*found;
}

Error Unknown(const std::vector<std::string>& words) {
  std::string given = words[0];
  std::vector<std::string> known;
  if (given == "queued") {
    given += words.size() > 1 ? " " + words[1] : "";
  }
  known.reserve(kRows.size());
  for (const Row& row : kRows) {
    known.emplace_back(row.words);
  }
  const auto meant = DidYouMean(given, known);
  return Usage("`muster tpu " + Printable(given) + "` is not a command" +
               (meant ? ", did you mean `" + *meant + "`?"
                      : ": expected one of " + Join(known, ", ")));
}

}  // namespace

Error Usage(const std::string& message) {
  return Error(Cause::kUsageInvalid, message);
}

std::string NameOf(TpuAction action) {
  const Row* row = RowOf(action);
  return "muster tpu" + (row == nullptr ? "" : " " + std::string(row->words));
}

bool TpuActionHas(TpuAction action, const std::string& flag) {
  const Row* row = RowOf(action);
  return row != nullptr &&
         row->flags.find(" " + flag + " ") != std::string_view::npos;
}

Status ReadTpuWords(TpuFlags& flags) {
  const auto& words = flags.words;
  if (words.empty()) {
    return Ok();
  }
  const auto row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& one) {
        const auto known = Split(one.words, ' ');
        return words.size() >= known.size() &&
               std::equal(known.begin(), known.end(), words.begin());
      });
  if (row == kRows.end()) {
    return Unknown(words);
  }
  flags.action = row->action;
  const std::size_t taken = Split(row->words, ' ').size();
  const std::size_t wanted = taken + (row->named ? 1 : 0);
  if (words.size() < wanted) {
    return Usage("a name is required, as in `" + NameOf(row->action) +
                 " NAME`");
  }
  if (words.size() > wanted) {
    return Usage("unexpected `" + Printable(words[wanted]) + "` after `" +
                 NameOf(row->action) + (row->named ? " NAME`" : "`"));
  }
  flags.name = row->named ? words[taken] : "";
  return Ok();
}

}  // namespace muster::cli
