// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/roll_call.h"

#include <gtest/gtest.h>

#include "channel/testing.h"

namespace muster::rendezvous {
namespace {

using State = RollCall::State;
using channel::testing::HelloOf;
using channel::testing::Workers;

constexpr auto kStart = sys::Clock::Steady(std::chrono::seconds(1000));
constexpr auto kLimit = std::chrono::seconds(60);

channel::ProbeResult Unlike(channel::ProbeOutcome what, Cause cause,
                            const std::string& message) {
  return {.what = what,
          .agent = std::nullopt,
          .error = Error(cause, message)
                       .With({.name = "look", .fields = {{"errno", "E"}}})};
}

channel::ProbeResult Agent(wire::Hello hello) {
  return {.what = channel::ProbeOutcome::kAgent,
          .agent = std::move(hello),
          .error = {}};
}

const channel::ProbeResult kRefused = Unlike(
    channel::ProbeOutcome::kRefused, Cause::kNetWrongEndpoint, "refused");

// A roll call of workers that was begun; links are numbered by rank.
class RollCallTest : public ::testing::Test {
 protected:
  explicit RollCallTest(int count = 3)
      : cluster(Workers(count)), roll(cluster, HelloOf(cluster, 0)) {
    roll.Begin(1, kStart + kLimit, kLimit);
  }

  // Introduces the rank and lets it answer; the refusal's text.
  std::string Comes(int rank, int attempt = 1) {
    return Comes(rank, HelloOf(cluster, rank, attempt));
  }
  std::string Comes(int link, const wire::Hello& hello) {
    auto answer = roll.Attends(link, hello, {});
    roll.Answers(link, hello);
    return answer.refusal ? answer.refusal->ToString() : "";
  }
  std::string AtTheDeadline() {
    auto decision = roll.Decide(kStart + kLimit);
    std::string text;
    for (const Error& error : decision.errors) {
      text += error.ToString() + "\n";
    }
    return text;
  }
  std::string Observed() {
    return ToString(roll.MissingMembers(),
                    static_cast<int>(cluster.members.size()));
  }

  Cluster cluster;
  RollCall roll;
};

TEST_F(RollCallTest, IsCompleteWhenAllHaveAnswered) {
  Comes(2);
  Comes(0);
  EXPECT_EQ(roll.Decide(kStart).state, State::kWaiting);
  Comes(1);
  auto decision = roll.Decide(kStart);
  EXPECT_EQ(decision.state, State::kComplete);
  EXPECT_EQ(decision.links, (std::vector<int>{0, 1, 2}));
  EXPECT_TRUE(decision.warnings.empty());
}

TEST_F(RollCallTest, OneAgentMayAnswerForAllRanks) {
  auto hello = HelloOf(cluster, 0);
  hello.ranks = {0, 1, 2};
  EXPECT_EQ(Comes(5, hello), "");
  EXPECT_EQ(roll.Decide(kStart).state, State::kComplete);
}

TEST_F(RollCallTest, WaitsForTheAnswerOfThisAttempt) {
  for (int rank : {0, 1, 2}) {
    Comes(rank);
  }
  EXPECT_EQ(roll.Decide(kStart).state, State::kComplete);
  roll.Begin(2, kStart + kLimit, kLimit);
  EXPECT_EQ(roll.Decide(kStart).state, State::kWaiting);
  roll.Answers(1, HelloOf(cluster, 1, /*attempt=*/1));
  EXPECT_EQ(roll.MissingMembers().size(), 3U);
  EXPECT_EQ(roll.MissingMembers()[1].observed,
            "its agent has joined but not replied yet");
  for (int rank : {0, 1, 2}) {
    roll.Answers(rank, HelloOf(cluster, rank, 2));
  }
  EXPECT_EQ(roll.Decide(kStart).state, State::kComplete);
}

TEST_F(RollCallTest, LooksOnlyForThoseWhoDoNotAttend) {
  EXPECT_EQ(roll.Unseen(), (std::vector<int>{1, 2}));  // 0 is our own
  roll.Attends(1, HelloOf(cluster, 1), {});
  EXPECT_EQ(roll.Unseen(), (std::vector<int>{2}));
  cluster.members[2].address = std::nullopt;
  EXPECT_TRUE(RollCall(cluster, HelloOf(cluster, 1)).Unseen() ==
              (std::vector<int>{0}));
}

TEST_F(RollCallTest, NamesARefusingAddressAsNobodyThereYet) {
  Comes(0);
  Comes(1);
  roll.Sees(2, kRefused, {});
  EXPECT_EQ(Observed(),
            "waiting for 1 of 3 members: rank 2 (127.0.0.1:4002): connection "
            "refused: nothing listens on this port yet");
  EXPECT_EQ(
      AtTheDeadline(),
      "rendezvous-timeout: rank 2 (127.0.0.1:4002) did not join within 60.0 s: "
      "connection refused: nothing listens on this port yet (probed 1 time)\n");
}

TEST_F(RollCallTest, MakesOneErrorPerRoot) {
  Comes(0);
  for (int looks = 0; looks < 2; ++looks) {
    roll.Sees(1, kRefused, {});
    roll.Sees(2, kRefused, {});
  }
  auto errors = roll.Decide(kStart + kLimit).errors;
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_EQ(errors[0].evidence().size(), 2U);
  EXPECT_NE(errors[0].message().find("4001), rank 2"), std::string::npos);
}

TEST_F(RollCallTest, TellsTheCausesOfOtherSightsApart) {
  Comes(0);
  roll.Sees(1,
            Unlike(channel::ProbeOutcome::kUnresolved,
                   Cause::kNetNameResolution, "no name"),
            {});
  roll.Sees(2,
            Unlike(channel::ProbeOutcome::kNoAnswer, Cause::kNetTimeoutFiltered,
                   "ETIMEOUT"),
            {});
  auto errors = roll.Decide(kStart + kLimit).errors;
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0].cause(), Cause::kNetNameResolution);
  EXPECT_EQ(errors[1].cause(), Cause::kNetTimeoutFiltered);
  EXPECT_EQ(errors[1].evidence().front().name, "look");
}

TEST_F(RollCallTest, RemembersAStrangerThatWent) {
  Comes(0);
  Comes(2);
  roll.Sees(1,
            Unlike(channel::ProbeOutcome::kStranger, Cause::kVerPeerMismatch,
                   "another token"),
            {});
  roll.Sees(1, kRefused, {});
  EXPECT_NE(AtTheDeadline().find("ver-peer-mismatch: rank 1"),
            std::string::npos)
      << AtTheDeadline();
  EXPECT_NE(Observed().find("another token"), std::string::npos) << Observed();
}

TEST_F(RollCallTest, SaysWhatElseAnswers) {
  Comes(0);
  roll.Sees(1,
            Unlike(channel::ProbeOutcome::kForeign, Cause::kNetWrongEndpoint,
                   "an HTTP server answers"),
            {});
  roll.Sees(2, Agent(HelloOf(cluster, 1)), {});
  EXPECT_EQ(Observed(),
            "waiting for 2 of 3 members: rank 1 (127.0.0.1:4001): an HTTP "
            "server answers; rank 2 (127.0.0.1:4002): rank 1 (host h1, pid "
            "101) responds at this address");
  auto errors = roll.Decide(kStart + kLimit).errors;
  ASSERT_EQ(errors.size(), 2U);
  EXPECT_EQ(errors[0].cause(), Cause::kNetWrongEndpoint);
  EXPECT_EQ(errors[1].cause(), Cause::kNetWrongEndpoint);
}

TEST_F(RollCallTest, TellsOtherVersionsAndOtherRunsAtAnAddress) {
  auto other = HelloOf(cluster, 1);
  other.protocol = 2;
  roll.Sees(1, Agent(other), {});
  roll.Sees(2, Agent(HelloOf(Workers(2), 2)), {});
  auto errors = roll.Decide(kStart + kLimit).errors;
  ASSERT_EQ(errors.size(), 3U);
  EXPECT_EQ(errors[0].cause(), Cause::kVerPeerMismatch);
  EXPECT_EQ(errors[1].cause(), Cause::kRankWorldMismatch);
  EXPECT_EQ(errors[2].message().substr(0, 6), "rank 0");
}

TEST_F(RollCallTest, SaysThatAnAgentIsUpButDoesNotReachTheCoordinator) {
  roll.Sees(1, Agent(HelloOf(cluster, 1)), {});
  EXPECT_EQ(
      roll.MissingMembers()[1].observed,
      "its agent is running but has not connected to the coordinator yet");
}

TEST_F(RollCallTest, FailsAtOnceWhenTwoClaimOneRank) {
  Comes(1);
  auto second = HelloOf(cluster, 1);
  second.host = "elsewhere";
  const std::string text =
      "duplicate-identity: two agents claim rank 1: rank 1 (host h1, pid 101) "
      "and rank 1 (host elsewhere, pid 101)";
  EXPECT_EQ(Comes(7, second), text);
  auto decision = roll.Decide(kStart);
  EXPECT_EQ(decision.state, State::kFailed);
  ASSERT_EQ(decision.errors.size(), 1U);
  EXPECT_EQ(decision.errors[0].ToString(), text);
  EXPECT_EQ(decision.errors[0].evidence().size(), 2U);
}

TEST_F(RollCallTest, LetsTheSameProcessDialAgain) {
  Comes(1);
  auto answer = roll.Attends(9, HelloOf(cluster, 1), {});
  EXPECT_FALSE(answer.refusal);
  EXPECT_EQ(answer.replaces, 1);
  roll.Answers(9, HelloOf(cluster, 1));
  roll.Left(1, Error(Cause::kPeerDied, "closed"));
  EXPECT_EQ(roll.MissingMembers().size(), 2U);
}

TEST_F(RollCallTest, FailsAtOnceForAnotherVersionProgramOrMemberList) {
  auto version = HelloOf(cluster, 1);
  version.version = "0.2.0";
  EXPECT_EQ(Comes(1, version).substr(0, 17), "ver-peer-mismatch");
  auto program = HelloOf(cluster, 1);
  program.program_digest = "q";
  EXPECT_EQ(Comes(1, program),
            "ver-peer-mismatch: rank 1 (host h1, pid 101) and rank 0 (host h0, "
            "pid 100) run the same command `train`, but the program file "
            "differs (digest q and p)");
  program.program = "other";
  EXPECT_EQ(Comes(1, program),
            "ver-peer-mismatch: rank 1 (host h1, pid 101) runs `other`, rank 0 "
            "(host h0, pid 100) runs `train`");
  EXPECT_EQ(Comes(1, HelloOf(Workers(2), 1)),
            "rank-world-mismatch: rank 1 (host h1, pid 101) was started for 2 "
            "members, but this run has 3");
  EXPECT_EQ(Comes(1, HelloOf(Workers(3, 5000), 1)),
            "rank-world-mismatch: rank 1 (host h1, pid 101) was started for a "
            "different member list: its rank 0 is worker 0 at 127.0.0.1:5000, "
            "but here it is worker 0 at 127.0.0.1:4000");
  EXPECT_EQ(roll.Decide(kStart).errors.size(), 5U);
}

TEST_F(RollCallTest, RefusesRanksThatDoNotExist) {
  auto hello = HelloOf(cluster, 1);
  hello.ranks = {7};
  EXPECT_EQ(Comes(1, hello),
            "rank-world-mismatch: rank 7 (host h1, pid 101) is not a rank of 3 "
            "members");
  for (const std::vector<int>& ranks :
       {std::vector<int>{}, {1, 1}, {2, 1}, {-1}}) {
    hello.ranks = ranks;
    EXPECT_EQ(Comes(1, hello).substr(0, 19), "rank-world-mismatch");
  }
}

TEST_F(RollCallTest, DoesNotFailForAStrayThatClaimsASettledRank) {
  for (int rank : {0, 1, 2}) {
    Comes(rank);
  }
  EXPECT_EQ(roll.Decide(kStart).state, State::kComplete);
  roll.Begin(2, kStart + kLimit, kLimit);
  auto stray = HelloOf(cluster, 1, 2);
  stray.pid = 999;
  EXPECT_NE(Comes(8, stray), "");
  stray.cluster_key = "another run";
  EXPECT_NE(Comes(8, stray), "");
  EXPECT_EQ(roll.Decide(kStart).state, State::kWaiting);
}

TEST_F(RollCallTest, TakesANewAgentForALostOne) {
  for (int rank : {0, 1, 2}) {
    Comes(rank);
  }
  roll.Decide(kStart);
  roll.Left(1, Error(Cause::kPeerDied, "the stream ended"));
  roll.Begin(2, kStart + kLimit, kLimit);
  EXPECT_EQ(roll.Unseen(), (std::vector<int>{1}));
  auto fresh = HelloOf(cluster, 1, 2);
  fresh.pid = 999;
  EXPECT_EQ(Comes(8, fresh), "");
}

TEST_F(RollCallTest, SaysThatAnAgentCameAndWentAway) {
  Comes(0);
  Comes(2);
  Comes(1);
  roll.Left(1, Error(Cause::kPeerDied, "the stream ended"));
  roll.Sees(1, kRefused, {});
  EXPECT_EQ(AtTheDeadline(),
            "peer-died: rank 1 (127.0.0.1:4001) did not join within 60.0 s: "
            "its agent disconnected (the stream ended); now connection "
            "refused: nothing listens on this port yet (probed 1 time)\n");
}

TEST_F(RollCallTest, NamesThePortThatAnAgentWaitsFor) {
  Comes(0);
  Comes(2);
  roll.Attends(1, HelloOf(cluster, 1), {});
  roll.Reports({.name = "port.taken",
                .fields = {{"rank", std::int64_t{1}},
                           {"port", std::int64_t{4001}},
                           {"holder", "nginx (pid 4)"}}});
  EXPECT_EQ(
      AtTheDeadline(),
      "net-port-in-use: rank 1 (127.0.0.1:4001) did not join within 60.0 s: "
      "its agent waits until port 4001 is free, in use by nginx (pid 4)\n");
}

TEST_F(RollCallTest, WarnsOfAnotherEnvironment) {
  Comes(0);
  Comes(1);
  auto hello = HelloOf(cluster, 2);
  hello.environment_digest = "other";
  Comes(2, hello);
  auto warnings = roll.Decide(kStart).warnings;
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0].severity, Severity::kWarning);
  EXPECT_EQ(warnings[0].subjects,
            (std::vector<std::string>{"rank 2 (host h2, pid 102)"}));
}

TEST_F(RollCallTest, CountsAnAnswerOnce) {
  Comes(0);
  Comes(1);
  roll.Answers(1, HelloOf(cluster, 1));
  EXPECT_EQ(roll.Decide(kStart).state, State::kWaiting);
  Comes(2);
  roll.Left(2, Error(Cause::kPeerDied, "closed"));
  EXPECT_EQ(roll.Decide(kStart).state, State::kWaiting);
  Comes(3, HelloOf(cluster, 2));
  EXPECT_EQ(roll.Decide(kStart).state, State::kComplete);
}

TEST(RollCall, NamesEightOfManyAndCountsTheRest) {
  auto cluster = Workers(256);
  RollCall roll(cluster, HelloOf(cluster, 0));
  roll.Begin(1, kStart + kLimit, kLimit);
  auto errors = roll.Decide(kStart + kLimit).errors;
  ASSERT_EQ(errors.size(), 1U);
  EXPECT_NE(errors[0].message().find("and 248 more did not"),
            std::string::npos);
}

}  // namespace
}  // namespace muster::rendezvous
