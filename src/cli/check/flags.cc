// SPDX-License-Identifier: Apache-2.0
// Part of verbs.h: `muster check`, `check program` and `check fit`.
#include <algorithm>

#include "base/text.h"
#include "check/facts/device_open.h"
#include "cli/verbs.h"

namespace muster::cli {
namespace {

Status TakeTimeout(CommandLine& line, const Flag&, const std::string& text) {
  const auto request_timeout = ParseDuration(text);
  if (!request_timeout || *request_timeout <= Duration::zero() ||
      *request_timeout > std::chrono::hours(24)) {
    return Usage("flag --timeout is `" + Printable(text) +
                 "`, expected a duration up to a day, such as 2min");
  }
  line.program.request_timeout = *request_timeout;
  return Ok();
}

// "64,128,256".
Status TakeBatches(CommandLine& line, const Flag&, const std::string& text) {
  constexpr std::int64_t kMaxCount = 1 << 30;
  for (const std::string& one : Split(text, ',')) {
    const auto batch = IsDigits(one) ? ParseInt(one) : std::nullopt;
    if (!batch || *batch < 1 || *batch > kMaxCount) {
      return Usage("flag --batch is `" + Printable(text) +
                   "`, expected sizes of at least 1, such as 64,128,256");
    }
    line.program.batches.push_back(static_cast<int>(*batch));
  }
  return Ok();
}

// What is asked of the accelerators of this host.
Status CheckOpen(const CommandLine& line) {
  const auto may_open = [](const std::string& word) {
    return word.starts_with("accelerator") || word.starts_with("tpu");
  };
  if (line.open &&
      std::none_of(line.groups.begin(), line.groups.end(), may_open)) {
    return Usage(
        "flag --open is valid only with `muster check accelerator` and `muster "
        "check tpu`, which then open the accelerators of this host");
  }
  for (const char* flag : {"--yes", "--plugin", "--timeout"}) {
    if (line.Has(flag) && !line.open) {
      return Usage("flag " + std::string(flag) +
                   " is valid only with --open, as in `muster check "
                   "accelerator --open`");
    }
  }
  if (line.program.request_timeout > check::kMaxTimeout) {
    return Usage("flag --timeout is longer than 9min, the most with --open");
  }
  return Ok();
}

Status CheckCheck(CommandLine& line) {
  for (const std::string& word : line.groups) {
    if (FindVerb("check " + word) != nullptr) {
      std::string message = "`" + word;
      message +=
          "` is a sub-command: it stands directly after `muster check`, "
          "as in `muster check ";
      message += word + " --help`";
      return Usage(message);
    }
  }
  MUSTER_TRY(CheckOpen(line));
  return CheckReach(line);
}

Status CheckCheckProgram(CommandLine& line) {
  return line.program.on.empty()
             ? Usage(
                   "a topology is required, as in `muster check program "
                   "step.mlir --on v5e:2x4`")
             : Ok();
}

Status CheckCheckFit(CommandLine& line) {
  const FitFlags& flags = line.fit;
  return flags.params.empty() || flags.on.empty() || flags.activations.empty()
             ? Usage(
                   "parameters, activations and an accelerator are required, "
                   "as in `muster check fit --params 1.3B --activations 4GB "
                   "--on v5e-8`")
             : Ok();
}

Flag FrameworkFlag(const char* help) {
  return {"--framework",
          "NAME",
          help,
          To(&CommandLine::framework),
          {"tf", "jax", "torch"}};
}

Flag TimeoutFlag(const char* help) {
  return {"--timeout", "TIME", help, TakeTimeout};
}

FlagGroup OpenFlags() {
  return {
      "Opening accelerators (check accelerator, check tpu)",
      {{"--open", "",
        "open the devices of this host; -y, --yes skips the confirmation",
        To(&CommandLine::open)},
       {"-y, --yes", "", "do not ask for confirmation", To(&CommandLine::yes)},
       {"--plugin", "PATH",
        "the PJRT plug-in; tpu, cuda or cpu find the installed one",
        To(&CommandLine::program, &ProgramFlags::plugins)},
       TimeoutFlag("how long it may take (default 120s, at most 9min)")}};
}

FlagGroup CheckFlags() {
  FlagGroup group{
      "Flags",
      {{.names = "--checkpoints",
        .value = "PATH",
        .help =
            "checkpoint folder; repeatable. With several hosts, each briefly "
            "writes a file there to test whether the others see it",
        .take = To(&CommandLine::checkpoints),
        .repeats = true},
       {.names = "--data",
        .value = "PATH",
        .help = "input data; repeatable",
        .take = To(&CommandLine::data),
        .repeats = true},
       {.names = "--target",
        .value = "ADDRESS",
        .help =
            "server to identify: HOST:PORT, or SCHEME://HOST:PORT with the "
            "expected protocol: grpc, tf, jax, tcpstore, tpu-metrics, http, "
            "https, ssh, tcp; comma-separated; repeatable",
        .take = To(&CommandLine::targets),
        .repeats = true},
       FrameworkFlag("identify the members as servers of tf, jax or torch"),
       {"--replicas", "N",
        "chips and GPUs that the targets, or --open, must have",
        ToPositive(&CommandLine::replicas)},
       {"--list", "", "list all checks, one per line", To(&CommandLine::list)},
       {"-v, --verbose", "", "on a terminal: show skipped checks and why",
        To(&CommandLine::verbose)}}};
  const auto reach = ReachFlags();
  group.flags.insert(group.flags.end(), reach.begin(), reach.end());
  return group;
}

FlagGroup ProgramFlagGroup() {
  using Flags = ProgramFlags;
  return {
      "Flags",
      {{"--on", "TOPOLOGY",
        "target of the program: v2, v3, v4, v5e, v5p, v6e or tpu7x, and its "
        "shape in chips: v5e:2x4, v5p:2x2x1",
        To(&CommandLine::program, &Flags::on)},
       {"--batch", "N,N",
        "sizes for the symbolic dimension of a jax.export artifact (requires "
        "Python with jax)",
        TakeBatches},
       {"--examples", "N",
        "examples per run of the program over all devices, to report examples "
        "per second (default: from step.json or --batch)",
        ToPositive(&CommandLine::program, &Flags::examples)},
       {.names = "--plugin",
        .value = "PATH",
        .help =
            "compiler; tpu finds the installed one (default: "
            "TPU_LIBRARY_PATH, PJRT_NAMES_AND_LIBRARY_PATHS, libtpu of Python, "
            "the system); repeatable, to compare compilers",
        .take = To(&CommandLine::program, &Flags::plugins),
        .repeats = true},
       FrameworkFlag("reject files of other frameworks"),
       {"--replicas", "N", "copies of the program (default: from the program)",
        ToPositive(&CommandLine::replicas)},
       {"--partitions", "N",
        "devices that share one copy (default: from the program)",
        ToPositive(&CommandLine::program, &Flags::partitions)},
       {"--signature", "NAME",
        "signature of a SavedModel, or function, that is the training step "
        "(default: all signatures)",
        To(&CommandLine::program, &Flags::signature)},
       TimeoutFlag("timeout of the compiler (default 120s)")}};
}

FlagGroup FitFlagGroup() {
  using Flags = FitFlags;
  return {
      "Flags",
      {{"--on", "ACCELERATOR",
        "v5e-8, v5p:2x2x1, h100:8, or here: the accelerators of this host",
        To(&CommandLine::fit, &Flags::on)},
       {"--params", "N", "number of parameters, such as 1.3B",
        To(&CommandLine::fit, &Flags::params)},
       {"--optimizer", "NAME",
        "sgd, momentum, lion, rmsprop, adagrad, adam or adamw (default adam)",
        To(&CommandLine::fit, &Flags::optimizer)},
       {"--dtype", "NAME",
        "f32, bf16, f16, or mixed: f32 with a copy in bf16 (default f32)",
        To(&CommandLine::fit, &Flags::dtype)},
       {"--activations", "SIZE",
        "activations per device for the backward pass: 4GB, or "
        "layers=24,hidden=2048,heads=16, sequence=1024,batch=8,vocab=32000 "
        "(and ,remat) of a transformer",
        To(&CommandLine::fit, &Flags::activations)},
       {"--sharded", "",
        "shard weights, gradients and optimizer states over the devices "
        "(default: replicated)",
        To(&CommandLine::fit, &Flags::sharded)}}};
}

constexpr const char* kAboutCheck =
    "Find problems that would stop a run on this host before it starts: names, "
    "routes, ports, proxies, limits, memory, disks, accelerators, versions. "
    "Changes nothing, except for a small file that --checkpoints writes and "
    "removes, and opens no accelerator without --open. Started on every host "
    "of the list at the same time, it also tests the connections between all "
    "members in both directions on the ports of the run, and compares "
    "versions, the files of the command and the data.\n\n"
    "Each check ends as ok, warn, FAIL, skip (with the reason) or broken (the "
    "check itself failed; not a pass). --output jsonl prints a line as each "
    "check ends.\n\n"
    "--target and --framework identify servers other than muster by their "
    "protocol: TensorFlow workers, coordination services of TensorFlow and "
    "JAX, torch's TCPStore, TPU runtimes, gRPC, HTTP, TLS, SSH. Probes only "
    "read: they never join a job or change anything.\n\n"
    "`check tpu` follows the steps of a program that starts on a TPU: resolve, "
    "connect, initialize, replicas, cluster spec. A failed step skips the "
    "following ones. `check accelerator` shows the chips and GPUs of this "
    "host, the processes that use them, the driver and the plug-in.\n\n"
    "Neither opens a device by default. With --open, both ask for "
    "confirmation, open the devices of this host in a child process that is "
    "killed after --timeout, count them, run one all-reduce over all of them, "
    "and close them. No other process can use them in the meantime; devices in "
    "use are not opened.";

Verb DescribeChecks() {
  return {.path = "check",
          .summary = "find problems that would stop a run, before it starts",
          .about = kAboutCheck,
          .examples =
              {{"muster check"},
               {"muster check network host.memory", "groups, or single checks"},
               {"muster check --hosts a:8476,b:8476 --checkpoints /mnt/ck"},
               {"muster check --hosts a:8476,b:8476 -- python train.py",
                "are its files the same on all hosts?"},
               {"muster check --output json >check.json"},
               {"muster check --tpu NAME", "on each worker of a TPU, by ssh"},
               {"muster check --list"},
               {"muster check --target grpc://10.0.0.2:8470",
                "which server responds there?"},
               {"muster check --framework tf", "which task responds where?"},
               {"muster check tpu", "would a program start on it?"},
               {"muster check accelerator --open",
                "do devices open and add right?"}},
          .exits = {{"0", "no errors"},
                    {"1", "a finding of severity error (--fail-on)"},
                    {"2", "invalid command line or cluster description"},
                    {"3", "a check was broken"}},
          .argument = {.name = "CHECK",
                       .repeats = true,
                       .values = kChecks,
                       .take = To(&CommandLine::groups)},
          .command = AfterDashes::kOptional,
          .groups = {ClusterFlags(), OpenFlags(), CheckFlags()},
          .check = CheckCheck,
          .run = CheckVerb};
}

}  // namespace

std::vector<Verb> DescribeCheck() {
  Verb program{
      .path = "check program",
      .summary = "compile a program for a TPU: would it run and fit there?",
      .about =
          "Compile StableHLO text, bytecode, a jax.export artifact or a "
          "step.json of muster::pjrt with the TPU compiler (libtpu, from `pip "
          "install libtpu`). It neither needs nor opens a TPU. Without the "
          "compiler, the result is skip, exit code 3. A SavedModel or GraphDef "
          "of TensorFlow is checked by its operations, without a compiler and "
          "without TensorFlow. With several files, or several sizes of one, it "
          "reports the largest that fits. With two --plugin, it reports what "
          "only one of the compilers accepts.",
      .examples = {{"muster check program step.mlir --on v5e:2x4"},
                   {"muster check program b64.mlir b128.mlir --on v5e:2x4",
                    "the largest that fits"}},
      .exits = {{"0", "it compiles and fits"},
                {"1", "it does not"},
                {"2", "invalid command line, or the file cannot be read"},
                {"3", "no compiler is installed, or it could not be run"}},
      .argument = {.name = "FILE",
                   .required = true,
                   .repeats = true,
                   .values = kFiles | kFolders,
                   .take = To(&CommandLine::program, &ProgramFlags::files)},
      .groups = {ProgramFlagGroup()},
      .check = CheckCheckProgram,
      .run = CheckProgramVerb};
  Verb fit{.path = "check fit",
           .summary = "estimate the memory of a training step from its sizes",
           .about =
               "Estimate the memory of a training step on a device (weights, "
               "gradients, optimizer states, activations) from its sizes and "
               "compare it with the usable memory. It needs no program and no "
               "compiler.",
           .examples = {{"muster check fit --params 1.3B --activations 4GB "
                         "--on v5e-8"}},
           .exits = {{"0", "it fits, by estimate"},
                     {"1", "it does not"},
                     {"2", "invalid command line"},
                     {"3", "`--on here`, but no accelerator is visible"}},
           .groups = {FitFlagGroup()},
           .check = CheckCheckFit,
           .run = CheckFitVerb};
  return {DescribeChecks(), std::move(program), std::move(fit)};
}

}  // namespace muster::cli
