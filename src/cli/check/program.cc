// SPDX-License-Identifier: Apache-2.0
// `muster check program FILE… --on TOPOLOGY`.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "cli/check/plugins.h"
#include "cli/check/program_answer.h"
#include "cli/verbs.h"
#include "program/compiler/program.h"
#include "program/compiler/program_compare.h"
#include "resolve/environment/versions.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

using program::AskedProgram;
using program::ProgramReport;
using program::ProgramRequest;

// The TensorFlow of the active Python; empty: it has none.
Sourced<std::string> TensorFlowOfPython(const sys::Host& host) {
  const auto packages = resolve::FindPythonPackages(host);
  for (const char* name : {"tensorflow", "tensorflow-cpu", "tensorflow-tpu"}) {
    if (packages && packages->versions.contains(name)) {
      return {std::string(name) + " " + packages->versions.at(name),
              packages->places.at(name)};
    }
  }
  return {};
}

std::string VerdictText(const Outcome& outcome, bool several) {
  switch (outcome.state) {
    case OutcomeState::kPass:
      return "ok: " + outcome.detail;
    case OutcomeState::kWarn:
      return "warn: it may not run unchanged";
    case OutcomeState::kSkip:
      return "skip: " + outcome.detail;
    case OutcomeState::kBroken:
      return "broken: the compiler could not be run";
    default:
      return "FAIL: " + (several ? outcome.detail : "it would not run");
  }
}

void PrintText(const std::string& lines, const Outcome& outcome, bool several,
               const sys::Env& env) {
  std::string text = lines;
  if (!outcome.findings.empty()) {
    text += "\n" + RenderText(std::span(outcome.findings),
                              sys::TerminalOptions(env, 1));
  }
  sys::PrintResult(text + "\n" + VerdictText(outcome, several) + "\n");
}

// Empty: there is none, or it has no jax.
std::string PythonWithJax(const sys::Host& host) {
  const auto packages = resolve::FindPythonPackages(host);
  if (!packages || !packages->versions.contains("jax")) {
    return "";
  }
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const auto folder = host.env.Get(variable);
    if (folder && !folder->empty()) {
      return sys::JoinPath(*folder, "bin/python3");
    }
  }
  return "python3";
}

// The file tells itself what it is; StableHLO is of every framework.
Status CheckFramework(const std::string& told, const std::string& file,
                      const ProgramReport& report) {
  const bool graph = report.graph.has_value();
  const bool jax = report.container == pjrt::Container::kJaxExport;
  if (told.empty() || (!graph && !jax) || told == (graph ? "tf" : "jax")) {
    return Ok();
  }
  return Error(Cause::kUsageInvalid,
               "flag --framework is `" + told + "`, but `" + Printable(file) +
                   "` is " +
                   (graph ? "a TensorFlow graph" : "a jax.export artifact"));
}

// One for each file, plug-in or size; only one of them is compared.
Result<std::vector<ProgramRequest>> RequestsOf(const CommandLine& line,
                                               const sys::Host& host) {
  const ProgramFlags& flags = line.program;
  const bool sizes = flags.files.size() > 1 || flags.batches.size() > 1;
  if ((sizes && flags.plugins.size() > 1) ||
      (flags.files.size() > 1 && !flags.batches.empty())) {
    return Error(Cause::kUsageInvalid,
                 "several files, several sizes and several --plugin cannot be "
                 "combined: compare either program sizes or compilers");
  }
  std::vector<std::string> plugins = flags.plugins;
  plugins.resize(std::max<std::size_t>(1, plugins.size()));
  std::vector<std::optional<int>> batches(flags.batches.begin(),
                                          flags.batches.end());
  batches.resize(std::max<std::size_t>(1, batches.size()));
  ProgramRequest request{
      .on = flags.on,
      .replicas = line.replicas,
      .partitions = flags.partitions,
      .signature = flags.signature,
      .examples = flags.examples,
      .timeout = flags.request_timeout,
      .python = flags.batches.empty() ? "" : PythonWithJax(host),
      .elsewhere = !sizes};
  std::vector<ProgramRequest> requests;
  for (const std::string& plugin : plugins) {
    request.plugin = program::FindTpuPlugin(host, plugin, LibtpuOfPython(host))
                         .value_or(Sourced<std::string>());
    for (const std::optional<int>& batch : batches) {
      request.batch = batch;
      for (const std::string& file : flags.files) {
        request.file = file;
        requests.push_back(request);
      }
    }
  }
  return requests;
}

int Print(const AskedProgram& one, settings::Output output,
          const sys::Host& host) {
  const auto tensorflow =
      one.report.graph ? TensorFlowOfPython(host) : Sourced<std::string>();
  if (output == settings::Output::kJson) {
    sys::PrintDocument(DocumentOf(one, tensorflow));
  } else {
    PrintText(TextOf(one, tensorflow), one.report.outcome, false, host.env);
  }
  return ExitCodeOf(one.report.outcome.state);
}

// Several programs, or several compilers.
int PrintSeveral(const std::vector<AskedProgram>& asked, bool compilers,
                 settings::Output output, const sys::Env& env) {
  const Outcome outcome = compilers ? program::CompareCompilers(asked)
                                    : program::CompareSizes(asked);
  if (output == settings::Output::kJson) {
    sys::PrintDocument(DocumentOfSeveral(asked, outcome));
  } else {
    PrintText(compilers ? TextOfCompilers(asked) : TextOfSizes(asked), outcome,
              true, env);
  }
  return ExitCodeOf(outcome.state);
}

}  // namespace

Result<int> CheckProgramVerb(const CommandLine& line,
                             const settings::Settings& settings,
                             const sys::Host& host) {
  const settings::Output output = settings.output.value;
  if (output == settings::Output::kJsonl) {
    return Error(
        Cause::kUsageInvalid,
        settings.output.source +
            " is `jsonl`, but a program has one result: expected text or json");
  }
  MUSTER_ASSIGN(const auto requests, RequestsOf(line, host));
  std::vector<AskedProgram> asked;
  for (const ProgramRequest& request : requests) {
    auto report = program::CheckProgram(request, host);
    if (!report) {
      if (report.error().cause() == Cause::kFileMissing ||
          report.error().cause() == Cause::kFilePermission) {
        sys::PrintError(report.error(), output == settings::Output::kJson,
                        host.env, "check");
        return 2;
      }
      return report.error();
    }
    MUSTER_TRY(CheckFramework(line.framework, request.file, *report));
    if (report->graph && requests.size() > 1) {
      return Error(Cause::kUsageInvalid,
                   "`" + Printable(request.file) +
                       "` is a TensorFlow graph, which is checked alone");
    }
    asked.push_back({request, *std::move(report)});
  }
  return asked.size() == 1
             ? Print(asked.front(), output, host)
             : PrintSeveral(asked, line.program.plugins.size() > 1, output,
                            host.env);
}

}  // namespace muster::cli
