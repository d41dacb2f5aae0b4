// SPDX-License-Identifier: Apache-2.0
#include "cli/run.h"

#include "base/text.h"
#include "cli/preflight.h"
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
         setting == "max_recreates";
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

}  // namespace

std::vector<std::string> AgentArguments(const CommandLine& line,
                                        const sys::Env& env) {
  std::vector<std::string> args{"--start", "here"};
  for (const settings::SettingRow& row : settings::SettingRows()) {
    if (!row.IsFor("run") || IsOfThisEnd(row.name)) {
      continue;
    }
    const auto given = line.settings.find(std::string(row.name));
    const auto text = given != line.settings.end()
                          ? std::optional(given->second)
                          : env.Get(std::string(row.variable));
    if (text) {
      args.emplace_back(row.flag);
      args.push_back(*text);
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
                    const sys::Host& host,
                    const std::optional<std::string>& bootstrap_token) {
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
                           .raw = line.raw,
                           .yes = line.yes,
                           .settings = settings,
                           .reach = line.reach,
                           .agent_arguments = AgentArguments(line, host.env),
                           .bootstrap_token = bootstrap_token};
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
    flags.cluster.rank = flags.cluster.rank.value_or(0);
  }
  if (flags.settings.start.value == settings::StartBy::kSsh && !flags.dry_run) {
    return remote::StartOverSsh(flags, host, std::move(spawner));
  }
  return run::Run(flags, host, std::move(spawner), [&](const Cluster& cluster) {
    return PreflightOf(flags.settings, host, cluster);
  });
}

}  // namespace muster::cli
