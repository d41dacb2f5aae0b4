// SPDX-License-Identifier: Apache-2.0
#include "program/compiler/program.h"

#include <algorithm>

#include "accelerator/table.h"
#include "base/text.h"
#include "muster/pjrt.h"
#include "pjrt/program/compose.h"
#include "program/compiler/program_specialize.h"
#include "program/fit/op_alternatives.h"
#include "program/graph/program_graph.h"

namespace muster::program {
namespace {

constexpr std::int64_t kLongestSide = 64;

std::string_view GenerationOf(std::string_view topology) {
  return topology.substr(0, topology.find(':'));
}

Error NoTopology(std::string_view name, const std::string& why) {
  return Error(Cause::kUsageInvalid,
               "flag --on is `" + Printable(name) + "`: " + why +
                   "; expected a generation and its shape in chips, such as "
                   "v5e:2x4 or v5p:2x2x1");
}

// A step of muster::pjrt, joined as PjrtStrategy joins it.
Result<pjrt::Module> ReadStep(const ProgramRequest& request,
                              ProgramReport& report) {
  MUSTER_ASSIGN(const StepProgram step, StepProgram::Open(request.file));
  const int devices = step.form == StepForm::kSpmd
                          ? step.devices
                          : request.replicas.value_or(0);
  report.examples = {static_cast<std::int64_t>(step.local_batch) * devices,
                     "the program"};
  if (step.form == StepForm::kSpmd) {
    return pjrt::ReadModule(step.step);
  }
  if (!request.replicas) {
    return Error(Cause::kUsageInvalid,
                 "`" + Printable(request.file) +
                     "` works with any number of replicas: set the number, "
                     "such as --replicas 8");
  }
  MUSTER_ASSIGN(std::string code, pjrt::Compose(step, *request.replicas));
  return pjrt::ReadModule(std::move(code));
}

Result<pjrt::Module> Read(const ProgramRequest& request, const sys::Host& host,
                          ProgramReport& report) {
  if (!request.signature.empty()) {
    return Error(Cause::kUsageInvalid,
                 "flag --signature is for a TensorFlow graph, which `" +
                     Printable(request.file) + "` is not");
  }
  if (request.file.ends_with(".json")) {
    return ReadStep(request, report);
  }
  MUSTER_ASSIGN(std::string bytes,
                host.fs.ReadNamed(request.file, pjrt::kModuleLimit));
  auto module = pjrt::ReadModule(std::move(bytes));
  if (!module) {
    return module.error().Reworded("`" + Printable(request.file) +
                                   "`: " + module.error().message());
  }
  return module;
}

// The one symbol of a program whose size is asked for; empty: it has none.
Result<std::string> SymbolOf(const ProgramRequest& request,
                             const pjrt::Module& module) {
  const auto symbols = SymbolsOf(module);
  const std::string file = "`" + Printable(request.file) + "`";
  if (symbols.empty() && !request.batch) {
    return std::string();
  }
  if (symbols.empty()) {
    return Error(
        Cause::kUsageInvalid,
        "flag --batch is for a jax.export artifact with a symbolic size; " +
            file + " has none");
  }
  if (symbols.size() > 1) {
    return Error(Cause::kUsageInvalid,
                 file + " has the symbols " + Join(symbols, ", ") +
                     ", but --batch sets only one: export it with fixed sizes "
                     "for the others");
  }
  if (!request.batch) {
    return Error(Cause::kUsageInvalid,
                 file + " has the symbol `" + Printable(symbols.front()) +
                     "` for a size: set it, such as --batch 64,128,256");
  }
  return symbols.front();
}

// The module with its size put in.
Result<pjrt::Module> Sized(const ProgramRequest& request,
                           const pjrt::Module& symbolic,
                           const std::string& symbol) {
  MUSTER_ASSIGN(std::string code, Specialise({.python = request.python,
                                              .file = request.file,
                                              .symbol = symbol,
                                              .size = *request.batch},
                                             Deadline::After(request.timeout)));
  MUSTER_ASSIGN(pjrt::Module module, pjrt::ReadModule(std::move(code)));
  module.replicas = symbolic.replicas;
  module.partitions = symbolic.partitions;
  module.arguments = symbolic.arguments;
  for (auto& sides : module.arguments) {
    std::replace(sides.begin(), sides.end(), symbol,
                 std::to_string(*request.batch));
  }
  return module;
}

Sourced<int> ReplicasOf(const ProgramRequest& request,
                        const pjrt::Module& module) {
  if (request.replicas) {
    return {*request.replicas, "flag --replicas"};
  }
  return module.replicas ? Sourced<int>{*module.replicas, "the program"}
                         : Sourced<int>{1, "default"};
}

// 0: one for each device.
Sourced<int> PartitionsOf(const ProgramRequest& request,
                          const pjrt::Module& module) {
  if (request.partitions) {
    return {*request.partitions, "flag --partitions"};
  }
  if (module.partitions) {
    return {*module.partitions, "the program"};
  }
  return module.sharded
             ? Sourced<int>{0, "the program has shardings: all devices"}
             : Sourced<int>{1, "the program has no shardings"};
}

// The smallest shape of each generation that has the devices and is not `on`'s.
std::vector<std::string> Others(std::string_view on, int devices) {
  std::vector<std::string> others;
  for (const accelerator::Specs& one : accelerator::AllSpecs()) {
    if (!one.tpu || one.name == GenerationOf(on)) {
      continue;
    }
    const auto& shapes = one.tpu->shapes;
    const auto* const enough = std::find_if(
        shapes.begin(), shapes.end(), [&](const accelerator::TpuShape& shape) {
          return !shape.chips.empty() && shape.devices >= devices;
        });
    if (enough != shapes.end()) {
      others.push_back(std::string(one.name) + ":" +
                       std::string(enough->chips));
    }
  }
  return others;
}

Result<Kept> KeptOn(const std::string& on, const pjrt::Compiled& compiled) {
  MUSTER_ASSIGN(const pjrt::Holdings holdings, compiled.holdings);
  return Kept{on, holdings};
}

// One after the other: each takes a core and much memory of this host. What
// gives no answer in time is left out.
void TryElsewhere(const pjrt::CompileRequest& here, int devices,
                  Deadline deadline, ProgramReport& report) {
  for (const std::string& on : Others(here.topology, devices)) {
    pjrt::CompileRequest there = here;
    there.topology = on;
    const auto answer = pjrt::CompileInChild(there, deadline);
    if (!answer) {
      continue;
    }
    if (answer->result || answer->result.error().cause() == Cause::kOomDevice) {
      report.elsewhere.push_back({.on = on,
                                  .fits = answer->result.has_value(),
                                  .memory = answer->accelerator.memory});
    }
    if (answer->result && !report.kept) {
      report.kept = KeptOn(on, *answer->result);
    }
  }
}

std::string MemoryText(std::int64_t bytes) {
  return BytesText(
      static_cast<std::uint64_t>(std::max<std::int64_t>(0, bytes)));
}

// "it fits v5p:2x2x1 (95.7 GiB a device), tpu7x:1x1x1 (94.7 GiB a device)".
std::string ElsewhereText(const std::vector<Elsewhere>& elsewhere, bool fits) {
  std::vector<std::string> names;
  for (const Elsewhere& one : elsewhere) {
    if (one.fits == fits) {
      names.push_back(
          one.on +
          (one.memory ? " (" + MemoryText(*one.memory) + " a device)" : ""));
    }
  }
  return names.empty() ? ""
                       : (fits ? "it fits on " : "it does not fit on ") +
                             Join(names, ", ");
}

// By how much it does not fit, where the compiler says it.
std::string Excess(const Error& error) {
  for (const Fact& fact : error.evidence()) {
    if (fact.Has("needed") && fact.Has("available")) {
      const std::int64_t needed = fact.Number("needed");
      const std::int64_t available = fact.Number("available");
      return " needs " + MemoryText(needed) + ", but a device has " +
             MemoryText(available) + ": " + MemoryText(needed - available) +
             " too much";
    }
  }
  return " exceeds the memory of a device";
}

// Of the program, or of the source that it was made from where it carries
// that.
std::string PlaceOf(const Error& error) {
  for (const Fact& fact : error.evidence()) {
    if (fact.Has("line")) {
      return ", " +
             (fact.Has("file")
                  ? "made from `" + Printable(fact.Text("file")) + "` "
                  : "") +
             "line " + std::to_string(fact.Number("line")) +
             (fact.Has("column")
                  ? " column " + std::to_string(fact.Number("column"))
                  : "");
    }
  }
  return "";
}

std::string OperationOf(const Error& error) {
  for (const Fact& fact : error.evidence()) {
    if (fact.Has("op")) {
      return fact.Text("op");
    }
  }
  return "";
}

void AddAlternative(const Error& error, Finding& finding) {
  if (error.cause() != Cause::kOpUnsupported) {
    return;
  }
  for (const Fact& fact : error.evidence()) {
    const auto instead = AlternativeTo(fact.Text("op"), fact.Text("text"));
    if (!instead.empty()) {
      finding.fixes.insert(finding.fixes.begin(),
                           {.text = std::string(instead)});
      return;
    }
  }
}

Finding Refusal(const ProgramRequest& request, const Error& error,
                const std::vector<Elsewhere>& elsewhere) {
  Finding finding = FromError(error);
  finding.subjects = {request.file, request.on};
  const std::string file = "`" + Printable(request.file) + "`";
  const std::string place = file + PlaceOf(error) + ": ";
  if (error.cause() == Cause::kOomDevice) {
    finding.what = file + Excess(error) + " (" + request.on + ")";
  } else if (const std::string op = OperationOf(error); !op.empty()) {
    finding.what = place + "`" + op + "` does not compile for " + request.on;
  } else {
    finding.what =
        place + "does not compile for " + request.on + ": " + error.message();
  }
  AddAlternative(error, finding);
  for (const bool fits : {true, false}) {
    if (std::string text = ElsewhereText(elsewhere, fits); !text.empty()) {
      finding.evidence.push_back(
          {.what = std::move(text), .source = "compiler"});
    }
  }
  return finding;
}

// The compiler ends its process on a dynamic shape without a word; text shows
// that there is one.
std::optional<Finding> DynamicShape(const ProgramRequest& request,
                                    const pjrt::Module& module,
                                    const Error& error) {
  const auto at = module.code.find("tensor<?");
  if (error.cause() != Cause::kFrameworkBug || at == std::string::npos) {
    return std::nullopt;
  }
  const auto line =
      1 + std::count(module.code.begin(),
                     module.code.begin() + static_cast<std::ptrdiff_t>(at),
                     '\n');
  Finding finding = FromError(
      Error(Cause::kOpUnsupported,
            "`" + Printable(request.file) + "`, line " + std::to_string(line) +
                ": the compiler for " + request.on +
                " crashed on this program, which has a dynamic shape"),
      Confidence::kLikely);
  finding.subjects = {request.file, request.on};
  finding.fixes.insert(
      finding.fixes.begin(),
      {.text = "export it with fixed sizes, or with a symbol "
               "(jax.export.symbolic_shape) and set it with --batch 64,128"});
  finding.evidence.push_back({.what = error.message(), .source = "child"});
  return finding;
}

Outcome BrokenBy(const Error& error) {
  Outcome outcome = Broken(error.message());
  outcome.findings.push_back(FromError(error));
  return outcome;
}

Outcome Fail(Finding finding) {
  std::vector<Finding> findings;
  findings.push_back(std::move(finding));
  return Judge(std::move(findings), "");
}

std::optional<Sourced<std::string>> NamedPlugin(const sys::Env& env) {
  constexpr std::string_view kVariable = "PJRT_NAMES_AND_LIBRARY_PATHS";
  const std::string list = env.Get(std::string(kVariable)).value_or("");
  for (const std::string& one : Split(list, ',')) {
    const auto colon = one.find(':');
    if (colon != std::string::npos && Trim(one.substr(0, colon)) == "tpu") {
      return Sourced<std::string>{one.substr(colon + 1),
                                  "env " + std::string(kVariable)};
    }
  }
  return std::nullopt;
}

}  // namespace

Status CheckTopology(std::string_view name) {
  const auto colon = name.find(':');
  if (name.empty()) {
    return NoTopology(name, "it contains no topology");
  }
  const std::string_view generation = GenerationOf(name);
  const accelerator::Specs* known = accelerator::FindTopology(generation);
  if (colon == std::string_view::npos || known == nullptr) {
    return NoTopology(name, "not a known TPU topology");
  }
  const auto sides = Split(name.substr(colon + 1), 'x');
  const bool numbers =
      std::all_of(sides.begin(), sides.end(), [](const std::string& side) {
        const auto number = IsDigits(side) ? ParseInt(side) : std::nullopt;
        return number && *number >= 1 && *number <= kLongestSide;
      });
  const auto dimensions = static_cast<std::size_t>(known->tpu->dimensions);
  if (!numbers || sides.size() != dimensions) {
    return NoTopology(name, "a shape of " + std::string(generation) + " has " +
                                std::to_string(dimensions) + " sides of 1 to " +
                                std::to_string(kLongestSide));
  }
  return Ok();
}

bool PaddingMatters(std::int64_t padding, std::int64_t bytes,
                    std::int64_t memory) {
  return padding > 0 && padding >= bytes / 5 && padding >= memory / 100;
}

std::string PackageOf(const sys::Fs& fs, std::string_view plugin) {
  constexpr std::string_view kEnd = ".dist-info";
  const auto folder = plugin.substr(0, plugin.rfind('/'));
  const auto slash = folder.rfind('/');
  if (slash == std::string_view::npos) {
    return "";
  }
  const std::string name(folder.substr(slash + 1));
  const auto beside = fs.List(std::string(folder.substr(0, slash)));
  for (const std::string& one : beside ? *beside : std::vector<std::string>()) {
    if (one.starts_with(name + "-") && one.ends_with(kEnd)) {
      return name + " " +
             one.substr(name.size() + 1,
                        one.size() - name.size() - 1 - kEnd.size());
    }
  }
  return "";
}

std::optional<Sourced<std::string>> FindTpuPlugin(
    const sys::Host& host, const std::string& flag,
    const std::optional<Sourced<std::string>>& of_python) {
  if (!flag.empty()) {
    return Sourced<std::string>{flag, "flag --plugin"};
  }
  if (const auto path = host.env.Get("TPU_LIBRARY_PATH");
      path && !path->empty()) {
    return Sourced<std::string>{*path, "env TPU_LIBRARY_PATH"};
  }
  if (auto named = NamedPlugin(host.env)) {
    return named;
  }
  if (of_python && host.fs.Exists(of_python->value)) {
    return of_python;
  }
  for (const char* path :
       {"/usr/local/lib/libtpu.so", "/usr/lib/libtpu.so", "/lib/libtpu.so"}) {
    if (host.fs.Exists(path)) {
      return Sourced<std::string>{path, "system"};
    }
  }
  return std::nullopt;
}

namespace {

Status AskAndJudge(const ProgramRequest& request, const pjrt::Module& module,
                   const pjrt::CompileRequest& ask, ProgramReport& report) {
  const Deadline deadline = Deadline::After(request.timeout);
  auto answer = pjrt::CompileInChild(ask, deadline);
  if (!answer) {
    if (answer.error().cause() == Cause::kUsageInvalid) {
      return std::move(answer).error();
    }
    auto dynamic = DynamicShape(request, module, answer.error());
    report.outcome =
        dynamic ? Fail(*std::move(dynamic)) : BrokenBy(answer.error());
    return Ok();
  }
  if (answer->result) {
    report.outcome = Pass("it compiles and fits");
    report.kept = KeptOn(request.on, *answer->result);
  } else {
    const Error& error = answer->result.error();
    if (error.cause() == Cause::kOomDevice && request.elsewhere) {
      const int devices =
          ask.replicas * ask.partitions.value_or(answer->accelerator.devices);
      TryElsewhere(ask, devices, deadline, report);
    }
    report.outcome = Fail(Refusal(request, error, report.elsewhere));
  }
  report.answer = *std::move(answer);
  return Ok();
}

Result<ProgramReport> Ask(const ProgramRequest& request,
                          const sys::Host& host) {
  MUSTER_TRY(CheckTopology(request.on));
  MUSTER_ASSIGN(std::optional<ProgramReport> graph, CheckGraph(request, host));
  if (graph) {
    return *std::move(graph);
  }
  ProgramReport report;
  auto module = Read(request, host, report);
  if (!module) {
    if (module.error().cause() != Cause::kFileCorrupt) {
      return module.error();
    }
    report.outcome = Fail(FromError(module.error()));
    return report;
  }
  report.container = module->container;
  MUSTER_ASSIGN(const std::string symbol, SymbolOf(request, *module));
  if (!symbol.empty() && request.python.empty()) {
    report.outcome = Skip("setting the size of `" + Printable(symbol) +
                          "` requires Python with jax: pip install jax");
    return report;
  }
  if (!symbol.empty()) {
    module = Sized(request, *module, symbol);
    if (!module) {
      report.outcome = BrokenBy(module.error());
      return report;
    }
  }
  report.arguments = module->arguments;
  report.replicas = ReplicasOf(request, *module);
  report.partitions = PartitionsOf(request, *module);
  if (request.examples) {
    report.examples = {*request.examples, "flag --examples"};
  } else if (request.batch) {
    report.examples = {std::int64_t{*request.batch} * report.replicas.value,
                       "flag --batch"};
  }
  if (request.plugin.value.empty()) {
    report.outcome = Skip("the TPU compiler (libtpu) is not installed: " +
                          std::string(kInstallLibtpu));
    return report;
  }
  report.package = PackageOf(host.fs, request.plugin.value);
  const pjrt::CompileRequest ask{
      .plugin = request.plugin.value,
      .topology = request.on,
      .code = module->code,
      .replicas = report.replicas.value,
      .partitions = report.partitions.value == 0
                        ? std::nullopt
                        : std::optional(report.partitions.value),
      .shardy = module->shardy};
  MUSTER_TRY(AskAndJudge(request, *module, ask, report));
  return report;
}

}  // namespace

Result<ProgramReport> CheckProgram(const ProgramRequest& request,
                                   const sys::Host& host) {
  MUSTER_ASSIGN(ProgramReport report, Ask(request, host));
  for (Finding& finding : report.outcome.findings) {
    for (Evidence& evidence : finding.evidence) {
      evidence.at = host.clock.WallNow();
    }
  }
  return report;
}

}  // namespace muster::program
