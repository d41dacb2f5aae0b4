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

// What the other side reads after the message has traveled.
template <typename Side, typename T>
T Travel(const T& message) {
  auto read = Side{};
  if constexpr (std::is_same_v<Side, ToAgent>) {
    read = ParseToAgent(Encode(message)).value();
  } else {
    read = ParseToCoordinator(Encode(message)).value();
  }
  return std::get<T>(std::move(read));
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
  const auto read = Travel<ToAgent>(plan);
  EXPECT_EQ(Encode(read).body, Encode(plan).body);
  EXPECT_EQ(read.ranks[1].environment.at("RANK").source, "cluster");
  EXPECT_EQ(read.agents, plan.agents);
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
  const auto read = Travel<ToCoordinator>(exited);
  EXPECT_EQ(read.progress, exited.progress);
  EXPECT_EQ(read.facts, exited.facts);
  EXPECT_EQ(read.at, exited.at);
  EXPECT_EQ(read.last_lines, exited.last_lines);
}

TEST(Messages, ALossThatIsNoNumberStaysNone) {
  Progress progress{.ranks = {{.progress = {.loss = std::nan("")}}}};
  const auto read = Travel<ToCoordinator>(progress);
  EXPECT_TRUE(std::isnan(read.ranks[0].progress.loss));
}

TEST(Messages, FramesMayHoldAnyByte) {
  std::string frame;
  for (int byte = 0; byte < 256; ++byte) {
    frame += static_cast<char>(byte);
  }
  EXPECT_EQ(Travel<ToCoordinator>(StoreRequest{.frame = frame}).frame, frame);
  EXPECT_EQ(Travel<ToAgent>(StoreReply{.frame = frame}).frame, frame);
}

TEST(Messages, TextThatIsNoUtf8ArrivesAsItWas) {
  RankPlan rank = SomeRankPlan();
  rank.argv = {"cat", "caf\xe9.txt", "\xed\xa0\x80", ""};
  rank.environment["N\xff"] = {"v\xfe", "--env"};
  const auto read = Travel<ToAgent>(LaunchPlan{.ranks = {rank}});
  EXPECT_EQ(read.ranks[0].argv, rank.argv);
  EXPECT_EQ(read.ranks[0].environment, rank.environment);
}

TEST(Messages, SmallOnesRoundTrip) {
  EXPECT_EQ(Travel<ToCoordinator>(RankStarted{.pid = 5}).pid, 5);
  EXPECT_EQ(Travel<ToCoordinator>(Stopped{.leftovers = 3}).leftovers, 3);
  EXPECT_EQ(Travel<ToCoordinator>(PeerCheckResult{.row = "{}"}).row, "{}");
  EXPECT_EQ(Travel<ToCoordinator>(AgentFact{{.name = "x"}}).fact.name, "x");
  EXPECT_EQ(Travel<ToAgent>(HelloRequest{.attempt = 4}).attempt, 4);
  EXPECT_TRUE(Travel<ToAgent>(StopRanks{.now = true}).now);
  EXPECT_EQ(Travel<ToAgent>(Goodbye{.origin = "signal"}).origin, "signal");
}

TEST(Messages, APeerCheckKeepsThePorts) {
  PeerCheckRequest request{.attempt = 2};
  request.ports.members.push_back({.rank = 0, .task = "worker"});
  request.ports.members[0].address = {Address{"10.0.0.7", 4001}, "plan"};
  request.ports.size = {1, "plan"};
  const auto read = Travel<ToAgent>(request);
  EXPECT_EQ(read.attempt, 2);
  EXPECT_EQ(read.ports.members[0].address, request.ports.members[0].address);
  EXPECT_EQ(Encode(read).body, Encode(request).body);
}

TEST(Messages, AHelloIsTheBodyOfThreeKinds) {
  Hello hello;
  hello.program = "\xff\xfe";
  EXPECT_EQ(Travel<ToCoordinator>(Identity{hello}).hello.program, "\xff\xfe");
  hello.program = "train";
  EXPECT_EQ(Travel<ToCoordinator>(HelloReply{hello}).hello, hello);
  EXPECT_EQ(Travel<ToAgent>(Welcome{hello}).hello, hello);
}

// The error with which a message is refused.
Error Refusal(const Envelope& message) {
  return ParseToCoordinator(message).error();
}

TEST(Messages, NamesWhatDoesNotFit) {
  Json json = Json::parse(Encode(RankStarted{}).body);
  json["pid"] = 5'000'000'000;
  const auto error = Refusal({"started", json.dump()});
  EXPECT_EQ(error.cause(), Cause::kVerPeerMismatch);
  EXPECT_THAT(error.message(), HasSubstr("5000000000 is out of range"));
  EXPECT_THAT(error.context(), Contains(HasSubstr("`pid`")));
  EXPECT_THAT(error.context(), Contains(HasSubstr("`started`")));
}

TEST(Messages, RefusesWhatIsMissingOrOfAnotherType) {
  const auto changed = [](const Envelope& message, auto change) {
    Json json = Json::parse(message.body);
    change(json);
    return Refusal({message.kind, json.dump()}).cause();
  };
  const Envelope stopped = Encode(Stopped{});
  EXPECT_EQ(changed(stopped, [](Json& json) { json.erase("leftovers"); }),
            Cause::kVerPeerMismatch);
  EXPECT_EQ(changed(stopped, [](Json& json) { json["attempt"] = "1"; }),
            Cause::kVerPeerMismatch);
  EXPECT_EQ(changed(stopped, [](Json& json) { json = Json::array(); }),
            Cause::kVerPeerMismatch);
  EXPECT_EQ(
      changed(Encode(Progress{.ranks = {{}}}),
              [](Json& json) { json["ranks"][0]["progress"]["phase"] = 99; }),
      Cause::kVerPeerMismatch);
  EXPECT_EQ(Refusal({"fact", "3"}).cause(), Cause::kVerPeerMismatch);
  EXPECT_EQ(Refusal({"fact", "{"}).cause(), Cause::kVerPeerMismatch);
}

TEST(Messages, RefusesAKindThatTheReceiverDoesNotKnow) {
  EXPECT_EQ(Refusal({"dance", "{}"}).ToString(),
            "ver-peer-mismatch: a message does not match this version: `dance` "
            "is not a message to the coordinator");
  EXPECT_FALSE(ParseToCoordinator(Encode(Goodbye{})));
  const auto error = ParseToAgent(Encode(Stopped{})).error();
  EXPECT_THAT(error.message(),
              HasSubstr("`stopped` is not a message to an agent"));
}

Error Back(const std::string& body) {
  return ErrorOf(std::get<Refused>(ParseToAgent({"refused", body}).value()));
}

TEST(Refused, ComesBackWithCauseMessageAndEvidence) {
  const auto error =
      Error(Cause::kDuplicateIdentity, "two claim rank 1")
          .With({.name = "hello.claims", .fields = {{"who", "rank 1"}}});
  const Error back = ErrorOf(Travel<ToAgent>(RefusedFor(error)));
  EXPECT_EQ(back.ToString(), error.ToString());
  EXPECT_EQ(back.evidence(), error.evidence());
}

TEST(Refused, BoundsTheEvidence) {
  Json json =
      Json::parse(Encode(RefusedFor(Error(Cause::kPeerDied, "x"))).body);
  for (int i = 0; i < 1000; ++i) {
    json["evidence"].push_back(muster::ToJson(Fact{.name = "f"}));
  }
  json["evidence"].push_back("garbage");
  EXPECT_EQ(Back(json.dump()).evidence().size(), 16U);
}

TEST(Refused, OfUnknownKindIsStillAnError) {
  for (const char* body :
       {"{}", "[]", R"({"cause": "no-such-cause"})",
        R"({"cause": 3, "message": []})", R"({"cause": "peer-died"})",
        R"({"cause": "peer-died", "message": ""})"}) {
    EXPECT_EQ(Back(body).cause(), Cause::kNetWrongEndpoint) << body;
    EXPECT_FALSE(Back(body).message().empty()) << body;
  }
  EXPECT_FALSE(ParseToAgent({"refused", ""}));
}

}  // namespace
}  // namespace muster::wire
