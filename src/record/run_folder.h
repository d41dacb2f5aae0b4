// SPDX-License-Identifier: Apache-2.0
// The folders of runs, as they lie below RUNS_DIR.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "muster/fact.h"
#include "sys/file/fs.h"

namespace muster::record {

// kLost: it has no end on record, and nobody writes it any more. kUnknown:
// neither an end, nor does the file system tell whether it is written.
enum class RunState { kRunning, kEnded, kLost, kUnknown };
using muster::ToString;  // also of times
std::string_view ToString(RunState state);

struct RunSummary {
  std::string id;
  RunState state = RunState::kUnknown;
  std::optional<WallTime> started, ended;
  std::vector<std::string> command;
  int ranks = 0;  // 0: not known
  std::optional<int> exit_code;
  std::string cause;  // empty when good
  std::string text;   // the last line of the run
};

// Whether somebody writes a file now: sys::IsGrowing.
using IsWritten = std::function<std::optional<bool>(const std::string& path)>;

// A name that leads nowhere else, as MakeRunId makes it.
bool IsRunId(std::string_view text);

// The names of folders that hold a run, newest first; none: there is no such
// folder. Errors as Fs.
Result<std::vector<std::string>> RunIds(const sys::Fs& fs,
                                        const std::string& runs_dir);

// From the report, or else from the events.
RunSummary ReadRun(const sys::Fs& fs, const std::string& runs_dir,
                   const std::string& id, const IsWritten& is_written);

// Which runs may go.
struct PruneRule {
  std::optional<int> keep;        // so many of the newest stay
  std::optional<Duration> older;  // younger ones stay
};
// Those that have ended or were lost, and that the rule does not keep. `runs`
// are the newest first; one of unknown state stays. Pure.
std::vector<std::string> RunsToPrune(const std::vector<RunSummary>& runs,
                                     const PruneRule& rule, WallTime now);

}  // namespace muster::record
