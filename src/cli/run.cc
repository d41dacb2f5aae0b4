// SPDX-License-Identifier: Apache-2.0
#include "cli/run.h"

#include "base/text.h"
#include "cli/preflight.h"
#include "cli/verbs.h"
#include "remote/start_ssh.h"
#include "remote/tpu_workers.h"
#include "run/session.h"

namespace muster::cli {
namespace {

// Libraries of accelerators take up to a minute to open them.
constexpr std::chrono::minutes kUsualAcceleratorWait{2};

// Settings of what this end alone does.
bool IsOfThisEnd(std::string_view setting) {
  return setting == "start" || setting == "token_file" ||
         setting == "deadline" || setting == "poll" ||
         setting == "max_recreates" || setting == "config";
}

run::Preflight PreflightOf(const settings::Settings& settings,
                           const sys::Host& host, const Cluster& cluster) {
  run::Preflight preflight;
  if (settings.check.value == settings::Checks::kAuto) {
    preflight.checks =
        MakePreflightChecks(host, cluster, settings.runs_dir.value);
  }
  if (const Duration wait = settings.accelerator_wait.value;
      wait != settings::kNone) {
    preflight.accelerators = FindHostAccelerators(host);
    preflight.accelerators.wait =
        wait == settings::kAuto ? kUsualAcceleratorWait : wait;
  }
  return preflight;
}

// A batch system ends what is in the groups that it has made; it does not see
// those below.
std::string WhyNoCgroup(const sys::Env& env) {
  for (const char* name : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID"}) {
    if (env.Get(name)) {
      return std::string(name) + " is set: the batch system has its own";
    }
  }
  return "";
}

Status TakeEnvironment(CommandLine& line, const Flag&,
                       const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Usage("flag --env is `" + Printable(text) +
                 "`, expected NAME=VALUE");
  }
  line.environment.emplace_back(text.substr(0, equals),
                                text.substr(equals + 1));
  return Ok();
}

FlagGroup RunFlagGroup() {
  using settings::ReachFlags;
  FlagGroup group{
      "Flags",
      {{.names = "--env",
        .value = "NAME=VALUE",
        .help = "set a variable for all ranks; repeatable",
        .take = TakeEnvironment,
        .repeats = true},
       {"--dry-run", "",
        "print the plan with the source of every value, and start nothing",
        To(&CommandLine::dry_run)},
       {"--share", "",
        "let other users read the folder of the run, as far as the umask does; "
        "without it, mode 0700",
        To(&CommandLine::share)},
       {"--bind-devices", "",
        "show each rank its own accelerators alone (CUDA_VISIBLE_DEVICES, "
        "ROCR_VISIBLE_DEVICES, TPU_VISIBLE_CHIPS); LOCAL_RANK is 0 then",
        To(&CommandLine::bind_devices)},
       {"--raw", "",
        "write the output of the ranks to a terminal as it is, with every "
        "escape sequence (default: colors, and what progress bars use)",
        To(&CommandLine::raw)}}};
  const auto reach = cli::ReachFlags();
  group.flags.insert(group.flags.end(), reach.begin(), reach.end());
  group.flags.insert(
      group.flags.end(),
      {{"--copy", "DIR",
        "with --tpu: folder to copy to each worker, in which the ranks start "
        "(default: their home folder)",
        To(&CommandLine::reach, &ReachFlags::copy)},
       {"--keep-copy", "", "do not delete the copy at the end",
        To(&CommandLine::reach, &ReachFlags::keep_copy)},
       {"--recreate", "",
        "with --tpu: if the TPU is preempted, delete it, create it again and "
        "restart the run there, which is billed; if it is unhealthy or "
        "missing, ask first (-y, --yes skips the confirmation)",
        To(&CommandLine::reach, &ReachFlags::recreate)},
       {"-y, --yes", "", "do not ask for confirmation",
        To(&CommandLine::yes)}});
  return group;
}

Status CheckRun(CommandLine& line) {
  MUSTER_TRY(CheckReach(line));
  if (line.reach.keep_copy && line.reach.copy.empty()) {
    return Usage("flag --keep-copy is valid only with --copy DIR");
  }
  for (const char* flag : {"--yes", "--max-recreates", "--deadline"}) {
    if (line.Has(flag) && !line.reach.recreate) {
      return Usage("flag " + std::string(flag) +
                   " is valid only with --recreate");
    }
  }
  return Ok();
}

}  // namespace

Verb DescribeRun() {
  return {
      .path = "run",
      .summary = "start a command on every member, monitor it and restart it",
      .about =
          "Start CMD on every member of the cluster, monitor it, and restart "
          "it "
          "from its newest checkpoint after a retryable failure.\n\n"
          "Everything after `--` is the command. muster runs it without a "
          "shell.",
      .examples =
          {{"muster run -n 2 -- python train.py"},
           {"muster run --hosts a,b --start ssh -- python train.py",
            "over ssh, from here"},
           {"muster run --hosts a,b --token-file FILE -- python train.py",
            "on every host"},
           {"muster run -n 4 --env OMP_NUM_THREADS=1 --dry-run -- ./train"},
           {"muster run --tpu NAME --copy . -- python train.py",
            "on its workers, by ssh"}},
      .exits =
          {{"1-123", "the status of the first failing rank"},
           {"75", "a host was lost"},
           {"93", "no progress over restarts"},
           {"124", "a time limit or a hang"},
           {"125", "the run could not be set up"},
           {"126", "the command is not executable"},
           {"127", "the command was not found"},
           {"128+N", "signal N ended the first failing rank"},
           {"130",
            "interrupted: by Ctrl-C, or by the SIGTERM that a preempted job or "
            "a drained pod receives"},
           {"",
            "A program may set 124 and above itself; the last line names "
            "the origin of the exit code."}},
      .command = AfterDashes::kRequired,
      .groups = {ClusterFlags(), RunFlagGroup()},
      .check = CheckRun,
      .run = RunVerb};
}

std::vector<std::string> AgentArguments(const CommandLine& line,
                                        const sys::Env& env) {
  std::vector<std::string> args{"--start", "here", "--config", "none"};
  for (const settings::SettingRow& row : settings::SettingRows()) {
    if (!row.IsFor("run") || IsOfThisEnd(row.name)) {
      continue;
    }
    const auto text = settings::TextOf(row, line.settings, env, line.file);
    if (text.source != "default") {
      args.emplace_back(row.flag);
      args.push_back(text.value);
    }
  }
  for (const auto& [name, value] : line.environment) {
    args.emplace_back("--env");
    args.push_back(Join(std::vector{name, value}, "="));
  }
  if (line.share) {
    args.emplace_back("--share");
  }
  args.emplace_back("--");
  args.insert(args.end(), line.command.begin(), line.command.end());
  return args;
}

Result<int> RunVerb(const CommandLine& line, const settings::Settings& settings,
                    const sys::Host& host) {
  std::unique_ptr<sys::GuardianSpawner> spawner;
  if (!line.dry_run) {
    // Before anything that could start a thread.
    MUSTER_ASSIGN(spawner, sys::GuardianSpawner::Fork(
                               {.no_cgroup = WhyNoCgroup(host.env)}));
  }
  settings::RunFlags flags{.cluster = line.cluster,
                           .command = line.command,
                           .environment = line.environment,
                           .dry_run = line.dry_run,
                           .share = line.share,
                           .processes = line.processes,
                           .bind_devices = line.bind_devices,
                           .raw = line.raw,
                           .yes = line.yes,
                           .settings = settings,
                           .reach = line.reach,
                           .agent_arguments = AgentArguments(line, host.env),
                           .bootstrap_token = line.bootstrap_token};
  if (remote::NamesTpu(line.cluster, host) &&
      settings.start.source == "default") {
    flags.settings.start = {settings::StartBy::kSsh, "flag --tpu"};
  }
  if (!line.reach.copy.empty() &&
      flags.settings.start.value != settings::StartBy::kSsh) {
    return Error(Cause::kUsageInvalid, "flag --copy requires ssh, but " +
                                           settings.start.source +
                                           " is `here`");
  }
  if (line.dry_run && flags.settings.start.value == settings::StartBy::kSsh) {
    // Whoever starts all need not be one of them.
    if (!flags.cluster.rank && !flags.cluster.node_rank) {
      flags.cluster.node_rank = 0;
    }
  }
  if (flags.settings.start.value == settings::StartBy::kSsh && !flags.dry_run) {
    return remote::StartOverSsh(flags, host, std::move(spawner));
  }
  return run::Run(flags, host, std::move(spawner), [&](const Cluster& cluster) {
    return PreflightOf(flags.settings, host, cluster);
  });
}

}  // namespace muster::cli
