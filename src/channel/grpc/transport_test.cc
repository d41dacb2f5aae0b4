// SPDX-License-Identifier: Apache-2.0
#include "channel/grpc/transport.h"

#include <gmock/gmock.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <thread>

#include "base/json.h"
#include "channel/handshake.h"
#include "channel/transport_conformance.h"
#include "rendezvous/rendezvous_client.h"
#include "rendezvous/rendezvous_server.h"
#include "sys/env.h"
#include "sys/net/net.h"

namespace muster::connect {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HelloOf;
using testing::Workers;

// Two hosts: in clear text, or the coordinator and a member with one token.
struct GrpcHosts : TransportUnderTest {
  GrpcHosts(sys::Loop& loop, bool secured)
      : first(*MakeGrpcTransport(
            loop, clock,
            secured ? *Keyring::OfCoordinator(Token(), "R", clock) : nullptr)),
        second(*MakeGrpcTransport(
            loop, clock,
            secured ? *Keyring::OfMember(Token(), 1, clock) : nullptr)) {}
  Transport& one() override { return *first; }
  Transport& other() override { return *second; }
  static RunKey Token() { return *RunKey::FromToken("0123456789abcdef"); }

  sys::RealClock clock;
  std::unique_ptr<Transport> first;
  std::unique_ptr<Transport> second;
};

TransportKind Kind(const char* name, bool secured) {
  return {name, [secured](sys::Loop& loop) {
            return std::make_unique<GrpcHosts>(loop, secured);
          }};
}

INSTANTIATE_TEST_SUITE_P(Grpc, TransportTest,
                         ::testing::Values(Kind("grpc", false),
                                           Kind("secured", true)),
                         [](const auto& kind) { return kind.param.name; });

// Answers every connection with the same bytes, then closes it.
class Answering {
 public:
  explicit Answering(std::string bytes)
      : listening_(std::move(*sys::Listen({"127.0.0.1", 0}))),
        thread_([this, bytes = std::move(bytes)] { Serve(bytes); }) {}
  ~Answering() { shutdown(listening_.fd.get(), SHUT_RDWR); }
  const Address& address() const { return listening_.address; }

 private:
  void Serve(const std::string& bytes) {
    while (true) {
      pollfd ready{listening_.fd.get(), POLLIN, 0};
      poll(&ready, 1, 10'000);
      const sys::Fd fd(accept(listening_.fd.get(), nullptr, nullptr));
      if (!fd) {
        return;
      }
      std::string request;
      const auto deadline = Deadline::After(seconds(1));
      if (sys::ReceiveSome(fd.get(), request, nullptr, deadline)) {
        (void)sys::SendAll(fd.get(), bytes, {}, deadline).has_value();
      }
    }
  }

  sys::Listening listening_;
  std::jthread thread_;
};

class GrpcTest : public ::testing::Test {
 protected:
  GrpcTest()
      : loop(std::move(*sys::Loop::Make())),
        transport(*MakeGrpcTransport(*loop, clock)) {}

  Sighting LookAt(const Address& address, Duration limit = seconds(2)) {
    std::optional<Sighting> seen;
    transport->Identify(address, Deadline::After(limit),
                        [&](Sighting sighting) { seen = std::move(sighting); });
    EXPECT_TRUE(testing::RunUntil(
        *loop, [&] { return seen.has_value(); }, seconds(9)));
    return seen.value_or(Sighting{});
  }
  std::string Message(const Sighting& seen) {
    return seen.error ? seen.error->message() : "an agent";
  }

  std::unique_ptr<sys::Loop> loop;
  sys::RealClock clock;
  std::unique_ptr<Transport> transport;
};

TEST_F(GrpcTest, NamesAnHttpServer) {
  const Answering http("HTTP/1.0 200 OK\r\n\r\nhello");
  const Sighting seen = LookAt(http.address());
  EXPECT_EQ(seen.what, Sight::kForeign);
  EXPECT_EQ(Message(seen),
            "an HTTP server (`HTTP/1.0 200 OK`) answers there, not muster");
}

TEST_F(GrpcTest, NamesAGrpcServerOfAnotherService) {
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  grpc::CallbackGenericService nothing;
  builder.RegisterCallbackGenericService(&nothing);
  const auto server = builder.BuildAndStart();
  const Sighting seen = LookAt({"127.0.0.1", static_cast<std::uint16_t>(port)});
  EXPECT_EQ(seen.what, Sight::kForeign);
  EXPECT_NE(Message(seen).find("UNIMPLEMENTED"), std::string::npos)
      << Message(seen);
}

TEST_F(GrpcTest, EndsAtTheDeadlineWhereNothingIsSaid) {
  auto silent = sys::Listen({"127.0.0.1", 0});
  const auto start = clock.Now();
  const Sighting seen = LookAt(silent->address, seconds(1));
  EXPECT_EQ(seen.what, Sight::kSilent) << Message(seen);
  EXPECT_LT(clock.Now() - start, seconds(10));
}

TEST_F(GrpcTest, EndsADialWhereNothingIsSaid) {
  auto silent = sys::Listen({"127.0.0.1", 0});
  std::optional<Cause> cause;
  transport->Dial(silent->address, Deadline::After(milliseconds(200)),
                  [&](const Result<std::unique_ptr<Link>>& link) {
                    cause = link ? Cause::kInternalError : link.error().cause();
                  });
  ASSERT_TRUE(testing::RunUntil(*loop, [&] { return cause.has_value(); }));
  EXPECT_EQ(cause, Cause::kNetWrongEndpoint);
}

TEST_F(GrpcTest, ResolvesNoNameThatDoesNotExist) {
  EXPECT_EQ(LookAt({"no-such-host.invalid", 1}).what, Sight::kUnresolved);
}

TEST_F(GrpcTest, NeverAsksAProxy) {
  const Answering proxy("HTTP/1.1 403 Forbidden\r\n\r\n");
  const std::string url = "http://" + muster::ToText(proxy.address());
  setenv("http_proxy", url.c_str(), 1);
  auto listener =
      transport->Listen({"127.0.0.1", 0}, HelloOf(Workers(1), 0), nullptr);
  EXPECT_EQ(LookAt((*listener)->address()).what, Sight::kAgent);
  unsetenv("http_proxy");
}

TEST_F(GrpcTest, NeitherListensNorSpeaksOffTheLoopbackInterface) {
  const Address address{"192.0.2.1", 4000};
  auto listener = transport->Listen(address, HelloOf(Workers(1), 0), nullptr);
  ASSERT_FALSE(listener);
  EXPECT_EQ(listener.error().cause(), Cause::kUsageInvalid);
  EXPECT_NE(listener.error().message().find("clear text"), std::string::npos);
  std::optional<Cause> cause;
  transport->Dial(address, Deadline::After(seconds(1)),
                  [&](const Result<std::unique_ptr<Link>>& link) {
                    cause = link ? Cause::kInternalError : link.error().cause();
                  });
  ASSERT_TRUE(testing::RunUntil(*loop, [&] { return cause.has_value(); }));
  EXPECT_EQ(cause, Cause::kUsageInvalid);
}

TEST_F(GrpcTest, ShowsAReachableAddressOffTheLoopbackInterfaceAsClosed) {
  for (const auto& host : sys::RealEnv().LocalAddresses()) {
    auto there = sys::Listen({host, 0});
    if (there && !there->address.IsLoopback()) {
      EXPECT_EQ(LookAt(there->address).what, Sight::kClosed) << host;
      return;
    }
  }
  GTEST_SKIP() << "this host has the loopback interface only";
}

TEST_F(GrpcTest, SurvivesGarbageOnItsPort) {
  auto listener =
      transport->Listen({"127.0.0.1", 0}, HelloOf(Workers(1), 0), nullptr);
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n\r\n"), std::string(1000, '\0'),
        std::string("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n") +
            std::string(64, '\xff')}) {
    auto fd = sys::Dial((*listener)->address(), Deadline::After(seconds(1)));
    ASSERT_TRUE(fd);
    (void)sys::SendAll(fd->get(), bytes, {}, Deadline::After(seconds(1)))
        .has_value();
  }
  EXPECT_EQ(LookAt((*listener)->address()).what, Sight::kAgent);
}

// A whole roll call over gRPC: the coordinator and two members at free ports.
class GrpcRollCall : public GrpcTest {
 protected:
  GrpcRollCall() : cluster(Workers(3)) {
    for (std::size_t rank = 0; rank < 3; ++rank) {
      held.push_back(std::move(*sys::Listen({"127.0.0.1", 0})));
      cluster.members[rank].address->value = held[rank].address;
    }
    held.clear();
    Gathering::Options options;
    options.identity = HelloOf(cluster, 0);
    gathering = Gathering::Make(*loop, clock, transport.get(), cluster,
                                std::move(options));
    auto [here, there] = InProcessLinks(*loop);
    Answer(std::move(there), HelloOf(cluster, 0));
    gathering->AttendHere(std::move(here), HelloOf(cluster, 0));
    coordinator = std::move(*transport->Listen(
        At(0), HelloOf(cluster, 0), [this](std::unique_ptr<Link> link) {
          gathering->Attend(std::move(link));
        }));
  }

  Address At(std::size_t rank) const {
    return cluster.members[rank].address->value;
  }
  void Answer(std::unique_ptr<Link> link, Hello hello) {
    links.push_back(std::move(link));
    links.back()->OnMessage(
        [raw = links.back().get(), hello](const Envelope& message) mutable {
          if (message.kind == kCall) {
            hello.attempt = Json::parse(message.body)["attempt"];
            raw->Send(HelloMessage(kHello, hello));
          }
        });
  }
  void Attend(const Hello& hello) {
    Attending::Options options;
    options.coordinator = At(0);
    options.identity = hello;
    options.on_done = [this, hello](Result<std::unique_ptr<Link>> link) {
      if (link) {
        Answer(*std::move(link), hello);
      } else {
        refused = link.error();
      }
    };
    attending.push_back(
        Attending::Start(*loop, clock, *transport, std::move(options)));
  }
  // The errors at the end, or "complete".
  std::string Call(Duration limit, int attempt = 1) {
    std::optional<Gathered> gathered;
    gathering->Call(attempt, Deadline::After(limit), nullptr,
                    [&](Gathered result) { gathered = std::move(result); });
    if (!testing::RunUntil(
            *loop, [&] { return gathered.has_value(); }, limit + seconds(5))) {
      return "never";
    }
    std::string text = gathered->complete() ? "complete" : "";
    for (const Error& error : gathered->errors) {
      text += error.ToText() + "\n";
    }
    return text;
  }

  Cluster cluster;
  std::vector<sys::Listening> held;
  std::unique_ptr<Listener> coordinator;  // goes after the links
  std::vector<std::unique_ptr<Link>> links;
  std::unique_ptr<Gathering> gathering;
  std::vector<std::unique_ptr<Attending>> attending;
  std::optional<Error> refused;
};

using ::testing::HasSubstr;

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
  EXPECT_THAT(errors, HasSubstr("stays silent"));
  EXPECT_THAT(errors, HasSubstr("rendezvous-timeout: rank 1"));
  EXPECT_THAT(errors, HasSubstr("connection refused"));
}

TEST_F(GrpcRollCall, NamesAnotherMemberAtAnAddress) {
  auto wrong = transport->Listen(At(1), HelloOf(cluster, 2), nullptr);
  Attend(HelloOf(cluster, 2));
  EXPECT_THAT(Call(milliseconds(1500)),
              HasSubstr("rank 2 (host h2, pid 102) answers there"));
}

TEST_F(GrpcRollCall, FailsAtOnceWhenTwoClaimOneRank) {
  Attend(HelloOf(cluster, 1));
  auto twin = HelloOf(cluster, 1);
  twin.pid = 4711;
  Attend(twin);
  const auto start = clock.Now();
  EXPECT_THAT(Call(seconds(30)), HasSubstr("duplicate-identity: two agents"));
  EXPECT_LT(clock.Now() - start, seconds(10));
  ASSERT_TRUE(testing::RunUntil(*loop, [this] { return refused.has_value(); }));
  EXPECT_EQ(refused->cause(), Cause::kDuplicateIdentity);
}

TEST_F(GrpcRollCall, FailsAtOnceForAnotherVersion) {
  auto other = HelloOf(cluster, 1);
  other.version = "0.9.0";
  Attend(other);
  EXPECT_THAT(Call(seconds(30)), HasSubstr("ver-peer-mismatch: rank 1"));
  ASSERT_TRUE(testing::RunUntil(*loop, [this] { return refused.has_value(); }));
  EXPECT_EQ(refused->cause(), Cause::kVerPeerMismatch);
}

}  // namespace
}  // namespace muster::connect
