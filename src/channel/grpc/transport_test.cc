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
#include "channel/transport_conformance.h"
#include "sys/env.h"
#include "sys/net/net.h"

namespace muster::channel {
namespace {

using channel::testing::HelloOf;
using channel::testing::Workers;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Two hosts: in clear text, or the coordinator and a member with one token.
struct GrpcHosts : TransportUnderTest {
  GrpcHosts(sys::Loop& loop, bool secured)
      : first(*MakeGrpcTransport(
            loop, clock,
            secured ? *CertificateStore::OfCoordinator(Token(), "R", clock)
                    : nullptr)),
        second(*MakeGrpcTransport(
            loop, clock,
            secured ? *CertificateStore::OfMember(Token(), 1, clock)
                    : nullptr)) {}
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

  ProbeResult Probe(const Address& address, Duration limit = seconds(2)) {
    std::optional<ProbeResult> seen;
    transport->Identify(
        address, Deadline::After(limit),
        [&](ProbeResult sighting) { seen = std::move(sighting); });
    EXPECT_TRUE(channel::testing::RunUntil(
        *loop, [&] { return seen.has_value(); }, seconds(9)));
    return seen.value_or(ProbeResult{});
  }
  std::string Message(const ProbeResult& seen) {
    return seen.error ? seen.error->message() : "an agent";
  }

  std::unique_ptr<sys::Loop> loop;
  sys::RealClock clock;
  std::unique_ptr<Transport> transport;
};

TEST_F(GrpcTest, NamesAnHttpServer) {
  const Answering http("HTTP/1.0 200 OK\r\n\r\nhello");
  const ProbeResult seen = Probe(http.address());
  EXPECT_EQ(seen.what, ProbeOutcome::kForeign);
  EXPECT_EQ(Message(seen),
            "an HTTP server (`HTTP/1.0 200 OK`) responds at this address, not "
            "muster");
}

TEST_F(GrpcTest, NamesAGrpcServerOfAnotherService) {
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(),
                           &port);
  grpc::CallbackGenericService nothing;
  builder.RegisterCallbackGenericService(&nothing);
  const auto server = builder.BuildAndStart();
  const ProbeResult seen =
      Probe({"127.0.0.1", static_cast<std::uint16_t>(port)});
  EXPECT_EQ(seen.what, ProbeOutcome::kForeign);
  EXPECT_NE(Message(seen).find("UNIMPLEMENTED"), std::string::npos)
      << Message(seen);
}

TEST_F(GrpcTest, EndsAtTheDeadlineWhereNothingIsSaid) {
  auto silent = sys::Listen({"127.0.0.1", 0});
  const auto start = clock.Now();
  const ProbeResult seen = Probe(silent->address, seconds(1));
  EXPECT_EQ(seen.what, ProbeOutcome::kSilent) << Message(seen);
  EXPECT_LT(clock.Now() - start, seconds(10));
}

TEST_F(GrpcTest, EndsADialWhereNothingIsSaid) {
  auto silent = sys::Listen({"127.0.0.1", 0});
  std::optional<Cause> cause;
  transport->Dial(silent->address, Deadline::After(milliseconds(200)),
                  [&](const Result<std::unique_ptr<Link>>& link) {
                    cause = link ? Cause::kInternalError : link.error().cause();
                  });
  ASSERT_TRUE(
      channel::testing::RunUntil(*loop, [&] { return cause.has_value(); }));
  EXPECT_EQ(cause, Cause::kNetWrongEndpoint);
}

TEST_F(GrpcTest, ResolvesNoNameThatDoesNotExist) {
  EXPECT_EQ(Probe({"no-such-host.invalid", 1}).what, ProbeOutcome::kUnresolved);
}

TEST_F(GrpcTest, NeverAsksAProxy) {
  const Answering proxy("HTTP/1.1 403 Forbidden\r\n\r\n");
  const std::string url = "http://" + muster::ToString(proxy.address());
  setenv("http_proxy", url.c_str(), 1);
  auto listener =
      transport->Listen({"127.0.0.1", 0}, HelloOf(Workers(1), 0), nullptr);
  EXPECT_EQ(Probe((*listener)->address()).what, ProbeOutcome::kAgent);
  unsetenv("http_proxy");
}

TEST_F(GrpcTest, NeitherListensNorSpeaksOffTheLoopbackInterface) {
  const Address address{"192.0.2.1", 4000};
  auto listener = transport->Listen(address, HelloOf(Workers(1), 0), nullptr);
  ASSERT_FALSE(listener);
  EXPECT_EQ(listener.error().cause(), Cause::kUsageInvalid);
  EXPECT_NE(listener.error().message().find("unencrypted connections"),
            std::string::npos);
  std::optional<Cause> cause;
  transport->Dial(address, Deadline::After(seconds(1)),
                  [&](const Result<std::unique_ptr<Link>>& link) {
                    cause = link ? Cause::kInternalError : link.error().cause();
                  });
  ASSERT_TRUE(
      channel::testing::RunUntil(*loop, [&] { return cause.has_value(); }));
  EXPECT_EQ(cause, Cause::kUsageInvalid);
}

TEST_F(GrpcTest, ShowsAReachableAddressOffTheLoopbackInterfaceAsClosed) {
  for (const auto& host : sys::RealEnv().LocalAddresses()) {
    auto there = sys::Listen({host, 0});
    if (there && !there->address.IsLoopback()) {
      EXPECT_EQ(Probe(there->address).what, ProbeOutcome::kClosed) << host;
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
  EXPECT_EQ(Probe((*listener)->address()).what, ProbeOutcome::kAgent);
}

}  // namespace
}  // namespace muster::channel
