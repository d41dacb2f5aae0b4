// SPDX-License-Identifier: Apache-2.0
#include "identify/tcp_connection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "identify/testing.h"

namespace muster::identify {
namespace {

using identify::testing::Answer;
using identify::testing::FakeServer;
using std::chrono::milliseconds;
using std::chrono::seconds;

// Every wait of a wire together ends within its bound; a slow machine is given
// more than four times as long.
constexpr seconds kBound{40};

TcpProbeConnection::Options Quick() {
  return {.connect = seconds(5),
          .greeting = milliseconds(200),
          .answer = milliseconds(300),
          .call = milliseconds(500),
          .all = seconds(8)};
}

ServerIdentity WhoIsAt(const Address& address,
                       const TcpProbeConnection::Options& options = Quick()) {
  auto wire = TcpProbeConnection::Connect(address, options);
  EXPECT_TRUE(wire.has_value());
  return wire ? Recognize(**wire) : ServerIdentity{};
}

TEST(TcpProbeConnection, SaysWhyNobodyIsThere) {
  Address address;
  {
    auto listening = sys::Listen({"127.0.0.1", 0});
    address = listening->address;
  }
  const auto refused = TcpProbeConnection::Connect(address, Quick());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().cause(), Cause::kNetWrongEndpoint);
  const auto unknown =
      TcpProbeConnection::Connect({"no-such-host.invalid", 1}, Quick());
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().cause(), Cause::kNetNameResolution);
}

TEST(TcpProbeConnection, KnowsTextProtocols) {
  FakeServer ssh(Answer("SSH-2.0-OpenSSH_9.2\r\n"));
  EXPECT_EQ(WhoIsAt(ssh.address()).protocol, "ssh");
  FakeServer http(Answer("HTTP/1.0 404 Not Found\r\n\r\n", true));
  EXPECT_EQ(WhoIsAt(http.address()).protocol, "http");
  FakeServer tls(Answer("\x15\x03\x03\x01\x01\x02\x32", true));
  EXPECT_EQ(WhoIsAt(tls.address()).protocol, "tls");
  FakeServer store(Answer(std::string("\x03\0\0\0\0\0\0\0", 8), true));
  EXPECT_EQ(WhoIsAt(store.address()).protocol, "tcpstore");
}

TEST(TcpProbeConnection, EndsWhereNothingIsSaid) {
  const Deadline bound = Deadline::After(kBound);
  FakeServer silent(
      [](sys::Fd fd, FakeServer& host) { host.kept.push_back(std::move(fd)); });
  EXPECT_EQ(WhoIsAt(silent.address()).protocol, "silent");
  EXPECT_FALSE(bound.Expired());
}

TEST(TcpProbeConnection, EndsWhereConnectionsAreNotAccepted) {
  const Deadline bound = Deadline::After(kBound);
  auto stopped = sys::Listen({"127.0.0.1", 0});
  EXPECT_EQ(WhoIsAt(stopped->address).protocol, "silent");
  EXPECT_FALSE(bound.Expired());
}

TEST(TcpProbeConnection, EndsWhereConnectionsAreClosedAtOnce) {
  FakeServer closing([](const sys::Fd&, FakeServer&) {});
  EXPECT_EQ(WhoIsAt(closing.address()).protocol, "closed");
}

TEST(TcpProbeConnection, EndsWhereBytesNeverEnd) {
  const Deadline bound = Deadline::After(kBound);
  FakeServer endless([](const sys::Fd& fd, FakeServer& host) {
    const std::string much(1 << 16, 'x');
    while (!host.ending &&
           sys::SendAll(fd.get(), much, {}, Deadline::After(milliseconds(100)))
               .has_value()) {
    }
  });
  EXPECT_EQ(WhoIsAt(endless.address()).protocol, "unknown");
  EXPECT_FALSE(bound.Expired());
}

TEST(TcpProbeConnection, EndsWhereAByteComesNowAndThen) {
  const Deadline bound = Deadline::After(kBound);
  FakeServer drip([](const sys::Fd& fd, FakeServer& host) {
    for (int i = 0; i < 100 && !host.ending; ++i) {
      if (!sys::SendAll(fd.get(), "M", {}, Deadline::After(seconds(1)))
               .has_value()) {
        return;
      }
      // The pace of the peer that is played.
      std::this_thread::sleep_for(milliseconds(50));
    }
  });
  EXPECT_EQ(WhoIsAt(drip.address()).protocol, "unknown");
  EXPECT_FALSE(bound.Expired());
}

TEST(TcpProbeConnection, WhatLooksLikeGrpcIsNotAskedWithoutIt) {
  FakeServer half(Answer(std::string("\0\0\0\x04\0\0\0\0\0", 9)));
  const auto server = WhoIsAt(half.address());
  EXPECT_EQ(server.protocol, "grpc");
  EXPECT_THAT(server.text, ::testing::HasSubstr("built without gRPC"));
}

// One that does not answer a call is not asked again and again.
TEST(TcpProbeConnection, AsksAMuteServerOnce) {
  struct Mute : channel::Caller {
    explicit Mute(int& count) : calls(count) {}
    channel::CallReply Call(const std::string&, const std::string&,
                            Deadline) override {
      ++calls;
      return {.code = channel::kCallDeadline};
    }
    int& calls;
  };
  int calls = 0;
  auto options = Quick();
  options.callers = [&](const Address&) {
    return std::make_unique<Mute>(calls);
  };
  FakeServer half(Answer(std::string("\0\0\0\x04\0\0\0\0\0", 9)));
  EXPECT_THAT(WhoIsAt(half.address(), options).text,
              ::testing::HasSubstr("does not respond to calls"));
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace muster::identify
