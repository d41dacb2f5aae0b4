// SPDX-License-Identifier: Apache-2.0
#include "check/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

#include "base/text.h"
#include "check/outcome_json.h"
#include "check/testing.h"

namespace muster::check {
namespace {

using ::testing::HasSubstr;

Outcome Good(const Context&) {
  return Pass("good");
}

Outcome Bad(const Context& context) {
  return Judge({MakeProblem(context, Cause::kDiskFull, "it is full",
                            {{"0 bytes", "test"}})},
               "");
}

// Stands for a call that never comes back; its child is ended at the deadline.
Outcome Endless(const Context&) {
  while (true) {
    std::this_thread::sleep_for(std::chrono::hours(1));
  }
}

Outcome Crash(const Context&) {
  std::abort();
}

const Check kGood{.id = "a.good", .title = "good", .run = Good};
const Check kBad{.id = "b.bad",
                 .title = "bad",
                 .fix = {"remove something", "rm junk"},
                 .run = Bad};
const Check kMild{.id = "b.mild",
                  .title = "mild",
                  .severity = Severity::kWarning,
                  .run = Bad};
const Check kNeedsBad{
    .id = "c.after", .title = "after", .needs = "b.bad", .run = Good};
const Check kNeedsSkipped{
    .id = "d.last", .title = "last", .needs = "c.after, a.good", .run = Good};
const Check kChild{
    .id = "e.child", .title = "in a child", .may_wait = true, .run = Bad};
const Check kEndless{.id = "f.endless",
                     .title = "endless",
                     .may_wait = true,
                     .deadline = std::chrono::milliseconds(50),
                     .run = Endless};
const Check kCrash{
    .id = "g.crash", .title = "crashes", .may_wait = true, .run = Crash};

std::vector<Answer> RunAll(const std::vector<const Check*>& checks,
                           const Observer& observer = {}) {
  FakeHost host;
  const Context context = host.MakeContext();
  return RunChecks(checks, context, observer);
}

TEST(Runner, SkipsWhatNeedsAFailedOneAndSaysWhich) {
  const auto answers = RunAll({&kGood, &kNeedsSkipped, &kBad, &kNeedsBad});
  EXPECT_EQ(answers[0].outcome.state, OutcomeState::kPass);
  EXPECT_EQ(answers[2].outcome.state, OutcomeState::kFail);
  EXPECT_EQ(answers[3].outcome.state, OutcomeState::kSkip);
  EXPECT_EQ(answers[3].outcome.detail, "needs `b.bad`: fail");
  EXPECT_EQ(answers[1].outcome.detail, "needs `c.after`: skip");
}

TEST(Runner, TakesOverWhatAChildFound) {
  const auto answers = RunAll({&kChild});
  ASSERT_EQ(Summary(answers[0].outcome), "fail disk-full");
  EXPECT_EQ(answers[0].outcome.findings[0].evidence[0].what, "0 bytes");
}

TEST(Runner, CallsBrokenWhatDoesNotAnswerAndGoesOn) {
  const auto answers = RunAll({&kEndless, &kChild});
  EXPECT_EQ(answers[0].outcome.state, OutcomeState::kBroken);
  EXPECT_EQ(answers[0].outcome.detail, "no result within 50 ms");
  EXPECT_EQ(answers[1].outcome.state, OutcomeState::kFail);
}

TEST(Runner, CallsBrokenWhatCrashes) {
  const auto answers = RunAll({&kCrash});
  EXPECT_EQ(answers[0].outcome.state, OutcomeState::kBroken);
  EXPECT_THAT(answers[0].outcome.detail, HasSubstr("signal 6"));
}

TEST(Decode, TakesWhateverAChildPrints) {
  for (const char* text :
       {"", "3", R"({"findings": {}})", R"({"findings": [], "outcome": 1})",
        R"({"findings": [3], "outcome": "pass"})"}) {
    EXPECT_FALSE(Decode(text)) << text;
  }
  const auto outcome =
      Decode(R"({"findings": [], "outcome": "pass", "detail": 1, "lines": 2})");
  ASSERT_TRUE(outcome) << outcome.error().ToString();
  EXPECT_EQ(outcome->detail, "");
}

TEST(Runner, AnswersInTheOrderOfTheChecks) {
  std::vector<std::string> order;
  RunAll({&kEndless, &kGood}, {.answered = [&](const Answer& one) {
           order.emplace_back(one.check->id);
         }});
  EXPECT_EQ(order, (std::vector<std::string>{"f.endless", "a.good"}));
}

TEST(Runner, PutsTheFixOfTheCheckFirst) {
  const auto answers = RunAll({&kBad});
  EXPECT_EQ(answers[0].outcome.findings[0].fixes[0].command, "rm junk");
}

TEST(Runner, NamesTheHostWhereAFindingNamesNobody) {
  const auto answers = RunAll({&kBad});
  EXPECT_EQ(answers[0].outcome.findings[0].subjects,
            std::vector<std::string>{"w-0"});
}

TEST(Runner, LetsACheckFindNothingWorseThanItMay) {
  const auto answers = RunAll({&kMild});
  EXPECT_EQ(Summary(answers[0].outcome), "warn disk-full");
}

TEST(Select, TakesGroupsIdsAndWhatTheyNeed) {
  const std::vector<const Check*> all{&kGood, &kBad, &kNeedsBad,
                                      &kNeedsSkipped};
  const auto chosen = Select(all, std::vector<std::string>{"d", "a.good"});
  ASSERT_TRUE(chosen);
  EXPECT_EQ(*chosen, (std::vector<const Check*>{&kBad, &kNeedsBad, &kGood,
                                                &kNeedsSkipped}));
}

TEST(Select, WhatLoadsOthersIsMadeOnlyWhereItIsAskedFor) {
  const Check loads{
      .id = "a.loads", .title = "loads", .on_request = true, .run = Good};
  const std::vector<const Check*> all{&kGood, &loads};
  const auto chosen = [&](const std::vector<std::string>& words) {
    return Select(all, words).value();
  };
  EXPECT_EQ(chosen({}), std::vector<const Check*>{&kGood});
  EXPECT_EQ(chosen({"a"}), all);
  EXPECT_EQ(chosen({"a.loads"}), std::vector<const Check*>{&loads});
}

TEST(Select, NamesAnUnknownWordAndWhatWasMeant) {
  const auto chosen = Select(AllChecks(), std::vector<std::string>{"netwrok"});
  ASSERT_FALSE(chosen);
  EXPECT_EQ(chosen.error().cause(), Cause::kUsageInvalid);
  EXPECT_THAT(chosen.error().message(), HasSubstr("`network`"));
}

// What everything in checks/ has to keep to.
TEST(AllChecks, AreWellFormed) {
  std::set<std::string> ids;
  std::vector<std::string> words;
  for (const Check* check : AllChecks()) {
    words.emplace_back(check->id);
  }
  const auto chosen = Select(AllChecks(), words).value();
  EXPECT_EQ(chosen.size(), AllChecks().size());
  for (const Check* check : chosen) {
    for (const std::string& need : Split(check->needs, ',')) {
      EXPECT_TRUE(ids.contains(std::string(Trim(need))))
          << check->id << " needs " << need;
    }
    EXPECT_TRUE(ids.insert(std::string(check->id)).second) << check->id;
    EXPECT_NE(check->group(), check->id);
    EXPECT_FALSE(check->title.empty());
    // What other hosts take part in waits for them, as long as --wait says.
    EXPECT_LE(check->deadline, check->on_request ? std::chrono::minutes(10)
                               : check->scope == Scope::kCluster
                                   ? std::chrono::seconds(120)
                                   : std::chrono::seconds(5))
        << check->id;
  }
}

TEST(AllChecks, FindNothingOnAHealthyHost) {
  FakeHost host;
  const Context context = host.MakeContext();
  const auto checks = Select(AllChecks(), {}).value();
  for (const Answer& answer : RunChecks(checks, context, {})) {
    EXPECT_TRUE(answer.outcome.state == OutcomeState::kPass ||
                answer.outcome.state == OutcomeState::kSkip)
        << answer.check->id << ": " << answer.outcome.detail;
  }
}

TEST(OutcomeJson, GivesBackWhatItTook) {
  FakeHost host;
  const Outcome outcome = Bad(host.MakeContext());
  const auto back = Decode(Encode(outcome));
  ASSERT_TRUE(back) << back.error().ToString();
  EXPECT_EQ(back->state, outcome.state);
  EXPECT_EQ(back->findings, outcome.findings);
}

TEST(OutcomeJson, RefusesWhatItDidNotMake) {
  for (const char* text :
       {"", "[]", "{}", "{\"outcome\":\"fine\",\"findings\":[]}"}) {
    EXPECT_FALSE(Decode(text)) << text;
  }
}

}  // namespace
}  // namespace muster::check
