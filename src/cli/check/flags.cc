// SPDX-License-Identifier: Apache-2.0
// Flags of `muster check`.
#include <algorithm>

#include "base/text.h"
#include "check/facts/device_open.h"
#include "cli/flags.h"

namespace muster::cli {
namespace {

void AddProgramFlags(CLI::App& app, Texts& texts, ProgramFlags& flags) {
  app.add_option("--on", texts.on);
  app.add_option("--batch", texts.batch);
  app.add_option("--examples", texts.examples);
  app.add_option("--plugin", flags.plugins)
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--replicas", texts.replicas);
  app.add_option("--partitions", texts.partitions);
  app.add_option("--signature", texts.signature);
  app.add_option("--timeout", texts.request_timeout);
}

// `--on` is that of `check program`.
void AddFitFlags(CLI::App& app, FitFlags& flags) {
  app.add_option("--params", flags.params);
  app.add_option("--optimizer", flags.optimizer);
  app.add_option("--dtype", flags.dtype);
  app.add_option("--activations", flags.activations);
  app.add_flag("--sharded", flags.sharded);
}

Result<Duration> TakeTimeout(const std::string& text) {
  const auto request_timeout = ParseDuration(text);
  if (!request_timeout || *request_timeout <= Duration::zero() ||
      *request_timeout > std::chrono::hours(24)) {
    return Usage("flag --timeout is `" + Printable(text) +
                 "`, expected a time up to a day, as in 2min");
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
                   "`, expected sizes from 1 on, as in 64,128,256");
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
      return Usage("flag " + std::string(flag) +
                   " belongs to `muster check program FILE --on v5e:2x4`");
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
        "give a file and a topology, as in `muster check program "
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
    return Usage("flag --partitions is at least 1");
  }
  MUSTER_ASSIGN(flags.examples, Number(verb, "--examples", texts.examples));
  if (flags.examples == 0) {
    return Usage("flag --examples is at least 1");
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
                   " belongs to `muster check fit --params 1.3B --activations "
                   "4GB --on v5e-8`");
    }
  }
  if (!flags.asked || line.help) {
    return Ok();
  }
  flags.on = texts.on;
  if (line.groups.size() != 1 || flags.params.empty() || flags.on.empty() ||
      flags.activations.empty()) {
    return Usage(
        "give parameters, activations and an accelerator, as in `muster check "
        "fit --params 1.3B --activations 4GB --on v5e-8`");
  }
  return Ok();
}

// What is expected of others: `check` and `check program` count replicas.
Status TakeExpected(const CLI::App& verb, const Texts& texts,
                    CommandLine& line) {
  MUSTER_ASSIGN(line.replicas, Number(verb, "--replicas", texts.replicas));
  if (line.replicas == 0) {
    return Usage("flag --replicas is at least 1");
  }
  const auto may_open = [](const std::string& word) {
    return word.starts_with("accelerator") || word.starts_with("tpu");
  };
  if (line.open &&
      std::none_of(line.groups.begin(), line.groups.end(), may_open)) {
    return Usage(
        "flag --open belongs to `muster check accelerator` and `muster check "
        "tpu`, which then open the accelerators of this host");
  }
  if (line.yes && !line.open) {
    return Usage("flag --yes answers what --open asks");
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
  app.add_option("--checkpoints", line.checkpoints)
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--data", line.data)->allow_extra_args(false)->take_all();
  app.add_option("--target", line.targets)->allow_extra_args(false)->take_all();
  app.add_option("--framework", line.framework);
  app.add_flag("--open", line.open);
  app.add_flag("-y,--yes", line.yes);
  app.add_flag("--list", line.list);
  app.add_flag("-v,--verbose", line.verbose);
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
