// SPDX-License-Identifier: Apache-2.0
#include "diagnose/verdict/refine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::diagnose {
namespace {

// What the log of a rank says: the first direct pattern of the cause.
Fact Says(int rank, Cause cause) {
  return {
      .name = "log." + std::string(Label(cause)) + ".0",
      .fields = {{"text", "a line of the log"}, {"rank", std::int64_t{rank}}},
      .by = "rank" + std::to_string(rank) + ".err:7"};
}

Verdict ExitedWithOne() {
  AttemptEnd end{.world_size = 2};
  end.ends.push_back({.rank = 1, .wait_status = 256});
  end.ends.push_back({.rank = 0, .wait_status = 15, .sent_signal = 15});
  return Judge(end);
}

TEST(Refine, AWideCauseGetsTheNameThatTheLogTells) {
  Verdict verdict = ExitedWithOne();
  ASSERT_EQ(verdict.findings.front().cause, Cause::kAppException);
  const Finding before = verdict.findings.front();
  Refine(verdict, {Says(1, Cause::kSchedTimeLimit)});
  const Finding& root = verdict.findings.front();
  EXPECT_EQ(root.cause, Cause::kSchedTimeLimit);
  EXPECT_EQ(root.what, before.what);
  EXPECT_EQ(root.victims, before.victims);
  EXPECT_EQ(root.subjects, before.subjects);
  EXPECT_EQ(root.evidence.front().what, "a line of the log");
  EXPECT_EQ(root.evidence.back().what, before.evidence.back().what);
  EXPECT_EQ(verdict.rank, 1);
}

TEST(Refine, TheLogOfAVictimNamesNothing) {
  Verdict verdict = ExitedWithOne();
  Refine(verdict, {Says(0, Cause::kSchedTimeLimit)});
  EXPECT_EQ(verdict.findings.front().cause, Cause::kAppException);
}

TEST(Refine, WhatWasSeenOfTheProcessStays) {
  AttemptEnd end{.world_size = 1};
  end.ends.push_back({.rank = 0,
                      .wait_status = 9,
                      .facts = {{.name = std::string(kOomFact)}}});
  Verdict verdict = Judge(end);
  ASSERT_EQ(verdict.findings.front().cause, Cause::kOomHost);
  Refine(verdict, {Says(0, Cause::kSchedTimeLimit)});
  EXPECT_EQ(verdict.findings.front().cause, Cause::kOomHost);
}

TEST(Refine, WhereAllOnlyLostEachOtherAnyLogMayTell) {
  AttemptEnd end{.world_size = 2};
  for (int rank : {0, 1}) {
    end.ends.push_back(
        {.rank = rank,
         .wait_status = 256,
         .last_lines = {"RuntimeError: Connection closed by peer"}});
  }
  Verdict verdict = Judge(end);
  ASSERT_TRUE(verdict.cascade);
  Refine(verdict, {Says(1, Cause::kSchedTimeLimit)});
  EXPECT_EQ(verdict.findings.front().cause, Cause::kSchedTimeLimit);
}

TEST(Refine, ALogThatSettlesNothingChangesNothing) {
  Verdict verdict = ExitedWithOne();
  Refine(verdict, {{.name = "log.trouble", .fields = {{"rank", 1L}}}});
  EXPECT_EQ(verdict.findings.front().cause, Cause::kAppException);
}

}  // namespace
}  // namespace muster::diagnose
