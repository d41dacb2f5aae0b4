// SPDX-License-Identifier: Apache-2.0
// Flags of `muster tpu`, and of what reaches the workers of a TPU.
#include "cli/flags.h"

namespace muster::cli {

void AddReachFlags(CLI::App& app, Texts& texts, settings::ReachFlags& flags) {
  app.add_option("--worker", flags.worker,
                 "worker of a TPU to connect to by ssh: all, or a number "
                 "(default: 0 for ssh and notebook, otherwise all)")
      ->type_name("K");
  app.add_option("--address", flags.address,
                 "internal, external, or auto: internal if this host is in "
                 "the TPU's network (default auto); --internal-ip also works")
      ->type_name("WHICH");
  // gcloud's name is understood, too.
  app.add_flag("--internal-ip", texts.internal_ip)->group("");
  app.add_option("--user", flags.user,
                 "login user (default: USER; with OS Login the account's user)")
      ->type_name("U");
}

void AddTpuFlags(CLI::App& app, Texts& texts, TpuFlags& flags) {
  app.add_option("words", flags.words);
  app.add_option("--project", texts.project,
                 "project (default: GOOGLE_CLOUD_PROJECT, the credentials "
                 "file, gcloud's configuration, the metadata server)")
      ->type_name("P");
  app.add_option("--zone", texts.zone,
                 "zone (default: CLOUDSDK_COMPUTE_ZONE, gcloud's "
                 "configuration, otherwise all zones)")
      ->type_name("Z");
  app.add_flag("--all-zones", flags.all_zones, "all zones");
  app.add_flag("-q,--quiet", flags.quiet, "print only names, one per line");
  // gcloud's name is understood, too.
  app.add_option("--type,--accelerator-type", flags.type, "accelerator type")
      ->type_name("T");
  app.add_option("--version", flags.version,
                 "runtime version (default: the recommended one)")
      ->type_name("V");
  app.add_option("--command", flags.shell_line,
                 "ssh: run LINE in the remote shell, instead of CMD")
      ->type_name("LINE");
  app.add_option("--port", texts.port, "notebook: local port (default 8888)")
      ->type_name("P");
  app.add_flag("-y,--yes", flags.yes, "do not ask for confirmation");
  app.add_flag("--dry-run", flags.dry_run,
               "create, reap: print the actions, and do nothing");
  app.add_flag("--enable", flags.enable,
               "doctor: enable the API if it is disabled");
  app.add_flag("--on-demand", flags.on_demand,
               "create: on-demand capacity (the default); with several "
               "capacity types, the first available one");
  app.add_flag("--spot,--preemptible", flags.spot, "create: spot capacity");
  app.add_flag("--reserved", flags.reserved, "create: reserved capacity");
  app.add_flag("--queued", flags.queued, "create: use a queued resource");
  app.add_flag("--wait", flags.wait, "create: wait until the TPU is ready");
  app.add_option("--any-zone", flags.any_zone,
                 "create: try all of these zones at the same time; keep the "
                 "first, delete the others")
      ->type_name("Z1,Z2")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--reach", flags.reach,
                 "create, wait: port that must be reachable: ssh (22), agent "
                 "(8476), a number, or none (default ssh)")
      ->type_name("WHAT");
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
