// SPDX-License-Identifier: Apache-2.0
#include "wire/agent_messages.h"
#include "base/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace muster::wire {
namespace {

using testing::Contains;
using testing::HasSubstr;

// What the other side reads after the text has travelled.
Json Travel(const Json& json) {
  return ParseJson(json.dump(), Cause::kInternalError, "message").value();
}

RankPlan SomeRankPlan() {
  return {.rank = 1,
          .local_rank = 1,
          .local_size = 2,
          .argv = {"python3", "train it.py", ""},
          .environment = {{"RANK", {"1", "cluster"}}},
          .unset = {"TORCHELASTIC_USE_AGENT_STORE"},
          .cores = {1},
          .directory = "/tmp",
          .name = "rank 1 (worker 1)",
          .registered = R"({"rank":1})"};
}

TEST(Messages, LaunchPlanSurvivesTheJourney) {
  LaunchPlan plan{.run_id = "20261121-143519-7k2m",
                  .attempt = 3,
                  .world_size = 2,
                  .agents = {{0}, {1}},
                  .ranks = {RankPlan{}, SomeRankPlan()},
                  .grace_ms = 2500,
                  .digest = "00ff"};
  const Json json = ToJson(plan);
  const auto read = LaunchPlanFromJson(Travel(json));
  ASSERT_TRUE(read) << read.error().ToText();
  EXPECT_EQ(ToJson(*read), json);
  EXPECT_EQ(read->ranks[1].environment.at("RANK").source, "cluster");
  EXPECT_EQ(read->agents, plan.agents);
}

TEST(Messages, AnExitKeepsProgressAndFacts) {
  RankExited exited{.rank = 1,
                    .pid = 77,
                    .wait_status = 9,
                    .at = WallTime(std::chrono::microseconds(1'234'567)),
                    .progress = {.phase = Phase::kStep,
                                 .beat_ns = ~std::uint64_t{0},
                                 .step = 151,
                                 .loss = 0.25},
                    .facts = {{.name = "oom", .fields = {{"kills", 1L}}}},
                    .last_lines = {"a", "b\x01"}};
  const auto read = RankExitedFromJson(Travel(ToJson(exited)));
  ASSERT_TRUE(read) << read.error().ToText();
  EXPECT_EQ(read->progress, exited.progress);
  EXPECT_EQ(read->facts, exited.facts);
  EXPECT_EQ(read->at, exited.at);
  EXPECT_EQ(read->last_lines, exited.last_lines);
}

TEST(Messages, ALossThatIsNoNumberStaysNone) {
  Progress progress{.ranks = {{.progress = {.loss = std::nan("")}}}};
  const auto read = ProgressFromJson(Travel(ToJson(progress)));
  ASSERT_TRUE(read) << read.error().ToText();
  EXPECT_TRUE(std::isnan(read->ranks[0].progress.loss));
}

TEST(Messages, FramesMayHoldAnyByte) {
  std::string frame;
  for (int byte = 0; byte < 256; ++byte) {
    frame += static_cast<char>(byte);
  }
  const StoreRequest request{.rank = 2, .attempt = 1, .frame = frame};
  const auto read = StoreRequestFromJson(Travel(ToJson(request)));
  ASSERT_TRUE(read) << read.error().ToText();
  EXPECT_EQ(read->frame, frame);
}

TEST(Messages, SmallOnesRoundTrip) {
  EXPECT_EQ(RankStartedFromJson(ToJson(RankStarted{.pid = 5}))->pid, 5);
  EXPECT_TRUE(StopRanksFromJson(ToJson(StopRanks{.now = true}))->now);
  EXPECT_EQ(StoppedFromJson(ToJson(Stopped{.leftovers = 3}))->leftovers, 3);
  EXPECT_EQ(GoodbyeFromJson(ToJson(Goodbye{.origin = "signal"}))->origin,
            "signal");
}

TEST(Messages, NamesWhatDoesNotFit) {
  Json json = ToJson(RankStarted{});
  json["pid"] = 5'000'000'000;
  const auto read = RankStartedFromJson(json);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().cause(), Cause::kVerPeerMismatch);
  EXPECT_THAT(read.error().message(), HasSubstr("5000000000 is out of range"));
  EXPECT_THAT(read.error().context(), Contains(HasSubstr("`pid`")));
}

TEST(Messages, RefusesWhatIsMissingOrOfAnotherType) {
  Json missing = ToJson(Stopped{});
  missing.erase("leftovers");
  EXPECT_FALSE(StoppedFromJson(missing));
  Json text = ToJson(Stopped{});
  text["attempt"] = "1";
  EXPECT_FALSE(StoppedFromJson(text));
  EXPECT_FALSE(StoppedFromJson(Json::array()));
  Json phase = ToJson(Progress{.ranks = {{}}});
  phase["ranks"][0]["progress"]["phase"] = 99;
  EXPECT_FALSE(ProgressFromJson(phase));
}

}  // namespace
}  // namespace muster::wire
