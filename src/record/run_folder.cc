// SPDX-License-Identifier: Apache-2.0
#include "record/run_folder.h"

#include <algorithm>

#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "record/events.h"

namespace muster::record {
namespace {

constexpr std::size_t kMaxRead = std::size_t{64} << 20;

std::optional<WallTime> TimeField(const Json& json, const char* key) {
  const auto time = ParseWallTime(TextOf(json, key));
  return time ? std::optional(*time) : std::nullopt;
}

std::vector<std::string> WordsIn(const Json& list) {
  std::vector<std::string> words;
  for (const Json& word : list) {
    if (word.is_string()) {
      words.push_back(word.get<std::string>());
    }
  }
  return words;
}

bool TakeReport(const sys::Fs& fs, const std::string& folder, RunSummary& run) {
  const auto text = fs.Read(sys::JoinPath(folder, "report.json"), kMaxRead);
  const auto report = text
                          ? ParseJson(*text, Cause::kFileCorrupt, "report.json")
                          : Result<Json>(text.error());
  if (!report || !report->is_object()) {
    return false;
  }
  run.state = RunState::kEnded;
  run.started = TimeField(*report, "started");
  run.ended = TimeField(*report, "ended");
  run.command = WordsIn(ListOf(*report, "command"));
  const Json& attempts = ListOf(*report, "attempts");
  if (!attempts.empty()) {
    run.ranks = static_cast<int>(ListOf(attempts.back(), "ranks").size());
  }
  const Json exit = report->value("exit", Json());
  run.exit_code = NumberOf(exit, "code");
  run.cause = TextOf(exit, "cause");
  run.text = TextOf(exit, "text");
  return true;
}

void TakeFact(const Fact& fact, RunSummary& run) {
  if (fact.name == kRunStarted) {
    run.started = fact.at;
    const auto argv = ParseJson(fact.Text("argv"), Cause::kFileCorrupt, "argv");
    run.command = argv ? WordsIn(*argv) : std::vector<std::string>();
    run.ranks = static_cast<int>(fact.Number("world_size"));
  } else if (fact.name == kRunEnded) {
    run.state = RunState::kEnded;
    run.ended = fact.at;
    run.exit_code = static_cast<int>(fact.Number("exit_code"));
    run.cause = fact.Text("cause");
    run.text = fact.Text("text");
  }
}

void TakeEvents(const sys::Fs& fs, const std::string& events,
                const IsWritten& is_written, RunSummary& run) {
  const auto text = fs.Read(events, kMaxRead);
  if (!text) {
    return;
  }
  for (const std::string& line : Split(*text, '\n')) {
    const auto json = ParseJson(line, Cause::kFileCorrupt, "events.jsonl");
    const auto fact = json ? FactFromJson(*json) : Result<Fact>(json.error());
    if (fact) {
      TakeFact(*fact, run);
    }
  }
  const auto written = is_written(events);
  if (written.value_or(false)) {
    run.state = RunState::kRunning;
  } else if (written && run.state != RunState::kEnded) {
    run.state = RunState::kLost;
  }
}

}  // namespace

std::string_view ToString(RunState state) {
  switch (state) {
    case RunState::kRunning:
      return "running";
    case RunState::kEnded:
      return "ended";
    case RunState::kLost:
      return "lost";
    case RunState::kUnknown:
      break;
  }
  return "unknown";
}

bool IsRunId(std::string_view text) {
  constexpr std::size_t kLongest = 64;
  return !text.empty() && text.size() <= kLongest &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
         });
}

Result<std::vector<std::string>> RunIds(const sys::Fs& fs,
                                        const std::string& runs_dir) {
  std::vector<std::string> ids;
  if (!fs.Exists(runs_dir)) {
    return ids;
  }
  MUSTER_ASSIGN(const auto names, fs.List(runs_dir));
  for (const std::string& name : names) {
    const std::string folder = sys::JoinPath(runs_dir, name);
    // `latest` is a link to one of them.
    const bool holds_run = fs.Exists(sys::JoinPath(folder, "events.jsonl")) ||
                           fs.Exists(sys::JoinPath(folder, "report.json")) ||
                           fs.Exists(sys::JoinPath(folder, "logs"));
    if (IsRunId(name) && name != "latest" && holds_run) {
      ids.push_back(name);
    }
  }
  // An id begins with the time.
  std::sort(ids.rbegin(), ids.rend());
  return ids;
}

RunSummary ReadRun(const sys::Fs& fs, const std::string& runs_dir,
                   const std::string& id, const IsWritten& is_written) {
  RunSummary run{.id = id};
  const std::string folder = sys::JoinPath(runs_dir, id);
  if (!TakeReport(fs, folder, run)) {
    TakeEvents(fs, sys::JoinPath(folder, "events.jsonl"), is_written, run);
  }
  return run;
}

std::vector<std::string> RunsToPrune(const std::vector<RunSummary>& runs,
                                     const PruneRule& rule, WallTime now) {
  std::vector<std::string> ids;
  int place = 0;
  for (const RunSummary& run : runs) {
    const bool is_kept = rule.keep && place++ < *rule.keep;
    const auto last = run.ended ? run.ended : run.started;
    const bool is_young = rule.older && (!last || now - *last < *rule.older);
    const bool may_go =
        run.state == RunState::kEnded || run.state == RunState::kLost;
    if (may_go && !is_kept && !is_young) {
      ids.push_back(run.id);
    }
  }
  return ids;
}

}  // namespace muster::record
