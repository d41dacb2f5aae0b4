// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <algorithm>

#include "base/text.h"
#include "cli/flags.h"
#include "settings/settings.h"

namespace muster::cli {
namespace {

void AddSettings(CLI::App& app, std::string_view verb, Texts& texts) {
  for (const settings::SettingRow& row : settings::SettingRows()) {
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
                 "` stands where a flag belongs: the command to run comes "
                 "after `--`, as in `muster run -n 2 -- " +
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
    const auto given = Given(verb, std::string(row.flag).c_str(),
                             texts.settings.at(std::string(row.name)));
    // `check` has a flag --timeout of its own.
    if (given && row.IsFor(verb.get_name())) {
      line.settings[std::string(row.name)] = *given;
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
  const bool explains_nothing = line.inputs.empty() && line.exit.empty() &&
                                line.notes.empty() && !line.look && !line.list;
  if (line.verb == Verb::kExplain && explains_nothing) {
    return Usage(
        "give a log, a folder, `-` for standard input, the label of a cause, "
        "--exit STATUS, --note TEXT or --inspect-host; --list prints all "
        "causes");
  }
  if (std::any_of(line.notes.begin(), line.notes.end(),
                  [](const std::string& note) { return Trim(note).empty(); })) {
    return Usage(
        "--note is empty: it takes what you saw, as in --note 'it hangs after "
        "the first epoch'");
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
    AddCheckFlags(*check, texts, line);
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
    run->add_flag("--recreate", line.reach.recreate);
    run->add_flag("-y,--yes", line.yes);
    AddSettings(*run, "run", texts);
    explain->add_option("inputs", line.inputs);
    explain->add_option("--exit", line.exit);
    explain->add_option("--note", line.notes)
        ->allow_extra_args(false)
        ->take_all();
    explain->add_option("--rank-from", line.rank_from);
    explain->add_flag("--inspect-host", line.look);
    explain->add_flag("--list", line.list);
    AddSettings(*explain, "explain", texts);
    bundle->add_option("inputs", line.inputs);
    bundle->add_option("--archive", line.archive);
    AddSettings(*bundle, "bundle", texts);
    AddTpuFlags(*tpu, texts, line.tpu);
    AddReachFlags(*tpu, texts, line.reach);
    AddSettings(*tpu, "tpu", texts);
    for (const settings::SettingRow& row : settings::SettingRows()) {
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
