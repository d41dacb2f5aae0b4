// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <algorithm>

#include "base/text.h"
#include "cli/flags.h"
#include "cli/help.h"
#include "settings/settings.h"

namespace muster::cli {
namespace {

constexpr const char* kFlags = "Flags";
constexpr const char* kClusterGroup =
    "The cluster (muster resolve shows what is used)";

void AddSettings(CLI::App& app, std::string_view verb, Texts& texts) {
  for (const settings::SettingRow& row : settings::SettingRows()) {
    if (row.IsFor(verb)) {
      AddOption(app, std::string(row.flag) + " " + Upper(row.type),
                texts.settings[std::string(row.name)],
                std::string(row.doc) + " (default " +
                    std::string(row.fallback) + ", " +
                    std::string(row.variable) + ")");
    }
  }
}

// What describes the cluster, for every verb that needs one.
void AddClusterFlags(CLI::App& app, Texts& texts) {
  app.option_defaults()->group(kClusterGroup);
  AddOption(app, "-n N", texts.processes, "N ranks, all on this host");
  AddOption(
      app, "--hosts A:PORT,B:PORT", texts.hosts,
      "one member per address, ranked in this order (A,B without ports: 8476)");
  AddOption(app, "--cluster FILE", texts.cluster,
            "the JSON that `muster resolve --output json` prints");
  AddOption(
      app, "--rank R", texts.rank,
      "rank of this process, if its host's addresses do not determine it");
  AddOption(app, "--source NAME", texts.source, "read only this source");
  AddOption(app, "--profile NAME", texts.profile,
            "framework whose conventions apply: tf, estimator, jax, torch, "
            "torch_xla, ray, deepspeed, openmpi; with jax, run supports "
            "jax.distributed.initialize() without arguments");
  AddOption(app, "--hostfile FILE", texts.host_file,
            "a host file of Open MPI or DeepSpeed");
  AddOption(app, "--tpu NAME", texts.tpu,
            "a TPU by name or address; --project P, --zone Z; with a name, "
            "check and run start on its workers by ssh");
  AddOption(app, "--project P", texts.project,
            "project of the TPU or the machines");
  AddOption(app, "--zone Z", texts.zone, "zone of the TPU or the machines");
  AddOption(app, "--instance-group NAME", texts.instance_group,
            "Compute Engine instances; --project P, --zone Z");
  AddOption(app, "--pods JOB:LABEL=V", texts.pods,
            "Kubernetes pods; repeatable");
  app.option_defaults()->group(kFlags);
}

// What `muster resolve` shows.
void AddResolveFlags(CLI::App& app, ResolveFlags& flags) {
  AddOption(
      app, "--export WHAT", flags.export_for,
      "print the environment for tf, jax, torch, torch_xla, shell or python");
  AddOption(app, "--require NAME==V", flags.requirements,
            "require a package in the Python environment; repeatable");
  app.add_flag("-v,--verbose", flags.verbose,
               "show every source: what it says, or why it is skipped");
  app.add_flag("--spec", flags.spec,
               "print the cluster spec as TensorFlow does");
  app.add_flag("--check-self", flags.check_self,
               "check that this host has the address of its task");
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
    std::vector<std::string> verbs;
    for (const CLI::App* verb_app : app.get_subcommands({})) {
      verbs.push_back(verb_app->get_name());
    }
    return Usage("unknown sub-command `" + word + "`" + Meant(word, verbs));
  }
  if (verb == Verb::kRun) {
    return Usage("`" + word +
                 "` is not a flag: put the command to run after `--`, as in "
                 "`muster run -n 2 -- " +
                 word + "`");
  }
  return Usage("unexpected `" + word + "`");
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
  request.cloud.tpu = Given(verb, "--tpu", texts.tpu);
  request.cloud.project = Given(verb, "--project", texts.project);
  request.cloud.zone = Given(verb, "--zone", texts.zone);
  request.cloud.instance_group =
      Given(verb, "--instance-group", texts.instance_group);
  return TakePods(texts.pods, request);
}

Status Take(const CLI::App& verb, const Texts& texts, CommandLine& line) {
  for (const settings::SettingRow& row : settings::SettingRows()) {
    const std::string name(row.name);
    // `check` has a flag --timeout of its own.
    if (row.IsFor(verb.get_name()) &&
        IsGiven(verb, std::string(row.flag).c_str())) {
      line.settings[name] = texts.settings.at(name);
    }
  }
  MUSTER_ASSIGN(line.cluster.processes, Number(verb, "-n", texts.processes));
  MUSTER_ASSIGN(line.cluster.rank, Number(verb, "--rank", texts.rank));
  line.cluster.hosts = Given(verb, "--hosts", texts.hosts);
  line.cluster.cluster = Given(verb, "--cluster", texts.cluster);
  MUSTER_TRY(TakeSources(verb, texts, line.cluster));
  MUSTER_TRY(TakeCheck(verb, texts, line));
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
        "no command to run: put it after `--`, as in `muster run -n 2 -- "
        "python train.py`");
  }
  const bool is_ssh =
      line.verb == Verb::kTpu && line.tpu.action == TpuAction::kSsh;
  if (line.verb != Verb::kRun && line.verb != Verb::kCheck && !is_ssh &&
      has_dashes) {
    return Usage(
        "only `muster run`, `muster check` and `muster tpu ssh` accept a "
        "command after `--`");
  }
  if (is_ssh && has_dashes && line.command.empty()) {
    return Usage("no command after `--`");
  }
  const bool explains_nothing = line.inputs.empty() && line.exit.empty() &&
                                line.notes.empty() && !line.inspect_host &&
                                !line.list;
  if (line.verb == Verb::kExplain && explains_nothing) {
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
  if (line.verb == Verb::kBundle && line.inputs.empty()) {
    return Usage(
        "nothing to pack: give the folder of a run or logs, as in `muster "
        "bundle runs/latest`");
  }
  return Ok();
}

void AddRunFlags(CLI::App& app, Texts& texts, CommandLine& line) {
  AddOption(app, "--env NAME=VALUE", texts.environment,
            "set a variable for all ranks; repeatable");
  app.add_flag(
      "--dry-run", line.dry_run,
      "print the plan with the source of every value, and start nothing");
  app.add_flag(
      "--share", line.share,
      "let other users read the folder of the run, as far as the umask "
      "does; without it, mode 0700");
  app.add_flag("--raw", line.raw,
               "write the output of the ranks to a terminal as it is, with "
               "every escape sequence (default: colors, and what progress bars "
               "use)");
  AddReachFlags(app, texts, line.reach);
  AddOption(app, "--copy DIR", line.reach.copy,
            "with --tpu: folder to copy to each worker, in which the ranks "
            "start (default: their home folder)");
  app.add_flag("--keep-copy", line.reach.keep_copy,
               "do not delete the copy at the end");
  app.add_flag(
      "--recreate", line.reach.recreate,
      "with --tpu: if the TPU is preempted, delete it, create it again and "
      "restart the run there, which is billed; if it is unhealthy or missing, "
      "ask first (-y, --yes skips the confirmation)");
  app.add_flag("-y,--yes", line.yes, "do not ask for confirmation");
}

void AddExplainFlags(CLI::App& app, CommandLine& line) {
  app.add_option("inputs", line.inputs);
  AddOption(app, "--exit STATUS", line.exit,
            "how the program ended: 137, -9, SIGBUS");
  AddOption(app, "--note TEXT", line.notes,
            "what you saw, in your words; repeatable");
  AddOption(app, "--rank-from PATTERN", line.rank_from,
            "RE2 pattern whose one group is the rank, applied to file names, "
            "and to the lines of files whose names do not contain a rank");
  app.add_flag("--inspect-host", line.inspect_host,
               "also inspect this host: kernel log, memory counters, limits, "
               "disks, ports, devices and their processes, the Slurm job, the "
               "pod; changes nothing");
  app.add_flag("--list", line.list, "list all causes, one per line");
}

void AddBundleFlags(CLI::App& app, CommandLine& line) {
  app.add_option("inputs", line.inputs);
  AddOption(app, "--archive FILE", line.archive,
            "output file (default muster-bundle.tar.gz)");
  app.add_flag("--redact-email", line.redact_emails,
               "remove email addresses, too");
}

void AddVerbFlags(CLI::App& app, Verb verb, Texts& texts, CommandLine& line) {
  if (verb == Verb::kRun || verb == Verb::kResolve || verb == Verb::kCheck) {
    AddClusterFlags(app, texts);
  }
  switch (verb) {
    case Verb::kRun:
      return AddRunFlags(app, texts, line);
    case Verb::kResolve:
      return AddResolveFlags(app, line.resolve);
    case Verb::kCheck:
      AddCheckFlags(app, texts, line);
      return AddReachFlags(app, texts, line.reach);
    case Verb::kExplain:
      return AddExplainFlags(app, line);
    case Verb::kBundle:
      return AddBundleFlags(app, line);
    case Verb::kTpu:
      AddTpuFlags(app, texts, line.tpu);
      return AddReachFlags(app, texts, line.reach);
    case Verb::kOverview:
      return;
  }
}

// The tree of the command line over the places that its words go to.
struct Tree {
  Tree(Texts& texts, CommandLine& line) {
    app.description(OverviewText());
    app.formatter(MakeHelpFormatter());
    app.option_defaults()->group(kFlags);
    app.set_help_flag();
    app.add_flag("-h,--help", line.help,
                 "show this help; `muster run --help` for a sub-command");
    app.add_flag("--version", line.version, "print the version");
    app.require_subcommand(0, 1);
    for (const VerbText& text : VerbTexts()) {
      CLI::App* verb = app.add_subcommand(text.name, text.summary);
      verb->footer(text.details);
      AddVerbFlags(*verb, text.verb, texts, line);
      AddSettings(*verb, text.name, texts);
      verb->add_flag("-h,--help", line.help, "show this help");
    }
  }

  const CLI::App* Chosen(Verb& verb) const {
    for (const VerbText& text : VerbTexts()) {
      const CLI::App* sub = app.get_subcommand(text.name);
      if (sub->count() > 0) {
        verb = text.verb;
        return sub;
      }
    }
    return &app;
  }

  CLI::App app;
};

std::string Plain(std::string text) {
  // "--hosts: 1 required TEXT missing" and the like, on one line.
  std::replace(text.begin(), text.end(), '\n', ' ');
  return Printable(text);
}

}  // namespace

std::string HelpText(Verb verb) {
  Texts texts;
  CommandLine line;
  const Tree tree(texts, line);
  for (const VerbText& text : VerbTexts()) {
    if (text.verb == verb) {
      return tree.app.get_subcommand(text.name)->help();
    }
  }
  return tree.app.help();
}

Result<CommandLine> ParseCommandLine(const std::vector<std::string>& args) {
  CommandLine line;
  Texts texts;
  std::vector<std::string> head = args;
  if (!head.empty() && head.front() == "help") {
    head.erase(head.begin());
    head.insert(head.begin() + (head.empty() ? 0 : 1), "--help");
  }
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
