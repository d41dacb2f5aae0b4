// SPDX-License-Identifier: Apache-2.0
#include "explain/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "explain/derive.h"

namespace muster::explain {
namespace {

Fact Seen(std::string name, std::map<std::string, FactValue> fields = {}) {
  static std::int64_t order = 0;
  Fact fact;
  fact.name = std::move(name);
  fact.fields = std::move(fields);
  fact.fields["order"] = ++order;
  fact.fields.emplace("text", "a line");
  fact.by = "log:" + std::to_string(order);
  return fact;
}

bool Has(const std::vector<Fact>& facts, std::string_view name) {
  return std::any_of(facts.begin(), facts.end(),
                     [&](const Fact& fact) { return fact.name == name; });
}

TEST(Answer, OfNothingIsHealthy) {
  EXPECT_EQ(Explain({}).kind, AnswerKind::kHealthy);
}

TEST(Answer, OfTroubleWithoutACauseIsUnknown) {
  EXPECT_EQ(Explain({Seen("log.trouble")}).kind, AnswerKind::kUnknown);
}

TEST(Answer, OfADirectFactIsCertain) {
  // The first rule of a cause is its first direct pattern.
  const Answer answer = Explain({Seen("log.sched-time-limit.0")});
  ASSERT_EQ(answer.kind, AnswerKind::kCause);
  EXPECT_EQ(answer.findings[0].cause, Cause::kSchedTimeLimit);
  EXPECT_EQ(answer.findings[0].confidence, Confidence::kCertain);
}

TEST(Answer, NamesVictimsBelowTheRoot) {
  const Answer answer =
      Explain({Seen("cascade.peer_gone", {{"text", "closed by peer"}}),
               Seen("log.oom-host.0", {{"text", "Killed process 3"}})});
  ASSERT_EQ(answer.kind, AnswerKind::kCause);
  EXPECT_EQ(answer.findings[0].cause, Cause::kOomHost);
  EXPECT_THAT(answer.findings[0].victims,
              testing::ElementsAre(testing::HasSubstr("closed by peer")));
}

TEST(Answer, ShowsHarmlessLinesAndStaysHealthy) {
  const Answer answer =
      Explain({Seen("log.harmless", {{"says", "it is nothing"}})});
  EXPECT_EQ(answer.kind, AnswerKind::kHealthy);
  EXPECT_EQ(answer.harmless.size(), 1U);
}

TEST(Answer, AsJsonHasTheSchema) {
  const Json json = ToJson(Explain({Seen("log.oom-host.0")}));
  EXPECT_EQ(json["schema"], "muster.explain/1");
  EXPECT_EQ(json["verdict"], "cause");
  EXPECT_EQ(json["findings"][0]["cause"], "oom-host");
}

TEST(Derived, ARankBeyondTheWorld) {
  std::vector<Fact> facts = {Seen("env.rank", {{"value", "1"}}),
                             Seen("env.world_size", {{"value", "1"}})};
  Derive(facts);
  EXPECT_TRUE(Has(facts, "numbers.rank_outside"));
}

TEST(Derived, MemoryThatOthersHold) {
  std::vector<Fact> mine = {Seen("device.memory", {{"wanted", "2.00 GiB"},
                                                   {"total", "23.69 GiB"},
                                                   {"free", "1.10 GiB"},
                                                   {"own", "22.40 GiB"}})};
  std::vector<Fact> theirs = {Seen("device.memory", {{"wanted", "20.00 MiB"},
                                                     {"total", "23.69 GiB"},
                                                     {"free", "10.00 MiB"},
                                                     {"own", "512.00 MiB"}})};
  Derive(mine);
  Derive(theirs);
  EXPECT_FALSE(Has(mine, "numbers.others_hold_device"));
  EXPECT_TRUE(Has(theirs, "numbers.others_hold_device"));
}

TEST(Derived, VersionsThatDifferBetweenHosts) {
  std::vector<Fact> facts = {
      Seen("version.told",
           {{"what", "NCCL"}, {"version", "2.18.1"}, {"host", "a"}}),
      Seen("version.told",
           {{"what", "NCCL"}, {"version", "2.19.3"}, {"host", "b"}})};
  Derive(facts);
  EXPECT_TRUE(Has(facts, "members.versions_differ"));
}

TEST(Derived, OtherOperationsAtTheSamePlace) {
  std::vector<Fact> facts = {
      Seen("collective.op", {{"member", "0"}, {"op", "ALLREDUCE"}}),
      Seen("collective.op", {{"member", "1"}, {"op", "ALLGATHER"}})};
  Derive(facts);
  EXPECT_TRUE(Has(facts, "collective.ops_differ"));
}

}  // namespace
}  // namespace muster::explain
