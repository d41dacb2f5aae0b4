// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/text.h"
#include "check/opening.h"
#include "cli/settings.h"

namespace muster::cli {
namespace {

// What the flags were given as, before it is read.
struct Texts {
  std::string processes, hosts, cluster, rank;
  std::string source, profile, host_file, instance_group;
  std::string tpu, project, zone;
  std::string on, batch, replicas, partitions, patience, port, signature;
  bool internal_ip = false;
  std::vector<std::string> pods;
  std::vector<std::string> environment;
  std::map<std::string, std::string> settings;
};

Error Usage(const std::string& message) {
  return Error(Cause::kUsageInvalid, message);
}

void AddSettings(CLI::App& app, std::string_view verb, Texts& texts) {
  for (const SettingRow& row : SettingRows()) {
    if (row.IsFor(verb)) {
      app.add_option(std::string(row.flag),
                     texts.settings[std::string(row.name)]);
    }
  }
}

// What describes the cluster, for every verb that needs one.
void AddClusterFlags(CLI::App& app, Texts& texts) {
  app.add_option("-n", texts.processes);
  app.add_option("--hosts", texts.hosts);
  app.add_option("--cluster", texts.cluster);
  app.add_option("--rank", texts.rank);
  app.add_option("--source", texts.source);
  app.add_option("--profile", texts.profile);
  app.add_option("--hostfile", texts.host_file);
  app.add_option("--tpu", texts.tpu);
  app.add_option("--project", texts.project);
  app.add_option("--zone", texts.zone);
  app.add_option("--instance-group", texts.instance_group);
  app.add_option("--pods", texts.pods)->allow_extra_args(false)->take_all();
}

// What `muster resolve` shows.
void AddResolveFlags(CLI::App& app, ResolveFlags& flags) {
  app.add_option("--export", flags.export_for);
  app.add_option("--require", flags.requirements)
      ->allow_extra_args(false)
      ->take_all();
  app.add_flag("-v,--verbose", flags.verbose);
  app.add_flag("--spec", flags.spec);
  app.add_flag("--check-self", flags.check_self);
}

void AddProgramFlags(CLI::App& app, Texts& texts, ProgramFlags& flags) {
  app.add_option("--on", texts.on);
  app.add_option("--batch", texts.batch);
  app.add_option("--plugin", flags.plugins)
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--replicas", texts.replicas);
  app.add_option("--partitions", texts.partitions);
  app.add_option("--signature", texts.signature);
  app.add_option("--patience", texts.patience);
}

// `--on` is that of `check program`.
void AddFitFlags(CLI::App& app, FitFlags& flags) {
  app.add_option("--params", flags.params);
  app.add_option("--optimizer", flags.optimizer);
  app.add_option("--dtype", flags.dtype);
  app.add_option("--activations", flags.activations);
  app.add_flag("--sharded", flags.sharded);
}

void AddCheckFlags(CLI::App& app, CommandLine& line) {
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
}

// How the workers of a TPU are reached.
void AddReachFlags(CLI::App& app, Texts& texts, ReachFlags& flags) {
  app.add_option("--worker", flags.worker);
  app.add_option("--address", flags.address);
  // gcloud's name is understood, too.
  app.add_flag("--internal-ip", texts.internal_ip);
  app.add_option("--user", flags.user);
}

void AddTpuFlags(CLI::App& app, Texts& texts, TpuFlags& flags) {
  app.add_option("words", flags.words);
  app.add_option("--project", texts.project);
  app.add_option("--zone", texts.zone);
  app.add_flag("--all-zones", flags.all_zones);
  app.add_flag("-q,--quiet", flags.quiet);
  // gcloud's name is understood, too.
  app.add_option("--type,--accelerator-type", flags.type);
  app.add_option("--version", flags.version);
  app.add_option("--command", flags.shell_line);
  app.add_option("--port", texts.port);
  app.add_flag("-y,--yes", flags.yes);
  app.add_flag("--dry-run", flags.dry_run);
  app.add_flag("--enable", flags.enable);
  app.add_flag("--on-demand", flags.on_demand);
  app.add_flag("--spot,--preemptible", flags.spot);
  app.add_flag("--reserved", flags.reserved);
  app.add_flag("--queued", flags.queued);
  app.add_flag("--wait", flags.wait);
  app.add_option("--any-zone", flags.any_zone)
      ->delimiter(',')
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--reach", flags.reach);
}

// Every flag that the sub-command knows.
std::vector<std::string> FlagsOf(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      flags.push_back("--" + name);
    }
  }
  return flags;
}

std::string Meant(const std::string& word,
                  const std::vector<std::string>& known) {
  const auto meant = DidYouMean(word, known);
  return meant ? ", did you mean `" + *meant + "`?" : "";
}

// A word that nothing took.
Error Unknown(const std::vector<std::string>& extras, const CLI::App& app,
              Verb verb) {
  const auto flag =
      std::find_if(extras.begin(), extras.end(), [](const std::string& word) {
        return word.size() > 1 && word[0] == '-';
      });
  if (flag != extras.end() && (flag == extras.begin() || verb != Verb::kRun)) {
    const std::string name = flag->substr(0, flag->find('='));
    return Usage("unknown flag `" + Printable(name) + "`" +
                 Meant(name, FlagsOf(app)));
  }
  const std::string word = Printable(extras.front());
  if (verb == Verb::kOverview) {
    return Usage(
        "unknown sub-command `" + word + "`" +
        Meant(word, {"resolve", "check", "run", "explain", "bundle", "tpu"}));
  }
  if (verb == Verb::kRun) {
    return Usage("`" + word +
                 "` stands where a flag belongs: the command to run comes "
                 "after `--`, as in `muster run -n 2 -- " +
                 word + "`");
  }
  return Usage("unexpected `" + word + "`");
}

std::optional<std::string> Given(const CLI::App& app, const char* flag,
                                 const std::string& text) {
  const auto* option = app.get_option_no_throw(flag);
  return option != nullptr && option->count() > 0 ? std::optional(text)
                                                  : std::nullopt;
}

Result<std::optional<int>> Number(const CLI::App& app, const char* flag,
                                  const std::string& text) {
  const auto given = Given(app, flag, text);
  if (!given) {
    return std::optional<int>();
  }
  const auto number = ParseInt(*given);
  if (!number || *number < 0 || *number > 1'000'000) {
    return Usage("flag " + std::string(flag) + " is `" + Printable(*given) +
                 "`, expected a whole number");
  }
  return std::optional<int>(static_cast<int>(*number));
}

Status TakeEnvironment(const std::vector<std::string>& texts,
                       CommandLine& line) {
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      return Usage("flag --env is `" + Printable(text) +
                   "`, expected NAME=VALUE");
    }
    line.environment.emplace_back(text.substr(0, equals),
                                  text.substr(equals + 1));
  }
  return Ok();
}

Status TakeProfile(const std::string& profile, resolve::Request& request) {
  const std::vector<std::string> known{"tf",        "estimator", "jax",
                                       "torch",     "torch_xla", "ray",
                                       "deepspeed", "openmpi"};
  if (std::find(known.begin(), known.end(), profile) == known.end()) {
    return Usage("flag --profile is `" + Printable(profile) +
                 "`, expected one of " + Join(known, ", ") +
                 Meant(profile, known));
  }
  request.profile = profile;
  return Ok();
}

// "worker:app=train": the pods of a job by a label selector.
Status TakePods(const std::vector<std::string>& texts,
                resolve::Request& request) {
  for (const std::string& text : texts) {
    const auto colon = text.find(':');
    if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
      return Usage("flag --pods is `" + Printable(text) +
                   "`, expected JOB:LABEL=VALUE");
    }
    request.selectors.emplace_back(
        text.substr(0, colon),
        std::vector<std::string>{text.substr(colon + 1)});
  }
  return Ok();
}

Status TakeSources(const CLI::App& verb, const Texts& texts,
                   resolve::Request& request) {
  request.source = Given(verb, "--source", texts.source).value_or("");
  if (const auto profile = Given(verb, "--profile", texts.profile)) {
    MUSTER_TRY(TakeProfile(*profile, request));
  }
  request.host_file = Given(verb, "--hostfile", texts.host_file);
  if (const auto tpu = Given(verb, "--tpu", texts.tpu)) {
    request.cloud.tpu = std::vector<std::string>{*tpu};
  }
  request.cloud.project = Given(verb, "--project", texts.project);
  request.cloud.zone = Given(verb, "--zone", texts.zone);
  request.cloud.instance_group =
      Given(verb, "--instance-group", texts.instance_group);
  return TakePods(texts.pods, request);
}

Result<Duration> TakePatience(const std::string& text) {
  const auto patience = ParseDuration(text);
  if (!patience || *patience <= Duration::zero() ||
      *patience > std::chrono::hours(24)) {
    return Usage("flag --patience is `" + Printable(text) +
                 "`, expected a time up to a day, as in 2min");
  }
  return *patience;
}

// "64,128,256".
Result<std::vector<int>> TakeBatches(const std::string& text) {
  constexpr std::int64_t kMost = 1 << 30;
  std::vector<int> batches;
  for (const std::string& one : Split(text, ',')) {
    const auto batch = IsDigits(one) ? ParseInt(one) : std::nullopt;
    if (!batch || *batch < 1 || *batch > kMost) {
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
  if (line.verb != Verb::kCheck) {
    return Ok();
  }
  ProgramFlags& flags = line.program;
  flags.asked = !line.groups.empty() && line.groups.front() == "program";
  const bool fits = !line.groups.empty() && line.groups.front() == "fit";
  for (const char* flag : {"--on", "--plugin", "--batch", "--partitions",
                           "--signature", "--patience"}) {
    const bool opens = line.open && (std::string_view(flag) == "--plugin" ||
                                     std::string_view(flag) == "--patience");
    const bool where = fits && std::string_view(flag) == "--on";
    if (!flags.asked && !opens && !where && Given(verb, flag, "")) {
      return Usage("flag " + std::string(flag) +
                   " belongs to `muster check program FILE --on v5e:2x4`");
    }
  }
  if (!flags.asked && flags.plugins.size() > 1) {
    return Usage("flag --plugin is given " +
                 std::to_string(flags.plugins.size()) +
                 " times; --open opens the devices with one");
  }
  if (const auto text = Given(verb, "--patience", texts.patience)) {
    MUSTER_ASSIGN(flags.patience, TakePatience(*text));
    if (line.open && flags.patience > check::kLongestPatience) {
      return Usage("flag --patience is `" + Printable(*text) +
                   "`, expected at most 9min with --open");
    }
  }
  if (!flags.asked || line.help) {
    return Ok();
  }
  if (line.groups.size() < 2 || !Given(verb, "--on", texts.on)) {
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
  return Ok();
}

// `check fit` is one, too.
Status TakeFit(const CLI::App& verb, const Texts& texts, CommandLine& line) {
  if (line.verb != Verb::kCheck) {
    return Ok();
  }
  FitFlags& flags = line.fit;
  flags.asked = !line.groups.empty() && line.groups.front() == "fit";
  for (const char* flag :
       {"--params", "--optimizer", "--dtype", "--activations", "--sharded"}) {
    if (!flags.asked && verb.get_option(flag)->count() > 0) {
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
  if (line.verb != Verb::kCheck) {
    return Ok();
  }
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
  if (Given(verb, "--framework", line.framework) &&
      std::find(known.begin(), known.end(), line.framework) == known.end()) {
    return Usage("flag --framework is `" + Printable(line.framework) +
                 "`, expected one of " + Join(known, ", ") +
                 Meant(line.framework, known));
  }
  return Ok();
}

// The action that the words name, and that it has the flags that are given.
Status TakeTpu(const CLI::App& verb, const Texts& texts, CommandLine& line) {
  if (line.verb != Verb::kTpu || line.help) {
    return Ok();
  }
  MUSTER_TRY(ReadTpuWords(line.tpu));
  for (const char* flag :
       {"--zone",   "--all-zones", "--quiet",       "--type",   "--version",
        "--worker", "--address",   "--internal-ip", "--user",   "--command",
        "--port",   "--yes",       "--dry-run",     "--enable", "--on-demand",
        "--spot",   "--reserved",  "--queued",      "--wait",   "--any-zone",
        "--reach"}) {
    const auto* option = verb.get_option_no_throw(flag);
    if (option != nullptr && option->count() > 0 &&
        !TpuActionHas(line.tpu.action, flag)) {
      return Usage("flag " + std::string(flag) + " does not belong to `" +
                   NameOf(line.tpu.action) + "`");
    }
  }
  if (line.tpu.all_zones && line.cluster.cloud.zone) {
    return Usage("flags --zone and --all-zones exclude each other");
  }
  if (!line.tpu.any_zone.empty() && line.cluster.cloud.zone) {
    return Usage("flags --zone and --any-zone exclude each other");
  }
  if (!line.tpu.shell_line.empty() && !line.command.empty()) {
    return Usage("flag --command and a command after `--` exclude each other");
  }
  MUSTER_ASSIGN(const auto port, Number(verb, "--port", texts.port));
  if (port && (*port < 1 || *port > 65'535)) {
    return Usage("flag --port is " + std::to_string(*port) +
                 ", expected 1 to 65535");
  }
  line.tpu.port = port.value_or(line.tpu.port);
  return Ok();
}

// `check` and `run` have them for a TPU alone.
Status TakeReach(const CLI::App& verb, const Texts& texts, CommandLine& line) {
  if (texts.internal_ip) {
    line.reach.address = "internal";
  }
  if (line.verb != Verb::kCheck && line.verb != Verb::kRun) {
    return Ok();
  }
  for (const char* flag : {"--worker", "--address", "--internal-ip", "--user",
                           "--copy", "--keep-copy"}) {
    const auto* option = verb.get_option_no_throw(flag);
    if (option != nullptr && option->count() > 0 &&
        (!line.cluster.cloud.tpu || line.cluster.hosts ||
         line.cluster.processes || line.cluster.cluster)) {
      return Usage("flag " + std::string(flag) +
                   " belongs to --tpu NAME, without another cluster");
    }
  }
  return line.reach.keep_copy && line.reach.copy.empty()
             ? Status(Usage("flag --keep-copy belongs to --copy DIR"))
             : Ok();
}

Status Take(const CLI::App& verb, const Texts& texts, CommandLine& line) {
  for (const SettingRow& row : SettingRows()) {
    const auto given = Given(verb, std::string(row.flag).c_str(),
                             texts.settings.at(std::string(row.name)));
    // `check` has a flag --patience of its own.
    if (given && row.IsFor(verb.get_name())) {
      line.settings[std::string(row.name)] = *given;
    }
  }
  MUSTER_ASSIGN(line.cluster.processes, Number(verb, "-n", texts.processes));
  MUSTER_ASSIGN(line.cluster.rank, Number(verb, "--rank", texts.rank));
  line.cluster.hosts = Given(verb, "--hosts", texts.hosts);
  line.cluster.cluster = Given(verb, "--cluster", texts.cluster);
  MUSTER_TRY(TakeSources(verb, texts, line.cluster));
  MUSTER_TRY(TakeExpected(verb, texts, line));
  MUSTER_TRY(TakeProgram(verb, texts, line));
  MUSTER_TRY(TakeFit(verb, texts, line));
  MUSTER_TRY(TakeReach(verb, texts, line));
  MUSTER_TRY(TakeTpu(verb, texts, line));
  return TakeEnvironment(texts.environment, line);
}

// The words after the first `--` are the command's, whatever they are.
std::vector<std::string> SplitCommand(std::vector<std::string>& args) {
  const auto dashes = std::find(args.begin(), args.end(), "--");
  std::vector<std::string> command;
  if (dashes != args.end()) {
    command.assign(dashes + 1, args.end());
    args.erase(dashes, args.end());
  }
  return command;
}

Status CheckCommand(const CommandLine& line, bool has_dashes) {
  if (line.help || line.version) {
    return Ok();
  }
  if (line.verb == Verb::kRun && line.command.empty()) {
    return Usage(
        "no command to run: it comes after `--`, as in `muster run -n 2 -- "
        "python train.py`");
  }
  const bool is_ssh =
      line.verb == Verb::kTpu && line.tpu.action == TpuAction::kSsh;
  if (line.verb != Verb::kRun && line.verb != Verb::kCheck && !is_ssh &&
      has_dashes) {
    return Usage(
        "only `muster run`, `muster check` and `muster tpu ssh` take a "
        "command after `--`");
  }
  if (is_ssh && has_dashes && line.command.empty()) {
    return Usage("no command stands after `--`");
  }
  if (line.verb == Verb::kExplain && line.inputs.empty() && !line.list) {
    return Usage(
        "give a log, a folder, `-` for standard input or the label of a "
        "cause; --list prints all causes");
  }
  if (line.verb == Verb::kBundle && line.inputs.empty()) {
    return Usage(
        "give the folder of a run or logs, as in `muster bundle runs/latest`");
  }
  return Ok();
}

// The tree of the command line over the places that its words go to.
struct Tree {
  explicit Tree(Texts& texts, CommandLine& line) {
    app.set_help_flag();
    app.add_flag("-h,--help", line.help);
    app.add_flag("--version", line.version);
    app.require_subcommand(0, 1);
    resolve->set_help_flag();
    check->set_help_flag();
    run->set_help_flag();
    explain->set_help_flag();
    bundle->set_help_flag();
    tpu->set_help_flag();
    for (CLI::App* verb : {resolve, check, run, explain, bundle, tpu}) {
      verb->add_flag("-h,--help", line.help);
    }
    AddClusterFlags(*resolve, texts);
    AddResolveFlags(*resolve, line.resolve);
    AddSettings(*resolve, "resolve", texts);
    AddClusterFlags(*check, texts);
    AddCheckFlags(*check, line);
    AddProgramFlags(*check, texts, line.program);
    AddFitFlags(*check, line.fit);
    AddReachFlags(*check, texts, line.reach);
    AddSettings(*check, "check", texts);
    AddClusterFlags(*run, texts);
    run->add_option("--env", texts.environment)
        ->allow_extra_args(false)
        ->take_all();
    run->add_flag("--dry-run", line.dry_run);
    AddReachFlags(*run, texts, line.reach);
    run->add_option("--copy", line.reach.copy);
    run->add_flag("--keep-copy", line.reach.keep_copy);
    AddSettings(*run, "run", texts);
    explain->add_option("inputs", line.inputs);
    explain->add_option("--exit", line.exit);
    explain->add_option("--rank-from", line.rank_from);
    explain->add_flag("--look", line.look);
    explain->add_flag("--list", line.list);
    AddSettings(*explain, "explain", texts);
    bundle->add_option("inputs", line.inputs);
    bundle->add_option("--archive", line.archive);
    AddSettings(*bundle, "bundle", texts);
    AddTpuFlags(*tpu, texts, line.tpu);
    AddReachFlags(*tpu, texts, line.reach);
    AddSettings(*tpu, "tpu", texts);
    for (const SettingRow& row : SettingRows()) {
      texts.settings[std::string(row.name)];
    }
  }

  const CLI::App* Chosen(Verb& verb) const {
    const std::pair<const CLI::App*, Verb> verbs[] = {
        {resolve, Verb::kResolve}, {check, Verb::kCheck},   {run, Verb::kRun},
        {explain, Verb::kExplain}, {bundle, Verb::kBundle}, {tpu, Verb::kTpu}};
    for (const auto& [sub, its] : verbs) {
      if (sub->count() > 0) {
        verb = its;
        return sub;
      }
    }
    return &app;
  }

  CLI::App app;
  CLI::App* resolve = app.add_subcommand("resolve");
  CLI::App* check = app.add_subcommand("check");
  CLI::App* run = app.add_subcommand("run");
  CLI::App* explain = app.add_subcommand("explain");
  CLI::App* bundle = app.add_subcommand("bundle");
  CLI::App* tpu = app.add_subcommand("tpu");
};

std::string Plain(std::string text) {
  // "--hosts: 1 required TEXT missing" and the like, on one line.
  std::replace(text.begin(), text.end(), '\n', ' ');
  return Printable(text);
}

}  // namespace

Result<CommandLine> ParseCommandLine(const std::vector<std::string>& args) {
  CommandLine line;
  Texts texts;
  std::vector<std::string> head = args;
  line.command = SplitCommand(head);
  const bool has_dashes = head.size() != args.size();
  Tree tree(texts, line);
  // The library takes the words from the back.
  std::reverse(head.begin(), head.end());
  try {
    tree.app.parse(std::move(head));
  } catch (const CLI::ExtrasError&) {
    const CLI::App* chosen = tree.Chosen(line.verb);
    return Unknown(tree.app.remaining(true), *chosen, line.verb);
  } catch (const CLI::Error& error) {
    return Usage(Plain(error.what()));
  }
  const CLI::App* chosen = tree.Chosen(line.verb);
  if (line.verb != Verb::kOverview) {
    MUSTER_TRY(Take(*chosen, texts, line));
  }
  MUSTER_TRY(CheckCommand(line, has_dashes));
  return line;
}

}  // namespace muster::cli
