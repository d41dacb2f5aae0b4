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
  EXPECT_THAT(outcome.detail, HasSubstr("32 threads compete for 8 cores"));
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

}  // namespace
}  // namespace muster::check
