// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "check/runner.h"
#include "check/testing.h"
#include "identify/testing.h"

namespace muster::check {
namespace {

using ::testing::HasSubstr;

// The check with these targets, and a fake host's cluster of two.
Outcome Ask(FakeHost& host, const std::string& targets,
            const std::string& framework = "") {
  Context context = host.MakeContext();
  context.target.framework = framework;
  context.target.wait = std::chrono::seconds(5);
  if (!targets.empty()) {
    context.target.targets = *identify::ParseTargets(targets);
  }
  const auto checks =
      *Select(AllChecks(), std::vector<std::string>{"target.answers"});
  return checks.front()->run(context);
}

Address Refusing() {
  return sys::Listen({"127.0.0.1", 0})->address;
}

TEST(TargetAnswers, IsMadeOnRequestOnly) {
  const auto all = *Select(AllChecks(), {});
  EXPECT_TRUE(std::none_of(all.begin(), all.end(), [](const Check* one) {
    return one->id == "target.answers";
  }));
  FakeHost host;
  EXPECT_EQ(Summary(Ask(host, "")), "skip");
}

TEST(TargetAnswers, PassesWhereWhoIsExpectedAnswers) {
  identify::testing::FakeServer ssh(identify::testing::Answer("SSH-2.0-x\r\n"));
  FakeHost host;
  const Outcome outcome = Ask(host, "ssh://" + ToString(ssh.address()));
  EXPECT_EQ(Summary(outcome), "pass");
  EXPECT_EQ(outcome.detail, "1 of 1 respond as expected");
  EXPECT_THAT(outcome.lines.at(0), HasSubstr("an SSH server"));
  EXPECT_EQ(Json::parse(outcome.data)["targets"][0]["protocol"], "ssh");
}

TEST(TargetAnswers, NamesWhoAnswersInstead) {
  identify::testing::FakeServer ssh(identify::testing::Answer("SSH-2.0-x\r\n"));
  FakeHost host;
  const Outcome outcome = Ask(host, "grpc://" + ToString(ssh.address()));
  ASSERT_EQ(Summary(outcome), "fail net-wrong-endpoint");
  EXPECT_THAT(
      outcome.findings[0].what,
      HasSubstr(
          "is served by an SSH server (`SSH-2.0-x`), not by a gRPC server"));
}

TEST(TargetAnswers, MembersAreTargetsOfTheirFramework) {
  FakeHost host;
  host.SetCluster({Refusing(), Refusing()});
  const Outcome outcome = Ask(host, "", "tf");
  ASSERT_EQ(Summary(outcome), "fail net-wrong-endpoint");
  EXPECT_THAT(outcome.findings[0].what, HasSubstr("(task 0 of worker) and 1 "
                                                  "other"));
}

TEST(TargetAnswers, SaysWhyThereIsNoMember) {
  FakeHost host;
  Context context = host.MakeContext();
  context.cluster = nullptr;
  context.cluster_findings = {
      FromError(Error(Cause::kLaunchEnvMissing, "no cluster"))};
  context.target.framework = "tf";
  const auto checks =
      *Select(AllChecks(), std::vector<std::string>{"target.answers"});
  EXPECT_EQ(Summary(checks.front()->run(context)), "fail launch-env-missing");
}

}  // namespace
}  // namespace muster::check
