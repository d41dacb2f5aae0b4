// SPDX-License-Identifier: Apache-2.0
#include "identify/target_findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::identify {
namespace {

using ::testing::HasSubstr;

// Worker `index` of a list, where worker `answers` with this many GPUs answers.
TargetReply Worker(int index, int answers, int gpus = 0,
                   const std::string& type = "GPU") {
  const Address address{"10.0.0." + std::to_string(index), 2222};
  TargetReply seen{.target = {.text = ToString(address),
                              .address = address,
                              .protocol = "tf",
                              .task = ServedTask{"worker", index}}};
  seen.server = {.protocol = "tf",
                 .grpc = true,
                 .text = "a TensorFlow worker",
                 .self = ServedTask{"worker", answers}};
  seen.server.devices.push_back(
      {.type = "CPU", .incarnation = static_cast<std::uint64_t>(1000 + index)});
  for (int i = 0; i < gpus; ++i) {
    seen.server.devices.push_back({.type = type});
  }
  return seen;
}

TargetReply Refused(int index) {
  TargetReply seen = Worker(index, index);
  seen.server = {};
  seen.missed = Error(Cause::kNetWrongEndpoint, "refused the connection");
  return seen;
}

std::vector<Finding> Judge(const std::vector<TargetReply>& seen,
                           std::optional<int> replicas = std::nullopt) {
  return JudgeTargets(seen, replicas, WallTime{});
}

// The only finding.
Finding Only(const std::vector<TargetReply>& seen,
             std::optional<int> replicas = std::nullopt) {
  const auto findings = Judge(seen, replicas);
  EXPECT_EQ(findings.size(), 1U);
  return findings.empty() ? Finding{.cause = Cause::kInternalError}
                          : findings.front();
}

TEST(TargetVerdict, NothingIsFoundWhereAllIsAsExpected) {
  EXPECT_TRUE(Judge({}).empty());
  EXPECT_TRUE(Judge({Worker(0, 0, 2), Worker(1, 1, 2)}, 4).empty());
  EXPECT_TRUE(Judge({Worker(0, 0), Worker(1, 1)}, 2).empty());
}

TEST(TargetVerdict, SwappedTasksAreOneFinding) {
  const Finding found = Only({Worker(0, 1), Worker(1, 0), Worker(2, 2)});
  EXPECT_EQ(found.cause, Cause::kNetWrongEndpoint);
  EXPECT_THAT(found.what, HasSubstr("task 1 of worker responds at the address "
                                    "of task 0 of worker (10.0.0.0:2222)"));
  EXPECT_THAT(found.what, HasSubstr("the order of the list"));
  EXPECT_EQ(found.subjects,
            (std::vector<std::string>{"10.0.0.0:2222", "10.0.0.1:2222"}));
}

TEST(TargetVerdict, TheJobOfATpuWorkerIsTheWorkers) {
  TargetReply seen = Worker(0, 0);
  seen.server.self->job = "tpu_worker";
  EXPECT_TRUE(Judge({seen}).empty());
  seen.server.self->job = "ps";
  EXPECT_EQ(Only({seen}).cause, Cause::kNetWrongEndpoint);
}

TEST(TargetVerdict, TwoOfOneTaskAreNamedOnce) {
  const Finding two = Only({Worker(0, 0), Worker(1, 0)});
  EXPECT_EQ(two.cause, Cause::kDuplicateIdentity);
  EXPECT_THAT(two.what, HasSubstr("2 processes have that task"));
  TargetReply same = Worker(1, 0);
  same.server.devices = Worker(0, 0).server.devices;
  EXPECT_THAT(Only({Worker(0, 0), same}).what,
              HasSubstr("they reach the same process"));
}

TEST(TargetVerdict, AlikeFailuresAreOneFinding) {
  const Finding found =
      Only({Refused(0), Refused(1), Refused(2), Worker(3, 3)});
  EXPECT_EQ(found.cause, Cause::kNetWrongEndpoint);
  EXPECT_THAT(found.what, HasSubstr("10.0.0.0:2222 (task 0 of worker) and 2 "
                                    "others cannot be reached"));
  EXPECT_EQ(found.subjects.size(), 3U);
}

TEST(TargetVerdict, SomebodyElseIsNamed) {
  TargetReply seen = Worker(0, 0);
  seen.server = {.protocol = "ssh", .text = "an SSH server (`SSH-2.0`)"};
  const Finding found = Only({seen});
  EXPECT_EQ(found.cause, Cause::kNetWrongEndpoint);
  EXPECT_EQ(found.severity, Severity::kError);
  EXPECT_THAT(
      found.what,
      HasSubstr(
          "served by an SSH server (`SSH-2.0`), not by a TensorFlow worker"));
}

TEST(TargetVerdict, SilenceIsAWarningWhereNothingIsExpected) {
  TargetReply seen = Worker(0, 0);
  seen.target.protocol.clear();
  seen.server = {.protocol = "silent", .text = "something silent"};
  const Finding found = Only({seen});
  EXPECT_EQ(found.severity, Severity::kWarning);
  EXPECT_EQ(found.what.find("not by"), std::string::npos);
}

TEST(TargetVerdict, ARestartIsTold) {
  TargetReply seen = Worker(0, 0);
  seen.server.restarted = "its incarnation changed";
  EXPECT_EQ(Only({seen}).cause, Cause::kPeerDied);
}

TEST(TargetVerdict, WhoIsLateInTheSecondCallMayLive) {
  TargetReply seen = Worker(0, 0);
  seen.server.late = "the second call reached DEADLINE_EXCEEDED";
  const Finding found = Only({seen});
  EXPECT_EQ(found.cause, Cause::kHeartbeatMissed);
  EXPECT_EQ(found.severity, Severity::kWarning);
  EXPECT_EQ(found.confidence, Confidence::kLikely);
}

TEST(TargetVerdict, AServerThatAnswersNoCallMayBeWhoIsExpected) {
  TargetReply seen = Worker(0, 0);
  seen.server = {.protocol = "grpc",
                 .grpc = true,
                 .mute = true,
                 .text = "a gRPC server that does not respond to calls"};
  for (const char* expected : {"grpc", "tf"}) {
    seen.target.protocol = expected;
    const Finding found = Only({seen});
    EXPECT_EQ(found.cause, Cause::kHeartbeatMissed);
    EXPECT_EQ(found.confidence, Confidence::kLikely);
    EXPECT_EQ(found.what.find("not by"), std::string::npos) << found.what;
  }
  seen.target.protocol = "ssh";
  EXPECT_EQ(Only({seen}).cause, Cause::kNetWrongEndpoint);
  seen.target.protocol = "tf";
  seen.server.mute = false;
  seen.server.unasked = true;
  const Finding unasked = Only({seen});
  EXPECT_EQ(unasked.severity, Severity::kWarning);
  EXPECT_EQ(unasked.confidence, Confidence::kPossible);
}

TEST(TargetVerdict, FewerAcceleratorsThanOthersAreNamed) {
  const Finding gpu = Only({Worker(0, 0, 4), Worker(1, 1, 3)});
  EXPECT_EQ(gpu.cause, Cause::kDeviceMissing);
  EXPECT_EQ(gpu.severity, Severity::kWarning);
  EXPECT_THAT(
      gpu.what,
      HasSubstr(
          "10.0.0.1:2222 (task 1 of worker) reports 3 GPUs, but others 4"));
  const Finding tpu = Only({Worker(0, 0, 8, "TPU"), Worker(1, 1, 0, "TPU")});
  EXPECT_EQ(tpu.severity, Severity::kError);
  EXPECT_THAT(tpu.what, HasSubstr("reports 0 TPU cores, but others 8"));
}

TEST(TargetVerdict, ParameterServersHaveNoReplica) {
  TargetReply ps = Worker(5, 0);
  ps.server.self->job = "ps";
  ps.target.task = ServedTask{"ps", 0};
  const std::vector<TargetReply> seen{Worker(0, 0, 2), Worker(1, 1, 2), ps};
  EXPECT_TRUE(Judge(seen, 4).empty());
  EXPECT_EQ(TextOfReplicas(seen), "4 replicas: 2 workers, 2 accelerators each");
}

TEST(TargetVerdict, AnotherNumberOfReplicasIsNamed) {
  const Finding found = Only({Worker(0, 0, 2), Worker(1, 1, 2)}, 8);
  EXPECT_EQ(found.cause, Cause::kRankWorldMismatch);
  EXPECT_THAT(found.what, HasSubstr("8 are expected"));
}

TEST(TargetVerdict, AWaitingLeaderIsAWarningAndNeverASecondRoot) {
  TargetReply leader = Worker(0, 0);
  leader.server.tasks = {{"worker", 0, TaskState::kConnected},
                         {"worker", 1, TaskState::kMissing}};
  const Finding found = Only({leader, Worker(1, 1)});
  EXPECT_EQ(found.cause, Cause::kRendezvousTimeout);
  EXPECT_EQ(found.severity, Severity::kWarning);
  EXPECT_THAT(found.what, HasSubstr("waits for task 1 of worker"));
  EXPECT_EQ(Only({leader, Refused(1)}).cause, Cause::kNetWrongEndpoint);
}

TEST(TargetVerdict, LinesAreBounded) {
  std::vector<TargetReply> seen(100, Worker(0, 0));
  const auto lines = LinesOf(seen);
  EXPECT_EQ(lines.size(), 65U);
  EXPECT_THAT(lines.back(), HasSubstr("36 more"));
}

}  // namespace
}  // namespace muster::identify
