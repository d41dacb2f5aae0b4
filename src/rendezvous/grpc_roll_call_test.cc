// SPDX-License-Identifier: Apache-2.0
// The roll call over the transport between hosts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "channel/grpc/transport.h"
#include "channel/in_process.h"
#include "channel/testing.h"
#include "rendezvous/rendezvous_client.h"
#include "rendezvous/rendezvous_server.h"
#include "sys/net/net.h"
#include "wire/agent_messages.h"

namespace muster::rendezvous {
namespace {

using channel::testing::HelloOf;
using channel::testing::Workers;
using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

// A whole roll call over gRPC: the coordinator and two members at free ports.
class GrpcRollCall : public ::testing::Test {
 protected:
  GrpcRollCall()
      : loop(std::move(*sys::Loop::Make())),
        transport(*channel::MakeGrpcTransport(*loop, clock)),
        cluster(Workers(3)) {
    for (std::size_t rank = 0; rank < 3; ++rank) {
      held.push_back(std::move(*sys::Listen({"127.0.0.1", 0})));
      cluster.members[rank].address->value = held[rank].address;
    }
    held.clear();
    RendezvousServer::Options options;
    options.identity = HelloOf(cluster, 0);
    rendezvous = RendezvousServer::Make(*loop, clock, transport.get(), cluster,
                                        std::move(options));
    auto [here, there] = channel::InProcessLinks(*loop);
    Answer(std::move(there), HelloOf(cluster, 0));
    rendezvous->AttendHere(std::move(here), HelloOf(cluster, 0));
    coordinator = std::move(
        *transport->Listen(At(0), HelloOf(cluster, 0),
                           [this](std::unique_ptr<channel::Link> link) {
                             rendezvous->Attend(std::move(link));
                           }));
  }

  Address At(std::size_t rank) const {
    return cluster.members[rank].address->value;
  }
  void Answer(std::unique_ptr<channel::Link> link, wire::Hello hello) {
    links.push_back(std::move(link));
    links.back()->OnMessage([raw = links.back().get(),
                             hello](const channel::Envelope& message) mutable {
      const auto parsed = wire::ParseToAgent(message).value();
      if (const auto* call = std::get_if<wire::HelloRequest>(&parsed)) {
        hello.attempt = call->attempt;
        raw->Send(Encode(wire::HelloReply{hello}));
      }
    });
  }
  void Attend(const wire::Hello& hello) {
    RendezvousClient::Options options;
    options.coordinator = At(0);
    options.identity = hello;
    options.on_done = [this,
                       hello](Result<std::unique_ptr<channel::Link>> link) {
      if (link) {
        Answer(*std::move(link), hello);
      } else {
        refused = link.error();
      }
    };
    rendezvous_client.push_back(
        RendezvousClient::Start(*loop, clock, *transport, std::move(options)));
  }
  // The errors at the end, or "complete".
  std::string Call(Duration limit, int attempt = 1) {
    std::optional<RendezvousResult> gathered;
    rendezvous->Call(
        attempt, Deadline::After(limit), nullptr,
        [&](RendezvousResult result) { gathered = std::move(result); });
    if (!channel::testing::RunUntil(
            *loop, [&] { return gathered.has_value(); }, limit + seconds(5))) {
      return "never";
    }
    std::string text = gathered->complete() ? "complete" : "";
    for (const Error& error : gathered->errors) {
      text += error.ToString() + "\n";
    }
    return text;
  }

  std::unique_ptr<sys::Loop> loop;
  sys::RealClock clock;
  std::unique_ptr<channel::Transport> transport;
  Cluster cluster;
  std::vector<sys::Listening> held;
  std::unique_ptr<channel::Listener> coordinator;  // goes after the links
  std::vector<std::unique_ptr<channel::Link>> links;
  std::unique_ptr<RendezvousServer> rendezvous;
  std::vector<std::unique_ptr<RendezvousClient>> rendezvous_client;
  std::optional<Error> refused;
};

TEST_F(GrpcRollCall, IsCompleteAndCallsAgain) {
  Attend(HelloOf(cluster, 2));
  Attend(HelloOf(cluster, 1));
  EXPECT_EQ(Call(seconds(20)), "complete");
  EXPECT_EQ(Call(seconds(20), 2), "complete");
}

TEST_F(GrpcRollCall, NamesADeadPortAndASilentOne) {
  auto silent = sys::Listen(At(2));
  const auto errors = Call(milliseconds(1500));
  EXPECT_THAT(errors, HasSubstr("net-wrong-endpoint: rank 2"));
  EXPECT_THAT(errors, HasSubstr("sends nothing"));
  EXPECT_THAT(errors, HasSubstr("rendezvous-timeout: rank 1"));
  EXPECT_THAT(errors, HasSubstr("connection refused"));
}

TEST_F(GrpcRollCall, NamesAnotherMemberAtAnAddress) {
  auto wrong = transport->Listen(At(1), HelloOf(cluster, 2), nullptr);
  Attend(HelloOf(cluster, 2));
  EXPECT_THAT(Call(milliseconds(1500)),
              HasSubstr("rank 2 (host h2, pid 102) responds at this address"));
}

TEST_F(GrpcRollCall, FailsAtOnceWhenTwoClaimOneRank) {
  Attend(HelloOf(cluster, 1));
  auto twin = HelloOf(cluster, 1);
  twin.pid = 4711;
  Attend(twin);
  const auto start = clock.Now();
  EXPECT_THAT(Call(seconds(30)), HasSubstr("duplicate-identity: two agents"));
  EXPECT_LT(clock.Now() - start, seconds(10));
  ASSERT_TRUE(channel::testing::RunUntil(
      *loop, [this] { return refused.has_value(); }));
  EXPECT_EQ(refused->cause(), Cause::kDuplicateIdentity);
}

TEST_F(GrpcRollCall, FailsAtOnceForAnotherVersion) {
  auto other = HelloOf(cluster, 1);
  other.version = "0.9.0";
  Attend(other);
  EXPECT_THAT(Call(seconds(30)), HasSubstr("ver-peer-mismatch: rank 1"));
  ASSERT_TRUE(channel::testing::RunUntil(
      *loop, [this] { return refused.has_value(); }));
  EXPECT_EQ(refused->cause(), Cause::kVerPeerMismatch);
}

}  // namespace
}  // namespace muster::rendezvous
