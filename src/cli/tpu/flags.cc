// SPDX-License-Identifier: Apache-2.0
// Flags of `muster tpu`, and of what reaches the workers of a TPU.
#include "cli/flags.h"

namespace muster::cli {

void AddReachFlags(CLI::App& app, Texts& texts, settings::ReachFlags& flags) {
  AddOption(app, "--worker K", flags.worker,
            "worker of a TPU to connect to by ssh: all, or a number (default: "
            "0 for ssh and notebook, otherwise all)");
  AddOption(app, "--address WHICH", flags.address,
            "internal, external, or auto: internal if this host is in the "
            "TPU's network (default auto); --internal-ip also works");
  // gcloud's name is understood, too.
  app.add_flag("--internal-ip", texts.internal_ip)->group("");
  AddOption(app, "--user U", flags.user,
            "login user (default: USER; with OS Login the account's user)");
}

void AddTpuFlags(CLI::App& app, Texts& texts, TpuFlags& flags) {
  app.add_option("words", flags.words);
  AddOption(app, "--project P", texts.project,
            "project (default: GOOGLE_CLOUD_PROJECT, the credentials file, "
            "gcloud's configuration, the metadata server)");
  AddOption(app, "--zone Z", texts.zone,
            "zone (default: CLOUDSDK_COMPUTE_ZONE, gcloud's configuration, "
            "otherwise all zones)");
  app.add_flag("--all-zones", flags.all_zones, "all zones");
  app.add_flag("-q,--quiet", flags.quiet, "print only names, one per line");
  AddOption(app, "--type,--accelerator-type T", flags.type,
            "accelerator type (also --accelerator-type)");
  AddOption(app, "--version V", flags.version,
            "runtime version (default: the recommended one)");
  AddOption(app, "--command LINE", flags.shell_line,
            "ssh: run LINE in the remote shell, instead of CMD");
  AddOption(app, "--port P", texts.port, "notebook: local port (default 8888)");
  app.add_flag("-y,--yes", flags.yes, "do not ask for confirmation");
  app.add_flag("--dry-run", flags.dry_run,
               "create, reap: print the actions, and do nothing");
  app.add_flag("--enable", flags.enable,
               "doctor: enable the API if it is disabled");
  app.add_flag("--on-demand", flags.on_demand,
               "create: on-demand capacity (the default); with several "
               "capacity types, the first available one");
  app.add_flag("--spot,--preemptible", flags.spot,
               "create: spot capacity (also --preemptible)");
  app.add_flag("--reserved", flags.reserved, "create: reserved capacity");
  app.add_flag("--queued", flags.queued, "create: use a queued resource");
  app.add_flag("--wait", flags.wait, "create: wait until the TPU is ready");
  AddOption(app, "--any-zone Z1,Z2", flags.any_zone,
            "create: try all of these zones at the same time; keep the first, "
            "delete the others")
      ->delimiter(',');
  AddOption(app, "--reach WHAT", flags.reach,
            "create, wait: port that must be reachable: ssh (22), agent "
            "(8476), a number, or none (default ssh)");
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
    if (IsGiven(verb, flag) && !TpuActionHas(line.tpu.action, flag)) {
      return Usage("flag " + std::string(flag) + " is not valid with `" +
                   NameOf(line.tpu.action) + "`");
    }
  }
  if (line.tpu.all_zones && line.cluster.cloud.zone) {
    return Usage("flags --zone and --all-zones are mutually exclusive");
  }
  if (!line.tpu.any_zone.empty() && line.cluster.cloud.zone) {
    return Usage("flags --zone and --any-zone are mutually exclusive");
  }
  if (!line.tpu.shell_line.empty() && !line.command.empty()) {
    return Usage(
        "flag --command and a command after `--` are mutually exclusive");
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
                           "--copy", "--keep-copy", "--recreate"}) {
    if (IsGiven(verb, flag) &&
        (!line.cluster.cloud.tpu || line.cluster.hosts ||
         line.cluster.processes || line.cluster.cluster)) {
      return Usage("flag " + std::string(flag) +
                   " is valid only with --tpu NAME, without another cluster");
    }
  }
  if (line.reach.keep_copy && line.reach.copy.empty()) {
    return Usage("flag --keep-copy is valid only with --copy DIR");
  }
  if (line.verb != Verb::kRun || line.reach.recreate) {
    return Ok();
  }
  for (const char* flag : {"--yes", "--max-recreates", "--deadline"}) {
    if (IsGiven(verb, flag)) {
      return Usage("flag " + std::string(flag) +
                   " is valid only with --recreate");
    }
  }
  return Ok();
}

}  // namespace muster::cli
