// SPDX-License-Identifier: Apache-2.0
#include "cli/check/program_answer.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "cli/check/program_graph.h"
#include "muster/version.h"
#include "program/fit/roofline.h"

namespace muster::cli {
namespace {

using program::AskedProgram;
using program::ProgramReport;
using program::ProgramRequest;

constexpr std::string_view kProgramSchema = "muster.program/1";
constexpr std::string_view kSchemaOfSeveral = "muster.programs/1";

std::string BytesOf(std::int64_t bytes) {
  return BytesText(bytes < 0 ? 0 : static_cast<std::uint64_t>(bytes));
}

std::string ProgramLine(std::string_view head, const std::string& text) {
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
  char text[100] = "unknown";
  if (compiled.flops && compiled.bytes_accessed) {
    std::snprintf(text, sizeof text, "%.4g flop, %.4g bytes moved",
                  *compiled.flops, *compiled.bytes_accessed);
  } else if (compiled.bytes_accessed) {
    std::snprintf(text, sizeof text, "%.4g bytes moved",
                  *compiled.bytes_accessed);
  }
  return text;
}

// 0.0000215 as "21.5 us".
std::string SecondsText(double seconds) {
  constexpr std::array<std::pair<double, const char*>, 3> kUnits{
      {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}}};
  const auto* unit =
      std::find_if(kUnits.begin(), kUnits.end() - 1,
                   [&](const auto& one) { return seconds >= one.first; });
  char text[40];
  std::snprintf(text, sizeof text, "%.3g %s", seconds / unit->first,
                unit->second);
  return text;
}

std::optional<program::Fastest> RooflineOf(const ProgramRequest& request,
                                           const ProgramReport& report) {
  const auto& answer = report.answer;
  return answer && answer->result
             ? program::Roofline(request.on, answer->accelerator.devices,
                                 {.flops = answer->result->flops,
                                  .bytes = answer->result->bytes_accessed})
             : std::nullopt;
}

// How soon a run can be over, and what it then wants to eat.
std::string RooflineLines(const ProgramRequest& request,
                          const ProgramReport& report) {
  const auto fastest = RooflineOf(request, report);
  if (!fastest || fastest->seconds <= 0) {
    return "";
  }
  char figures[100];
  std::snprintf(figures, sizeof figures, " at %.3g Tflop/s, %s at %.4g GB/s",
                fastest->flops / 1e12,
                SecondsText(fastest->bytes_seconds).c_str(),
                fastest->bandwidth / 1e9);
  std::string text =
      ProgramLine("fastest", SecondsText(fastest->seconds) + " a run: " +
                                 SecondsText(fastest->flops_seconds) + figures);
  char rate[40];
  std::snprintf(
      rate, sizeof rate, "%.3g",
      static_cast<double>(report.examples ? report.examples->value : 1) /
          fastest->seconds);
  return text +
         ProgramLine(
             "input",
             report.examples
                 ? std::string(rate) +
                       " examples/s keep it busy at that rate: " +
                       std::to_string(report.examples->value) + " a run (" +
                       report.examples->source + ")"
                 : std::string(rate) +
                       " runs/s at that rate; --examples N converts it to "
                       "examples/s");
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
  if (program::PaddingMatters(array.padding, array.bytes, memory)) {
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
    return ProgramLine("largest", "unknown: " + report.kept->error().message());
  }
  const program::Kept& kept = **report.kept;
  const auto& largest = kept.holdings.largest;
  std::string text;
  for (const pjrt::Array& array : largest) {
    if (array.bytes >= largest.front().bytes / kShareOfLargest) {
      std::string role(ToString(array.role));
      role.resize(10, ' ');
      text += ProgramLine(text.empty() ? "largest" : "",
                          role + ArrayText(array, MemoryOf(report)));
    }
  }
  if (kept.on != request.on) {
    text += ProgramLine("", "as compiled for " + kept.on);
  }
  if (program::PaddingMatters(kept.holdings.padding, kept.holdings.bytes,
                              MemoryOf(report))) {
    text += ProgramLine(
        "padding",
        BytesOf(kept.holdings.padding) + " of " + BytesOf(kept.holdings.bytes) +
            " of arguments and outputs: the two minor dimensions are padded "
            "to tiles of 8 x 128");
  }
  return text;
}

std::string ProgramLine(const ProgramReport& report) {
  return report.container
             ? ProgramLine("program", std::string(ToString(*report.container)))
             : "";
}

std::string CompilerLine(const AskedProgram& one) {
  if (one.request.plugin.value.empty()) {
    return "";
  }
  std::string text = Printable(one.request.plugin.value) + " (" +
                     one.request.plugin.source + ")";
  if (!one.report.package.empty() &&
      one.request.plugin.source.find(one.report.package) == std::string::npos) {
    text += ", " + Printable(one.report.package);
  }
  if (const auto& answer = one.report.answer) {
    text += ", PJRT 0." + std::to_string(answer->api_minor) + ", StableHLO " +
            answer->stablehlo;
  }
  return ProgramLine("compiler", text);
}

std::string TopologyLine(const AskedProgram& one) {
  const auto& answer = one.report.answer;
  return answer ? ProgramLine("topology",
                              one.request.on + ": " +
                                  Count(answer->accelerator.devices, "device") +
                                  ", " + Printable(answer->accelerator.kind))
                : "";
}

// "fits, 2.1 GiB of 15.7 GiB a device", of one among several.
std::string FitText(const ProgramReport& report) {
  const auto needed = program::NeededMemory(report);
  const std::int64_t there = MemoryOf(report);
  const std::string of = there > 0 ? " of " + BytesOf(there) : "";
  const std::string memory =
      needed ? ", " + BytesOf(*needed) + of + " a device" : "";
  switch (report.outcome.state) {
    case OutcomeState::kPass:
    case OutcomeState::kWarn:
      return "fits" + memory;
    case OutcomeState::kFail:
      return (needed ? "does not fit" : "refused") + memory;
    case OutcomeState::kSkip:
    case OutcomeState::kBroken:
      return "not checked: " + report.outcome.detail;
  }
  return "?";
}

std::string AnswerLines(const ProgramRequest& request,
                        const ProgramReport& report) {
  const auto& answer = report.answer;
  std::string text = ProgramLine(report) + CompilerLine({request, report}) +
                     TopologyLine({request, report});
  if (answer && answer->result) {
    const pjrt::Compiled& compiled = *answer->result;
    const int used = compiled.replicas * compiled.partitions;
    text += ProgramLine(
        "devices",
        Count(compiled.replicas, "replica") + " (" + report.replicas.source +
            ") x " + Count(compiled.partitions, "partition") + " (" +
            report.partitions.source + "): uses " + std::to_string(used) +
            " of " + std::to_string(answer->accelerator.devices));
    text +=
        ProgramLine("memory", MemoryText(compiled.memory, answer->accelerator));
    text += ProgramLine("cost", CostText(compiled) + " a run on each device");
    text += RooflineLines(request, report);
  }
  return text + KeptText(request, report);
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

Json RooflineJson(const program::Fastest& fastest,
                  const ProgramReport& report) {
  Json json{{"seconds", fastest.seconds},
            {"by_flops", fastest.flops_seconds},
            {"by_bytes", fastest.bytes_seconds}};
  if (report.examples && fastest.seconds > 0) {
    json["examples"] = {{"value", report.examples->value},
                        {"source", report.examples->source}};
    json["examples_per_second"] =
        static_cast<double>(report.examples->value) / fastest.seconds;
  }
  return json;
}

Json ToJson(const program::Kept& kept) {
  Json arrays = Json::array();
  for (const pjrt::Array& one : kept.holdings.largest) {
    arrays.push_back({{"role", ToString(one.role)},
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

}  // namespace

Json DocumentOf(const AskedProgram& one,
                const Sourced<std::string>& tensorflow) {
  const ProgramRequest& request = one.request;
  const ProgramReport& report = one.report;
  Json document{{"schema", kProgramSchema},
                {"muster", kVersion},
                {"file", request.file},
                {"on", request.on},
                {"verdict", std::string(ToString(report.outcome.state))},
                {"detail", report.outcome.detail},
                {"exit", ExitCodeOf(report.outcome.state)}};
  if (report.graph) {
    document["graph"] = GraphJson(request, *report.graph, tensorflow);
  } else if (!request.plugin.value.empty()) {
    document["plugin"] = {{"path", request.plugin.value},
                          {"source", request.plugin.source}};
  }
  if (report.container) {
    document["program"] = {{"container", ToString(*report.container)},
                           {"replicas", ToJson(report.replicas)},
                           {"partitions", ToJson(report.partitions)}};
  }
  if (report.answer) {
    document["answer"] = AnswerOf(*report.answer);
  }
  if (const auto fastest = RooflineOf(request, report)) {
    document["fastest"] = RooflineJson(*fastest, report);
  }
  if (report.kept && *report.kept) {
    document["largest"] = ToJson(**report.kept);
  }
  document["elsewhere"] = Json::array();
  for (const program::Elsewhere& other : report.elsewhere) {
    document["elsewhere"].push_back({{"on", other.on}, {"fits", other.fits}});
  }
  document["findings"] = Json::array();
  for (const Finding& finding : report.outcome.findings) {
    document["findings"].push_back(muster::ToJson(finding));
  }
  return document;
}

int ExitCodeOf(OutcomeState state) {
  switch (state) {
    case OutcomeState::kPass:
    case OutcomeState::kWarn:
      return 0;
    case OutcomeState::kFail:
      return 1;
    case OutcomeState::kSkip:
    case OutcomeState::kBroken:
      return 3;
  }
  return 3;
}

std::string TextOf(const AskedProgram& one,
                   const Sourced<std::string>& tensorflow) {
  return one.report.graph
             ? GraphText(one.request, *one.report.graph, tensorflow)
             : AnswerLines(one.request, one.report);
}

std::string TextOfCompilers(std::span<const AskedProgram> asked) {
  std::string text = ProgramLine(asked.front().report);
  for (const AskedProgram& one : asked) {
    text +=
        ProgramLine(&one == asked.data() ? "compiler" : "",
                    program::CompilerText(one) + ": " + FitText(one.report));
  }
  return text + TopologyLine(asked.front());
}

std::string TextOfSizes(std::span<const AskedProgram> asked) {
  const auto varied = program::FindVaried(asked);
  std::string text;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    text +=
        ProgramLine(i == 0 ? "programs" : "",
                    Printable(asked[i].request.file) +
                        (varied ? ", " + program::VariedText(*varied, i) : "") +
                        ": " + FitText(asked[i].report));
  }
  text += CompilerLine(asked.front()) + TopologyLine(asked.front());
  const auto largest = program::LargestThatFits(asked, varied);
  return largest
             ? text + KeptText(asked[*largest].request, asked[*largest].report)
             : text;
}

Json DocumentOfSeveral(std::span<const AskedProgram> asked,
                       const Outcome& outcome) {
  Json document{{"schema", kSchemaOfSeveral},
                {"muster", kVersion},
                {"on", asked.front().request.on},
                {"verdict", std::string(ToString(outcome.state))},
                {"detail", outcome.detail},
                {"exit", ExitCodeOf(outcome.state)},
                {"programs", Json::array()},
                {"findings", Json::array()}};
  const auto varied = program::FindVaried(asked);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    Json program = DocumentOf(asked[i], {});
    if (varied) {
      program["varied"] = {{"argument", varied->argument},
                           {"side", varied->side},
                           {"value", varied->values[i]}};
    }
    document["programs"].push_back(std::move(program));
  }
  if (const auto largest = program::LargestThatFits(asked, varied)) {
    Json& one = document["largest_that_fits"];
    one["file"] = asked[*largest].request.file;
    if (varied) {
      one["value"] = varied->values[*largest];
    }
  }
  for (const Finding& finding : outcome.findings) {
    document["findings"].push_back(muster::ToJson(finding));
  }
  return document;
}

}  // namespace muster::cli
