// SPDX-License-Identifier: Apache-2.0
// Flags of `muster check`.
#include <algorithm>

#include "base/text.h"
#include "check/facts/device_open.h"
#include "cli/flags.h"

namespace muster::cli {
namespace {

void AddProgramFlags(CLI::App& app, Texts& texts, ProgramFlags& flags) {
  AddOption(app, "--on TOPOLOGY", texts.on,
            "target of the program: v2, v3, v4, v5e, v5p, v6e or tpu7x, and "
            "its shape in chips: v5e:2x4, v5p:2x2x1");
  AddOption(app, "--batch N,N", texts.batch,
            "sizes for the symbolic dimension of a jax.export artifact "
            "(requires Python with jax)");
  AddOption(app, "--examples N", texts.examples,
            "examples per run of the program over all devices, to report "
            "examples per second (default: from step.json or --batch)");
  AddOption(
      app, "--plugin PATH", flags.plugins,
      "compiler, or with --open the PJRT plug-in; tpu, cuda or cpu find the "
      "installed one (default: TPU_LIBRARY_PATH, PJRT_NAMES_AND_LIBRARY_PATHS, "
      "libtpu of Python, the system); repeatable, to compare compilers");
  AddOption(app, "--replicas N", texts.replicas,
            "copies of the program (default: from the program), or chips and "
            "GPUs that the targets, or --open, must have");
  AddOption(app, "--partitions N", texts.partitions,
            "devices that share one copy (default: from the program)");
  AddOption(app, "--signature NAME", texts.signature,
            "signature of a SavedModel, or function, that is the training step "
            "(default: all signatures)");
  AddOption(app, "--timeout TIME", texts.request_timeout,
            "timeout of the compiler, or of --open (default 120s)");
}

// `--on` is that of `check program`.
void AddFitFlags(CLI::App& app, FitFlags& flags) {
  AddOption(app, "--params N", flags.params,
            "check fit: number of parameters, such as 1.3B");
  AddOption(app, "--optimizer NAME", flags.optimizer,
            "check fit: sgd, momentum, lion, rmsprop, adagrad, adam or adamw "
            "(default adam)");
  AddOption(app, "--dtype NAME", flags.dtype,
            "check fit: f32, bf16, f16, or mixed: f32 with a copy in bf16 "
            "(default f32)");
  AddOption(app, "--activations SIZE", flags.activations,
            "check fit: activations per device for the backward pass: 4GB, or "
            "layers=24,hidden=2048,heads=16, sequence=1024,batch=8,vocab=32000 "
            "(and ,remat) of a transformer");
  app.add_flag("--sharded", flags.sharded,
               "check fit: shard weights, gradients and optimizer states over "
               "the devices (default: replicated)");
}

Result<Duration> TakeTimeout(const std::string& text) {
  const auto request_timeout = ParseDuration(text);
  if (!request_timeout || *request_timeout <= Duration::zero() ||
      *request_timeout > std::chrono::hours(24)) {
    return Usage("flag --timeout is `" + Printable(text) +
                 "`, expected a duration up to a day, such as 2min");
  }
  return *request_timeout;
}

// "64,128,256".
Result<std::vector<int>> TakeBatches(const std::string& text) {
  constexpr std::int64_t kMaxCount = 1 << 30;
  std::vector<int> batches;
  for (const std::string& one : Split(text, ',')) {
    const auto batch = IsDigits(one) ? ParseInt(one) : std::nullopt;
    if (!batch || *batch < 1 || *batch > kMaxCount) {
      return Usage("flag --batch is `" + Printable(text) +
                   "`, expected sizes of at least 1, such as 64,128,256");
    }
    batches.push_back(static_cast<int>(*batch));
  }
  return batches;
}

// `check program FILE` is a question of its own, not a group of checks.
Status TakeProgram(const CLI::App& verb, const Texts& texts,
                   CommandLine& line) {
  ProgramFlags& flags = line.program;
  flags.asked = !line.groups.empty() && line.groups.front() == "program";
  const bool fits = !line.groups.empty() && line.groups.front() == "fit";
  for (const char* flag : {"--on", "--plugin", "--batch", "--examples",
                           "--partitions", "--signature", "--timeout"}) {
    const bool opens = line.open && (std::string_view(flag) == "--plugin" ||
                                     std::string_view(flag) == "--timeout");
    const bool where = fits && std::string_view(flag) == "--on";
    if (!flags.asked && !opens && !where && IsGiven(verb, flag)) {
      return Usage(
          "flag " + std::string(flag) +
          " is valid only with `muster check program FILE --on v5e:2x4`");
    }
  }
  if (!flags.asked && flags.plugins.size() > 1) {
    return Usage("flag --plugin is given " +
                 std::to_string(flags.plugins.size()) +
                 " times; --open opens the devices with one");
  }
  if (const auto text = Given(verb, "--timeout", texts.request_timeout)) {
    MUSTER_ASSIGN(flags.request_timeout, TakeTimeout(*text));
    if (line.open && flags.request_timeout > check::kMaxTimeout) {
      return Usage("flag --timeout is `" + Printable(*text) +
                   "`, expected at most 9min with --open");
    }
  }
  if (!flags.asked || line.help) {
    return Ok();
  }
  if (line.groups.size() < 2 || !IsGiven(verb, "--on")) {
    return Usage(
        "a file and a topology are required, as in `muster check program "
        "step.mlir --on v5e:2x4`");
  }
  flags.files.assign(line.groups.begin() + 1, line.groups.end());
  flags.on = texts.on;
  if (const auto text = Given(verb, "--batch", texts.batch)) {
    MUSTER_ASSIGN(flags.batches, TakeBatches(*text));
  }
  flags.signature = texts.signature;
  MUSTER_ASSIGN(flags.partitions,
                Number(verb, "--partitions", texts.partitions));
  if (flags.partitions == 0) {
    return Usage("flag --partitions must be at least 1");
  }
  MUSTER_ASSIGN(flags.examples, Number(verb, "--examples", texts.examples));
  if (flags.examples == 0) {
    return Usage("flag --examples must be at least 1");
  }
  return Ok();
}

// `check fit` is one, too.
Status TakeFit(const CLI::App& verb, const Texts& texts, CommandLine& line) {
  FitFlags& flags = line.fit;
  flags.asked = !line.groups.empty() && line.groups.front() == "fit";
  for (const char* flag :
       {"--params", "--optimizer", "--dtype", "--activations", "--sharded"}) {
    if (!flags.asked && IsGiven(verb, flag)) {
      return Usage("flag " + std::string(flag) +
                   " is valid only with `muster check fit --params 1.3B "
                   "--activations 4GB --on v5e-8`");
    }
  }
  if (!flags.asked || line.help) {
    return Ok();
  }
  flags.on = texts.on;
  if (line.groups.size() != 1 || flags.params.empty() || flags.on.empty() ||
      flags.activations.empty()) {
    return Usage(
        "parameters, activations and an accelerator are required, as in "
        "`muster check fit --params 1.3B --activations 4GB --on v5e-8`");
  }
  return Ok();
}

// What is expected of others: `check` and `check program` count replicas.
Status TakeExpected(const CLI::App& verb, const Texts& texts,
                    CommandLine& line) {
  MUSTER_ASSIGN(line.replicas, Number(verb, "--replicas", texts.replicas));
  if (line.replicas == 0) {
    return Usage("flag --replicas must be at least 1");
  }
  const auto may_open = [](const std::string& word) {
    return word.starts_with("accelerator") || word.starts_with("tpu");
  };
  if (line.open &&
      std::none_of(line.groups.begin(), line.groups.end(), may_open)) {
    return Usage(
        "flag --open is valid only with `muster check accelerator` and `muster "
        "check tpu`, which then open the accelerators of this host");
  }
  if (line.yes && !line.open) {
    return Usage("flag --yes is valid only with --open");
  }
  const std::vector<std::string> known{"tf", "jax", "torch"};
  if (IsGiven(verb, "--framework") &&
      std::find(known.begin(), known.end(), line.framework) == known.end()) {
    return Usage("flag --framework is `" + Printable(line.framework) +
                 "`, expected one of " + Join(known, ", ") +
                 Meant(line.framework, known));
  }
  return Ok();
}

}  // namespace

void AddCheckFlags(CLI::App& app, Texts& texts, CommandLine& line) {
  app.add_option("groups", line.groups);
  AddOption(app, "--checkpoints PATH", line.checkpoints,
            "checkpoint folder; repeatable. With several hosts, each briefly "
            "writes a file there to test whether the others see it");
  AddOption(app, "--data PATH", line.data, "input data; repeatable");
  AddOption(app, "--target ADDRESS", line.targets,
            "server to identify: HOST:PORT, or SCHEME://HOST:PORT with the "
            "expected protocol: grpc, tf, jax, tcpstore, tpu-metrics, http, "
            "https, ssh, tcp; comma-separated; repeatable");
  AddOption(app, "--framework NAME", line.framework,
            "identify the members as servers of tf, jax or torch; check "
            "program: reject files of other frameworks");
  app.add_flag("--open", line.open,
               "check accelerator, check tpu: open the devices of this host; "
               "-y, --yes skips the confirmation");
  app.add_flag("-y,--yes", line.yes, "do not ask for confirmation");
  app.add_flag("--list", line.list, "list all checks, one per line");
  app.add_flag("-v,--verbose", line.verbose,
               "on a terminal: show skipped checks and why");
  AddProgramFlags(app, texts, line.program);
  AddFitFlags(app, line.fit);
}

Status TakeCheck(const CLI::App& verb, const Texts& texts, CommandLine& line) {
  if (line.verb != Verb::kCheck) {
    return Ok();
  }
  MUSTER_TRY(TakeExpected(verb, texts, line));
  MUSTER_TRY(TakeProgram(verb, texts, line));
  return TakeFit(verb, texts, line);
}

}  // namespace muster::cli
