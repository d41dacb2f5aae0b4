// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <iterator>

#include "base/json.h"
#include "base/log.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "base/words/suggest.h"
#include "cli/host_facts.h"
#include "cli/verbs.h"
#include "diagnose/match/log_scanner.h"
#include "diagnose/read/inputs.h"
#include "diagnose/verdict/answer.h"
#include "finding/catalogue.h"
#include "sys/file/byte_source.h"
#include "sys/net/stream.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

std::string ListText() {
  std::map<std::string_view, std::vector<Cause>> families;
  for (Cause cause : AllCauses()) {
    families[Family(cause)].push_back(cause);
  }
  std::string text;
  for (const auto& [family, causes] : families) {
    text += (text.empty() ? "" : "\n") + std::string(family) + "\n";
    for (Cause cause : causes) {
      std::string line = "  " + std::string(Label(cause));
      line.append(line.size() < 28 ? 28 - line.size() : 1, ' ');
      text += line + std::string(Title(cause)) + "\n";
    }
  }
  return text;
}

Json ListDocument() {
  Json causes = Json::array();
  for (Cause cause : AllCauses()) {
    causes.push_back({{"label", Label(cause)},
                      {"family", Family(cause)},
                      {"title", Title(cause)},
                      {"severity", ToString(SeverityOf(cause))},
                      {"retry", ToString(RetryOf(cause))}});
  }
  return Json{{"schema", "muster.causes/1"}, {"causes", std::move(causes)}};
}

Error NoSuchCause(const std::string& label) {
  std::vector<std::string> labels;
  for (Cause cause : AllCauses()) {
    labels.emplace_back(Label(cause));
  }
  const std::string meant = MeantText(label, labels);
  return Usage("`" + Printable(label) + "` is neither a file nor a cause" +
               (meant.empty() ? ": `muster explain --list` lists all" : meant));
}

// Prints the entry of a label.
Result<int> PrintEntry(const std::string& label, bool json) {
  const auto cause = CauseFromLabel(label);
  if (!cause) {
    return NoSuchCause(label);
  }
  const CatalogueEntry& entry = EntryOf(*cause);
  json ? sys::PrintDocument(ToJson(entry))
       : sys::PrintResult(RenderText(entry));
  return 0;
}

// True for a word that can only be meant as a label: no file has this name.
bool IsLabel(const std::vector<std::string>& inputs) {
  return inputs.size() == 1 && inputs[0] != "-" &&
         inputs[0].find_first_of("/.") == std::string::npos &&
         sys::KindOf(inputs[0]) == sys::PathKind::kNothing;
}

// "137", "-9", "SIGBUS" of `--exit`, however it is written.
Result<std::string> StatusOf(const std::string& exit) {
  if (const auto signal = SignalNumber(exit)) {
    return SignalName(*signal);
  }
  if (const auto number = ParseInt(exit)) {
    return std::to_string(*number);
  }
  return Error(Cause::kUsageInvalid,
               "--exit is `" + exit +
                   "`, expected a number (137, -9) or a signal name (SIGKILL)");
}

// "train.log", "3 inputs and this machine": at most a line of a terminal.
std::string WhatIsRead(const CommandLine& line) {
  constexpr std::size_t kShown = 60;
  std::string what;
  if (line.inputs.size() == 1) {
    what = line.inputs[0] == "-" ? "standard input"
                                 : Printable(line.inputs[0].substr(0, kShown));
  } else if (!line.inputs.empty()) {
    what = std::to_string(line.inputs.size()) + " inputs";
  }
  return what + (line.inspect_host && !what.empty() ? " and " : "") +
         (line.inspect_host ? "this machine" : "");
}

// On a terminal alone: what is being read, until it has been.
class ReadingLine {
 public:
  explicit ReadingLine(const CommandLine& line) {
    const std::string what = WhatIsRead(line);
    if (what.empty() || !sys::IsTerminal(2)) {
      return;
    }
    const bool typed =
        std::count(line.inputs.begin(), line.inputs.end(), "-") > 0 &&
        sys::IsTerminal(0);
    sys::PrintAside("reading " + what + (typed ? ": Ctrl-D ends it\n" : ""));
    shown_ = !typed;
  }
  ~ReadingLine() {
    if (shown_) {
      std::fputs("\r\033[K", stderr);
    }
  }
  ReadingLine(const ReadingLine&) = delete;
  ReadingLine& operator=(const ReadingLine&) = delete;

 private:
  bool shown_ = false;  // and to be taken away
};

// What the inputs, the exit status, the notes and --inspect-host show. Where
// one of the others says something too, inputs that cannot be read are a
// warning.
Result<diagnose::Reading> ReadAll(const CommandLine& line,
                                  const std::string& exit,
                                  const diagnose::InputOptions& options,
                                  const sys::Host& host) {
  const ReadingLine shown(line);
  diagnose::Reading all;
  const diagnose::Matcher matcher;
  if (!line.inputs.empty()) {
    auto reading = diagnose::ReadInputs(line.inputs, options, matcher);
    if (!reading && exit.empty() && line.notes.empty() && !line.inspect_host) {
      return std::move(reading).error().While("reading what to explain");
    }
    if (reading) {
      all = *std::move(reading);
    } else {
      all.unread.push_back(reading.error().message());
    }
  }
  if (!exit.empty()) {
    all.facts.push_back(diagnose::ExitFact(exit));
  }
  diagnose::LogScanner scanner(matcher);
  scanner.AddNotes(line.notes);
  std::vector<Fact> noted = scanner.TakeFacts();
  std::move(noted.begin(), noted.end(), std::back_inserter(all.facts));
  if (line.inspect_host) {
    for (Fact& fact : InspectHost(matcher, host)) {
      all.facts.push_back(std::move(fact));
    }
  }
  return all;
}

void LogUnread(const diagnose::Reading& reading) {
  for (const std::string& what : reading.unread) {
    MUSTER_LOG(kWarn, what);
  }
  for (const std::string& what : reading.skipped) {
    MUSTER_LOG(kInfo, what);
  }
}

// muster.explain/1 with what the answer does not rest on.
Json ExplainDocument(const diagnose::Answer& answer,
                     const diagnose::Reading& reading) {
  Json document = ToJson(answer);
  document["unread"] = reading.unread;
  for (const std::string& what : reading.skipped) {
    document["unread"].push_back(what);
  }
  return document;
}

Result<int> ExplainVerb(const CommandLine& line,
                        const settings::Settings& settings,
                        const sys::Host& host) {
  const bool json = settings.output.value == settings::Output::kJson;
  if (line.list) {
    json ? sys::PrintDocument(ListDocument()) : sys::PrintResult(ListText());
    return 0;
  }
  if (IsLabel(line.inputs)) {
    return PrintEntry(line.inputs[0], json);
  }
  diagnose::InputOptions options{
      .rank_from = {}, .clock = &host.clock, .max_cpu = settings.max_cpu.value};
  if (!line.rank_from.empty()) {
    MUSTER_ASSIGN(options.rank_from,
                  diagnose::RankPattern::Make(line.rank_from));
  }
  std::string exit;
  if (!line.exit.empty()) {
    MUSTER_ASSIGN(exit, StatusOf(line.exit));
  }
  auto read = ReadAll(line, exit, options, host);
  if (!read) {
    sys::PrintError(read.error(),
                    settings.output.value == settings::Output::kJson, host.env,
                    "explain");
    return 3;
  }
  LogUnread(*read);
  const diagnose::Answer answer = diagnose::WithReported(
      diagnose::Explain(std::move(read->facts)), std::move(read->reported));
  json
      ? sys::PrintDocument(ExplainDocument(answer, *read))
      : sys::PrintResult(RenderText(answer, sys::TerminalOptions(host.env, 1)));
  return 0;
}

Status CheckExplain(CommandLine& line) {
  if (line.inputs.empty() && line.exit.empty() && line.notes.empty() &&
      !line.inspect_host && !line.list) {
    return Usage(
        "nothing to explain: give a log, a folder, `-` for standard input, the "
        "label of a cause, --exit STATUS, --note TEXT or --inspect-host; "
        "--list lists all causes");
  }
  if (std::any_of(line.notes.begin(), line.notes.end(),
                  [](const std::string& note) { return Trim(note).empty(); })) {
    return Usage(
        "--note is empty: describe what you saw, as in --note 'it hangs after "
        "the first epoch'");
  }
  return Ok();
}

FlagGroup ExplainFlags() {
  return {"Flags",
          {{"--exit", "STATUS", "how the program ended: 137, -9, SIGBUS",
            To(&CommandLine::exit)},
           {.names = "--note",
            .value = "TEXT",
            .help = "what you saw, in your words; repeatable",
            .take = To(&CommandLine::notes),
            .repeats = true},
           {"--rank-from", "PATTERN",
            "RE2 pattern whose one group is the rank, applied to file names, "
            "and to the lines of files whose names do not contain a rank",
            To(&CommandLine::rank_from)},
           {"--inspect-host", "",
            "also inspect this host: kernel log, memory counters, limits, "
            "disks, ports, devices and their processes, the Slurm job, the "
            "pod; changes nothing",
            To(&CommandLine::inspect_host)},
           {"--list", "", "list all causes, one per line",
            To(&CommandLine::list)}}};
}

}  // namespace

Verb DescribeExplain() {
  return {
      .path = "explain",
      .summary = "report why a run failed, or what a cause means",
      .about =
          "Report why a training run failed: one named cause with its "
          "evidence, or \"unknown\" with the possible causes and how to "
          "confirm each. Reports no failure in healthy logs. Or print what a "
          "cause means and how to fix it.\n\n"
          "Inputs: logs, folders (including run folders), `-`, tar, zip, gzip "
          "and zstd, Kaggle logs, notebooks; no input with --exit, --note or "
          "--inspect-host. A note supports a cause but does not prove it: "
          "without a log it leads to possible causes only. Unreadable inputs "
          "are warnings, and listed in `unread` of --output json.",
      .examples =
          {{"muster explain train.log"},
           {"muster explain rank0.log rank1.log",
            "all ranks show the root cause"},
           {"muster explain runs/ID"},
           {"kubectl logs POD | muster explain - --exit 137"},
           {"muster explain train.log --note 'it hangs after the first epoch'"},
           {"muster explain peer-died", "what a cause means"},
           {"muster explain --list"}},
      .exits = {{"0", "explained"}, {"3", "nothing could be read"}},
      .argument = {.name = "LOG|RUN|CAUSE",
                   .repeats = true,
                   .values = kFiles | kFolders | kCauses | kRuns,
                   .take = To(&CommandLine::inputs)},
      .groups = {ExplainFlags()},
      .check = CheckExplain,
      .run = ExplainVerb};
}

}  // namespace muster::cli
