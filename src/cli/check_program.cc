// SPDX-License-Identifier: Apache-2.0
// `muster check program FILE --on TOPOLOGY`.
#include <cstdio>

#include "base/json.h"
#include "base/text.h"
#include "check/program.h"
#include "cli/answer.h"
#include "cli/check_program_graph.h"
#include "cli/plugins.h"
#include "cli/verbs.h"
#include "muster/version.h"
#include "resolve/versions.h"

namespace muster::cli {
namespace {

using check::ProgramReport;
using check::ProgramRequest;
using check::Verdict;

constexpr std::string_view kSchema = "muster.program/1";

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

int ExitCode(const ProgramReport& report) {
  switch (report.outcome.verdict) {
    case Verdict::kPass:
    case Verdict::kWarn:
      return 0;
    case Verdict::kFail:
      return 1;
    case Verdict::kSkip:
    case Verdict::kBroken:
      return 3;
  }
  return 3;
}

std::string BytesOf(std::int64_t bytes) {
  return BytesText(bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes));
}

std::string Line(std::string_view head, const std::string& text) {
  std::string line(head);
  line.resize(16, ' ');
  return line + text + "\n";
}

std::string MemoryText(const pjrt::Memory& memory,
                       const pjrt::Accelerator& accelerator) {
  return (memory.peak ? BytesOf(*memory.peak) + " at the peak" : "") +
         (accelerator.memory ? " of " + BytesOf(*accelerator.memory) : "") +
         " a device: arguments " + BytesOf(memory.arguments) + ", outputs " +
         BytesOf(memory.outputs) +
         (memory.alias > 0
              ? " (" + BytesOf(memory.alias) + " in place of arguments)"
              : "") +
         ", temporaries " + BytesOf(memory.temporaries) + ", code " +
         BytesOf(memory.code);
}

std::string CostText(const pjrt::Compiled& compiled) {
  char text[100] = "not known";
  if (compiled.flops && compiled.bytes_accessed) {
    std::snprintf(text, sizeof text, "%.4g flop, %.4g bytes moved",
                  *compiled.flops, *compiled.bytes_accessed);
  } else if (compiled.bytes_accessed) {
    std::snprintf(text, sizeof text, "%.4g bytes moved",
                  *compiled.bytes_accessed);
  }
  return text;
}

std::int64_t MemoryOf(const ProgramReport& report) {
  return report.answer ? report.answer->accelerator.memory.value_or(0) : 0;
}

std::string PaddingText(std::int64_t padding, std::int64_t bytes) {
  return std::to_string(bytes > 0 ? padding * 100 / bytes : 0) + " % padding";
}

// "f32[784,512] 1.5 MiB, 3 of them: params['w']".
std::string ArrayText(const pjrt::Array& array, std::int64_t memory) {
  std::string text =
      Printable(array.shape) + " " + BytesOf(array.bytes) +
      (array.count > 1 ? ", " + std::to_string(array.count) + " of them" : "");
  if (check::PaddingMatters(array.padding, array.bytes, memory)) {
    text += ", " + PaddingText(array.padding, array.bytes);
  }
  return text + ": " + Printable(array.name) +
         (array.place.empty() ? "" : ", " + Printable(array.place));
}

// Arrays below this share of the largest are not told.
constexpr std::int64_t kShareOfLargest = 50;

std::string KeptText(const ProgramRequest& request,
                     const ProgramReport& report) {
  if (!report.kept) {
    return "";
  }
  if (!*report.kept) {
    return Line("largest", "not known: " + report.kept->error().message());
  }
  const check::Kept& kept = **report.kept;
  const auto& largest = kept.holdings.largest;
  std::string text;
  for (const pjrt::Array& array : largest) {
    if (array.bytes >= largest.front().bytes / kShareOfLargest) {
      std::string role(WordOf(array.role));
      role.resize(10, ' ');
      text += Line(text.empty() ? "largest" : "",
                   role + ArrayText(array, MemoryOf(report)));
    }
  }
  if (kept.on != request.on) {
    text += Line("", "as it is compiled for " + kept.on);
  }
  if (check::PaddingMatters(kept.holdings.padding, kept.holdings.bytes,
                            MemoryOf(report))) {
    text += Line("padding",
                 BytesOf(kept.holdings.padding) + " of " +
                     BytesOf(kept.holdings.bytes) +
                     " of arguments and outputs: the two minor dimensions lie "
                     "in tiles of 8 x 128");
  }
  return text;
}

std::string AnswerText(const ProgramRequest& request,
                       const ProgramReport& report) {
  std::string text;
  const auto& answer = report.answer;
  if (report.container) {
    text += Line("program", std::string(WordOf(*report.container)));
  }
  if (!request.plugin.value.empty()) {
    text += Line("compiler",
                 Printable(request.plugin.value) + " (" +
                     request.plugin.source + ")" +
                     (answer ? ", PJRT 0." + std::to_string(answer->api_minor) +
                                   ", StableHLO " + answer->stablehlo
                             : ""));
  }
  if (answer) {
    text += Line("topology", request.on + ": " +
                                 Count(answer->accelerator.devices, "device") +
                                 ", " + Printable(answer->accelerator.kind));
  }
  if (answer && answer->result) {
    const pjrt::Compiled& compiled = *answer->result;
    const int used = compiled.replicas * compiled.partitions;
    text += Line("devices", Count(compiled.replicas, "replica") + " (" +
                                report.replicas.source + ") x " +
                                Count(compiled.partitions, "partition") + " (" +
                                report.partitions.source + "): uses " +
                                std::to_string(used) + " of " +
                                std::to_string(answer->accelerator.devices));
    text += Line("memory", MemoryText(compiled.memory, answer->accelerator));
    text += Line("cost", CostText(compiled) + " a run on each device");
  }
  return text + KeptText(request, report);
}

std::string VerdictText(const ProgramReport& report) {
  switch (report.outcome.verdict) {
    case Verdict::kPass:
      return "ok: " + report.outcome.detail;
    case Verdict::kWarn:
      return "warn: it may not run as it is";
    case Verdict::kSkip:
      return "skip: " + report.outcome.detail;
    case Verdict::kBroken:
      return "broken: the compiler could not be asked";
    default:
      return "FAIL: it would not run";
  }
}

void PrintText(const ProgramRequest& request, const ProgramReport& report,
               const sys::Host& host) {
  const sys::Env& env = host.env;
  std::string text =
      report.graph ? GraphText(request, *report.graph, TensorFlowOfPython(host))
                   : AnswerText(request, report);
  for (const Finding& finding : report.outcome.findings) {
    text += "\n" + RenderText(finding, TerminalOptions(env, 1));
  }
  PrintResult(text + "\n" + VerdictText(report) + "\n");
}

Json ToJson(const Sourced<int>& value) {
  return {{"value", value.value}, {"source", value.source}};
}

Json ToJson(const pjrt::Compiled& compiled) {
  const pjrt::Memory& memory = compiled.memory;
  Json json{{"replicas", compiled.replicas},
            {"partitions", compiled.partitions},
            {"memory",
             {{"arguments", memory.arguments},
              {"outputs", memory.outputs},
              {"alias", memory.alias},
              {"temporaries", memory.temporaries},
              {"code", memory.code}}},
            {"cost", Json::object()}};
  if (memory.peak) {
    json["memory"]["peak"] = *memory.peak;
  }
  if (compiled.flops) {
    json["cost"]["flops"] = *compiled.flops;
  }
  if (compiled.bytes_accessed) {
    json["cost"]["bytes"] = *compiled.bytes_accessed;
  }
  return json;
}

Json AnswerOf(const pjrt::CompileAnswer& answer) {
  Json json{{"api", "0." + std::to_string(answer.api_minor)},
            {"stablehlo", answer.stablehlo},
            {"kind", answer.accelerator.kind},
            {"devices", answer.accelerator.devices}};
  if (answer.accelerator.memory) {
    json["memory_per_device"] = *answer.accelerator.memory;
  }
  if (answer.result) {
    json["compiled"] = ToJson(*answer.result);
  }
  return json;
}

Json ToJson(const check::Kept& kept) {
  Json arrays = Json::array();
  for (const pjrt::Array& one : kept.holdings.largest) {
    arrays.push_back({{"role", WordOf(one.role)},
                      {"name", one.name},
                      {"shape", one.shape},
                      {"place", one.place},
                      {"bytes", one.bytes},
                      {"padding", one.padding},
                      {"count", one.count}});
  }
  return {
      {"on", kept.on},
      {"arrays", std::move(arrays)},
      {"arguments_and_outputs",
       {{"bytes", kept.holdings.bytes}, {"padding", kept.holdings.padding}}}};
}

void PrintJson(const ProgramRequest& request, const ProgramReport& report,
               const sys::Host& host) {
  Json document{{"schema", kSchema},
                {"muster", kVersion},
                {"file", request.file},
                {"on", request.on},
                {"verdict", std::string(WordOf(report.outcome.verdict))},
                {"detail", report.outcome.detail},
                {"exit", ExitCode(report)}};
  if (report.graph) {
    document["graph"] =
        GraphJson(request, *report.graph, TensorFlowOfPython(host));
  } else if (!request.plugin.value.empty()) {
    document["plugin"] = {{"path", request.plugin.value},
                          {"source", request.plugin.source}};
  }
  if (report.container) {
    document["program"] = {{"container", WordOf(*report.container)},
                           {"replicas", ToJson(report.replicas)},
                           {"partitions", ToJson(report.partitions)}};
  }
  if (report.answer) {
    document["answer"] = AnswerOf(*report.answer);
  }
  if (report.kept && *report.kept) {
    document["largest"] = ToJson(**report.kept);
  }
  document["elsewhere"] = Json::array();
  for (const check::Elsewhere& one : report.elsewhere) {
    document["elsewhere"].push_back({{"on", one.on}, {"fits", one.fits}});
  }
  document["findings"] = Json::array();
  for (const Finding& finding : report.outcome.findings) {
    document["findings"].push_back(muster::ToJson(finding));
  }
  PrintDocument(document);
}

}  // namespace

Result<int> CheckProgramVerb(const CommandLine& line, const Settings& settings,
                             const sys::Host& host) {
  if (settings.output.value == Output::kJsonl) {
    return Error(Cause::kUsageInvalid,
                 settings.output.source +
                     " is `jsonl`: a program has one answer, expected text or "
                     "json");
  }
  const ProgramFlags& flags = line.program;
  const ProgramRequest request{
      .file = flags.file,
      .on = flags.on,
      .plugin = check::FindTpuPlugin(host, flags.plugin, LibtpuOfPython(host))
                    .value_or(Sourced<std::string>()),
      .replicas = line.replicas,
      .partitions = flags.partitions,
      .signature = flags.signature,
      .patience = flags.patience};
  const auto report = check::CheckProgram(request, host);
  if (!report) {
    if (report.error().cause() == Cause::kFileMissing ||
        report.error().cause() == Cause::kFilePermission) {
      PrintError(report.error(), settings.output.value, host.env);
      return 2;
    }
    return report.error();
  }
  if (settings.output.value == Output::kJson) {
    PrintJson(request, *report, host);
  } else {
    PrintText(request, *report, host);
  }
  return ExitCode(*report);
}

}  // namespace muster::cli
