// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>

#include "accelerator/device_files.h"
#include "base/json.h"
#include "base/text.h"
#include "channel/caller.h"
#include "check/outcome_json.h"
#include "check/runner.h"
#include "cli/check/plugins.h"
#include "cli/check/table.h"
#include "cli/preflight.h"
#include "cli/verbs.h"
#include "cli/worker_verbs.h"
#include "finding/exit_code.h"
#include "identify/target.h"
#include "muster/version.h"
#include "resolve/resolve.h"
#include "sys/machine.h"
#include "sys/net/stream.h"
#include "sys/terminal/confirm.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

using check::Answer;
using check::Check;

constexpr std::string_view kSchema = "muster.check/1";

int CountOf(std::span<const Answer> answers, OutcomeState state) {
  return static_cast<int>(std::count_if(
      answers.begin(), answers.end(),
      [&](const Answer& one) { return one.outcome.state == state; }));
}

bool AnyFinding(std::span<const Answer> answers, Severity severity) {
  for (const Answer& answer : answers) {
    for (const Finding& finding : answer.outcome.findings) {
      if (finding.severity == severity) {
        return true;
      }
    }
  }
  return false;
}

// What stands around the checks.
struct Frame {
  std::string host;
  Deadline::Clock::time_point began = Deadline::Clock::now();
  // The cluster could not be described: as for every sub-command, 2.
  bool bad_description = false;
  settings::FailOn fail_on = settings::FailOn::kError;
  // --framework, check tpu: without a cluster, nobody.
  bool members_are_asked = false;

  double Seconds() const {
    return std::chrono::duration<double>(Deadline::Clock::now() - began)
        .count();
  }
};

// Whether somebody asked for what could not be described.
bool NeedsCluster(std::span<const Answer> answers) {
  return std::any_of(answers.begin(), answers.end(), [](const Answer& one) {
    return one.check->id == "cluster.described";
  });
}

int ExitCode(const Frame& frame, std::span<const Answer> answers) {
  if (frame.bad_description &&
      (frame.members_are_asked || NeedsCluster(answers))) {
    return 2;
  }
  if (frame.fail_on == settings::FailOn::kNever) {
    return 0;
  }
  if (AnyFinding(answers, Severity::kError) ||
      (frame.fail_on == settings::FailOn::kWarning &&
       AnyFinding(answers, Severity::kWarning))) {
    return 1;
  }
  return CountOf(answers, OutcomeState::kBroken) > 0 ? 3 : 0;
}

Json SummaryOf(const Frame& frame, std::span<const Answer> answers) {
  Json summary;
  for (const OutcomeState state :
       {OutcomeState::kPass, OutcomeState::kWarn, OutcomeState::kFail,
        OutcomeState::kSkip, OutcomeState::kBroken}) {
    summary[std::string(ToString(state))] = CountOf(answers, state);
  }
  summary["exit"] = ExitCode(frame, answers);
  summary["seconds"] = frame.Seconds();
  return summary;
}

Json HeadOf(const Frame& frame) {
  return {{"schema", kSchema}, {"muster", kVersion}, {"host", frame.host}};
}

// One line of `--output jsonl`.
void PrintRecord(std::string_view type, const Json& fields) {
  Json record{{"type", type}};
  record.update(fields);
  sys::PrintResult(Dump(record) + "\n");
}

// Prints while checks run, and what is to be said at the end.
class Report {
 public:
  Report(settings::Output output, const Frame& frame, const sys::Env& env,
         bool hide_skips)
      : output_(output),
        frame_(frame),
        options_(sys::TerminalOptions(env, 1)),
        // What a file or a program reads is whole and is not wrapped.
        table_{.width = sys::IsTerminal(1)
                            ? static_cast<std::size_t>(options_.width)
                            : 0,
               .color = options_.color},
        hide_skips_(hide_skips && sys::IsTerminal(1)) {}

  void Begin() {
    if (output_ == settings::Output::kText) {
      sys::PrintResult("muster " + std::string(kVersion) + " checks " +
                       Printable(frame_.host) + "\n\n");
    } else if (output_ == settings::Output::kJsonl) {
      PrintRecord("version", HeadOf(frame_));
    }
  }

  check::Observer Watch() {
    return {.answered = [this](const Answer& answer) { Answered(answer); },
            .waiting =
                [this](const Check& check, const check::Waiting& how_far) {
                  Waiting(check, how_far);
                }};
  }

  void End(std::span<const Answer> answers) {
    if (output_ == settings::Output::kText) {
      EndText(answers);
    } else if (output_ == settings::Output::kJsonl) {
      PrintRecord("summary", SummaryOf(frame_, answers));
    } else {
      EndDocument(answers);
    }
  }

 private:
  void Answered(const Answer& answer) {
    if (output_ == settings::Output::kText) {
      ClearLine();
      if (!hide_skips_ || answer.outcome.state != OutcomeState::kSkip) {
        sys::PrintResult(RowsOf(answer, table_));
      }
    } else if (output_ == settings::Output::kJsonl) {
      PrintRecord("check", check::ToJson(answer));
      for (const Finding& finding : answer.outcome.findings) {
        PrintRecord("finding", {{"check", answer.check->id},
                                {"finding", ToJson(finding)}});
      }
    }
  }

  // On a terminal alone: the check that is waited for.
  void Waiting(const Check& check, const check::Waiting& how_far) {
    if (output_ == settings::Output::kText && sys::IsTerminal(2)) {
      const std::string line =
          Cell("...", kMarkWidth) + Cell(check.id, kIdWidth) +
          ToString(how_far.since) + (how_far.said.empty() ? "" : "  ") +
          Printable(how_far.said);
      // ClearLine takes away one line.
      const auto width = static_cast<std::size_t>(options_.width);
      std::fputs(("\r\033[K" + Wrap(line, width - 1).front()).c_str(), stderr);
      live_ = true;
    }
  }

  void ClearLine() {
    if (live_) {
      std::fputs("\r\033[K", stderr);
      live_ = false;
    }
  }

  void EndText(std::span<const Answer> answers) {
    std::vector<Finding> findings;
    for (const Answer& answer : answers) {
      const auto& found = answer.outcome.findings;
      findings.insert(findings.end(), found.begin(), found.end());
    }
    std::string text = findings.empty() ? "" : "\n";
    text += RenderText(std::span(findings), options_);
    text += "\n";
    const std::pair<OutcomeState, const char*> words[] = {
        {OutcomeState::kPass, "passed"},
        {OutcomeState::kWarn, "warned"},
        {OutcomeState::kFail, "failed"},
        {OutcomeState::kSkip, "skipped"},
        {OutcomeState::kBroken, "broken"}};
    std::vector<std::string> parts;
    for (const auto& [state, word] : words) {
      if (const int count = CountOf(answers, state); count > 0) {
        parts.push_back(std::to_string(count) + " " + word +
                        (hide_skips_ && state == OutcomeState::kSkip
                             ? " (-v shows why)"
                             : ""));
      }
    }
    sys::PrintResult(text + Join(parts, ", ") + " in " +
                     ToString(std::chrono::duration_cast<Duration>(
                         std::chrono::duration<double>(frame_.Seconds()))) +
                     "\n");
  }

  void EndDocument(std::span<const Answer> answers) {
    Json document = HeadOf(frame_);
    document["summary"] = SummaryOf(frame_, answers);
    document["checks"] = Json::array();
    document["findings"] = Json::array();
    for (const Answer& answer : answers) {
      document["checks"].push_back(check::ToJson(answer));
      for (const Finding& finding : answer.outcome.findings) {
        document["findings"].push_back(ToJson(finding));
      }
    }
    sys::PrintDocument(document);
  }

  settings::Output output_;
  const Frame& frame_;
  const RenderOptions options_;
  const TableOptions table_;
  const bool hide_skips_;
  bool live_ = false;
};

void PrintList(settings::Output output) {
  if (output == settings::Output::kText) {
    std::string text;
    for (const Check* one : check::AllChecks()) {
      text += Cell(one->id, kIdWidth) + std::string(one->title) +
              (one->on_request ? " (only on request)\n" : "\n");
    }
    sys::PrintResult(text);
    return;
  }
  Json checks = Json::array();
  for (const Check* one : check::AllChecks()) {
    checks.push_back(check::ToJson(*one));
  }
  sys::PrintDocument(
      {{"schema", "muster.checks/1"}, {"checks", std::move(checks)}});
}

// `check tpu` asks its targets itself.
bool IsAboutTpu(const CommandLine& line) {
  return line.groups == std::vector<std::string>{"tpu"};
}

// The groups that are named, or that flags ask for.
std::vector<std::string> WordsOf(const CommandLine& line) {
  std::vector<std::string> words = line.groups;
  if (!IsAboutTpu(line) && (!line.targets.empty() || !line.framework.empty())) {
    words.emplace_back("target");
  }
  return words;
}

// Whose place this host has in the cluster is nobody's question where members
// alone are asked who they are.
resolve::Request ClusterOf(const CommandLine& line) {
  resolve::Request request = line.cluster;
  if (((line.groups.empty() && !line.framework.empty()) || IsAboutTpu(line)) &&
      request.hosts && !request.rank) {
    request.rank = 0;
  }
  return request;
}

Result<check::TargetSetup> TargetsOf(const CommandLine& line,
                                     const settings::Settings& settings) {
  check::TargetSetup setup{.framework = line.framework,
                           .replicas = line.replicas,
                           .wait = settings.wait.value,
                           .callers = channel::GrpcCallers()};
  for (const std::string& list : line.targets) {
    MUSTER_ASSIGN(const auto some, identify::ParseTargets(list));
    setup.targets.insert(setup.targets.end(), some.begin(), some.end());
  }
  return setup;
}

// Addresses that are given need no cluster, and nobody is asked for one.
bool NeedsNoCluster(const CommandLine& line) {
  return (line.groups.empty() || IsAboutTpu(line)) && line.framework.empty() &&
         !line.targets.empty();
}

void Describe(const Result<resolve::Resolved>& resolved,
              check::Context& context, Frame& frame) {
  if (!resolved) {
    frame.bad_description = ExitCodeOf(resolved.error(), "check") == 2;
    context.cluster_findings = {FromError(resolved.error())};
    return;
  }
  context.cluster = &resolved->cluster;
  context.cluster_findings = resolved->findings;
  // network.proxy sees more of it.
  std::erase_if(context.cluster_findings, [](const Finding& finding) {
    return finding.cause == Cause::kNetProxy;
  });
}

// Asks before anything is opened; where nothing is here, nobody is asked.
Result<check::DeviceOpenSetup> AskToOpen(const CommandLine& line,
                                         const sys::Fs& fs) {
  check::DeviceOpenSetup setup{.asked = line.open,
                               .plugin = line.program.plugins.empty()
                                             ? ""
                                             : line.program.plugins.front(),
                               .timeout = line.program.request_timeout};
  const auto found = accelerator::FindAccelerators(fs);
  if (!line.open || line.yes || (found.empty() && setup.plugin.empty())) {
    return setup;
  }
  const auto yes = sys::AskPerson(
      "Open " +
      (setup.plugin.empty()
           ? Count(static_cast<int>(found.size()), "accelerator") +
                 " of this host?"
           : "the devices of `" + Printable(setup.plugin) + "`?") +
      " No other process can use them in the meantime.");
  if (!yes) {
    return Error(Cause::kUsageInvalid,
                 "there is no terminal to ask for confirmation: add --yes");
  }
  if (!*yes) {
    setup.asked = false;
    setup.refused = "not confirmed";
  }
  return setup;
}

}  // namespace

Result<int> CheckVerb(const CommandLine& line,
                      const settings::Settings& settings,
                      const sys::Host& host) {
  const settings::Output output = settings.output.value;
  if (line.list) {
    PrintList(output);
    return 0;
  }
  if (ChecksWorkers(line, host)) {
    return CheckWorkers(line, settings, host);
  }
  const std::vector<std::string> words = WordsOf(line);
  MUSTER_ASSIGN(const auto checks, check::Select(check::AllChecks(), words));
  MUSTER_ASSIGN(auto targets, TargetsOf(line, settings));
  MUSTER_ASSIGN(auto opening, AskToOpen(line, host.fs));
  Frame frame{.host = host.env.Hostname(),
              .fail_on = settings.fail_on.value,
              .members_are_asked = !line.framework.empty() || IsAboutTpu(line)};
  const sys::RealMachine machine;
  check::Context context{
      .host = host,
      .machine = machine,
      .checkpoints = line.checkpoints,
      .data = line.data,
      .command = line.command,
      .runs_dir = settings.runs_dir.value,
      .mesh = check::MeshSetup{.wait = settings.wait.value,
                               .token_file = settings.token_file.value,
                               .gradient = settings.gradient.value},
      .target = std::move(targets),
      .opening = std::move(opening),
      .plugins = [&] { return FindPlugins(host); },
      .frameworks = [&] { return FindFrameworks(host); }};
  std::optional<Result<resolve::Resolved>> resolved;
  if (!NeedsNoCluster(line)) {
    resolved.emplace(resolve::Resolve(ClusterOf(line), host));
    Describe(*resolved, context, frame);
  }
  context.tpu = TpuOf(line, context.target.targets,
                      resolved && *resolved ? &**resolved : nullptr, host.fs);
  // Sources of the network are announced before the table, not in it.
  Report report(output, frame, host.env, words.empty() && !line.verbose);
  report.Begin();
  const auto answers = check::RunChecks(checks, context, report.Watch());
  report.End(answers);
  return ExitCode(frame, answers);
}

}  // namespace muster::cli
