// SPDX-License-Identifier: Apache-2.0
#include "run/plan/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "base/json.h"
#include "channel/inbox.h"

namespace muster::run {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Cluster OneHost(int size) {
  Cluster cluster;
  for (int rank = 0; rank < size; ++rank) {
    cluster.members.push_back({.rank = rank, .index = rank});
  }
  cluster.size = {size, "flag -n"};
  cluster.one_host = true;
  return cluster;
}

Cluster Hosts(const std::string& source) {
  Cluster cluster = OneHost(2);
  cluster.members[0].address = {Address{"10.0.0.1", 2222}, source};
  cluster.members[1].address = {Address{"10.0.0.2", 2222}, source};
  cluster.one_host = false;
  return cluster;
}

wire::Hello Agent(std::vector<int> ranks, std::string host = "a") {
  wire::Hello hello;
  hello.ranks = std::move(ranks);
  hello.host = std::move(host);
  hello.cores = 2;
  hello.core_ids = {4, 5};
  for (std::size_t i = 0; i < 2 * hello.ranks.size(); ++i) {
    hello.ports.push_back(static_cast<std::uint16_t>(20000 + i));
  }
  return hello;
}

PlanOptions Options() {
  return {.run_id = "r", .argv = {"python3", "a b.py"}};
}

Planned Make(const Cluster& cluster, std::vector<wire::Hello> agents,
             const PlanOptions& options = Options()) {
  auto planned = MakePlan(cluster, agents, options);
  EXPECT_TRUE(planned) << planned.error().ToString();
  return std::move(planned).value();
}

std::string Value(const Planned& planned, std::size_t rank,
                  const std::string& name) {
  const auto& set = planned.plan.ranks[rank].environment;
  return set.contains(name) ? set.at(name).value : "(not set)";
}

TEST(Plan, TellsEveryRankWhoItIs) {
  const auto planned = Make(OneHost(2), {Agent({0, 1})});
  EXPECT_EQ(Value(planned, 1, "RANK"), "1");
  EXPECT_EQ(Value(planned, 1, "WORLD_SIZE"), "2");
  EXPECT_EQ(Value(planned, 1, "LOCAL_RANK"), "1");
  EXPECT_EQ(Value(planned, 1, "LOCAL_WORLD_SIZE"), "2");
  EXPECT_EQ(Value(planned, 1, "GROUP_RANK"), "0");
  EXPECT_EQ(Value(planned, 1, "MUSTER_RANK"), "1");
  EXPECT_EQ(Value(planned, 1, "MASTER_ADDR"), "127.0.0.1");
  EXPECT_EQ(Value(planned, 1, "MASTER_PORT"), "20001");
  EXPECT_EQ(Value(planned, 0, "JAX_COORDINATOR_ADDRESS"), "127.0.0.1:20001");
  EXPECT_EQ(Value(planned, 0, "PYTHONUNBUFFERED"), "1");
  EXPECT_EQ(planned.plan.ranks[1].environment.at("WORLD_SIZE").source,
            "cluster: flag -n");
  EXPECT_THAT(planned.plan.ranks[0].argv, ElementsAre("python3", "a b.py"));
  EXPECT_THAT(planned.plan.agents, ElementsAre(ElementsAre(0, 1)));
}

TEST(Plan, TellsJaxCountAndIdAsOpenMpiDoesWhenAsked) {
  EXPECT_EQ(Value(Make(OneHost(2), {Agent({0, 1})}), 1, "OMPI_COMM_WORLD_SIZE"),
            "(not set)");
  auto options = Options();
  options.for_jax = true;
  const auto planned = Make(OneHost(2), {Agent({0, 1})}, options);
  EXPECT_EQ(Value(planned, 1, "OMPI_COMM_WORLD_SIZE"), "2");
  EXPECT_EQ(Value(planned, 1, "OMPI_COMM_WORLD_RANK"), "1");
  EXPECT_EQ(Value(planned, 1, "OMPI_COMM_WORLD_LOCAL_RANK"), "1");
  EXPECT_EQ(Value(planned, 1, "OMPI_MCA_orte_hnp_uri"),
            "0.0;tcp://127.0.0.1:20001");
  // One rank of a host would get one of its GPUs.
  const std::vector<wire::Hello> hosts{Agent({0}), Agent({1}, "b")};
  EXPECT_THAT(Make(Hosts("flag --hosts"), hosts, options).notes,
              Contains(HasSubstr("JAX_LOCAL_DEVICE_IDS")));
  options.user_environment["JAX_LOCAL_DEVICE_IDS"] = "0,1";
  EXPECT_THAT(Make(Hosts("flag --hosts"), hosts, options).notes,
              testing::Not(Contains(HasSubstr("JAX_LOCAL_DEVICE_IDS"))));
}

TEST(Plan, WritesTheTfConfigOfEachTask) {
  const auto planned = Make(OneHost(2), {Agent({0, 1})});
  EXPECT_EQ(Value(planned, 1, "TF_CONFIG"),
            R"({"cluster":{"worker":["127.0.0.1:20000","127.0.0.1:20002"]},)"
            R"("task":{"type":"worker","index":1}})");
}

TEST(Plan, KeepsPortsThatTfConfigFixes) {
  const auto planned =
      Make(Hosts("env TF_CONFIG"), {Agent({1}, "b"), Agent({0})});
  EXPECT_THAT(Value(planned, 0, "TF_CONFIG"), HasSubstr("10.0.0.2:2222"));
  EXPECT_EQ(Value(planned, 1, "MASTER_ADDR"), "10.0.0.1");
  EXPECT_EQ(Value(planned, 1, "GROUP_RANK"), "1");
  EXPECT_EQ(FixedPorts(Hosts("env TF_CONFIG")).at(1), 2222);
  EXPECT_TRUE(FixedPorts(Hosts("flag --hosts")).empty());
}

TEST(Plan, UsesOfferedPortsWhereTheAddressIsTheAgents) {
  const auto planned =
      Make(Hosts("flag --hosts"), {Agent({0}), Agent({1}, "b")});
  EXPECT_THAT(Value(planned, 0, "TF_CONFIG"), HasSubstr("10.0.0.2:20000"));
}

TEST(Plan, LeavesAnEqualTfConfigAsTheUserWroteIt) {
  auto agent = Agent({0});
  agent.environment["TF_CONFIG"] =
      R"({"rpc_layer":"grpc","task":{"index":0,"type":"worker"},)"
      R"("cluster":{"worker":["10.0.0.1:2222","10.0.0.2:2222"]}})";
  const auto planned = Make(Hosts("env TF_CONFIG"), {agent, Agent({1}, "b")});
  EXPECT_EQ(Value(planned, 0, "TF_CONFIG"), "(not set)");
  EXPECT_NE(Value(planned, 1, "TF_CONFIG"), "(not set)");
}

// Two machines of eight GPUs, ranks in blocks.
struct Form {
  const char* name;
  std::vector<std::vector<int>> agents;  // ranks
  std::vector<int> machines;             // of the agents
  bool words = false;                    // a launcher has numbered them
};

std::vector<int> Range(int first, int count) {
  std::vector<int> ranks(static_cast<std::size_t>(count));
  std::iota(ranks.begin(), ranks.end(), first);
  return ranks;
}

std::vector<Form> Forms() {
  Form per_host{"one agent a host", {Range(0, 8), Range(8, 8)}, {0, 1}};
  Form per_rank{"one agent a rank", {}, {}};
  for (int rank = 0; rank < 16; ++rank) {
    per_rank.agents.push_back({rank});
    per_rank.machines.push_back(rank / 8);
  }
  Form slurm = per_rank;
  slurm.name = "one agent a rank, numbered by a launcher";
  slurm.words = true;
  Form mixed{
      "mixed", {Range(0, 5), {5}, {6}, {7}, Range(8, 8)}, {0, 0, 0, 0, 1}};
  return {per_host, per_rank, slurm, mixed};
}

TEST(Plan, ALocalRankIsOfTheMachineWhoeverStartsIt) {
  Cluster cluster = OneHost(16);
  cluster.one_host = false;
  for (const Form& form : Forms()) {
    SCOPED_TRACE(form.name);
    std::vector<wire::Hello> agents;
    for (std::size_t i = 0; i < form.agents.size(); ++i) {
      const std::string host(1, static_cast<char>('a' + form.machines[i]));
      wire::Hello agent = Agent(form.agents[i], host);
      agent.machine = "id of " + host;
      agent.local_rank = form.words ? form.agents[i].front() % 8 : -1;
      agents.push_back(std::move(agent));
    }
    const auto planned = Make(cluster, agents);
    EXPECT_EQ(planned.machines, 2);
    for (std::size_t rank = 0; rank < 16; ++rank) {
      EXPECT_EQ(Value(planned, rank, "LOCAL_RANK"), std::to_string(rank % 8));
      EXPECT_EQ(Value(planned, rank, "LOCAL_WORLD_SIZE"), "8");
      EXPECT_EQ(Value(planned, rank, "GROUP_RANK"), std::to_string(rank / 8));
      EXPECT_EQ(Value(planned, rank, "GROUP_WORLD_SIZE"), "2");
      EXPECT_EQ(planned.plan.ranks[rank].local_rank,
                static_cast<int>(rank % 8));
    }
  }
}

TEST(Plan, ASlotIsOfTheAgent) {
  auto first = Agent({0, 1});
  auto second = Agent({2, 3});
  first.machine = second.machine = "m";
  Cluster cluster = OneHost(4);
  cluster.one_host = false;
  const auto planned = Make(cluster, {first, second});
  EXPECT_EQ(planned.plan.ranks[3].slot, 1);
  EXPECT_EQ(planned.plan.ranks[3].local_rank, 3);
  const Json registered =
      ParseJson(planned.plan.ranks[3].registered, Cause::kInternalError, "x")
          .value();
  EXPECT_EQ(registered["segment_ranks"], 2);
  EXPECT_EQ(registered["local_size"], 4);
}

std::vector<wire::Hello> TasksThatSeeOneGpu() {
  std::vector<wire::Hello> agents;
  for (int rank = 0; rank < 2; ++rank) {
    auto agent = Agent({rank});
    agent.machine = "m";
    agent.devices = 1;
    agent.device_variable = "CUDA_VISIBLE_DEVICES";
    agent.environment["CUDA_VISIBLE_DEVICES"] = std::to_string(rank);
    agents.push_back(std::move(agent));
  }
  return agents;
}

TEST(Plan, ATaskThatSeesItsOwnDeviceAloneTakesThatAsItsFirst) {
  Cluster cluster = OneHost(2);
  cluster.one_host = false;
  auto planned = Make(cluster, TasksThatSeeOneGpu());
  EXPECT_EQ(Value(planned, 1, "LOCAL_RANK"), "0");
  EXPECT_EQ(Value(planned, 1, "LOCAL_WORLD_SIZE"), "2");
  EXPECT_EQ(Value(planned, 1, "MUSTER_LOCAL_RANK"), "1");
  EXPECT_EQ(planned.plan.ranks[1].environment.at("LOCAL_RANK").source,
            "CUDA_VISIBLE_DEVICES shows each task its own devices");
  // Where each sees all, each takes that of its rank.
  auto agents = TasksThatSeeOneGpu();
  for (auto& agent : agents) {
    agent.environment["CUDA_VISIBLE_DEVICES"] = "0,1";
  }
  EXPECT_EQ(Value(Make(cluster, agents), 1, "LOCAL_RANK"), "1");
}

TEST(Plan, BindsEachRankToItsShareOfTheDevices) {
  auto options = Options();
  options.bind_devices = true;
  auto agent = Agent({0, 1});
  agent.devices = 4;
  agent.device_variable = "ROCR_VISIBLE_DEVICES";
  auto planned = Make(OneHost(2), {agent}, options);
  EXPECT_EQ(Value(planned, 1, "ROCR_VISIBLE_DEVICES"), "2,3");
  EXPECT_EQ(Value(planned, 1, "LOCAL_RANK"), "0");
  EXPECT_EQ(Value(planned, 1, "LOCAL_WORLD_SIZE"), "2");
  agent.device_variable = "CUDA_VISIBLE_DEVICES";
  agent.environment["CUDA_VISIBLE_DEVICES"] = "7,GPU-5a";
  EXPECT_EQ(
      Value(Make(OneHost(2), {agent}, options), 1, "CUDA_VISIBLE_DEVICES"),
      "GPU-5a");
  agent.environment.clear();
  agent.device_variable = "TPU_VISIBLE_CHIPS";
  planned = Make(OneHost(2), {agent}, options);
  EXPECT_EQ(Value(planned, 1, "TPU_VISIBLE_CHIPS"), "2,3");
  EXPECT_EQ(Value(planned, 1, "TPU_PROCESS_BOUNDS"), "2,1,1");
  EXPECT_EQ(Value(planned, 1, "TPU_CHIPS_PER_PROCESS_BOUNDS"), "1,2,1");
  EXPECT_EQ(Value(planned, 1, "TPU_PROCESS_ADDRESSES"),
            "localhost:8476,localhost:8477");
  EXPECT_EQ(Value(planned, 1, "CLOUD_TPU_TASK_ID"), "1");
}

TEST(Plan, RefusesToDivideWhatIsNotThere) {
  auto options = Options();
  options.bind_devices = true;
  const auto why = [&](int devices, const char* variable, int ranks) {
    auto agent = Agent(Range(0, ranks));
    agent.devices = devices;
    agent.device_variable = variable;
    const auto planned =
        MakePlan(OneHost(ranks), std::vector<wire::Hello>{agent}, options);
    return planned ? std::string("planned") : planned.error().ToString();
  };
  EXPECT_THAT(why(0, "", 2), HasSubstr("device-missing"));
  EXPECT_THAT(why(2, "CUDA_VISIBLE_DEVICES", 4),
              HasSubstr("has 2 devices for 4 ranks"));
  EXPECT_THAT(why(8, "TPU_VISIBLE_CHIPS", 3), HasSubstr("among 3 ranks"));
}

TEST(Plan, GivesJaxItsShareOfTheDevices) {
  auto options = Options();
  options.for_jax = true;
  auto agent = Agent({0, 1});
  agent.devices = 8;
  agent.device_variable = "CUDA_VISIBLE_DEVICES";
  EXPECT_EQ(
      Value(Make(OneHost(2), {agent}, options), 1, "JAX_LOCAL_DEVICE_IDS"),
      "4,5,6,7");
  agent.devices = 2;  // its own default: the device of the local rank
  EXPECT_EQ(
      Value(Make(OneHost(2), {agent}, options), 1, "JAX_LOCAL_DEVICE_IDS"),
      "(not set)");
}

TEST(Plan, CoresOfARankAreOfOneNode) {
  const auto cores_of = [](int ranks, std::vector<int> nodes) {
    auto agent = Agent(Range(0, ranks));
    agent.cores = static_cast<int>(nodes.size());
    agent.core_ids = Range(0, agent.cores);
    agent.core_nodes = std::move(nodes);
    std::string text;
    for (const auto& rank : Make(OneHost(ranks), {agent}).plan.ranks) {
      for (const int core : rank.cores) {
        text += std::to_string(core) + " ";
      }
      text += "| ";
    }
    return text;
  };
  EXPECT_EQ(cores_of(2, {0, 0, 1, 1}), "0 1 | 2 3 | ");
  EXPECT_EQ(cores_of(3, {0, 0, 0, 0, 1, 1, 1, 1}), "0 1 | 2 3 | 4 5 6 7 | ");
  EXPECT_EQ(cores_of(2, {0, 0, 1, 1, 2, 2, 3, 3}), "0 1 2 3 | 4 5 6 7 | ");
  EXPECT_EQ(cores_of(3, {0, 1, 1, 1, 1, 1}), "0 1 | 2 3 | 4 5 | ");
}

TEST(Plan, ATaskKeepsTheCoresThatItsLauncherGaveIt) {
  auto first = Agent({0});
  auto second = Agent({1});
  second.core_ids = {6, 7};
  Cluster cluster = OneHost(2);
  cluster.one_host = false;
  const auto planned = Make(cluster, {first, second});
  EXPECT_TRUE(planned.plan.ranks[1].cores.empty());
  EXPECT_EQ(Value(planned, 1, "OMP_NUM_THREADS"), "2");
}

TEST(Plan, DividesCoresAndThreads) {
  const auto planned = Make(OneHost(2), {Agent({0, 1})});
  EXPECT_THAT(planned.plan.ranks[0].cores, ElementsAre(4));
  EXPECT_THAT(planned.plan.ranks[1].cores, ElementsAre(5));
  EXPECT_EQ(Value(planned, 0, "OMP_NUM_THREADS"), "1");
  EXPECT_THAT(planned.notes,
              ElementsAre("2 cores of host a for 2 ranks: each rank is bound "
                          "to its own cores, 1 thread each"));
}

TEST(Plan, DividesCoresAmongTheAgentsOfOneHost) {
  const auto planned =
      Make(Hosts("flag --hosts"), {Agent({0}), Agent({1}, "a")});
  EXPECT_THAT(planned.plan.ranks[0].cores, ElementsAre(4));
  EXPECT_THAT(planned.plan.ranks[1].cores, ElementsAre(5));
}

TEST(Plan, BindsNothingWhenCoresAreTooFewOrUnknown) {
  auto planned = Make(OneHost(3), {Agent({0, 1, 2})});
  EXPECT_TRUE(planned.plan.ranks[2].cores.empty());
  EXPECT_THAT(planned.notes, Contains(HasSubstr("share cores")));
  auto agent = Agent({0, 1});
  agent.core_ids.clear();
  planned = Make(OneHost(2), {agent});
  EXPECT_TRUE(planned.plan.ranks[0].cores.empty());
  EXPECT_THAT(planned.notes, Contains(HasSubstr("not bound to cores")));
}

TEST(Plan, RespectsWhatIsSetAndReplacesWhatIsStale) {
  auto agent = Agent({0, 1});
  agent.environment = {{"OMP_NUM_THREADS", "7"},
                       {"RANK", "0"},
                       {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
  const auto planned = Make(OneHost(2), {agent});
  EXPECT_EQ(Value(planned, 0, "OMP_NUM_THREADS"), "(not set)");
  EXPECT_EQ(Value(planned, 0, "MKL_NUM_THREADS"), "1");
  EXPECT_EQ(Value(planned, 1, "RANK"), "1");
  EXPECT_THAT(planned.plan.ranks[1].environment.at("RANK").source,
              HasSubstr("replaces `0`"));
  EXPECT_THAT(planned.plan.ranks[0].unset,
              ElementsAre("TORCHELASTIC_USE_AGENT_STORE"));
  EXPECT_THAT(
      planned.notes,
      Contains("replacing RANK=0, TORCHELASTIC_USE_AGENT_STORE=True from the "
               "environment (rank 1)"));
}

TEST(Plan, LetsTheUserWinAndSaysWhatThatContradicts) {
  auto options = Options();
  options.user_environment = {{"RANK", "9"}, {"LR", "0.1"}};
  const auto planned = Make(OneHost(2), {Agent({0, 1})}, options);
  EXPECT_EQ(Value(planned, 0, "RANK"), "9");
  EXPECT_EQ(Value(planned, 0, "LR"), "0.1");
  EXPECT_EQ(planned.plan.ranks[0].environment.at("RANK").source, "flag --env");
  EXPECT_THAT(planned.notes,
              Contains("--env sets RANK=9, but the plan has `0` (rank 0)"));
}

TEST(Plan, TellsParameterServersNoTrainingRank) {
  Cluster cluster = OneHost(3);
  cluster.members[2] = {.rank = 2, .task = "ps", .index = 0};
  const auto planned = Make(cluster, {Agent({0, 1, 2})});
  EXPECT_EQ(planned.plan.world_size, 2);
  EXPECT_EQ(Value(planned, 2, "RANK"), "(not set)");
  EXPECT_EQ(Value(planned, 2, "MUSTER_TASK"), "ps");
  EXPECT_EQ(Value(planned, 0, "GRPC_FAIL_FAST"), "use_caller");
}

TEST(Plan, RegistersARankWithThePlacesOfAll) {
  const auto planned = Make(OneHost(2), {Agent({0, 1})});
  const auto json = ParseJson(planned.plan.ranks[1].registered,
                              Cause::kInternalError, "registered");
  EXPECT_EQ((*json)["rank"], 1);
  EXPECT_EQ((*json)["slot"], 1);
  EXPECT_EQ((*json)["members"][0], "127.0.0.1:20000");
  EXPECT_EQ((*json)["tasks"]["worker"].size(), 2);
}

TEST(Plan, ADryRunNeedsNoPorts) {
  auto agent = Agent({0, 1});
  agent.ports.clear();
  auto options = Options();
  EXPECT_EQ(MakePlan(OneHost(2), std::vector{agent}, options).error().cause(),
            Cause::kNetPortInUse);
  options.dry_run = true;
  const auto planned = Make(OneHost(2), {agent}, options);
  EXPECT_EQ(Value(planned, 0, "MASTER_PORT"), "(offered at launch)");
}

TEST(Plan, RefusesAgentsThatDoNotCoverTheCluster) {
  const auto cause = [](std::vector<wire::Hello> agents) {
    return MakePlan(OneHost(2), agents, Options()).error().cause();
  };
  EXPECT_EQ(cause({Agent({0})}), Cause::kRankWorldMismatch);
  EXPECT_EQ(cause({Agent({0, 1, 2})}), Cause::kRankWorldMismatch);
  EXPECT_EQ(cause({Agent({0, 1}), Agent({1}, "b")}), Cause::kDuplicateIdentity);
}

TEST(Plan, HasADigestOverEverything) {
  const auto one = Make(OneHost(2), {Agent({0, 1})});
  const auto again = Make(OneHost(2), {Agent({0, 1})});
  auto options = Options();
  options.grace = std::chrono::seconds(1);
  const auto other = Make(OneHost(2), {Agent({0, 1})}, options);
  EXPECT_EQ(one.plan.digest, again.plan.digest);
  EXPECT_NE(one.plan.digest, other.plan.digest);
}

TEST(PartOfAPlan, OfManyHostsFitsAMessage) {
  constexpr int kHosts = 340;
  Cluster cluster = OneHost(kHosts);
  cluster.one_host = false;
  std::vector<wire::Hello> agents;
  for (int rank = 0; rank < kHosts; ++rank) {
    const std::string name = std::string(50, 'h') + std::to_string(rank);
    cluster.members[static_cast<std::size_t>(rank)].address = {
        Address{name, 2222}, "flag --hosts"};
    agents.push_back(Agent({rank}, name));
  }
  const auto planned = Make(cluster, agents);
  ASSERT_GT(Encode(planned.plan).body.size(), channel::kMaxMessage);
  const int ranks[] = {7};
  const wire::LaunchPlan part = PartOf(planned.plan, ranks);
  ASSERT_EQ(part.ranks.size(), 1U);
  EXPECT_EQ(part.ranks[0].rank, 7);
  EXPECT_EQ(part.world_size, kHosts);
  EXPECT_LT(Encode(part).body.size(), channel::kMaxMessage / 16);
}

}  // namespace
}  // namespace muster::run
