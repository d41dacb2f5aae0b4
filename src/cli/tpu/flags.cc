// SPDX-License-Identifier: Apache-2.0
// Part of verbs.h: `muster tpu` and its sub-commands.
#include "base/text.h"
#include "cli/tpu/change.h"
#include "cli/tpu/tpu.h"
#include "cli/verbs.h"
#include "cli/worker_verbs.h"

namespace muster::cli {
namespace {

using Cloud = decltype(resolve::Request::cloud);

constexpr const char* kHowTpu =
    "Commands that create, bill or delete ask first. Ctrl-C reports which "
    "operations continue in the cloud and how to stop them. Every creation is "
    "recorded first (~/.local/state/muster/tpu.jsonl), so that a repeated "
    "command finds it again and `reap` deletes exactly the leftovers.\n\n"
    "Credentials: CLOUDSDK_AUTH_ACCESS_TOKEN, the file that "
    "GOOGLE_APPLICATION_CREDENTIALS names, that of `gcloud auth "
    "application-default login`, Colab's, the service account of this machine. "
    "muster never prints a token.";

constexpr const char* kHowSsh =
    "muster connects to workers with the system's ssh and the keys of gcloud "
    "(~/.ssh/google_compute_engine, google_compute_known_hosts).";

const char* const kListsAbout =
    "\n\nWithout a zone, all zones are asked. --quiet prints only names, one "
    "per line, for a script.";

std::vector<ExitMeaning> Exits() {
  return {{"0", "success"},
          {"1", "access denied"},
          {"2", "invalid command line or unknown project"},
          {"3", "no response"},
          {"75", "no quota or capacity"},
          {"130", "interrupted"}};
}

Status TakePort(CommandLine& line, const Flag& flag, const std::string& text) {
  MUSTER_ASSIGN(const int port, WholeNumber(flag, text));
  if (port < 1 || port > 65'535) {
    return Usage("flag --port is " + std::to_string(port) +
                 ", expected 1 to 65535");
  }
  line.tpu.port = port;
  return Ok();
}

Status TakeZones(CommandLine& line, const Flag&, const std::string& text) {
  const auto zones = Split(text, ',');
  line.tpu.any_zone.insert(line.tpu.any_zone.end(), zones.begin(), zones.end());
  return Ok();
}

Status CheckTpu(CommandLine& line) {
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
  return Ok();
}

Flag ProjectFlag() {
  return {"--project", "P",
          "project (default: GOOGLE_CLOUD_PROJECT, the credentials file, "
          "gcloud's configuration, the metadata server)",
          To(&CommandLine::cluster, &resolve::Request::cloud, &Cloud::project)};
}
Flag ZoneFlag() {
  return {"--zone", "Z",
          "zone (default: CLOUDSDK_COMPUTE_ZONE, gcloud's configuration, "
          "otherwise all zones)",
          To(&CommandLine::cluster, &resolve::Request::cloud, &Cloud::zone)};
}
Flag AllZonesFlag() {
  return {"--all-zones", "", "all zones",
          To(&CommandLine::tpu, &TpuFlags::all_zones)};
}
Flag QuietFlag() {
  return {"-q, --quiet", "", "print only names, one per line",
          To(&CommandLine::tpu, &TpuFlags::quiet)};
}
Flag YesFlag() {
  return {"-y, --yes", "", "do not ask for confirmation",
          To(&CommandLine::tpu, &TpuFlags::yes)};
}
Flag DryRunFlag() {
  return {"--dry-run", "", "print the actions, and do nothing",
          To(&CommandLine::tpu, &TpuFlags::dry_run)};
}
Flag TypeFlag() {
  return {.names = "--type",
          .value = "T",
          .help = "accelerator type (also --accelerator-type)",
          .take = To(&CommandLine::tpu, &TpuFlags::type),
          .also = "--accelerator-type"};
}
Flag VersionFlag() {
  return {"--version", "V", "runtime version (default: the recommended one)",
          To(&CommandLine::tpu, &TpuFlags::version)};
}
Flag ReachFlag() {
  return {"--reach", "WHAT",
          "port that must be reachable: ssh (22), agent (8476), a number, or "
          "none (default ssh)",
          To(&CommandLine::tpu, &TpuFlags::reach)};
}

Argument NameArgument() {
  return {.name = "NAME",
          .required = true,
          .take = To(&CommandLine::tpu, &TpuFlags::name)};
}

// A sub-command of `muster tpu`.
Verb Make(std::string words, std::string summary, std::string about,
          std::vector<Example> examples, std::vector<Flag> flags,
          decltype(Verb::run) run) {
  flags.insert(flags.begin(), ProjectFlag());
  return {.path = "tpu " + std::move(words),
          .summary = std::move(summary),
          .about = std::move(about),
          .examples = std::move(examples),
          .exits = Exits(),
          .groups = {{"Flags", std::move(flags)}},
          .check = CheckTpu,
          .run = run};
}

Verb Named(Verb verb) {
  verb.argument = NameArgument();
  return verb;
}

std::vector<Flag> Reached(std::vector<Flag> flags) {
  const auto reach = ReachFlags();
  flags.insert(flags.end(), reach.begin(), reach.end());
  return flags;
}

std::vector<Verb> Reading() {
  return {
      Make("auth", "which identity, and is it valid?",
           "Show who asks Google Cloud, where the credentials come from, and "
           "whether Google accepts them.",
           {{"muster tpu auth"}}, {}, TpuVerb<TpuAuth>),
      Make("doctor", "what would prevent the creation of a TPU",
           "Check in order what a creation needs: credentials, project, API, "
           "billing, permissions, type and version in the zone, quota.",
           {{"muster tpu doctor --zone us-west4-a --type v5litepod-8"}},
           {ZoneFlag(),
            TypeFlag(),
            VersionFlag(),
            {"--enable", "", "enable the API if it is disabled",
             To(&CommandLine::tpu, &TpuFlags::enable)},
            YesFlag()},
           TpuVerb<TpuDoctor>),
      Make("list", "the TPUs of a project",
           std::string("List the TPUs of a project with their state.") +
               kListsAbout,
           {{"muster tpu list --all-zones"}},
           {ZoneFlag(), AllZonesFlag(), QuietFlag()}, TpuVerb<TpuList>),
      Named(Make("describe", "one TPU: state, health, workers, addresses",
                 "Show one TPU: its state and health, its type and runtime "
                 "version, and the addresses of its workers.",
                 {{"muster tpu describe NAME --zone us-west4-a"}}, {ZoneFlag()},
                 TpuVerb<TpuDescribe>)),
      Make("types", "the accelerator types of a zone",
           std::string("List the accelerator types that a zone offers.") +
               kListsAbout,
           {{"muster tpu types --zone us-west4-a"}},
           {ZoneFlag(), AllZonesFlag(), QuietFlag()}, TpuVerb<TpuTypes>),
      Make("versions", "the runtime versions of a zone",
           std::string("List the runtime versions that a zone offers.") +
               kListsAbout,
           {{"muster tpu versions --zone us-west4-a"}},
           {ZoneFlag(), AllZonesFlag(), QuietFlag()}, TpuVerb<TpuVersions>)};
}

std::vector<Verb> Queued() {
  return {
      {.path = "tpu queued",
       .summary = "queued resources: list, describe, delete",
       .about = "Requests for TPUs that Google Cloud has queued.",
       .examples = {{"muster tpu queued list"}},
       .has_settings = false},
      Make("queued list", "the queued resources of a project",
           std::string("List the queued resources of a project.") + kListsAbout,
           {{"muster tpu queued list --zone us-west4-a"}},
           {ZoneFlag(), AllZonesFlag(), QuietFlag()}, TpuVerb<TpuQueuedList>),
      Named(Make("queued describe", "one queued resource and its state",
                 "Show one queued resource: its state, and what it asks for.",
                 {{"muster tpu queued describe NAME"}}, {ZoneFlag()},
                 TpuVerb<TpuQueuedDescribe>)),
      Named(Make("queued delete", "delete a queued resource",
                 "Delete a queued resource, and the TPU that it holds. Asks "
                 "first.",
                 {{"muster tpu queued delete NAME"}}, {ZoneFlag(), YesFlag()},
                 TpuVerb<TpuQueuedDelete>))};
}

Verb DescribeCreate() {
  return Named(Make(
      "create", "create a TPU and wait until it is ready",
      "Create a Cloud TPU. It is billed from creation until you delete it, so "
      "muster asks first. Every creation is recorded before it is made; a "
      "repeated command finds it again. With --any-zone, or several kinds of "
      "capacity, all are tried at the same time: the first usable TPU is kept "
      "and the others are deleted.",
      {{"muster tpu create NAME --type v5litepod-8 --zone us-west4-a --wait"},
       {"muster tpu create NAME --type v5litepod-8 --any-zone "
        "us-west4-a,us-west1-c",
        "the first zone with capacity"}},
      {ZoneFlag(),
       TypeFlag(),
       VersionFlag(),
       {"--on-demand", "",
        "on-demand capacity (the default); with several capacity types, the "
        "first available one",
        To(&CommandLine::tpu, &TpuFlags::on_demand)},
       {.names = "--spot",
        .value = "",
        .help = "spot capacity (also --preemptible)",
        .take = To(&CommandLine::tpu, &TpuFlags::spot),
        .also = "--preemptible"},
       {"--reserved", "", "reserved capacity",
        To(&CommandLine::tpu, &TpuFlags::reserved)},
       {"--queued", "", "use a queued resource",
        To(&CommandLine::tpu, &TpuFlags::queued)},
       {"--wait", "", "wait until the TPU is ready",
        To(&CommandLine::tpu, &TpuFlags::wait)},
       {.names = "--any-zone",
        .value = "Z1,Z2",
        .help = "try all of these zones at the same time; keep the first, "
                "delete the others",
        .take = TakeZones,
        .repeats = true},
       ReachFlag(),
       YesFlag(),
       DryRunFlag(),
       QuietFlag()},
      TpuVerb<TpuCreate>));
}

std::vector<Verb> Changing() {
  return {DescribeCreate(),
          Named(Make("wait", "wait until a TPU is ready and reachable",
                     "Wait until a TPU is ready and a port of its workers is "
                     "reachable.",
                     {{"muster tpu wait NAME"}},
                     {ZoneFlag(), ReachFlag(), QuietFlag()}, TpuVerb<TpuWait>)),
          Named(Make("start", "start a stopped TPU",
                     "Start a TPU that was stopped. It is billed again; asks "
                     "first.",
                     {{"muster tpu start NAME"}}, {ZoneFlag(), YesFlag()},
                     TpuVerb<TpuStart>)),
          Named(Make("stop", "stop a TPU without deleting it",
                     "Stop a TPU. Its disk stays and is billed; asks first.",
                     {{"muster tpu stop NAME"}}, {ZoneFlag(), YesFlag()},
                     TpuVerb<TpuStop>)),
          Named(Make("delete", "delete a TPU",
                     "Delete a TPU and what is on its disks. Asks first.",
                     {{"muster tpu delete NAME"}}, {ZoneFlag(), YesFlag()},
                     TpuVerb<TpuDelete>)),
          Make("reap", "delete leftovers that were created from here",
               "Delete every TPU and queued resource that this account of this "
               "host created and that is still there. Asks first.",
               {{"muster tpu reap --dry-run"}}, {YesFlag(), DryRunFlag()},
               TpuVerb<TpuReap>)};
}

std::vector<Verb> Reaching() {
  Verb ssh = Named(Make(
      "ssh", "a shell on a worker, or a command on each",
      std::string("Open a shell on a worker of a TPU, or run a command on "
                  "its workers. A remote command ends with this one; the "
                  "exit code is the largest of all workers, 255 for a "
                  "worker that could not be reached.\n\n") +
          kHowSsh,
      {{"muster tpu ssh NAME", "a shell on worker 0"},
       {"muster tpu ssh NAME --worker all -- CMD",
        "on each worker, without a shell"}},
      Reached(
          {ZoneFlag(),
           {"--command", "LINE", "run LINE in the remote shell, instead of CMD",
            To(&CommandLine::tpu, &TpuFlags::shell_line)}}),
      TpuReachVerb));
  ssh.command = AfterDashes::kOptional;
  return {std::move(ssh),
          Named(Make(
              "notebook", "Jupyter on a TPU, opened here",
              std::string("Start Jupyter on a worker of a TPU and "
                          "forward a local port to it.\n\n") +
                  kHowSsh,
              {{"muster tpu notebook NAME"}},
              Reached({ZoneFlag(),
                       {"--port", "P", "local port (default 8888)", TakePort}}),
              TpuReachVerb))};
}

}  // namespace

std::vector<Verb> DescribeTpu() {
  std::vector<Verb> all{
      {.path = "tpu",
       .summary =
           "create, list and delete Cloud TPUs; open a shell or notebook",
       .about =
           std::string("Create a Cloud TPU, wait until it is ready, connect to "
                       "it and delete it, without the Google Cloud SDK. Shows "
                       "your identity, what would prevent the creation, the "
                       "TPUs and queued resources, and what each zone "
                       "offers.\n\n") +
           kHowTpu,
       .examples =
           {{"muster tpu doctor --zone us-west4-a --type v5litepod-8"},
            {"muster tpu create NAME --type v5litepod-8 --zone us-west4-a "
             "--wait"},
            {"muster tpu ssh NAME"},
            {"muster tpu delete NAME"}},
       .exits = Exits(),
       .has_settings = false}};
  for (const auto& more : {Reading(), Changing(), Reaching(), Queued()}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace muster::cli
