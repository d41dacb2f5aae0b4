// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/runner.h"
#include "check/testing.h"

namespace muster::check {
namespace {

using ::testing::HasSubstr;

TEST(ClusterDescribed, AllowsTwoPortsOfOneHost) {
  FakeHost host;
  host.SetCluster({{"10.0.0.1", 8476}, {"10.0.0.1", 8477}});
  const Outcome outcome = host.Run("cluster.described");
  EXPECT_EQ(Summary(outcome), "pass");
  EXPECT_EQ(outcome.detail, "2 members (test), this is rank 0");
}

TEST(ClusterDescribed, GivesWhatTheSourcesSaid) {
  FakeHost host;
  Context context = host.MakeContext();
  context.cluster = nullptr;
  context.cluster_findings = {MakeFinding(
      Cause::kRankWorldMismatch, "RANK is 4 of 4", Confidence::kCertain)};
  const Check* check =
      Select(AllChecks(), std::vector<std::string>{"cluster.described"})
          .value()
          .front();
  EXPECT_EQ(Summary(check->run(context)), "fail rank-world-mismatch");
}

TEST(Threads, WarnWhereTheyOutnumberTheCores) {
  FakeHost host;
  host.SetOneHost(4);
  host.env.variables["OMP_NUM_THREADS"] = "8";
  const Outcome outcome = host.Run("cluster.threads");
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].cause, Cause::kHostOverloaded);
  EXPECT_THAT(outcome.detail, HasSubstr("32 threads share 8 cores"));
}

TEST(Threads, PassWithAShareEach) {
  FakeHost host;
  host.SetOneHost(4);
  EXPECT_EQ(Summary(host.Run("cluster.threads")), "pass");
  host.env.variables["OMP_NUM_THREADS"] = "2";
  EXPECT_EQ(Summary(host.Run("cluster.threads")), "pass");
}

TEST(Frameworks, AreReadOnlyWhereSomebodyLooks) {
  FakeHost host;
  EXPECT_EQ(Summary(host.Run("versions.frameworks")), "skip");
}

std::map<std::string, std::string> Step(const char* tasks, const char* spread) {
  return {{"SLURM_STEP_NUM_TASKS", tasks},
          {"SLURM_STEP_TASKS_PER_NODE", spread},
          {"SLURM_NODEID", "0"}};
}

std::map<std::string, std::string> Below(
    std::map<std::string, std::string> outer, const char* agents) {
  outer["TORCHELASTIC_RUN_ID"] = "none";
  outer["GROUP_WORLD_SIZE"] = agents;
  return outer;
}

TEST(Launchers, OneInEveryTaskOfAnotherMakesManyClusters) {
  FakeHost host;
  host.env.variables = Below(Step("16", "8(x2)"), "1");
  const Outcome outcome = host.Run("cluster.launchers");
  EXPECT_EQ(Summary(outcome), "fail scheduler-env-misread");
  EXPECT_THAT(outcome.detail, ::testing::HasSubstr("16 separate clusters"));
  host.env.variables = Below(
      {{"OMPI_COMM_WORLD_SIZE", "4"}, {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}},
      "1");
  EXPECT_EQ(Summary(host.Run("cluster.launchers")),
            "fail scheduler-env-misread");
}

TEST(Launchers, OneOnEachHostThatKnowsNoOtherMayBeMeant) {
  FakeHost host;
  host.env.variables = Below(Step("2", "1(x2)"), "1");
  EXPECT_EQ(Summary(host.Run("cluster.launchers")),
            "warn scheduler-env-misread");
}

TEST(Launchers, ThatKnowOfEachOtherAreWell) {
  FakeHost host;
  EXPECT_EQ(Summary(host.Run("cluster.launchers")), "pass");
  for (const auto& variables :
       {Step("16", "8(x2)"), Below(Step("2", "1(x2)"), "2"),
        Below(Step("8", "4(x2)"), "8"),
        // mpirun brings its daemons up by srun.
        Below({{"OMPI_COMM_WORLD_SIZE", "2"},
               {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"},
               {"SLURM_STEP_NUM_TASKS", "2"},
               {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"}},
              "2"),
        // The shell of salloc has no step.
        Below({{"SLURM_NTASKS", "8"}, {"SLURM_NTASKS_PER_NODE", "8"}}, "1")}) {
    host.env.variables = variables;
    const Outcome outcome = host.Run("cluster.launchers");
    EXPECT_EQ(Summary(outcome), "pass") << outcome.detail;
  }
}

TEST(Coordinator, OfAFewHostsIsWellAnywhere) {
  FakeHost host;
  host.fs.files["/proc/sys/net/core/somaxconn"] = "128\n";
  EXPECT_EQ(Summary(host.Run("cluster.coordinator")), "pass");
  host.cluster.self = Sourced<int>{1, "test"};
  EXPECT_EQ(Summary(host.Run("cluster.coordinator")), "skip");
  host.SetOneHost(2);
  EXPECT_EQ(Summary(host.Run("cluster.coordinator")), "skip");
}

TEST(Coordinator, OfThousandsNeedsCoresAndAQueue) {
  FakeHost host;
  host.fs.files["/proc/sys/net/core/somaxconn"] = "4096\n";
  host.cluster.size.value = 4000;
  EXPECT_EQ(Summary(host.Run("cluster.coordinator")), "pass");
  host.env.cores = 1;
  EXPECT_EQ(Summary(host.Run("cluster.coordinator")), "warn host-overloaded");
  host.env.cores = 8;
  host.fs.files["/proc/sys/net/core/somaxconn"] = "128\n";
  const Outcome outcome = host.Run("cluster.coordinator");
  EXPECT_EQ(Summary(outcome), "fail os-limit");
  EXPECT_THAT(outcome.detail, ::testing::HasSubstr("128 connections"));
}

TEST(Coordinator, OfThousandsNeedsATableOfNeighbors) {
  FakeHost host;
  const char* table = "/proc/sys/net/ipv4/neigh/default/gc_thresh3";
  host.fs.files[table] = "1024\n";
  host.cluster.size.value = 1000;
  EXPECT_EQ(Summary(host.Run("cluster.coordinator")), "pass");
  host.cluster.size.value = 1100;
  const Outcome outcome = host.Run("cluster.coordinator");
  ASSERT_EQ(Summary(outcome), "fail os-limit");
  EXPECT_THAT(outcome.findings.front().what,
              ::testing::HasSubstr("holds 1024 hosts"));
}

}  // namespace
}  // namespace muster::check
