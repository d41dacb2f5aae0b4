// SPDX-License-Identifier: Apache-2.0
#include "diagnose/verdict/answer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "diagnose/derive/derive.h"
#include "diagnose/match/rules.h"

namespace muster::diagnose {
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

// The fact of the first hint of a cause that has no further condition.
std::string HintOf(Cause cause) {
  for (const Rule& rule : CatalogueRules()) {
    if (rule.cause == cause && rule.weight == RuleWeight::kHint &&
        rule.with.size() == 1 && rule.without.empty()) {
      return std::string(rule.with[0].fact);
    }
  }
  ADD_FAILURE() << Label(cause) << " has no hint";
  return "";
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

TEST(Answer, OfNotesAloneIsUnknownWithItsCandidates) {
  const Fact told = Seen("log.sched-time-limit.0", {{"note", std::int64_t{1}}});
  const Answer answer = Explain({told});
  ASSERT_EQ(answer.kind, AnswerKind::kUnknown);
  ASSERT_EQ(answer.candidates.size(), 1U);
  EXPECT_EQ(answer.candidates[0].cause, Cause::kSchedTimeLimit);
  EXPECT_FALSE(answer.candidates[0].decide.empty());
  // A hint is enough: nobody describes what goes well.
  const Fact hinted =
      Seen("log.sched-time-limit.0",
           {{"note", std::int64_t{1}}, {"level", std::string("I")}});
  EXPECT_NE(Explain({hinted}).kind, AnswerKind::kHealthy);
  EXPECT_EQ(Explain({told, Seen("exit.status")}).kind, AnswerKind::kUnknown);
}

TEST(Answer, OfANoteIsNamedWhereItExplainsWhatIsPrinted) {
  const std::string silent = "log.net-timeout-filtered.0";
  const Fact told = Seen("log.net-mtu.0", {{"note", std::int64_t{1}}});
  const Answer explained = Explain({Seen(silent), told});
  ASSERT_EQ(explained.kind, AnswerKind::kCause);
  EXPECT_EQ(explained.findings[0].cause, Cause::kNetMtu);
  const Fact other = Seen("log.disk-full.0", {{"note", std::int64_t{1}}});
  const Answer beside = Explain({Seen(silent), other});
  ASSERT_EQ(beside.kind, AnswerKind::kCause);
  EXPECT_EQ(beside.findings[0].cause, Cause::kNetTimeoutFiltered);
}

TEST(Answer, OfWordsThatNoRuleKnowsHasTheNearestAsCandidates) {
  const Fact told =
      Seen("log.end", {{"text", "(exceeded the quota of the region)"},
                       {"note", std::int64_t{1}}});
  const Answer answer = Explain({told});
  EXPECT_EQ(answer.kind, AnswerKind::kUnknown);
  ASSERT_EQ(answer.candidates.size(), 3U);
  EXPECT_EQ(answer.candidates[0].cause, Cause::kCloudQuotaExceeded);
  EXPECT_THAT(answer.candidates[0].why, testing::HasSubstr("quota"));
}

TEST(Answer, OfWordsWithoutTroubleIsHealthy) {
  const Fact end = Seen("log.end", {{"text", "the quota is used up"}});
  EXPECT_EQ(Explain({end}).kind, AnswerKind::kHealthy);
  EXPECT_EQ(Explain({end, Seen("log.trouble")}).kind, AnswerKind::kUnknown);
}

TEST(Answer, OfANoteBesideALogWithoutTroubleIsUnknown) {
  const Fact end = Seen("log.end", {{"text", "(hangs)\nnothing else"}});
  const Fact told = Seen("hang.mentioned", {{"note", std::int64_t{1}}});
  const Fact well = Seen("note.well", {{"note", std::int64_t{1}}});
  EXPECT_EQ(Explain({end, told}).kind, AnswerKind::kUnknown);
  EXPECT_EQ(Explain({end, well}).kind, AnswerKind::kHealthy);
}

TEST(Answer, OfWhatTheUserTriedIsNamed) {
  const Fact told = Seen("hang.mentioned", {{"note", std::int64_t{1}}});
  const Fact off = Seen("tried.setting",
                        {{"note", std::int64_t{1}}, {"name", "P2P_DISABLE"}});
  EXPECT_EQ(Explain({told}).kind, AnswerKind::kUnknown);
  const Answer answer = Explain({told, off});
  ASSERT_EQ(answer.kind, AnswerKind::kCause);
  EXPECT_EQ(answer.findings[0].cause, Cause::kNetGpuP2p);
  EXPECT_EQ(answer.findings[0].confidence, Confidence::kLikely);
}

TEST(Answer, IsHealthyWhereANoteSaysThatTheRunGoesOn) {
  const Fact thrown = Seen("python.exception", {{"type", "AttributeError"}});
  const Fact well =
      Seen("note.well", {{"note", std::int64_t{1}}, {"text", "(it goes on)"}});
  const Fact full = Seen("log.disk-full.0");
  ASSERT_EQ(Explain({thrown, full}).kind, AnswerKind::kCause);
  const Answer healthy = Explain({thrown, full, well});
  EXPECT_EQ(healthy.kind, AnswerKind::kHealthy);
  EXPECT_EQ(healthy.harmless.size(), 1U);
  EXPECT_THAT(RenderText(healthy, {}), testing::HasSubstr("(it goes on)"));
  const Fact slow = Seen("slow.mentioned", {{"note", std::int64_t{1}}});
  EXPECT_NE(Explain({thrown, full, well, slow}).kind, AnswerKind::kHealthy);
  const Fact status =
      Seen("exit.status", {{"code", "1"}, {"ended", std::int64_t{1}}});
  EXPECT_NE(Explain({thrown, full, well, status}).kind, AnswerKind::kHealthy);
}

TEST(Answer, OfAnInterruptionHasNoCandidates) {
  const Fact traceback =
      Seen("log.trouble", {{"text", "Traceback (most recent call last):"}});
  const Fact broken = Seen("log.trouble", {{"text", "ERROR: broken"}});
  const Fact interrupt =
      Seen("python.exception", {{"type", "KeyboardInterrupt"}, {"text", "^C"}});
  const Fact after = Seen("log.trouble", {{"text", "ERROR: cleaning up"}});
  const Answer answer = Explain({traceback, interrupt, after});
  EXPECT_EQ(answer.kind, AnswerKind::kUnknown);
  EXPECT_EQ(answer.interrupted, "^C");
  EXPECT_TRUE(answer.candidates.empty());
  EXPECT_THAT(RenderText(answer, {}), testing::HasSubstr("from the keyboard"));
  EXPECT_TRUE(Explain({broken, interrupt}).interrupted.empty());
  const Fact hangs = Seen("hang.mentioned", {{"note", std::int64_t{1}}});
  EXPECT_TRUE(Explain({traceback, interrupt, hangs}).interrupted.empty());
  EXPECT_TRUE(Explain({traceback}).interrupted.empty());
}

TEST(Answer, IsHealthyWhereTheProgramEndedWithTheStatusZero) {
  const auto ended = [](std::string code, std::string below = "") {
    return Seen("exit.status", {{"code", std::move(code)},
                                {"below", std::move(below)},
                                {"ended", std::int64_t{1}}});
  };
  const Fact full = Seen("log.disk-full.0", {{"source", "r/1/rank0.err"}});
  const Fact warned = Seen("log.net-port-in-use.1", {{"level", "W"}});
  const Fact lasting = Seen("log.sched-time-limit.0");
  const Fact slow = Seen("slow.mentioned", {{"note", std::int64_t{1}}});
  EXPECT_EQ(Explain({full, ended("0")}).kind, AnswerKind::kHealthy);
  EXPECT_FALSE(Explain({full, ended("0")}).reported_success.empty());
  EXPECT_EQ(Explain({warned, ended("0")}).kind, AnswerKind::kHealthy);
  EXPECT_EQ(Explain({lasting, ended("0")}).kind, AnswerKind::kCause);
  EXPECT_EQ(Explain({full, slow, ended("0")}).kind, AnswerKind::kCause);
  EXPECT_EQ(Explain({full, ended("0"), ended("1")}).kind, AnswerKind::kCause);
  // A report tells of the logs beside it.
  EXPECT_EQ(Explain({full, ended("0", "r/1/")}).kind, AnswerKind::kHealthy);
  EXPECT_EQ(Explain({full, ended("0", "r/2/")}).kind, AnswerKind::kCause);
  EXPECT_EQ(Explain({full, ended("0", "./")}).kind, AnswerKind::kHealthy);
  const Fact other = Seen("log.disk-full.0", {{"source", "../2/rank0.err"}});
  EXPECT_EQ(Explain({other, ended("0", "./")}).kind, AnswerKind::kCause);
}

TEST(Answer, OfAHintIsPossibleWhereTheWordsAgree) {
  const std::string hint = HintOf(Cause::kCloudQuotaExceeded);
  const Fact trouble = Seen("log.trouble");
  const Fact end = Seen("log.end", {{"text", "quota exceeded, limit of zone"}});
  EXPECT_EQ(Explain({trouble, Seen(hint)}).kind, AnswerKind::kUnknown);
  const Answer agreed = Explain({trouble, Seen(hint), end});
  ASSERT_EQ(agreed.kind, AnswerKind::kCause);
  EXPECT_EQ(agreed.findings[0].cause, Cause::kCloudQuotaExceeded);
  EXPECT_EQ(agreed.findings[0].confidence, Confidence::kPossible);
  const Fact other = Seen("log.end", {{"text", "the loader's shared memory"}});
  EXPECT_EQ(Explain({trouble, Seen(hint), other}).kind, AnswerKind::kUnknown);
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

TEST(Answer, OfWhatTheProgramSurvivedIsHealthy) {
  std::vector<Fact> facts = {
      Seen("log.trouble", {{"source", "a"}, {"line", std::int64_t{3}}}),
      Seen("log.oom-device.0", {{"source", "a"}, {"line", std::int64_t{3}}}),
      Seen("progress.went_on", {{"source", "a"}, {"line", std::int64_t{9}}})};
  EXPECT_EQ(Explain(facts).kind, AnswerKind::kHealthy);
  facts[2].fields["source"] = "another log";
  EXPECT_EQ(Explain(facts).kind, AnswerKind::kCause);
}

TEST(Answer, OfWhatAProcessDiesOfStaysUnlessItsRankGoesOn) {
  const auto at = [](std::int64_t line, std::int64_t rank) {
    return std::map<std::string, FactValue>{
        {"source", "a"}, {"line", line}, {"rank", rank}};
  };
  Fact died = Seen("log.oom-device.0", at(3, 1));
  const Fact own = Seen("progress.went_on", at(9, 1));
  const Fact other = Seen("progress.went_on", at(9, 0));
  const Fact over = Seen("progress.over", at(9, 1));
  EXPECT_EQ(Explain({died, other}).kind, AnswerKind::kHealthy);
  died.fields["fatal"] = std::int64_t{1};
  EXPECT_EQ(Explain({died, own}).kind, AnswerKind::kHealthy);
  EXPECT_EQ(Explain({died, other}).kind, AnswerKind::kCause);
  EXPECT_EQ(Explain({died, over}).kind, AnswerKind::kCause);
}

TEST(Answer, OfTheSchedulersEndStaysThoughLinesFollow) {
  const Answer answer = Explain(
      {Seen("log.sched-time-limit.0",
            {{"source", "a"}, {"line", std::int64_t{3}}}),
       Seen("progress.went_on", {{"source", "a"}, {"line", std::int64_t{9}}})});
  EXPECT_EQ(answer.kind, AnswerKind::kCause);
}

TEST(Answer, WhatABufferHeldWhenTheJobWasEndedIsNoProgress) {
  const auto at = [](std::int64_t line) {
    return std::map<std::string, FactValue>{{"source", "a"}, {"line", line}};
  };
  const Fact killed = Seen("log.oom-host.0", at(3));
  const Fact ended = Seen("job.ended", at(4));
  const auto step = [&](std::int64_t line) {
    return Seen("progress.went_on", at(line));
  };
  EXPECT_EQ(Explain({killed, step(9)}).kind, AnswerKind::kHealthy);
  EXPECT_EQ(Explain({killed, ended, step(9)}).kind, AnswerKind::kCause);
  EXPECT_EQ(Explain({killed, ended, step(90)}).kind, AnswerKind::kHealthy);
  EXPECT_EQ(Explain({killed, ended, Seen("run.resumed", at(6)), step(9)}).kind,
            AnswerKind::kHealthy);
}

TEST(Answer, OfTheSchedulersEndCountsNoMoreOnceTheRunIsResumed) {
  const auto at = [](std::int64_t line) {
    return std::map<std::string, FactValue>{{"source", "a"}, {"line", line}};
  };
  const Fact ended = Seen("log.sched-time-limit.0", at(3));
  const Fact step = Seen("progress.went_on", at(9));
  EXPECT_EQ(Explain({ended, Seen("run.resumed", at(5)), step}).kind,
            AnswerKind::kHealthy);
  EXPECT_EQ(Explain({Seen("run.resumed", at(1)), ended, step}).kind,
            AnswerKind::kCause);
}

TEST(Answer, OfANoteIsNoCause) {
  EXPECT_EQ(Explain({Seen("log.net-port-in-use.1", {{"level", "I"}})}).kind,
            AnswerKind::kHealthy);
  EXPECT_EQ(Explain({Seen("log.net-port-in-use.1")}).kind, AnswerKind::kCause);
}

TEST(Answer, OfAWarningIsACauseOnlyWhereSomethingFailed) {
  std::vector<Fact> facts = {Seen("log.net-port-in-use.1", {{"level", "W"}})};
  EXPECT_EQ(Explain(facts).kind, AnswerKind::kHealthy);
  facts.push_back(Seen("python.exception"));
  EXPECT_EQ(Explain(facts).kind, AnswerKind::kCause);
}

TEST(Answer, LinesBehindItMakeNoFailureHarmless) {
  const Fact match = Seen("log.net-port-in-use.1",
                          {{"source", "a"}, {"line", std::int64_t{1}}});
  const Fact end =
      Seen("log.end", {{"source", "a"}, {"line", std::int64_t{50}}});
  EXPECT_EQ(Explain({match, end}).kind, AnswerKind::kCause);
}

TEST(Answer, OfWhatKnowsItButOnlyNotesItIsAHintOnceSomethingFollows) {
  const auto at = [](std::int64_t line) {
    return std::map<std::string, FactValue>{
        {"source", "a"}, {"line", line}, {"level", "I"}};
  };
  const Fact direct = Seen("log.oom-device.0", at(3));
  EXPECT_EQ(Explain({direct, Seen("log.end", at(3))}).kind, AnswerKind::kCause);
  EXPECT_EQ(Explain({direct, Seen("log.end", at(4))}).kind,
            AnswerKind::kHealthy);
  // The scheduler's end comes with lines behind it.
  EXPECT_EQ(
      Explain({Seen("log.sched-time-limit.0", at(3)), Seen("log.end", at(4))})
          .kind,
      AnswerKind::kCause);
}

TEST(Answer, VersionsThatPipFindsInConflictAreNoTrouble) {
  const std::map<std::string, FactValue> at{{"source", "a"},
                                            {"line", std::int64_t{3}}};
  const Fact hint = Seen(HintOf(Cause::kVerCudaStack));
  const Fact trouble = Seen("log.trouble", at);
  EXPECT_EQ(Explain({hint, trouble, Seen("pip.conflict", at)}).kind,
            AnswerKind::kHealthy);
  EXPECT_EQ(Explain({hint, trouble, Seen("pip.conflict")}).kind,
            AnswerKind::kUnknown);
}

TEST(Answer, WhatIsOnlyWarnedOfIsNoTrouble) {
  const Fact hint = Seen("log.net-port-in-use.1", {{"level", "I"}});
  EXPECT_EQ(Explain({hint, Seen("log.trouble", {{"level", "W"}})}).kind,
            AnswerKind::kHealthy);
  EXPECT_NE(Explain({hint, Seen("log.trouble")}).kind, AnswerKind::kHealthy);
}

TEST(Answer, NamesTheRankThatWasFirstInTime) {
  std::vector<Fact> facts = {Seen("log.oom-device.0"),
                             Seen("log.oom-device.0")};
  facts[0].subject = "rank 0";
  facts[1].subject = "rank 1";
  facts[0].at = WallTime(std::chrono::seconds(1'700'000'020));
  facts[1].at = WallTime(std::chrono::seconds(1'700'000'000));
  const Answer answer = Explain(facts);
  ASSERT_EQ(answer.kind, AnswerKind::kCause);
  EXPECT_THAT(answer.findings[0].subjects,
              testing::ElementsAre("rank 1", "rank 0"));
}

TEST(Derived, RanksWhoseTracebacksEndInOtherCollectivesDoNotDoTheSame) {
  std::vector<Fact> facts = {
      Seen("collective.frame", {{"rank", std::int64_t{0}}, {"op", "barrier"}}),
      Seen("collective.frame",
           {{"rank", std::int64_t{1}}, {"op", "all_reduce"}})};
  Derive(facts);
  EXPECT_TRUE(Has(facts, "collective.ops_differ"));
}

TEST(Answer, ListsWhatItSawOnTheHost) {
  const Answer answer =
      Explain({Seen("host.seen", {{"text", "/dev/shm has 64 MiB"}})});
  EXPECT_THAT(RenderText(answer, {}),
              testing::HasSubstr("/dev/shm has 64 MiB"));
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
      Seen("version.reported",
           {{"what", "NCCL"}, {"version", "2.18.1"}, {"host", "a"}}),
      Seen("version.reported",
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
}  // namespace muster::diagnose
