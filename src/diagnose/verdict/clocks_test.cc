// SPDX-License-Identifier: Apache-2.0
#include "diagnose/verdict/clocks.h"

#include <gtest/gtest.h>

namespace muster::diagnose {
namespace {

using std::chrono::seconds;

const WallTime kNoon = WallTime(seconds(1'700'000'000));

Fact At(std::string name, std::string source, WallTime at,
        std::string key = "") {
  Fact fact;
  fact.name = std::move(name);
  fact.at = at;
  fact.fields["source"] = std::move(source);
  fact.fields["key"] = std::move(key);
  return fact;
}

TEST(Clocks, AreAlignedByWhatBothSaw) {
  std::vector<Fact> facts = {
      At("shared.event", "a", kNoon, "step 1"),
      At("shared.event", "a", kNoon + seconds(5), "step 2"),
      At("shared.event", "b", kNoon + seconds(60), "step 1"),
      At("shared.event", "b", kNoon + seconds(65), "step 2"),
      At("python.exception", "b", kNoon + seconds(70))};
  AlignClocks(facts);
  EXPECT_EQ(facts[4].at, kNoon + seconds(10));
  EXPECT_EQ(facts.back().name, "clock.offset");
  EXPECT_EQ(facts.back().Number("seconds"), 60);
}

TEST(Clocks, StayForOneEventThatMayBeChance) {
  std::vector<Fact> facts = {
      At("shared.event", "a", kNoon, "step 1"),
      At("shared.event", "b", kNoon + seconds(60), "step 1")};
  AlignClocks(facts);
  EXPECT_EQ(facts.size(), 2U);
}

TEST(Clocks, StayBetweenAttemptsAndBetweenLogsOfOneRank) {
  for (const auto& [a, b, rank] :
       {std::tuple("/r//a1/rank0.out", "/r//a2/rank0.out", -1),
        std::tuple("mon/rank0.out", "tue/rank0.out", 0)}) {
    std::vector<Fact> facts = {
        At("shared.event", a, kNoon, "step 1"),
        At("shared.event", a, kNoon + seconds(5), "step 2"),
        At("shared.event", b, kNoon + seconds(1800), "step 1"),
        At("shared.event", b, kNoon + seconds(1805), "step 2")};
    for (Fact& fact : facts) {
      fact.fields["rank"] = std::int64_t{rank};
    }
    AlignClocks(facts);
    EXPECT_EQ(facts.size(), 4U) << a;
  }
}

TEST(Clocks, StayWhereNothingIsShared) {
  std::vector<Fact> facts = {
      At("shared.event", "a", kNoon, "step 1"),
      At("shared.event", "b", kNoon + seconds(60), "step 2")};
  AlignClocks(facts);
  EXPECT_EQ(facts.size(), 2U);
  EXPECT_EQ(facts[1].at, kNoon + seconds(60));
}

TEST(Clocks, StayWhereTheEventsContradictEachOther) {
  std::vector<Fact> facts = {
      At("shared.event", "a", kNoon, "step 1"),
      At("shared.event", "a", kNoon + seconds(100), "step 2"),
      At("shared.event", "b", kNoon + seconds(60), "step 1"),
      At("shared.event", "b", kNoon + seconds(300), "step 2")};
  AlignClocks(facts);
  EXPECT_EQ(facts[2].at, kNoon + seconds(60));
}

TEST(Clocks, AreNotMovedForTheSpreadOfABarrier) {
  std::vector<Fact> facts = {
      At("shared.event", "a", kNoon, "step 1"),
      At("shared.event", "b", kNoon + seconds(1), "step 1")};
  AlignClocks(facts);
  EXPECT_EQ(facts.size(), 2U);
}

}  // namespace
}  // namespace muster::diagnose
