// SPDX-License-Identifier: Apache-2.0
#include "channel/tcp_probe.h"

#include <gtest/gtest.h>

#include <thread>

#include "channel/testing.h"
#include "sys/net/net.h"

namespace muster::channel {
namespace {

using std::chrono::seconds;

TEST(NameOfAnswer, KnowsTheProtocolsThatAreMetOnWrongPorts) {
  EXPECT_EQ(NameOfAnswer("HTTP/1.1 404 Not Found\r\nServer: x"),
            "an HTTP server (`HTTP/1.1 404 Not Found`)");
  EXPECT_EQ(NameOfAnswer("SSH-2.0-OpenSSH_9.2\r\n"),
            "an SSH server (`SSH-2.0-OpenSSH_9.2`)");
  EXPECT_EQ(NameOfAnswer("\x15\x03\x01"), "a TLS server");
  EXPECT_EQ(NameOfAnswer({"\0\0\x12\x04\0\0\0\0\0\0", 10}),
            "an HTTP/2 or gRPC server");
  EXPECT_EQ(NameOfAnswer("-ERR wrong number of arguments\r\n"),
            "something (`-ERR wrong number of arguments`)");
  EXPECT_EQ(NameOfAnswer("\x1b[2J"), NameOfAnswer("\x1b[2J\r\n"));
  EXPECT_EQ(NameOfAnswer("\x1b[2J").find('\x1b'), std::string::npos);
}

TEST(Look, NamesADeadPort) {
  Address address;
  {
    auto listening = sys::Listen({"127.0.0.1", 0});
    address = listening->address;
  }
  const auto seen = Reach(address, Deadline::After(seconds(5))).nobody;
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->what, Sight::kRefused);
  EXPECT_FALSE(seen->error->evidence().empty());
}

TEST(Look, NamesAHostWithoutAddress) {
  const auto seen =
      Reach({"no-such-host.invalid", 1}, Deadline::After(seconds(5))).nobody;
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->what, Sight::kUnresolved) << ToText(seen->what);
}

TEST(Look, TellsTheAddressBehindAName) {
  auto listening = sys::Listen({"127.0.0.1", 0});
  const Address by_name{"localhost", listening->address.port};
  const auto reached = Reach(by_name, Deadline::After(seconds(20)));
  ASSERT_FALSE(reached.nobody) << reached.nobody->error->ToText();
  EXPECT_EQ(reached.at, listening->address);
}

TEST(Look, NamesASilentAcceptorInTime) {
  auto listening = sys::Listen({"127.0.0.1", 0});
  EXPECT_FALSE(Reach(listening->address, Deadline::After(seconds(5))).nobody);
  const sys::RealClock clock;
  const auto seen =
      LookCloser(listening->address, Deadline::After(seconds(5)), clock);
  EXPECT_EQ(seen.what, Sight::kSilent);
  EXPECT_EQ(seen.error->cause(), Cause::kNetWrongEndpoint);
}

TEST(Look, EndsAtItsDeadline) {
  auto listening = sys::Listen({"127.0.0.1", 0});
  const sys::RealClock clock;
  const auto start = clock.Now();
  LookCloser(listening->address, Deadline::After(std::chrono::milliseconds(20)),
             clock);
  EXPECT_LT(clock.Now() - start, seconds(10));
}

}  // namespace
}  // namespace muster::channel
