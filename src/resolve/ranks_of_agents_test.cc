// SPDX-License-Identifier: Apache-2.0
#include "resolve/ranks_of_agents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "resolve/testing.h"

namespace muster::resolve {
namespace {

using testing::HasSubstr;

// Size, own ranks, and what tells the size.
std::string TextOf(const Result<Resolved>& resolved) {
  if (!resolved) {
    return resolved.error().ToString();
  }
  const Cluster& cluster = resolved->cluster;
  std::string text = std::to_string(cluster.size.value) + ":";
  for (const int rank : cluster.OwnRanks()) {
    text += " " + std::to_string(rank);
  }
  return text + (cluster.one_host ? ", one host" : "");
}

TEST(RanksOfAgents, AreAsManyOnEachHostAsAsked) {
  FakeHere here;
  here.request.hosts = "a,b";
  here.request.processes = 2;
  here.request.node_rank = 1;
  const auto resolved = here.Ask();
  EXPECT_EQ(TextOf(resolved), "4: 2 3");
  EXPECT_EQ(resolved->cluster.size.source,
            "2 hosts (flag --hosts) of 2 ranks (flag -n)");
  EXPECT_EQ(ToString(resolved->cluster.members[3].address->value), "b:8477");
  EXPECT_EQ(ToString(resolved->cluster.coordinator->value), "a:8476");
  EXPECT_EQ(resolved->claims.front().local_num_processes->value, 2);
}

TEST(RanksOfAgents, AreTheSlotsOfTheList) {
  FakeHere here;
  here.request.hosts = "a:4,b:2";
  here.request.node_rank = 1;
  EXPECT_EQ(TextOf(here.Ask()), "6: 4 5");
  here.request.hosts = "[fd00::1]:2,[fd00::2]:2";
  EXPECT_EQ(TextOf(here.Ask()), "4: 2 3");
  here.request.hosts = "a:8001:3,[fd00::2]:8001:2";
  const auto both = here.Ask();
  EXPECT_EQ(TextOf(both), "5: 3 4");
  EXPECT_EQ(ToString(both->cluster.members[4].address->value),
            "[fd00::2]:8002");
  here.request.hosts = "a:4";
  here.request.node_rank = 0;
  EXPECT_EQ(TextOf(here.Ask()), "4: 0 1 2 3, one host");
  here.request.hosts = "a:4,b:2";
  here.request.processes = 4;
  EXPECT_THAT(TextOf(here.Ask()),
              HasSubstr("flag -n asks for 4 ranks on each host, but host 2"));
  here.request.processes = 2;
  EXPECT_EQ(TextOf(here.Ask()), "4: 0 1");
  here.request.hosts = "a:65530:8,b:8001:8";
  here.request.processes.reset();
  EXPECT_THAT(TextOf(here.Ask()), HasSubstr("pass 65535"));
  here.request.hosts = "a:1023,b:1";
  here.request.processes.reset();
  EXPECT_THAT(TextOf(here.Ask()), HasSubstr("a host runs 1 to 256 ranks"));
}

TEST(RanksOfAgents, AreThoseOfTorchrunsFlags) {
  FakeHere here;
  here.request.nodes = "2";
  here.request.processes = 8;
  EXPECT_THAT(TextOf(here.Ask()), HasSubstr("requires --node-rank (0 to 1)"));
  here.request.node_rank = 1;
  here.request.master_addr = "a";
  const auto resolved = here.Ask();
  EXPECT_EQ(TextOf(resolved), "16: 8 9 10 11 12 13 14 15");
  EXPECT_EQ(ToString(resolved->cluster.coordinator->value), "a:29500");
  EXPECT_EQ(resolved->claims.front().local_process_id->value, 0);
  here.request.nodes = "1:4";
  EXPECT_THAT(TextOf(here.Ask()), HasSubstr("a range"));
  here.request.nodes = "1";
  EXPECT_THAT(TextOf(here.Ask()), HasSubstr("contradict"));
  here.request.node_rank = 0;
  EXPECT_EQ(TextOf(here.Ask()), "8: 0 1 2 3 4 5 6 7, one host");
}

TEST(RanksOfAgents, AreOfEachTaskOfALauncher) {
  FakeHere here;
  here.env.variables = {{"SLURM_JOB_ID", "7"},
                        {"SLURM_PROCID", "1"},
                        {"SLURM_LOCALID", "0"},
                        {"SLURM_NODEID", "1"},
                        {"SLURM_STEP_NUM_TASKS", "2"},
                        {"SLURM_STEP_NODELIST", "n[1-2]"},
                        {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"}};
  here.request.processes = 8;
  const auto resolved = here.Ask();
  EXPECT_EQ(TextOf(resolved), "16: 8 9 10 11 12 13 14 15");
  EXPECT_EQ(resolved->claims.front().source, "slurm");
  EXPECT_EQ(resolved->claims.front().local_num_processes->value, 8);
  const auto machines = MachinesByRank(resolved->claims.front());
  EXPECT_EQ(machines[7], "n1");
  EXPECT_EQ(machines[8], "n2");
}

TEST(RanksOfAgents, AreNotMadeOfTasksWithAddressesOfTheirOwn) {
  FakeHere here;
  here.request.processes = 2;
  here.env.variables["TF_CONFIG"] =
      R"({"cluster": {"worker": ["a:2222", "b:2222"]},
          "task": {"type": "worker", "index": 0}})";
  EXPECT_THAT(TextOf(here.Ask()), HasSubstr("TF_CONFIG"));
}

TEST(RanksOfAgents, ByTheDevicesOfThisHost) {
  FakeHere here;
  here.request.processes_by = "cpu";
  EXPECT_EQ(TextOf(here.Ask()), "2: 0 1, one host");
  here.request.processes_by = "gpu";
  EXPECT_THAT(TextOf(here.Ask()), HasSubstr("device-missing"));
  here.fs.files["/dev/nvidia0"] = "";
  here.fs.files["/dev/nvidia1"] = "";
  here.fs.files["/dev/nvidia2"] = "";
  EXPECT_EQ(TextOf(here.Ask()), "3: 0 1 2, one host");
}

TEST(RanksOfAgents, AreKeptByTheDocument) {
  FakeHere here;
  here.request.hosts = "a:2,b:2";
  here.request.node_rank = 1;
  here.fs.files["cluster.json"] = Dump(ToJson(*here.Ask()));
  here.request = Request();
  here.request.cluster = "cluster.json";
  here.request.rank = 2;
  EXPECT_EQ(TextOf(here.Ask()), "4: 2 3");
}

TEST(LocalRank, IsConcludedFromMembersOfOneHost) {
  FakeHere here;
  here.request.hosts = "a:8001,a:8002,b:8001";
  here.request.rank = 1;
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->claims.front().local_process_id->value, 1);
  EXPECT_EQ(resolved->claims.front().local_num_processes->value, 2);
  EXPECT_TRUE(resolved->claims.front().local_concluded);
}

}  // namespace
}  // namespace muster::resolve
