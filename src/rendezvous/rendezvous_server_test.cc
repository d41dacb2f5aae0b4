// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/rendezvous_server.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "channel/handshake.h"
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
  std::unique_ptr<Attending> attending;
  std::unique_ptr<channel::Link> link;
  std::optional<Error> refused;
  std::vector<std::string> kinds;
  bool answers = true;

  void Take(std::unique_ptr<channel::Link> accepted) {
    link = std::move(accepted);
    link->OnMessage([this](const channel::Envelope& message) {
      kinds.push_back(message.kind);
      if (message.kind == channel::kCall && answers) {
        hello.attempt = Json::parse(message.body)["attempt"];
        link->Send(channel::HelloMessage(channel::kHello, hello));
      }
    });
    link->OnLost([](const Error&) {});
  }
};

class GatheringTest : public ::testing::Test {
 protected:
  GatheringTest()
      : cluster(Workers(3)),
        loop(std::move(*sys::Loop::Make())),
        transport(*loop, network) {
    Gathering::Options options;
    options.identity = HelloOf(cluster, 0);
    options.on_message = [this](int agent, const channel::Envelope& message) {
      messages.emplace_back(agent, message.kind);
    };
    options.on_lost = [this](int agent, const Error& why) {
      losses.emplace_back(agent, why.cause());
    };
    gathering =
        Gathering::Make(*loop, clock, &transport, cluster, std::move(options));
    auto [here, there] = channel::InProcessLinks(*loop);
    own.hello = HelloOf(cluster, 0);
    own.Take(std::move(there));
    gathering->AttendHere(std::move(here), own.hello);
    listener = std::move(
        *transport.Listen(cluster.members[0].address->value, own.hello,
                          [this](std::unique_ptr<channel::Link> link) {
                            gathering->Attend(std::move(link));
                          }));
  }

  // Begins a call; the result lands in `gathered`.
  void Call(int attempt, Duration limit = std::chrono::seconds(20)) {
    gathered.reset();
    gathering->Call(
        attempt, Deadline::After(limit),
        [this](const std::vector<Missing>& missing) {
          shown.push_back(ToText(missing, 3));
        },
        [this](Gathered result) { gathered = std::move(result); });
  }
  void Start(TestAgent& agent, wire::Hello hello) {
    agent.hello = std::move(hello);
    Attending::Options options;
    options.coordinator = cluster.members[0].address->value;
    options.identity = agent.hello;
    options.on_done = [&agent](Result<std::unique_ptr<channel::Link>> result) {
      if (result) {
        agent.Take(*std::move(result));
      } else {
        agent.refused = result.error();
      }
    };
    agent.attending =
        Attending::Start(*loop, clock, transport, std::move(options));
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
  std::unique_ptr<Gathering> gathering;
  std::unique_ptr<channel::Listener> listener;
  std::optional<Gathered> gathered;
  std::vector<std::string> shown;
  std::vector<std::pair<int, std::string>> messages;
  std::vector<std::pair<int, Cause>> losses;
};

TEST_F(GatheringTest, IsCompleteWhenAllMembersAnswer) {
  Call(1);
  Start(second, HelloOf(cluster, 2));
  Start(first, HelloOf(cluster, 1));
  ASSERT_TRUE(Gather());
  ASSERT_TRUE(gathered->complete()) << gathered->errors[0].ToText();
  ASSERT_EQ(gathered->agents.size(), 3U);
  EXPECT_EQ(gathered->agents[2].hello.ranks, (std::vector<int>{2}));
  EXPECT_EQ(gathering->link(gathered->agents[1].agent),
            gathered->agents[1].link);
  EXPECT_TRUE(shown.empty());
}

TEST_F(GatheringTest, CallsAgainOverTheSameLinks) {
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

TEST_F(GatheringTest, ShowsAtOnceWhatIsSeenAndGoesOnWaiting) {
  Start(first, HelloOf(cluster, 1));
  Call(1);
  ASSERT_TRUE(Until([this] { return !shown.empty(); }));
  EXPECT_EQ(shown[0],
            "waiting for 1 of 3 members: rank 2 (127.0.0.1:4002): connection "
            "refused: nothing listens there yet");
  network.faults[cluster.members[2].address->value] =
      channel::Unlike(channel::Sight::kForeign,
                      Error(Cause::kNetWrongEndpoint, "an HTTP server"));
  ASSERT_TRUE(Until([this] { return shown.size() > 1; }));
  EXPECT_NE(shown[1].find("an HTTP server"), std::string::npos);
  Start(second, HelloOf(cluster, 2));
  ASSERT_TRUE(Gather());
  EXPECT_TRUE(gathered->complete());
}

TEST_F(GatheringTest, NamesWhoNeverAnswersAtTheDeadline) {
  network.faults[cluster.members[2].address->value] =
      channel::Unlike(channel::Sight::kNoAnswer,
                      Error(Cause::kNetTimeoutFiltered, "ETIMEDOUT"));
  Start(first, HelloOf(cluster, 1));
  first.answers = false;
  Call(1, milliseconds(300));
  ASSERT_TRUE(Gather());
  ASSERT_EQ(gathered->errors.size(), 2U);
  EXPECT_EQ(gathered->errors[0].cause(), Cause::kNetTimeoutFiltered);
  EXPECT_EQ(gathered->errors[1].cause(), Cause::kRendezvousTimeout);
  EXPECT_NE(gathered->errors[1].message().find("has not answered the call"),
            std::string::npos);
  EXPECT_EQ(gathered->agents.size(), 1U);
}

TEST_F(GatheringTest, FailsAtOnceWhenTwoClaimOneRank) {
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
  EXPECT_EQ(second.refused->ToText(), gathered->errors[0].ToText());
}

TEST_F(GatheringTest, ToleratesAStrayWhileTheRunGoesOn) {
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

TEST_F(GatheringTest, TellsTheLossOfAnAgentAndTakesItBack) {
  Start(first, HelloOf(cluster, 1));
  Start(second, HelloOf(cluster, 2));
  Call(1);
  ASSERT_TRUE(Gather());
  const int agent = gathered->agents[1].agent;
  first.link.reset();
  ASSERT_TRUE(Until([this] { return !losses.empty(); }));
  EXPECT_EQ(losses[0], (std::pair(agent, Cause::kPeerDied)));
  EXPECT_EQ(gathering->link(agent), nullptr);
  Call(2);
  Start(first, HelloOf(cluster, 1));
  ASSERT_TRUE(Gather());
  EXPECT_TRUE(gathered->complete());
  EXPECT_NE(gathered->agents[1].agent, agent);
}

TEST_F(GatheringTest, PassesOnWhatIsNotOfTheRollCall) {
  Start(first, HelloOf(cluster, 1));
  Start(second, HelloOf(cluster, 2));
  Call(1);
  ASSERT_TRUE(Gather());
  first.link->Send({"progress", "{}"});
  ASSERT_TRUE(Until([this] { return !messages.empty(); }));
  EXPECT_EQ(messages[0],
            (std::pair(gathered->agents[1].agent, std::string("progress"))));
  gathering->SendAll({"goodbye", "{}"});
  ASSERT_TRUE(Until([this] { return second.kinds.back() == "goodbye"; }));
}

TEST_F(GatheringTest, RefusesWhoIntroducesItselfWithGarbage) {
  auto [here, there] = channel::InProcessLinks(*loop);
  gathering->Attend(std::move(here));
  std::optional<channel::Envelope> answer;
  there->OnMessage(
      [&](channel::Envelope message) { answer = std::move(message); });
  there->Send({"progress", "unheard"});
  there->Send({channel::kIdentity, "{]"});
  ASSERT_TRUE(Until([&] { return answer.has_value(); }));
  EXPECT_EQ(answer->kind, channel::kRefused);
  EXPECT_EQ(channel::RefusalFrom(answer->body).cause(),
            Cause::kNetWrongEndpoint);
  EXPECT_TRUE(messages.empty());
}

TEST_F(GatheringTest, MayBeDestroyedInItsCallbacks) {
  Call(1, milliseconds(100));
  bool done = false;
  gathering->CancelCall();
  gathering->Call(1, Deadline::After(milliseconds(50)), nullptr,
                  [&](const Gathered&) {
                    gathering.reset();
                    done = true;
                  });
  EXPECT_TRUE(Until([&] { return done; }));
}

TEST(Gathering, OfOneHostNeedsNoTransport) {
  auto loop = std::move(*sys::Loop::Make());
  sys::RealClock clock;
  const Cluster cluster = Workers(4);
  wire::Hello hello = HelloOf(cluster, 0);
  hello.ranks = {0, 1, 2, 3};
  auto gathering =
      Gathering::Make(*loop, clock, nullptr, cluster, {.identity = hello});
  TestAgent agent{.hello = hello};
  auto [here, there] = channel::InProcessLinks(*loop);
  agent.Take(std::move(there));
  gathering->AttendHere(std::move(here), hello);
  std::optional<Gathered> gathered;
  gathering->Call(1, Deadline::After(std::chrono::seconds(5)), nullptr,
                  [&](Gathered result) { gathered = std::move(result); });
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

TEST_F(GatheringTest, TakesAnAgentForTheRankOfItsCertificateOnly) {
  const auto first_word = [&](int claimed) {
    auto [here, there] = channel::InProcessLinks(*loop);
    gathering->Attend(std::make_unique<ProvenLink>(std::move(here), 1));
    std::string kind;
    std::string body;
    there->OnMessage([&](const channel::Envelope& message) {
      kind = message.kind;
      body = message.body;
    });
    there->Send(
        channel::HelloMessage(channel::kIdentity, HelloOf(cluster, claimed)));
    EXPECT_TRUE(
        channel::testing::RunUntil(*loop, [&] { return !kind.empty(); }));
    return kind == channel::kRefused ? channel::RefusalFrom(body).ToText()
                                     : kind;
  };
  const auto refused = first_word(2);
  EXPECT_TRUE(refused.starts_with("duplicate-identity: rank 2")) << refused;
  EXPECT_NE(refused.find("certificate of rank 1"), std::string::npos);
  EXPECT_EQ(first_word(1), channel::kWelcome);
}

}  // namespace
}  // namespace muster::rendezvous
