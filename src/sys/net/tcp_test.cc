// SPDX-License-Identifier: Apache-2.0
#include "sys/net/tcp.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <cerrno>

#include "sys/net/net.h"
#include "sys/net/stream.h"

namespace muster::sys {
namespace {

SocketAddress NumberOf(const Address& address) {
  return Resolve(address, Deadline::After(std::chrono::seconds(60)))->front();
}

// Until it is decided; the kernel decides about loopback by itself.
int Decide(const Dialling& dialling) {
  pollfd poll_fd{dialling.fd.get(), POLLOUT, 0};
  poll(&poll_fd, 1, -1);
  return DialOutcome(dialling.fd.get());
}

TEST(Tcp, ConnectsAndBothEndsNameEachOther) {
  auto listening = Listen({.host = "127.0.0.1"});
  ASSERT_TRUE(listening) << listening.error().ToText();
  const Dialling dialling = StartDial(NumberOf(listening->address));
  ASSERT_EQ(Decide(dialling), 0);
  const auto accepted = AcceptNow(listening->fd.get());
  ASSERT_TRUE(accepted);
  EXPECT_EQ(accepted->peer, OwnEnd(dialling.fd.get()));
  EXPECT_EQ(OtherEnd(dialling.fd.get()), ToText(listening->address));
  EXPECT_GT(StateOf(dialling.fd.get())->segment, 0U);
}

TEST(Tcp, ReceivesWhatCameAndTheEnd) {
  auto listening = Listen({.host = "127.0.0.1"});
  ASSERT_TRUE(listening) << listening.error().ToText();
  Dialling dialling = StartDial(NumberOf(listening->address));
  ASSERT_EQ(Decide(dialling), 0);
  auto accepted = AcceptNow(listening->fd.get());
  ASSERT_TRUE(accepted);
  std::string buffer;
  EXPECT_EQ(ReceiveTcp(accepted->fd.get(), buffer), Arrived::kNothing);
  ASSERT_TRUE(WriteNow(dialling.fd.get(), "hello"));
  EXPECT_EQ(ReceiveTcp(accepted->fd.get(), buffer), Arrived::kSome);
  EXPECT_EQ(buffer, "hello");
  dialling.fd.Close();
  EXPECT_EQ(ReceiveTcp(accepted->fd.get(), buffer), Arrived::kEnd);
}

TEST(Tcp, SaysThatNobodyListens) {
  Address free;
  {
    auto listening = Listen({.host = "127.0.0.1"});
    ASSERT_TRUE(listening) << listening.error().ToText();
    free = listening->address;
  }
  const Dialling dialling = StartDial(NumberOf(free));
  EXPECT_EQ(dialling.why == EINPROGRESS ? Decide(dialling) : dialling.why,
            ECONNREFUSED);
}

TEST(Tcp, AcceptsNothingWhereNobodyWaits) {
  auto listening = Listen({.host = "127.0.0.1"});
  ASSERT_TRUE(listening) << listening.error().ToText();
  EXPECT_FALSE(AcceptNow(listening->fd.get()));
}

}  // namespace
}  // namespace muster::sys
