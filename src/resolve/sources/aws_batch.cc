// SPDX-License-Identifier: Apache-2.0
// A multi-node parallel job of AWS Batch.
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::aws_batch {
namespace {

constexpr const char* kMainAddress =
    "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS";

Match Speak(const Request&, const sys::Host& host) {
  const Text any = FirstText(
      host.env, {"AWS_BATCH_JOB_NUM_NODES", "AWS_BATCH_JOB_NODE_INDEX"});
  return any ? Speaks()
             : Silent(
                   "neither AWS_BATCH_JOB_NUM_NODES nor "
                   "AWS_BATCH_JOB_NODE_INDEX is set");
}

// The main node itself is not told its address: this host has it. An address of
// the link is that of the agent that runs containers.
Sourced<std::string> OwnAddress(const sys::Env& env) {
  for (const std::string& address : env.LocalAddresses()) {
    const Address own{.host = address};
    if (!own.IsLoopback() && !own.IsLinkLocal() &&
        address.find(':') == std::string::npos) {
      return {address, "address of this host, the main node"};
    }
  }
  return {"localhost", "this host is the main node"};
}

Result<Claim> Read(const Request&, const sys::Host& host) {
  const sys::Env& env = host.env;
  Claim claim{.source = "aws-batch"};
  MUSTER_TRY(RequireAll(
      {.names = {"AWS_BATCH_JOB_NUM_NODES", "AWS_BATCH_JOB_NODE_INDEX"},
       .setters = "AWS Batch sets them in a multi-node parallel job"},
      host));
  MUSTER_ASSIGN(claim.num_nodes,
                NumberVariable(env, "AWS_BATCH_JOB_NUM_NODES", 1));
  MUSTER_ASSIGN(claim.node_rank,
                NumberVariable(env, "AWS_BATCH_JOB_NODE_INDEX"));
  MUSTER_ASSIGN(const auto main,
                NumberVariable(env, "AWS_BATCH_JOB_MAIN_NODE_INDEX"));
  MUSTER_TRY(CheckNumbers(claim));
  // Rank 0 serves the others, and ranks are the indices of nodes.
  if (main && main->value != 0) {
    return Error(Cause::kClusterSpecInvalid,
                 "AWS_BATCH_JOB_MAIN_NODE_INDEX is " +
                     std::to_string(main->value) +
                     ", but node 0 is rank 0, to which the others connect: set "
                     "mainNode of the job definition to 0");
  }
  claim.coordinator_host = FirstText(env, {"MASTER_ADDR", kMainAddress});
  if (!claim.coordinator_host) {
    if (claim.node_rank->value != 0) {
      return PartlySet(
          {.names = {"AWS_BATCH_JOB_NODE_INDEX", kMainAddress},
           .setters =
               "AWS Batch sets the address on every node except the main one"},
          host);
    }
    claim.coordinator_host = OwnAddress(env);
  }
  MUSTER_ASSIGN(claim.coordinator_port, MasterPort(env));
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "aws-batch",
    .precedence = 410,
    .starts_agents = true,
    .doc = "an AWS Batch multi-node parallel job",
    .reads =
        "AWS_BATCH_JOB_NUM_NODES, AWS_BATCH_JOB_NODE_INDEX, "
        "AWS_BATCH_JOB_MAIN_NODE_INDEX, "
        "AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS, MASTER_ADDR, "
        "MASTER_PORT",
    .ports = "29500",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::aws_batch
