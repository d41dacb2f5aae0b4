// SPDX-License-Identifier: Apache-2.0
// RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT, as torchrun and
// the Kubernetes operators set them.
#include <algorithm>

#include "base/text.h"
#include "cluster/members.h"
#include "resolve/platform/slurm.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::torch_env {
namespace {

Match Speak(const Request&, const sys::Host& host) {
  const sys::Env& env = host.env;
  const bool ranks = FirstText(env, {"RANK", "WORLD_SIZE", "LOCAL_RANK",
                                     "TORCHELASTIC_RUN_ID"})
                         .has_value();
  const bool master = IsSet(env, "MASTER_ADDR") || IsSet(env, "MASTER_PORT");
  if (!ranks && !master) {
    return Silent(
        "none of RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR and MASTER_PORT "
        "is set");
  }
  // The script of a Slurm job may export WORLD_SIZE too.
  if (!FirstText(env, {"RANK", "LOCAL_RANK", "TORCHELASTIC_RUN_ID"}) &&
      IsSet(env, "SLURM_PROCID") && IsSlurmStep(env)) {
    return Silent(
        "WORLD_SIZE, MASTER_ADDR and MASTER_PORT are read with the rank of "
        "SLURM_PROCID");
  }
  for (const char* other :
       {"SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
        "MV2_COMM_WORLD_RANK", "HOROVOD_RANK", "JSM_NAMESPACE_RANK",
        "SKYPILOT_NODE_RANK", "AWS_BATCH_JOB_NODE_INDEX", "SM_CURRENT_HOST"}) {
    if (!ranks && IsSet(env, other)) {
      return Silent(std::string("MASTER_ADDR and MASTER_PORT are read with "
                                "the rank of ") +
                    other);
    }
  }
  return Speaks();
}

Error Partly(const sys::Host& host) {
  Variables variables{
      .names = {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"},
      .setters =
          "a launcher sets all of them (torchrun, a Kubernetes operator, "
          "`muster run`): use a launcher, or unset the leftovers"};
  for (const char* name : {"LOCAL_RANK", "TORCHELASTIC_RUN_ID"}) {
    if (IsSet(host.env, name)) {
      variables.names.emplace_back(name);
    }
  }
  return PartlySet(variables, host);
}

Error Outside(const std::string& name, int rank, int size) {
  return Error(Cause::kRankWorldMismatch,
               name + "=" + std::to_string(rank) +
                   " is outside of WORLD_SIZE=" + std::to_string(size) +
                   ": ranks are 0 to " + std::to_string(size - 1));
}

// LOCAL_RANK is no part of the claim, but must be possible beside RANK.
Status CheckLocalRank(const sys::Env& env, const Sourced<int>& self, int size) {
  if (!IsSet(env, "LOCAL_RANK")) {
    return Ok();
  }
  MUSTER_ASSIGN(const int local, RankVariable(env, "LOCAL_RANK"));
  if (local >= size) {
    return Outside("LOCAL_RANK", local, size);
  }
  if (local > self.value) {
    return Error(Cause::kRankWorldMismatch,
                 "LOCAL_RANK=" + std::to_string(local) + " is above RANK=" +
                     std::to_string(self.value) + " (" + self.source +
                     "), but a local rank cannot exceed the rank");
  }
  return Ok();
}

Result<Address> Master(const sys::Env& env) {
  const std::string host = *env.Get("MASTER_ADDR");
  const std::string port = *env.Get("MASTER_PORT");
  const bool bare_ipv6 =
      host.find(':') != std::string::npos && !host.starts_with('[');
  auto address =
      Address::Parse((bare_ipv6 ? "[" + host + "]" : host) + ":" + port);
  if (!address) {
    return Error(Cause::kClusterSpecInvalid,
                 "MASTER_ADDR and MASTER_PORT: " + address.error().message());
  }
  return address;
}

// LOCAL_WORLD_SIZE below WORLD_SIZE: there is another host, which a loopback
// address does not reach.
Status CheckReachable(const sys::Host& host, const Address& master, int size) {
  if (!master.IsLoopback() || !IsSet(host.env, "LOCAL_WORLD_SIZE")) {
    return Ok();
  }
  MUSTER_ASSIGN(const int local, SizeVariable(host.env, "LOCAL_WORLD_SIZE"));
  if (local >= size) {
    return Ok();
  }
  return Error(Cause::kNetLoopbackName,
               "MASTER_ADDR is `" + master.host + "`, but only " +
                   std::to_string(local) + " of " + std::to_string(size) +
                   " processes are on this host (LOCAL_WORLD_SIZE): the others "
                   "would connect to themselves")
      .With(Observed("address.loopback", {{"address", master.host}}, host));
}

// LOCAL_RANK is absent where an operator starts one process for each pod.
Status TakePlace(const sys::Env& env, Claim& claim) {
  MUSTER_ASSIGN(claim.local_process_id, NumberVariable(env, "LOCAL_RANK"));
  MUSTER_ASSIGN(claim.local_num_processes,
                NumberVariable(env, "LOCAL_WORLD_SIZE", 1));
  MUSTER_ASSIGN(claim.node_rank, FirstNumber(env, {"GROUP_RANK", "NODE_RANK"}));
  const bool local = claim.local_process_id.has_value();
  if (!local) {
    claim.local_process_id = Sourced<int>{0, "LOCAL_RANK is not set"};
  }
  if (!claim.node_rank && !local && !claim.local_num_processes) {
    claim.node_rank =
        Sourced<int>{claim.process_id->value,
                     "one process per node: " + claim.process_id->source};
  } else if (!claim.node_rank && claim.local_num_processes) {
    claim.node_rank =
        Sourced<int>{claim.process_id->value / claim.local_num_processes->value,
                     "RANK divided by LOCAL_WORLD_SIZE"};
  }
  MUSTER_ASSIGN(claim.num_nodes, NumberVariable(env, "GROUP_WORLD_SIZE", 1));
  if (!claim.num_nodes && claim.local_num_processes &&
      claim.num_processes->value % claim.local_num_processes->value == 0) {
    claim.num_nodes = Sourced<int>{
        claim.num_processes->value / claim.local_num_processes->value,
        "WORLD_SIZE divided by LOCAL_WORLD_SIZE"};
  }
  return Ok();
}

// Kubeflow's PyTorchJob counts processes in WORLD_SIZE and nodes in RANK, which
// is that of torchrun on the node: several processes of it follow.
void TakeNodesOfOperator(const sys::Env& env, Claim& claim) {
  const auto number = [&](const char* name) {
    return ParseInt(Trim(env.Get(name).value_or(""))).value_or(0);
  };
  const auto nodes = number("PET_NNODES");
  const auto each = number("PET_NPROC_PER_NODE");
  if (IsSet(env, "LOCAL_RANK") || !IsSet(env, "PET_NODE_RANK") ||
      number("PET_NODE_RANK") != claim.process_id->value || nodes < 1 ||
      each < 2 || std::max(nodes, each) > claim.num_processes->value ||
      nodes * each != claim.num_processes->value) {
    return;
  }
  claim.num_processes = Sourced<int>{static_cast<int>(nodes), "env PET_NNODES"};
  claim.num_nodes = claim.num_processes;
  claim.process_id->source = "env PET_NODE_RANK";
  claim.node_rank = claim.process_id;
  claim.nproc_per_node =
      Sourced<int>{static_cast<int>(each), "env PET_NPROC_PER_NODE"};
}

Status TakeMaster(const sys::Host& host, Claim& claim) {
  MUSTER_ASSIGN(auto master, Master(host.env));
  if (host.env.Get("LOCAL_WORLD_SIZE")) {
    MUSTER_TRY(CheckReachable(host, master, claim.num_processes->value));
  }
  claim.coordinator_host = Sourced<std::string>{master.host, "env MASTER_ADDR"};
  claim.coordinator_port = Sourced<int>{master.port, "env MASTER_PORT"};
  claim.cluster.coordinator =
      Sourced<Address>{std::move(master), "env MASTER_ADDR and MASTER_PORT"};
  claim.coordinator_told = true;
  return Ok();
}

Status TakeIdentity(const sys::Host& host, Claim& claim) {
  const sys::Env& env = host.env;
  if (!IsSet(env, "WORLD_SIZE")) {
    return Partly(host);
  }
  MUSTER_ASSIGN(const int size, SizeVariable(env, "WORLD_SIZE"));
  claim.num_processes = Sourced<int>{size, "env WORLD_SIZE"};
  if (IsSet(env, "RANK")) {
    MUSTER_ASSIGN(const int rank, RankVariable(env, "RANK"));
    claim.process_id = Sourced<int>{rank, "env RANK"};
    return Ok();
  }
  if (size > 1) {
    return Partly(host);
  }
  claim.process_id = Sourced<int>{0, "env WORLD_SIZE is 1"};
  return Ok();
}

Result<Claim> Read(const Request& request, const sys::Host& host) {
  const sys::Env& env = host.env;
  Claim claim{.source = "torch", .only_trainers = true};
  MUSTER_TRY(TakeIdentity(host, claim));
  const int size = claim.num_processes->value;
  if (claim.process_id->value >= size) {
    return Outside("RANK", claim.process_id->value, size)
        .With(Observed("rank.outside",
                       {{"rank", std::int64_t{claim.process_id->value}},
                        {"size", std::int64_t{size}}},
                       host));
  }
  MUSTER_TRY(CheckLocalRank(env, *claim.process_id, size));
  MUSTER_TRY(TakePlace(env, claim));
  TakeNodesOfOperator(env, claim);
  MUSTER_TRY(CheckNumbers(claim));
  claim.cluster = Unplaced(*claim.num_processes);
  claim.cluster.self = claim.process_id;
  const bool told = IsSet(env, "MASTER_ADDR") && IsSet(env, "MASTER_PORT");
  if (!told && (size > 1 || !request.source.empty())) {
    return Partly(host);
  }
  if (told) {
    MUSTER_TRY(TakeMaster(host, claim));
  }
  MUSTER_TRY(CheckMembers(claim.cluster));
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "torch",
    .precedence = 300,
    .scope = Scope::kProcess,
    .may_be_left_over = true,
    .doc =
        "the variables that torchrun and Kubernetes operators set for each "
        "process",
    .reads =
        "RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, GROUP_RANK, "
        "GROUP_WORLD_SIZE, NODE_RANK, MASTER_ADDR, MASTER_PORT, "
        "TORCHELASTIC_RUN_ID, PET_NNODES, PET_NODE_RANK, PET_NPROC_PER_NODE",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::torch_env
