// SPDX-License-Identifier: Apache-2.0
// `muster runs` and `muster runs prune`: the folders of runs.
#include <algorithm>

#include "base/command_text.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command_line.h"
#include "cli/tpu/show.h"
#include "cli/tpu/tpu.h"
#include "cli/verbs.h"
#include "record/run_folder.h"
#include "sys/file/file_lock.h"
#include "sys/terminal/confirm.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

using record::RunState;
using record::RunSummary;

Result<std::vector<RunSummary>> ReadRuns(const std::string& runs_dir,
                                         const sys::Fs& fs) {
  MUSTER_ASSIGN(const auto ids, record::RunIds(fs, runs_dir));
  std::vector<RunSummary> runs;
  runs.reserve(ids.size());
  for (const std::string& id : ids) {
    runs.push_back(record::ReadRun(fs, runs_dir, id, sys::IsGrowing));
  }
  // Ids tell seconds.
  std::stable_sort(runs.begin(), runs.end(),
                   [](const RunSummary& a, const RunSummary& b) {
                     return a.started > b.started;
                   });
  return runs;
}

// "2026-11-21 14:35:19".
std::string TimeText(const std::optional<WallTime>& time) {
  if (!time) {
    return "-";
  }
  const std::string text = ToString(*time);
  return text.substr(0, 10) + " " + text.substr(11, 8);
}

std::string EndText(const RunSummary& run) {
  return run.state == RunState::kEnded && run.exit_code
             ? "exit " + std::to_string(*run.exit_code)
             : std::string(ToString(run.state));
}

std::string CommandOf(const RunSummary& run) {
  constexpr std::size_t kMaxShown = 60;
  const std::string text = Printable(muster::CommandLine(run.command));
  return Columns(text) <= kMaxShown ? text
                                    : Wrap(text, kMaxShown).front() + " …";
}

Json RunJson(const RunSummary& run) {
  const auto time = [](const std::optional<WallTime>& at) {
    return at ? Json(ToString(*at)) : Json();
  };
  return {{"run", run.id},
          {"state", ToString(run.state)},
          {"started", time(run.started)},
          {"ended", time(run.ended)},
          {"command", run.command},
          {"ranks", run.ranks},
          {"exit_code", run.exit_code ? Json(*run.exit_code) : Json()},
          {"cause", run.cause.empty() ? Json() : Json(run.cause)},
          {"text", run.text}};
}

Result<int> RunsVerb(const CommandLine&, const settings::Settings& settings,
                     const sys::Host& host) {
  const std::string& runs_dir = settings.runs_dir.value;
  MUSTER_ASSIGN(const auto runs, ReadRuns(runs_dir, host.fs));
  if (settings.output.value == settings::Output::kJson) {
    Json list = Json::array();
    for (const RunSummary& run : runs) {
      list.push_back(RunJson(run));
    }
    sys::PrintDocument({{"schema", "muster.runs/1"},
                        {"runs_dir", runs_dir},
                        {"runs", std::move(list)}});
    return 0;
  }
  if (runs.empty()) {
    sys::PrintResult("no runs in " + Printable(runs_dir) + "\n");
    return 0;
  }
  std::vector<std::vector<std::string>> rows{
      {"run", "started (UTC)", "ranks", "end", "cause", "command"}};
  for (const RunSummary& run : runs) {
    rows.push_back({run.id, TimeText(run.started),
                    run.ranks == 0 ? "-" : std::to_string(run.ranks),
                    EndText(run), OrDash(run.cause), CommandOf(run)});
  }
  sys::PrintResult(TableText(std::move(rows)));
  return 0;
}

// Whether it may be done. usage-invalid: there is nobody to ask.
Result<bool> MayPrune(const CommandLine& line, std::ptrdiff_t count,
                      const std::string& runs_dir) {
  if (line.yes) {
    return true;
  }
  const auto yes =
      sys::AskPerson("Delete " + Count(count, "run") + " with their logs in " +
                     Printable(runs_dir) + "?");
  if (!yes) {
    return Usage("there is no terminal to ask for confirmation: add --yes");
  }
  return *yes;
}

// Those that were deleted.
Result<std::vector<std::string>> Remove(const std::vector<std::string>& ids,
                                        const std::string& runs_dir,
                                        sys::Fs& fs) {
  std::vector<std::string> deleted;
  for (const std::string& id : ids) {
    const std::string folder = sys::JoinPath(runs_dir, id);
    // The person at the terminal may have taken a while.
    if (!sys::IsGrowing(sys::JoinPath(folder, "events.jsonl"))
             .value_or(false)) {
      MUSTER_TRY(fs.RemoveRecursively(folder));
      deleted.push_back(id);
    }
  }
  const std::string latest = sys::JoinPath(runs_dir, "latest");
  if (!deleted.empty() && !fs.Exists(latest)) {
    MUSTER_TRY(fs.RemoveRecursively(latest));  // a link to what has gone
  }
  return deleted;
}

Result<int> PruneVerb(const CommandLine& line,
                      const settings::Settings& settings,
                      const sys::Host& host) {
  const std::string& runs_dir = settings.runs_dir.value;
  MUSTER_ASSIGN(const auto runs, ReadRuns(runs_dir, host.fs));
  auto ids = record::RunsToPrune(runs, line.prune, host.clock.WallNow());
  if (!ids.empty() && !line.dry_run) {
    MUSTER_ASSIGN(const bool may, MayPrune(line, std::ssize(ids), runs_dir));
    if (!may) {
      return Error(Cause::kCancelled, "nothing was deleted: not confirmed");
    }
    MUSTER_ASSIGN(ids, Remove(ids, runs_dir, host.fs));
  }
  if (settings.output.value == settings::Output::kJson) {
    sys::PrintDocument({{"schema", "muster.runs.prune/1"},
                        {"runs_dir", runs_dir},
                        {"dry_run", line.dry_run},
                        {"deleted", ids},
                        {"kept", runs.size() - ids.size()}});
    return 0;
  }
  std::string text;
  for (const std::string& id : ids) {
    text += (line.dry_run ? "would delete " : "deleted ") + id + "\n";
  }
  sys::PrintResult(text + Count(std::ssize(ids), "run") +
                   (line.dry_run ? " would be deleted, " : " deleted, ") +
                   std::to_string(runs.size() - ids.size()) + " kept\n");
  return 0;
}

Status TakeAge(CommandLine& line, const Flag&, const std::string& text) {
  const auto age = ParseDuration(text);
  if (!age) {
    return Usage("flag --older is `" + Printable(text) +
                 "`, expected an age such as 12h or 30d");
  }
  line.prune.older = *age;
  return Ok();
}

Status CheckPrune(CommandLine& line) {
  return line.prune.keep || line.prune.older
             ? Ok()
             : Usage(
                   "which runs may go? --keep N keeps the newest, --older AGE "
                   "those that ended since; with both, what neither keeps "
                   "goes");
}

}  // namespace

std::vector<Verb> DescribeRuns() {
  return {
      {.path = "runs",
       .summary = "list the runs of this folder: when, what, how it ended",
       .about =
           "List the runs that have a folder below --runs-dir on this host, "
           "the newest first. The end of a run is its exit code, `running`, "
           "`lost` (no end is on record and no process writes it) or "
           "`unknown` (the file system has no locks that tell).",
       .examples = {{"muster runs"}, {"muster runs --output json"}},
       .exits = {{"0", "the list is printed, also where it is empty"}},
       .run = RunsVerb},
      {.path = "runs prune",
       .summary = "delete old runs with their logs",
       .about =
           "Delete the folders of runs that have ended or were lost: those "
           "that --keep and --older do not keep. With both, a run goes that "
           "neither keeps. A run that is running, or whose state is unknown, "
           "stays. Asks first.",
       .examples = {{"muster runs prune --keep 20 --older 30d --dry-run"},
                    {"muster runs prune --keep 20 --older 30d"}},
       .exits = {{"0", "done, also where nothing had to go"},
                 {"2", "invalid command line, or nobody to ask and no --yes"},
                 {"130", "not confirmed"}},
       .groups = {{"Flags",
                   {{"--keep", "N", "keep the newest N runs",
                     To(&CommandLine::prune, &record::PruneRule::keep)},
                    {"--older", "AGE",
                     "keep runs that ended within this time: 12h, 30d",
                     TakeAge},
                    {"--dry-run", "", "print what would go, and delete nothing",
                     To(&CommandLine::dry_run)},
                    {"-y, --yes", "", "do not ask for confirmation",
                     To(&CommandLine::yes)}}}},
       .check = CheckPrune,
       .run = PruneVerb}};
}

}  // namespace muster::cli
