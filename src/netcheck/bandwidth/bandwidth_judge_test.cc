// SPDX-License-Identifier: Apache-2.0
#include "netcheck/bandwidth/bandwidth_judge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "base/json.h"
#include "base/text.h"

namespace muster::netcheck {
namespace {

using std::chrono::microseconds;
using testing::ElementsAre;
using testing::HasSubstr;

// Equal links between n hosts: 1 Gbit/s, 100 us.
class BandwidthJudgeTest : public testing::Test {
 protected:
  void Make(int hosts) {
    for (int rank = 0; rank < hosts; ++rank) {
      Member member{.rank = rank, .index = rank};
      member.address = {Address{"w-" + std::to_string(rank), 8476}, "test"};
      cluster_.members.push_back(member);
      outcome_.hosts.push_back(rank);
      for (int other = 0; other < rank; ++other) {
        LinkBandwidth& link = outcome_.links.emplace_back();
        link = {.a = other,
                .b = rank,
                .pings = 100,
                .p50 = microseconds(100),
                .p99 = microseconds(300),
                .least = microseconds(40),
                .there = {.bytes = 125'000'000,
                          .took = std::chrono::seconds(1),
                          .segments = 1000},
                .passes = 1};
        link.back = link.there;
      }
    }
    outcome_.possible = outcome_.links.size();
  }
  LinkBandwidth& At(int a, int b) {
    for (LinkBandwidth& link : outcome_.links) {
      if (link.a == std::min(a, b) && link.b == std::max(a, b)) {
        return link;
      }
    }
    ADD_FAILURE() << "no link " << a << " " << b;
    return outcome_.links.front();
  }
  // One direction, as seen in all passes.
  void Slow(int from, int to, double factor) {
    LinkBandwidth& link = At(from, to);
    ByteStream& stream = from == link.a ? link.there : link.back;
    stream.bytes =
        static_cast<std::uint64_t>(static_cast<double>(stream.bytes) * factor);
    link.passes = kBandwidthPasses;
  }
  void SlowHost(int rank, double factor) {
    for (const int other : outcome_.hosts) {
      if (other != rank) {
        Slow(rank, other, factor);
        Slow(other, rank, factor);
      }
    }
  }
  void Late(int a, int b, microseconds by) {
    At(a, b).p50 += by;
    At(a, b).least += by;
    At(a, b).passes = kBandwidthPasses;
  }
  // "rank 0, rank 1: what"; one line per finding.
  std::string Text() {
    std::string text;
    for (const Finding& finding :
         JudgeBandwidths(cluster_, outcome_, 100'000'000, WallTime{})
             .findings) {
      EXPECT_EQ(finding.cause, Cause::kNetSlowLink);
      EXPECT_EQ(finding.severity, Severity::kWarning);
      text += Join(finding.subjects, ", ") + ": " + finding.what + "\n";
    }
    return text;
  }

  Cluster cluster_;
  BandwidthOutcome outcome_;
};

TEST_F(BandwidthJudgeTest, EqualLinksAreNoFinding) {
  for (const int hosts : {2, 3, 8}) {
    cluster_ = {};
    outcome_ = {};
    Make(hosts);
    EXPECT_EQ(Text(), "") << hosts << " hosts";
    EXPECT_TRUE(LinksToRepeat(outcome_).empty());
  }
}

TEST_F(BandwidthJudgeTest, OneLinkOfEightHostsIsNamed) {
  Make(8);
  Slow(2, 5, 0.1);
  Slow(5, 2, 0.1);
  EXPECT_EQ(Text(),
            "rank 2, rank 5: the link between rank 2 (w-2:8476) and rank 5 "
            "(w-5:8476) carries 100 Mbit/s, the others 1.0 Gbit/s\n");
}

TEST_F(BandwidthJudgeTest, OneDirectionIsNamed) {
  Make(8);
  Slow(5, 2, 0.1);
  EXPECT_THAT(Text(), HasSubstr("the link from rank 5 (w-5:8476) to rank 2 "
                                "(w-2:8476) carries 100 Mbit/s"));
}

TEST_F(BandwidthJudgeTest, OneHostIsOneFinding) {
  for (const int hosts : {3, 4, 8}) {
    cluster_ = {};
    outcome_ = {};
    Make(hosts);
    SlowHost(1, 0.1);
    EXPECT_EQ(Text(),
              "rank 1: each link of rank 1 (w-1:8476) carries 100 Mbit/s, the "
              "others 1.0 Gbit/s\n")
        << hosts << " hosts";
  }
}

TEST_F(BandwidthJudgeTest, AHostWhoseSendingIsSlowIsNamedAsThat) {
  Make(8);
  for (int other = 0; other < 8; ++other) {
    if (other != 3) {
      Slow(3, other, 0.1);
    }
  }
  EXPECT_THAT(Text(), HasSubstr("rank 3: each link from rank 3"));
}

TEST_F(BandwidthJudgeTest, AHostAroundTheLimitIsStillOneFinding) {
  Make(8);
  SlowHost(1, 0.4);
  Slow(1, 6, 1.5);
  EXPECT_THAT(Text(), HasSubstr("rank 1: each link of rank 1"));
  EXPECT_EQ(Text().find('\n'), Text().size() - 1) << Text();
}

TEST_F(BandwidthJudgeTest, OfTwoHostsOnlyALargeDifferenceCounts) {
  Make(2);
  Slow(0, 1, 0.4);
  EXPECT_EQ(Text(), "");
  Slow(0, 1, 0.4);
  EXPECT_THAT(Text(), HasSubstr("the link from rank 0"));
}

TEST_F(BandwidthJudgeTest, OfThreeHostsOnlyALargeDifferenceCounts) {
  Make(3);
  Slow(0, 1, 0.4);
  Slow(1, 0, 0.4);
  Slow(2, 0, 0.36);
  EXPECT_EQ(Text(), "");
}

TEST_F(BandwidthJudgeTest, SixtyPerCentIsNoFinding) {
  Make(8);
  SlowHost(1, 0.6);
  Slow(3, 4, 0.6);
  EXPECT_EQ(Text(), "");
}

TEST_F(BandwidthJudgeTest, WhatWasSeenOnceIsRepeatedAndNotReported) {
  Make(8);
  Slow(2, 5, 0.1);
  At(2, 5).passes = 1;
  EXPECT_EQ(Text(), "");
  EXPECT_THAT(LinksToRepeat(outcome_), ElementsAre(RankPair{2, 5}));
}

TEST_F(BandwidthJudgeTest, OfASlowHostAFewLinksAreRepeated) {
  Make(8);
  SlowHost(1, 0.1);
  EXPECT_EQ(LinksToRepeat(outcome_).size(), 4U);
}

TEST_F(BandwidthJudgeTest, OfASlowHostAmongManyTheSameLinksAreRepeated) {
  Make(16);
  SlowHost(1, 0.1);
  for (LinkBandwidth& link : outcome_.links) {
    link.passes = 1;
  }
  for (int pass = 2; pass <= kBandwidthPasses; ++pass) {
    for (const auto& [a, b] : LinksToRepeat(outcome_)) {
      LinkBandwidth again = At(a, b);
      again.there.bytes += again.there.bytes / 20;
      again.back.bytes += again.back.bytes / 20;
      again.passes = 1;
      At(a, b) = Better(At(a, b), again);
    }
  }
  EXPECT_THAT(Text(), HasSubstr("each link of rank 1"));
}

TEST_F(BandwidthJudgeTest, ALateLinkIsNamed) {
  Make(8);
  Late(0, 7, microseconds(20'000));
  EXPECT_EQ(Text(),
            "rank 0, rank 7: the link between rank 0 (w-0:8476) and rank 7 "
            "(w-7:8476) takes 20 ms for a round trip, the others 0.10 ms\n");
}

TEST_F(BandwidthJudgeTest, ALinkThatIsLateAndSlowIsOneFinding) {
  Make(8);
  Late(0, 7, microseconds(20'000));
  Slow(0, 7, 0.1);
  Slow(7, 0, 0.1);
  EXPECT_EQ(Text(),
            "rank 0, rank 7: the link between rank 0 (w-0:8476) and rank 7 "
            "(w-7:8476) carries 100 Mbit/s, the others 1.0 Gbit/s; a round "
            "trip takes 20 ms, elsewhere 0.10 ms\n");
}

TEST_F(BandwidthJudgeTest, AProcessThatWaitsForACoreIsNoLateLink) {
  Make(8);
  At(0, 7).p50 += microseconds(20'000);
  At(0, 7).passes = kBandwidthPasses;
  EXPECT_EQ(Text(), "") << "the kernels' own round trip is as elsewhere";
}

TEST_F(BandwidthJudgeTest, AFewMicrosecondsMoreAreNoFinding) {
  Make(8);
  Late(0, 7, microseconds(700));
  EXPECT_EQ(Text(), "") << "eight times as long, and another rack";
}

TEST_F(BandwidthJudgeTest, ALossyLinkIsNamedThoughItIsFast) {
  Make(8);
  At(2, 5).there.sent_again = At(2, 5).back.sent_again = 130;
  At(2, 5).passes = kBandwidthPasses;
  EXPECT_EQ(Text(),
            "rank 2, rank 5: the link between rank 2 (w-2:8476) and rank 5 "
            "(w-5:8476) carries 1.0 Gbit/s, the others 1.0 Gbit/s; 13 % of its "
            "segments are retransmitted, elsewhere 0.0 %\n");
}

TEST_F(BandwidthJudgeTest, LossOnAllLinksAndALittleLossAreNoFinding) {
  Make(8);
  At(2, 5).there.sent_again = 45;
  EXPECT_EQ(Text(), "");
  for (LinkBandwidth& link : outcome_.links) {
    link.there.sent_again = link.back.sent_again = 60;
    link.passes = kBandwidthPasses;
  }
  EXPECT_EQ(Text(), "");
}

TEST_F(BandwidthJudgeTest, ALinkThatStopsIsNamedWithTheReason) {
  Make(4);
  At(1, 2).stopped = "not finished within 4 s";
  At(1, 2).passes = kBandwidthPasses;
  const auto findings =
      JudgeBandwidths(cluster_, outcome_, 1, WallTime{}).findings;
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_THAT(findings[0].subjects, ElementsAre("rank 1", "rank 2"));
  EXPECT_EQ(findings[0].what,
            "the link between rank 1 (w-1:8476) and rank 2 (w-2:8476) could "
            "not be measured completely");
  EXPECT_EQ(findings[0].confidence, Confidence::kPossible);
  EXPECT_THAT(findings[0].evidence[0].what,
              HasSubstr("not finished within 4 s"));
}

TEST_F(BandwidthJudgeTest, NoiseIsNoFinding) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> factor(0.6, 1.1);
  std::uniform_int_distribution<int> micros(0, 900);
  for (int round = 0; round < 200; ++round) {
    cluster_ = {};
    outcome_ = {};
    Make(2 + round % 7);
    for (LinkBandwidth& link : outcome_.links) {
      Slow(link.a, link.b, factor(random));
      Slow(link.b, link.a, factor(random));
      link.p50 += microseconds(micros(random));
    }
    ASSERT_EQ(Text(), "") << "round " << round;
  }
}

TEST_F(BandwidthJudgeTest, TheRingIsAsFastAsItsSlowestLink) {
  Make(4);
  Slow(3, 0, 0.5);  // of the ring
  Slow(0, 2, 0.1);  // not of it
  At(1, 2).p50 = microseconds(2000);
  const auto ring = EstimateRing(outcome_, 100'000'000);
  ASSERT_TRUE(ring);
  EXPECT_EQ(ring->slowest, (RankPair{3, 0}));
  // 1.5 * 100 MB / 62.5 MB/s + 6 * 1 ms
  EXPECT_NEAR(std::chrono::duration<double>(ring->time).count(), 2.406, 1e-6);
}

TEST_F(BandwidthJudgeTest, WhereAnEndHadNoCoreNoLinkIsNamed) {
  Make(8);
  SlowHost(1, 0.1);
  for (LinkBandwidth& link : outcome_.links) {
    if (link.a == 1 || link.b == 1) {
      (link.a == 1 ? link.there.sender : link.there.receiver) = {0.1, 0.85};
      (link.a == 1 ? link.back.receiver : link.back.sender) = {0.1, 0.85};
    }
  }
  const auto findings =
      JudgeBandwidths(cluster_, outcome_, 1, WallTime{}).findings;
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, Cause::kHostOverloaded);
  EXPECT_EQ(findings[0].severity, Severity::kNote);
  EXPECT_EQ(findings[0].confidence, Confidence::kPossible);
  EXPECT_THAT(findings[0].subjects, ElementsAre("rank 1"));
  EXPECT_THAT(
      findings[0].what,
      HasSubstr(
          "14 directions of links cannot be evaluated: rank 1 (w-1:8476)"));
  EXPECT_THAT(findings[0].evidence[0].what,
              HasSubstr("ran 10 % of the time and waited for a core 85 %"));
}

TEST_F(BandwidthJudgeTest, ALinkThatIsSlowWhateverTheCoresDidIsNamed) {
  Make(8);
  Slow(2, 5, 0.1);
  At(2, 5).there.receiver = {0.01, 0.68};  // 0.1 / 0.31 of the others at most
  EXPECT_THAT(Text(), HasSubstr("the link from rank 2"));
}

TEST_F(BandwidthJudgeTest, ALossyLinkIsNamedWhateverTheCoresDid) {
  Make(8);
  Slow(2, 5, 0.1);
  At(2, 5).there.sent_again = 130;
  At(2, 5).there.sender = {0.1, 0.85};
  EXPECT_THAT(Text(), HasSubstr("the link from rank 2"));
}

TEST_F(BandwidthJudgeTest, AStopOfOneWhoHadNoCoreIsNoLinks) {
  Make(4);
  At(1, 2).stopped = "not finished within 4 s";
  At(1, 2).passes = kBandwidthPasses;
  At(1, 2).there.sender = At(1, 2).back.receiver = {0.02, 0.9};
  const auto findings =
      JudgeBandwidths(cluster_, outcome_, 1, WallTime{}).findings;
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, Cause::kHostOverloaded);
  EXPECT_THAT(findings[0].subjects, ElementsAre("rank 1"));
}

TEST_F(BandwidthJudgeTest, StreamsThatTookAWholeCoreAreCounted) {
  Make(3);
  At(0, 1).there.sender = {0.95, 0.02};
  const auto lines = JudgeBandwidths(cluster_, outcome_, 1, WallTime{}).lines;
  EXPECT_THAT(
      lines,
      testing::Contains(
          "1 of 6 directions used a full core: their links may be faster"));
  EXPECT_EQ(Text(), "");
}

TEST_F(BandwidthJudgeTest, ARingWithAHoleHasNoEstimate) {
  Make(4);
  outcome_.links.pop_back();
  EXPECT_FALSE(EstimateRing(outcome_, 1));
  const auto verdict =
      JudgeBandwidths(cluster_, outcome_, 1'000'000, WallTime{});
  EXPECT_THAT(verdict.lines.back(), HasSubstr("unknown"));
}

TEST_F(BandwidthJudgeTest, TheTableHasADirectionInEachCell) {
  Make(2);
  Slow(0, 1, 0.5);
  const auto verdict =
      JudgeBandwidths(cluster_, outcome_, 1'000'000, WallTime{});
  EXPECT_EQ(verdict.lines[1], "   rank0       -     0.5");
  EXPECT_EQ(verdict.lines[2], "   rank1     1.0       -");
  EXPECT_THAT(verdict.detail, HasSubstr("1 of 1 link measured"));
}

TEST_F(BandwidthJudgeTest, SurvivesTheWayOverTheNetwork) {
  Make(3);
  Late(0, 1, microseconds(7));
  At(0, 1).there.sender = {0.25, 0.5};
  At(0, 1).back.receiver = {0, 1};
  At(1, 2).stopped = "why";
  const auto back = BandwidthOutcomeFromJson(ToJson(outcome_));
  ASSERT_TRUE(back) << back.error().ToString();
  EXPECT_EQ(back->links, outcome_.links);
  EXPECT_EQ(back->hosts, outcome_.hosts);
  EXPECT_EQ(back->possible, 3U);
}

TEST(Better, TakesTheBestOfEachPass) {
  const LinkBandwidth one{.pings = 9,
                          .p50 = microseconds(50),
                          .least = microseconds(9),
                          .there = {.bytes = 10, .took = microseconds(1)},
                          .passes = 1};
  const LinkBandwidth other{.pings = 9,
                            .p50 = microseconds(70),
                            .least = microseconds(8),
                            .there = {.bytes = 20, .took = microseconds(1)},
                            .passes = 1,
                            .stopped = "why"};
  const LinkBandwidth better = Better(one, other);
  EXPECT_EQ(better.p50, microseconds(50));
  EXPECT_EQ(better.least, microseconds(8));
  EXPECT_EQ(better.there.bytes, 20U);
  EXPECT_EQ(better.passes, 2);
  EXPECT_EQ(better.stopped, "");
}

TEST(RateText, IsDecimal) {
  EXPECT_EQ(RateText(125e6), "1.0 Gbit/s");
  EXPECT_EQ(RateText(3e9), "24 Gbit/s");
  EXPECT_EQ(RateText(2.5e6), "20 Mbit/s");
  EXPECT_EQ(RateText(125e3), "1.0 Mbit/s");
}

}  // namespace
}  // namespace muster::netcheck
