// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/rendezvous_client.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/log.h"
#include "channel/in_process.h"
#include "channel/testing.h"
#include "wire/agent_messages.h"

namespace muster::rendezvous {
namespace {

using channel::testing::HelloOf;
using channel::testing::Workers;
using std::chrono::milliseconds;

const Address kCoordinator{"127.0.0.1", 4000};

class RendezvousClientTest : public ::testing::Test {
 protected:
  RendezvousClientTest()
      : cluster(Workers(2)),
        loop(std::move(*sys::Loop::Make())),
        transport(*loop, network) {}

  void Attend(Duration limit = std::chrono::seconds(20)) {
    RendezvousClient::Options options;
    options.coordinator = kCoordinator;
    options.identity = HelloOf(cluster, 1);
    options.deadline = Deadline::After(limit);
    options.on_change = [this](const std::string& seen) {
      shown.push_back(seen);
    };
    options.on_done = [this](Result<std::unique_ptr<channel::Link>> result) {
      done.emplace(std::move(result));
    };
    rendezvous_client =
        RendezvousClient::Start(*loop, clock, transport, std::move(options));
  }
  // Somebody listens there who gives every agent this answer (null: none).
  void Answer(const wire::Hello& who, std::optional<channel::Envelope> answer) {
    listener = std::move(*transport.Listen(
        kCoordinator, who, [this, answer](std::unique_ptr<channel::Link> link) {
          links.push_back(std::move(link));
          links.back()->OnMessage([this, answer](channel::Envelope message) {
            got.push_back(std::move(message));
            if (answer) {
              links.back()->Send(*answer);
            }
          });
        }));
  }
  bool Until(const std::function<bool()>& holds) {
    return channel::testing::RunUntil(*loop, holds);
  }
  // The error at the end, or what else happened.
  std::string Ends() {
    if (!Until([this] { return done.has_value(); })) {
      return "never";
    }
    return *done ? "accepted" : done->error().ToString();
  }

  Cluster cluster;
  std::unique_ptr<sys::Loop> loop;
  sys::RealClock clock;
  channel::InProcessNetwork network;
  channel::InProcessTransport transport;
  std::unique_ptr<RendezvousClient> rendezvous_client;
  std::unique_ptr<channel::Listener> listener;
  std::vector<std::unique_ptr<channel::Link>> links;
  std::vector<channel::Envelope> got;
  std::vector<std::string> shown;
  std::optional<Result<std::unique_ptr<channel::Link>>> done;
};

TEST_F(RendezvousClientTest, IntroducesItselfAndIsAccepted) {
  Answer(HelloOf(cluster, 0), Encode(wire::Welcome{HelloOf(cluster, 0)}));
  Attend();
  EXPECT_EQ(Ends(), "accepted");
  ASSERT_EQ(got.size(), 1U);
  const auto said = wire::ParseToCoordinator(got[0]).value();
  EXPECT_EQ(std::get<wire::Identity>(said).hello.ranks, (std::vector<int>{1}));
}

TEST_F(RendezvousClientTest, WaitsForACoordinatorThatComesLater) {
  Attend();
  ASSERT_TRUE(Until([this] { return !shown.empty(); }));
  EXPECT_EQ(shown[0],
            "the coordinator (127.0.0.1:4000): connection refused: nothing "
            "listens on this port yet");
  Answer(HelloOf(cluster, 0), Encode(wire::Welcome{HelloOf(cluster, 0)}));
  EXPECT_EQ(Ends(), "accepted");
  EXPECT_EQ(shown.size(), 1U);
}

TEST_F(RendezvousClientTest, NamesTheCauseWhenNobodyComes) {
  Attend(milliseconds(120));
  EXPECT_EQ(
      Ends().substr(0, 140),
      "rendezvous-timeout: the coordinator (127.0.0.1:4000) was not reachable "
      "within 120 ms: connection refused: nothing listens on this port yet (");
}

TEST_F(RendezvousClientTest, NamesWhatElseIsSeenThere) {
  network.faults[kCoordinator] =
      channel::Unlike(channel::ProbeOutcome::kUnresolved,
                      Error(Cause::kNetNameResolution, "ENOENT"));
  Attend(milliseconds(100));
  EXPECT_EQ(Ends().substr(0, 20), "net-name-resolution:");
  done.reset();
  network.faults[kCoordinator] =
      channel::Unlike(channel::ProbeOutcome::kNoAnswer,
                      Error(Cause::kNetTimeoutFiltered, "ETIMEDOUT"));
  Attend(milliseconds(200));
  EXPECT_EQ(Ends().substr(0, 21), "net-timeout-filtered:");
}

TEST_F(RendezvousClientTest, DoesNotTakeAnotherMemberForTheCoordinator) {
  Answer(HelloOf(cluster, 1), std::nullopt);
  Attend(milliseconds(100));
  EXPECT_EQ(Ends().substr(0, 19), "net-wrong-endpoint:");
  EXPECT_EQ(shown.at(0),
            "the coordinator (127.0.0.1:4000): rank 1 (host h1, pid 101) "
            "responds at this address");
  EXPECT_TRUE(got.empty());
}

TEST_F(RendezvousClientTest, EndsWithTheReasonOfARefusal) {
  Answer(HelloOf(cluster, 0),
         Encode(wire::RefusedFor(
             Error(Cause::kDuplicateIdentity, "two claim rank 1"))));
  Attend();
  EXPECT_EQ(Ends(), "duplicate-identity: two claim rank 1");
}

TEST_F(RendezvousClientTest, RefusesACoordinatorOfOtherMessagesOrRules) {
  for (const char* field : {"messages", "rules"}) {
    Json other = ToJson(HelloOf(cluster, 0));
    other.erase(field);
    other[field] = std::string(field) == "messages" ? Json(1) : Json("0a0b");
    Answer(*wire::HelloFromJson(other),
           wire::Envelope{.kind = "welcome", .body = other.dump()});
    Attend();
    EXPECT_EQ(Ends().substr(0, 25), "ver-peer-mismatch: rank 0") << field;
    EXPECT_TRUE(done->error().message().find(std::string(field) + " ") !=
                std::string::npos);
    done.reset();
    listener.reset();
  }
}

TEST_F(RendezvousClientTest, RefusesAnAnswerThatIsUnknown) {
  SetLogLevel(LogLevel::kError);
  Answer(HelloOf(cluster, 0), wire::Envelope{.kind = "dance", .body = "{}"});
  Attend();
  EXPECT_EQ(Ends().substr(0, 26), "ver-peer-mismatch: a messa");
  SetLogLevel(LogLevel::kInfo);
}

TEST_F(RendezvousClientTest, EndsAtItsDeadlineWhenTheCoordinatorNeverAnswers) {
  Answer(HelloOf(cluster, 0), std::nullopt);
  Attend(milliseconds(100));
  EXPECT_NE(Ends().find("it accepted the connection but does not respond"),
            std::string::npos);
}

TEST_F(RendezvousClientTest, DialsAgainWhenTheCoordinatorGivesTheLinkUp) {
  Answer(HelloOf(cluster, 0), std::nullopt);
  Attend();
  ASSERT_TRUE(Until([this] { return got.size() == 1; }));
  links.clear();
  ASSERT_TRUE(Until([this] { return got.size() == 2; }));
  EXPECT_NE(shown.at(0).find("closed it"), std::string::npos);
}

TEST_F(RendezvousClientTest,
       IntroducesItselfToAnotherProtocolAndSaysItDiffers) {
  wire::Hello other;
  other.protocol = 9;
  Answer(other, std::nullopt);
  Attend();
  ASSERT_TRUE(Until([this] { return got.size() == 1; }));
  links.clear();
  EXPECT_EQ(Ends().substr(0, 18), "ver-peer-mismatch:");
}

TEST_F(RendezvousClientTest, EndsAtOnceWhereItMustNotSpeak) {
  network.faults[kCoordinator] =
      channel::Unlike(channel::ProbeOutcome::kClosed,
                      Error(Cause::kUsageInvalid, "only on loopback"));
  Attend();
  EXPECT_EQ(Ends(), "usage-invalid: only on loopback");
}

TEST_F(RendezvousClientTest, MayBeDestroyedAtAnyTime) {
  Attend();
  rendezvous_client.reset();
  Answer(HelloOf(cluster, 0), std::nullopt);
  Attend();
  ASSERT_TRUE(Until([this] { return !got.empty(); }));
  rendezvous_client.reset();
  EXPECT_FALSE(channel::testing::RunUntil(
      *loop, [this] { return done.has_value(); }, milliseconds(20)));
}

TEST_F(RendezvousClientTest, RemembersAStrangerThatWent) {
  network.faults[kCoordinator] =
      channel::Unlike(channel::ProbeOutcome::kStranger,
                      Error(Cause::kVerPeerMismatch, "another token"));
  Attend(milliseconds(600));
  ASSERT_TRUE(Until([this] { return !shown.empty(); }));
  network.faults.clear();
  const auto end = Ends();
  EXPECT_TRUE(end.starts_with("ver-peer-mismatch: the coordinator")) << end;
  EXPECT_NE(end.find("another token"), std::string::npos) << end;
}

}  // namespace
}  // namespace muster::rendezvous
