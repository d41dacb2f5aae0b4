// SPDX-License-Identifier: Apache-2.0
// `muster logs`: what the ranks of a run wrote.
#include <chrono>
#include <thread>

#include "base/json.h"
#include "base/text.h"
#include "cli/command_line.h"
#include "cli/runs/rank_logs.h"
#include "cli/runs/run_folders.h"
#include "cli/verbs.h"
#include "diagnose/match/line_pattern.h"
#include "sys/file/file_lock.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

// As long as a person does not notice.
constexpr std::chrono::milliseconds kBetweenReads{200};
constexpr std::size_t kMaxHeldText = 64U << 10;

// Lines on their way out: folded, and written in larger pieces.
class LinePrinter {
 public:
  LinePrinter(bool json, std::optional<diagnose::LinePattern> pattern)
      : json_(json), pattern_(std::move(pattern)) {}

  void Add(int rank, std::string_view line) {
    if (!pattern_ || pattern_->IsIn(line)) {
      folder_.Add(rank, std::string(line));
    }
  }
  void Flush() {
    folder_.Flush();
    sys::PrintResult(text_);
    text_.clear();
  }
  Json TakeLines() { return std::move(lines_); }

 private:
  void Print(const RankLine& line) {
    if (json_) {
      lines_.push_back({{"ranks", line.ranks}, {"text", line.text}});
      return;
    }
    text_ += "[" + RanksShort(line.ranks) + "] " + Printable(line.text) + "\n";
    if (text_.size() > kMaxHeldText) {
      sys::PrintResult(text_);
      text_.clear();
    }
  }

  const bool json_;
  std::optional<diagnose::LinePattern> pattern_;
  std::string text_;
  Json lines_ = Json::array();
  LineFolder folder_{[this](const RankLine& line) { Print(line); }};
};

// The attempts of a run that have logs, ascending.
std::vector<int> AttemptsIn(const std::string& folder, const sys::Fs& fs) {
  std::vector<int> attempts;
  const auto names = fs.List(sys::JoinPath(folder, "logs"));
  for (const std::string& name : names ? *names : std::vector<std::string>()) {
    const auto number =
        name.starts_with("a") ? ParseInt(name.substr(1)) : std::nullopt;
    if (number && *number > 0) {
      attempts.push_back(static_cast<int>(*number));
    }
  }
  std::sort(attempts.begin(), attempts.end());
  return attempts;
}

Result<int> AttemptOf(const LogFlags& flags, const std::string& folder,
                      const sys::Fs& fs) {
  const auto attempts = AttemptsIn(folder, fs);
  if (attempts.empty()) {
    return Usage("`" + Printable(folder) + "` holds no output of ranks");
  }
  if (!flags.attempt) {
    return attempts.back();
  }
  if (std::find(attempts.begin(), attempts.end(), *flags.attempt) ==
      attempts.end()) {
    return Usage("flag --attempt is " + std::to_string(*flags.attempt) +
                 ", but the attempts of this run are 1 to " +
                 std::to_string(attempts.back()));
  }
  return *flags.attempt;
}

std::string LogsOf(const std::string& folder, int attempt) {
  return sys::JoinPath(folder, "logs/a" + std::to_string(attempt));
}

// Whether the run may write more.
bool IsRunning(const std::string& folder) {
  return sys::IsGrowing(sys::JoinPath(folder, "events.jsonl")).value_or(false);
}

// Until the run has ended. Ctrl-C ends this program as any other.
Status Follow(RankLogs::Options options, const std::string& folder, int attempt,
              const sys::Fs& fs, LinePrinter& shown) {
  options.growing = true;
  auto logs = std::make_unique<RankLogs>(options);
  for (bool running = true; running;) {
    running = IsRunning(folder);
    const auto attempts = AttemptsIn(folder, fs);
    const bool has_next = !attempts.empty() && attempts.back() > attempt;
    if (!running || has_next) {
      logs->Finish();
    }
    MUSTER_ASSIGN(const std::size_t count, logs->Read());
    shown.Flush();
    MUSTER_TRY(sys::ResultsWritten());
    if (has_next) {
      attempt = attempts.back();
      options.folder = LogsOf(folder, attempt);
      sys::PrintAside("muster: attempt " + std::to_string(attempt) + "\n");
      logs = std::make_unique<RankLogs>(options);
      running = true;
    } else if (running && count == 0) {
      std::this_thread::sleep_for(kBetweenReads);
    }
  }
  return Ok();
}

Result<int> LogsVerb(const CommandLine& line,
                     const settings::Settings& settings,
                     const sys::Host& host) {
  const LogFlags& flags = line.logs;
  const bool json = settings.output.value == settings::Output::kJson;
  if (json && flags.follow) {
    return Usage("--follow prints lines as they come, which excludes " +
                 settings.output.source + " json");
  }
  std::optional<diagnose::LinePattern> pattern;
  if (!flags.grep.empty()) {
    MUSTER_ASSIGN(pattern, diagnose::LinePattern::Make(flags.grep, "--grep"));
  }
  MUSTER_ASSIGN(const std::string folder,
                FindRun(line.inputs.empty() ? "latest" : line.inputs.front(),
                        settings.runs_dir.value, host.fs));
  MUSTER_ASSIGN(const int attempt, AttemptOf(flags, folder, host.fs));
  LinePrinter shown(json, std::move(pattern));
  RankLogs::Options options{
      .folder = LogsOf(folder, attempt),
      .ranks = flags.ranks,
      .on_line = [&shown](int rank, std::string_view text) {
        shown.Add(rank, text);
      }};
  if (flags.follow) {
    MUSTER_TRY(Follow(std::move(options), folder, attempt, host.fs, shown));
    return 0;
  }
  RankLogs logs(std::move(options));
  MUSTER_TRY(logs.Read());
  if (logs.empty()) {
    return Usage("flag --rank is " + RanksShort(flags.ranks) +
                 ", but attempt " + std::to_string(attempt) +
                 " has no output of them on this host");
  }
  shown.Flush();
  if (json) {
    sys::PrintDocument({{"schema", "muster.logs/1"},
                        {"folder", folder},
                        {"attempt", attempt},
                        {"lines", shown.TakeLines()}});
  }
  return 0;
}

Status TakeRanks(CommandLine& line, const Flag&, const std::string& text) {
  MUSTER_ASSIGN(line.logs.ranks, ParseRanks(text));
  return Ok();
}

}  // namespace

Verb DescribeLogs() {
  return {
      .path = "logs",
      .summary = "the output of the ranks of a run, merged",
      .about =
          "Print what the ranks of a run wrote on this host. RUN is an id, the "
          "beginning of one, or a folder; without it, the latest run. Equal "
          "lines of several ranks are one line, with the ranks before it: "
          "[0-3].\n\n"
          "The files of ranks hold no times of their own. A line is placed by "
          "the time that its program printed at its beginning, otherwise "
          "behind the line before it in the same file. Files without such "
          "times are merged line by line: first lines, then second lines, "
          "which need not be the order in which they were written. With "
          "--follow, lines come in the order in which they arrive. What a "
          "terminal would obey is shown as visible escapes; the files in "
          "RUN/logs hold the bytes as they were.",
      .examples = {{"muster logs"},
                   {"muster logs -f", "of a run that is running"},
                   {"muster logs 20261121-143519-7k2m --rank 0-3"},
                   {"muster logs --grep loss --attempt 1"}},
      .exits = {{"0", "the lines are printed"},
                {"2", "there is no such run, attempt or rank"}},
      .argument = {.name = "RUN",
                   .values = kRuns | kFolders,
                   .take = To(&CommandLine::inputs)},
      .groups = {{"Flags",
                  {{"-f, --follow", "",
                    "print new lines until the run has ended",
                    To(&CommandLine::logs, &LogFlags::follow)},
                   {"--rank", "RANKS", "only these: 0, 0-3, 0,4-7", TakeRanks},
                   {"--grep", "RE", "only lines that match this RE2 pattern",
                    To(&CommandLine::logs, &LogFlags::grep)},
                   {"--attempt", "N", "of this attempt (default: the last)",
                    ToPositive(&CommandLine::logs, &LogFlags::attempt)}}}},
      .run = LogsVerb};
}

}  // namespace muster::cli
