// SPDX-License-Identifier: Apache-2.0
// Part of verbs.h: the flags that say which cluster, and how the workers of a
// TPU are reached.
#include <array>

#include "base/text.h"
#include "cli/verbs.h"

namespace muster::cli {
namespace {

using Request = resolve::Request;
using Cloud = decltype(Request::cloud);

// "worker:app=train": the pods of a job by a label selector.
Status TakePods(CommandLine& line, const Flag&, const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
    return Usage("flag --pods is `" + Printable(text) +
                 "`, expected JOB:LABEL=VALUE");
  }
  line.cluster.selectors.emplace_back(
      text.substr(0, colon), std::vector<std::string>{text.substr(colon + 1)});
  return Ok();
}

Status TakeInternalIp(CommandLine& line, const Flag&, const std::string&) {
  line.reach.address = "internal";
  return Ok();
}

}  // namespace

Status TakeProcesses(CommandLine& line, const Flag& flag,
                     const std::string& text) {
  line.processes = text;
  if (text == "gpu" || text == "cpu" || text == "auto") {
    line.cluster.processes_by = text;
    return Ok();
  }
  return Store(line.cluster.processes, flag, text);
}

FlagGroup ClusterFlags() {
  return {
      "The cluster (muster resolve shows what is used)",
      {{.names = "--nproc-per-node, -n",
        .value = "N",
        .help = "N ranks on this host, or on each host where there are others; "
                "gpu, cpu or auto: as many as the host has",
        .take = TakeProcesses,
        .also = "--nproc_per_node"},
       {"--hosts", "A:PORT,B:PORT",
        "the hosts in order of their ranks (A,B without ports: 8476); with "
        "slots as A:8,B:4 (below 1024) or A:8476:8",
        To(&CommandLine::cluster, &Request::hosts)},
       {"--nnodes", "N",
        "N hosts; with --node-rank and --master-addr, as torchrun",
        To(&CommandLine::cluster, &Request::nodes)},
       {.names = "--node-rank",
        .value = "K",
        .help = "which of the hosts this is, from 0",
        .take = To(&CommandLine::cluster, &Request::node_rank),
        .also = "--node_rank"},
       {.names = "--master-addr",
        .value = "HOST",
        .help = "of node 0, where the coordinator listens",
        .take = To(&CommandLine::cluster, &Request::master_addr),
        .also = "--master_addr"},
       {.names = "--master-port",
        .value = "PORT",
        .help = "of the coordinator (default 29500)",
        .take = To(&CommandLine::cluster, &Request::master_port),
        .also = "--master_port"},
       {"--cluster", "FILE",
        "the JSON that `muster resolve --output json` prints",
        To(&CommandLine::cluster, &Request::cluster)},
       {"--rank", "R",
        "rank of this process, if its host's addresses do not determine it",
        To(&CommandLine::cluster, &Request::rank)},
       {"--source", "NAME", "read only this source",
        To(&CommandLine::cluster, &Request::source)},
       {"--profile",
        "NAME",
        "framework whose conventions apply: tf, estimator, jax, torch, "
        "torch_xla, ray, deepspeed, openmpi; with jax, run supports "
        "jax.distributed.initialize() without arguments",
        To(&CommandLine::cluster, &Request::profile),
        {"tf", "estimator", "jax", "torch", "torch_xla", "ray", "deepspeed",
         "openmpi"}},
       {"--hostfile", "FILE", "a host file of Open MPI or DeepSpeed",
        To(&CommandLine::cluster, &Request::host_file)},
       {"--tpu", "NAME",
        "a TPU by name or address; --project P, --zone Z; with a name, check "
        "and run start on its workers by ssh",
        To(&CommandLine::cluster, &Request::cloud, &Cloud::tpu)},
       {"--project", "P", "project of the TPU or the machines",
        To(&CommandLine::cluster, &Request::cloud, &Cloud::project)},
       {"--zone", "Z", "zone of the TPU or the machines",
        To(&CommandLine::cluster, &Request::cloud, &Cloud::zone)},
       {"--instance-group", "NAME",
        "Compute Engine instances; --project P, --zone Z",
        To(&CommandLine::cluster, &Request::cloud, &Cloud::instance_group)},
       {.names = "--pods",
        .value = "JOB:LABEL=V",
        .help = "Kubernetes pods; repeatable",
        .take = TakePods,
        .repeats = true}}};
}

std::vector<Flag> ReachFlags() {
  using settings::ReachFlags;
  return {{"--worker", "K",
           "worker of a TPU to connect to by ssh: all, or a number (default: 0 "
           "for ssh and notebook, otherwise all)",
           To(&CommandLine::reach, &ReachFlags::worker)},
          {"--address",
           "WHICH",
           "internal, external, or auto: internal if this host is in the TPU's "
           "network (default auto); --internal-ip also works",
           To(&CommandLine::reach, &ReachFlags::address),
           {"auto", "internal", "external"}},
          // gcloud's name is understood, too.
          {"--internal-ip", "", "", TakeInternalIp},
          {"--user", "U",
           "login user (default: USER; with OS Login the account's user)",
           To(&CommandLine::reach, &ReachFlags::user)}};
}

Status CheckReach(const CommandLine& line) {
  for (const char* flag : {"--worker", "--address", "--internal-ip", "--user",
                           "--copy", "--keep-copy", "--recreate"}) {
    if (line.Has(flag) && (!line.cluster.cloud.tpu || line.cluster.hosts ||
                           line.cluster.cluster)) {
      return Usage("flag " + std::string(flag) +
                   " is valid only with --tpu NAME, without another cluster");
    }
  }
  return Ok();
}

}  // namespace muster::cli
