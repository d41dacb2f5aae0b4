// SPDX-License-Identifier: Apache-2.0
// Flags of `muster tpu`, and of what reaches the workers of a TPU.
#include "cli/flags.h"

namespace muster::cli {

void AddReachFlags(CLI::App& app, Texts& texts, settings::ReachFlags& flags) {
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
                           "--copy", "--keep-copy", "--recreate"}) {
    if (IsGiven(verb, flag) &&
        (!line.cluster.cloud.tpu || line.cluster.hosts ||
         line.cluster.processes || line.cluster.cluster)) {
      return Usage("flag " + std::string(flag) +
                   " belongs to --tpu NAME, without another cluster");
    }
  }
  if (line.reach.keep_copy && line.reach.copy.empty()) {
    return Usage("flag --keep-copy belongs to --copy DIR");
  }
  if (line.verb != Verb::kRun || line.reach.recreate) {
    return Ok();
  }
  for (const char* flag : {"--yes", "--max-recreates", "--deadline"}) {
    if (IsGiven(verb, flag)) {
      return Usage("flag " + std::string(flag) + " belongs to --recreate");
    }
  }
  return Ok();
}

}  // namespace muster::cli
