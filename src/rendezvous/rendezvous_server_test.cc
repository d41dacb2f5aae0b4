// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/rendezvous_server.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/log.h"
#include "channel/in_process.h"
#include "channel/testing.h"
#include "rendezvous/rendezvous_client.h"

namespace muster::rendezvous {
namespace {

using channel::testing::HelloOf;
using channel::testing::Workers;
using std::chrono::milliseconds;

// An agent that attends and answers calls.
struct TestAgent {
  wire::Hello hello;
  std::unique_ptr<RendezvousClient> rendezvous_client;
  std::unique_ptr<channel::Link> link;
  std::optional<Error> refused;
  std::vector<std::string> kinds;
  bool answers = true;

  void Take(std::unique_ptr<channel::Link> accepted) {
    link = std::move(accepted);
    link->OnMessage([this](const wire::Envelope& message) {
      kinds.push_back(message.kind);
      const auto parsed = wire::ParseToAgent(message).value();
      if (const auto* call = std::get_if<wire::HelloRequest>(&parsed);
          call != nullptr && answers) {
        hello.attempt = call->attempt;
        link->Send(Encode(wire::HelloReply{hello}));
      }
    });
    link->OnLost([](const Error&) {});
  }
};

// The error that a refusal carries.
std::string RefusalIn(const wire::Envelope& message) {
  const auto parsed = wire::ParseToAgent(message).value();
  return wire::ErrorOf(std::get<wire::Refused>(parsed)).ToString();
}

class RendezvousServerTest : public ::testing::Test {
 protected:
  RendezvousServerTest()
      : cluster(Workers(3)),
        loop(std::move(*sys::Loop::Make())),
        transport(*loop, network) {
    RendezvousServer::Options options;
    options.identity = HelloOf(cluster, 0);
    options.on_message = [this](int agent,
                                wire::ToCoordinator message) -> Status {
      messages.emplace_back(agent, std::move(message));
      return Ok();
    };
    options.on_lost = [this](int agent, const Error& why) {
      losses.emplace_back(agent, why.cause());
    };
    rendezvous = RendezvousServer::Make(*loop, clock, &transport, cluster,
                                        std::move(options));
    auto [here, there] = channel::InProcessLinks(*loop);
    own.hello = HelloOf(cluster, 0);
    own.Take(std::move(there));
    rendezvous->AttendHere(std::move(here), own.hello);
    listener = std::move(
        *transport.Listen(cluster.members[0].address->value, own.hello,
                          [this](std::unique_ptr<channel::Link> link) {
                            rendezvous->Attend(std::move(link));
                          }));
  }

  // Begins a call; the result lands in `gathered`.
  void Call(int attempt, Duration limit = std::chrono::seconds(20)) {
    gathered.reset();
    rendezvous->Call(
        attempt, Deadline::After(limit),
        [this](const std::vector<Missing>& missing) {
          shown.push_back(ToString(missing, 3));
        },
        [this](RendezvousResult result) { gathered = std::move(result); });
  }
  void Start(TestAgent& agent, wire::Hello hello) {
    agent.hello = std::move(hello);
    RendezvousClient::Options options;
    options.coordinator = cluster.members[0].address->value;
    options.identity = agent.hello;
    options.on_done = [&agent](Result<std::unique_ptr<channel::Link>> result) {
      if (result) {
        agent.Take(*std::move(result));
      } else {
        agent.refused = result.error();
      }
    };
    agent.rendezvous_client =
        RendezvousClient::Start(*loop, clock, transport, std::move(options));
  }
  bool Until(const std::function<bool()>& done) {
    return channel::testing::RunUntil(*loop, done);
  }
  bool Gather() {
    return Until([this] { return gathered.has_value(); });
  }

  Cluster cluster;
  std::unique_ptr<sys::Loop> loop;
  sys::RealClock clock;
  channel::InProcessNetwork network;
  channel::InProcessTransport transport;
  TestAgent own, first, second;
  std::unique_ptr<RendezvousServer> rendezvous;
  std::unique_ptr<channel::Listener> listener;
  std::optional<RendezvousResult> gathered;
  std::vector<std::string> shown;
  std::vector<std::pair<int, wire::ToCoordinator>> messages;
  std::vector<std::pair<int, Cause>> losses;
};

TEST_F(RendezvousServerTest, IsCompleteWhenAllMembersAnswer) {
  Call(1);
  Start(second, HelloOf(cluster, 2));
  Start(first, HelloOf(cluster, 1));
  ASSERT_TRUE(Gather());
  ASSERT_TRUE(gathered->complete()) << gathered->errors[0].ToString();
  ASSERT_EQ(gathered->agents.size(), 3U);
  EXPECT_EQ(gathered->agents[2].hello.ranks, (std::vector<int>{2}));
  EXPECT_EQ(rendezvous->link(gathered->agents[1].agent),
            gathered->agents[1].link);
  EXPECT_TRUE(shown.empty());
}

TEST_F(RendezvousServerTest, CallsAgainOverTheSameLinks) {
  Start(first, HelloOf(cluster, 1));
  Start(second, HelloOf(cluster, 2));
  for (int attempt : {1, 2, 3}) {
    Call(attempt);
    ASSERT_TRUE(Gather());
    ASSERT_TRUE(gathered->complete());
    EXPECT_EQ(gathered->attempt, attempt);
    EXPECT_EQ(gathered->agents[1].hello.attempt, attempt);
  }
  EXPECT_EQ(first.kinds, (std::vector<std::string>{"call", "call", "call"}));
}

TEST_F(RendezvousServerTest, ShowsAtOnceWhatIsSeenAndGoesOnWaiting) {
  Start(first, HelloOf(cluster, 1));
  Call(1);
  ASSERT_TRUE(Until([this] { return !shown.empty(); }));
  EXPECT_EQ(shown[0],
            "waiting for 1 of 3 members: rank 2 (127.0.0.1:4002): connection "
            "refused: nothing listens on this port yet");
  network.faults[cluster.members[2].address->value] =
      channel::Unlike(channel::ProbeOutcome::kForeign,
                      Error(Cause::kNetWrongEndpoint, "an HTTP server"));
  ASSERT_TRUE(Until([this] { return shown.size() > 1; }));
  EXPECT_NE(shown[1].find("an HTTP server"), std::string::npos);
  Start(second, HelloOf(cluster, 2));
  ASSERT_TRUE(Gather());
  EXPECT_TRUE(gathered->complete());
}

TEST_F(RendezvousServerTest, NamesWhoNeverAnswersAtTheDeadline) {
  network.faults[cluster.members[2].address->value] =
      channel::Unlike(channel::ProbeOutcome::kNoAnswer,
                      Error(Cause::kNetTimeoutFiltered, "ETIMEDOUT"));
  Start(first, HelloOf(cluster, 1));
  first.answers = false;
  Call(1, milliseconds(300));
  ASSERT_TRUE(Gather());
  ASSERT_EQ(gathered->errors.size(), 2U);
  EXPECT_EQ(gathered->errors[0].cause(), Cause::kNetTimeoutFiltered);
  EXPECT_EQ(gathered->errors[1].cause(), Cause::kRendezvousTimeout);
  EXPECT_NE(gathered->errors[1].message().find("not replied yet"),
            std::string::npos);
  EXPECT_EQ(gathered->agents.size(), 1U);
}

TEST_F(RendezvousServerTest, FailsAtOnceWhenTwoClaimOneRank) {
  Call(1);
  Start(first, HelloOf(cluster, 1));
  ASSERT_TRUE(Until([this] { return first.link != nullptr; }));
  auto twin = HelloOf(cluster, 1);
  twin.pid = 4711;
  Start(second, twin);
  ASSERT_TRUE(Gather());
  ASSERT_EQ(gathered->errors.size(), 1U);
  EXPECT_EQ(gathered->errors[0].cause(), Cause::kDuplicateIdentity);
  ASSERT_TRUE(Until([this] { return second.refused.has_value(); }));
  EXPECT_EQ(second.refused->ToString(), gathered->errors[0].ToString());
}

TEST_F(RendezvousServerTest, ToleratesAStrayWhileTheRunGoesOn) {
  Start(first, HelloOf(cluster, 1));
  Start(second, HelloOf(cluster, 2));
  Call(1);
  ASSERT_TRUE(Gather());
  TestAgent stray;
  auto twin = HelloOf(cluster, 1);
  twin.pid = 4711;
  Start(stray, twin);
  ASSERT_TRUE(Until([&] { return stray.refused.has_value(); }));
  EXPECT_EQ(stray.refused->cause(), Cause::kDuplicateIdentity);
  Call(2);
  ASSERT_TRUE(Gather());
  EXPECT_TRUE(gathered->complete());
  EXPECT_TRUE(losses.empty());
}

TEST_F(RendezvousServerTest, TellsTheLossOfAnAgentAndTakesItBack) {
  Start(first, HelloOf(cluster, 1));
  Start(second, HelloOf(cluster, 2));
  Call(1);
  ASSERT_TRUE(Gather());
  const int agent = gathered->agents[1].agent;
  first.link.reset();
  ASSERT_TRUE(Until([this] { return !losses.empty(); }));
  EXPECT_EQ(losses[0], (std::pair(agent, Cause::kPeerDied)));
  EXPECT_EQ(rendezvous->link(agent), nullptr);
  Call(2);
  Start(first, HelloOf(cluster, 1));
  ASSERT_TRUE(Gather());
  EXPECT_TRUE(gathered->complete());
  EXPECT_NE(gathered->agents[1].agent, agent);
}

TEST_F(RendezvousServerTest, PassesOnWhatIsNotOfTheRollCall) {
  Start(first, HelloOf(cluster, 1));
  Start(second, HelloOf(cluster, 2));
  Call(1);
  ASSERT_TRUE(Gather());
  first.link->Send(Encode(wire::Progress{.attempt = 7}));
  ASSERT_TRUE(Until([this] { return !messages.empty(); }));
  EXPECT_EQ(messages[0].first, gathered->agents[1].agent);
  EXPECT_EQ(std::get<wire::Progress>(messages[0].second).attempt, 7);
  rendezvous->SendAll(Encode(wire::Goodbye{}));
  ASSERT_TRUE(Until([this] { return second.kinds.back() == "goodbye"; }));
}

TEST_F(RendezvousServerTest, RefusesWhoIntroducesItselfWithGarbage) {
  auto [here, there] = channel::InProcessLinks(*loop);
  rendezvous->Attend(std::move(here));
  std::optional<wire::Envelope> answer;
  there->OnMessage(
      [&](wire::Envelope message) { answer = std::move(message); });
  there->Send(Encode(wire::Progress{}));
  there->Send({"identity", R"({"protocol": "x"})"});
  ASSERT_TRUE(Until([&] { return answer.has_value(); }));
  EXPECT_EQ(RefusalIn(*answer).substr(0, 19), "net-wrong-endpoint:");
  EXPECT_TRUE(messages.empty());
}

TEST_F(RendezvousServerTest, RefusesAnAgentOfOtherMessagesOrRules) {
  const auto answer_to = [&](const std::function<void(Json&)>& change) {
    Json body = ToJson(HelloOf(cluster, 1));
    change(body);
    auto [here, there] = channel::InProcessLinks(*loop);
    rendezvous->Attend(std::move(here));
    std::optional<wire::Envelope> answer;
    there->OnMessage(
        [&](wire::Envelope message) { answer = std::move(message); });
    there->Send({"identity", body.dump()});
    EXPECT_TRUE(Until([&] { return answer.has_value(); }));
    return RefusalIn(*answer);
  };
  const auto later = answer_to([](Json& body) { body["messages"] = 99; });
  EXPECT_TRUE(later.starts_with("ver-peer-mismatch: rank 1")) << later;
  EXPECT_NE(later.find("messages 99"), std::string::npos) << later;
  EXPECT_NE(later.find("messages 4"), std::string::npos) << later;
  const auto rules = answer_to([](Json& body) { body["rules"] = "0a0b"; });
  EXPECT_TRUE(rules.starts_with("ver-peer-mismatch: rank 1")) << rules;
  EXPECT_NE(rules.find("rules 0a0b"), std::string::npos) << rules;
  const auto older = answer_to([](Json& body) {
    body.erase("messages");
    body.erase("rules");
  });
  EXPECT_TRUE(older.starts_with("ver-peer-mismatch: rank 1")) << older;
  EXPECT_NE(older.find("messages unnumbered"), std::string::npos) << older;
}

TEST_F(RendezvousServerTest, RefusesAndLosesWhoSaysWhatIsUnknown) {
  SetLogLevel(LogLevel::kError);
  Start(first, HelloOf(cluster, 1));
  Start(second, HelloOf(cluster, 2));
  Call(1);
  ASSERT_TRUE(Gather());
  const int agent = gathered->agents[1].agent;
  first.link->Send({"dance", "{}"});
  ASSERT_TRUE(Until([this] { return !losses.empty(); }));
  SetLogLevel(LogLevel::kInfo);
  EXPECT_EQ(losses[0], (std::pair(agent, Cause::kVerPeerMismatch)));
  EXPECT_EQ(rendezvous->link(agent), nullptr);
  ASSERT_TRUE(Until([this] { return first.kinds.back() == "refused"; }));
  EXPECT_TRUE(messages.empty());
}

TEST_F(RendezvousServerTest, NamesWhoSaidWhatIsUnknownDuringACall) {
  SetLogLevel(LogLevel::kError);
  Start(first, HelloOf(cluster, 1));
  first.answers = false;
  Call(1, milliseconds(300));
  ASSERT_TRUE(Until([this] { return !first.kinds.empty(); }));
  first.link->Send({"progress", "{}"});
  ASSERT_TRUE(Gather());
  SetLogLevel(LogLevel::kInfo);
  ASSERT_FALSE(gathered->complete());
  EXPECT_EQ(gathered->errors[0].cause(), Cause::kVerPeerMismatch);
  EXPECT_NE(gathered->errors[0].message().find("`attempt` is missing"),
            std::string::npos)
      << gathered->errors[0].message();
}

TEST_F(RendezvousServerTest, MayBeDestroyedInItsCallbacks) {
  Call(1, milliseconds(100));
  bool done = false;
  rendezvous->CancelCall();
  rendezvous->Call(1, Deadline::After(milliseconds(50)), nullptr,
                   [&](const RendezvousResult&) {
                     rendezvous.reset();
                     done = true;
                   });
  EXPECT_TRUE(Until([&] { return done; }));
}

TEST(RendezvousServer, OfOneHostNeedsNoTransport) {
  auto loop = std::move(*sys::Loop::Make());
  sys::RealClock clock;
  const Cluster cluster = Workers(4);
  wire::Hello hello = HelloOf(cluster, 0);
  hello.ranks = {0, 1, 2, 3};
  auto rendezvous = RendezvousServer::Make(*loop, clock, nullptr, cluster,
                                           {.identity = hello});
  TestAgent agent{.hello = hello};
  auto [here, there] = channel::InProcessLinks(*loop);
  agent.Take(std::move(there));
  rendezvous->AttendHere(std::move(here), hello);
  std::optional<RendezvousResult> gathered;
  rendezvous->Call(
      1, Deadline::After(std::chrono::seconds(5)), nullptr,
      [&](RendezvousResult result) { gathered = std::move(result); });
  EXPECT_FALSE(gathered);
  ASSERT_TRUE(
      channel::testing::RunUntil(*loop, [&] { return gathered.has_value(); }));
  EXPECT_TRUE(gathered->complete());
}

// A link whose other side has shown a certificate.
class ProvenLink : public channel::Link {
 public:
  ProvenLink(std::unique_ptr<channel::Link> link, int rank)
      : link_(std::move(link)), rank_(rank) {}
  void Send(channel::Envelope message) override {
    link_->Send(std::move(message));
  }
  void OnMessage(std::function<void(channel::Envelope)> handler) override {
    link_->OnMessage(std::move(handler));
  }
  void OnLost(std::function<void(const Error&)> handler) override {
    link_->OnLost(std::move(handler));
  }
  void Close() override { link_->Close(); }
  std::string peer() const override { return link_->peer(); }
  std::optional<int> proven_rank() const override { return rank_; }

 private:
  const std::unique_ptr<channel::Link> link_;
  const int rank_;
};

TEST_F(RendezvousServerTest, TakesAnAgentForTheRankOfItsCertificateOnly) {
  const auto first_word = [&](int claimed) {
    auto [here, there] = channel::InProcessLinks(*loop);
    rendezvous->Attend(std::make_unique<ProvenLink>(std::move(here), 1));
    std::optional<wire::Envelope> answer;
    there->OnMessage(
        [&](wire::Envelope message) { answer = std::move(message); });
    there->Send(Encode(wire::Identity{HelloOf(cluster, claimed)}));
    EXPECT_TRUE(Until([&] { return answer.has_value(); }));
    return answer->kind == "refused" ? RefusalIn(*answer) : answer->kind;
  };
  const auto refused = first_word(2);
  EXPECT_TRUE(refused.starts_with("duplicate-identity: rank 2")) << refused;
  EXPECT_NE(refused.find("certificate of rank 1"), std::string::npos);
  EXPECT_EQ(first_word(1), "welcome");
}

}  // namespace
}  // namespace muster::rendezvous
