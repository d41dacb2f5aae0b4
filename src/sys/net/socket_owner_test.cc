// SPDX-License-Identifier: Apache-2.0
#include "sys/net/socket_owner.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/net/net.h"
#include "sys/net/tcp.h"

namespace muster::sys {
namespace {

constexpr auto kSoon = std::chrono::seconds(10);

TEST(SocketRows, ReadsWhatTheKernelPrints) {
  const auto rows = SocketRows(
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when "
      "retrnsmt   uid  timeout inode\n"
      "   0: 0100007F:2103 00000000:0000 0A 00000000:00000000 00:00000000 "
      "00000000 65534        0 4711 1 0000000000000000 100 0 0 10 0\n"
      "   1: 0100007F:2104 0100007F:2103 01 00000000:00000000 00:00000000 "
      "00000000     0        0 0 1 0000000000000000 20 4 0 10 -1\n"
      "   2: nonsense\n");
  ASSERT_EQ(rows.size(), 1U);  // not of the one that nobody holds
  EXPECT_EQ(rows[0].local_port, 0x2103);
  EXPECT_TRUE(rows[0].listens);
  EXPECT_EQ(rows[0].user, 65534U);
}

// A connection to a listener of ours, dialled by a child as this user.
std::optional<uid_t> UserOfCaller(uid_t user) {
  auto listening = Listen({.host = "127.0.0.1", .port = 0}).value();
  const pid_t child = fork();
  if (child == 0) {
    if (user != geteuid() && seteuid(user) != 0) {
      _exit(1);
    }
    const auto fd =
        Dial(listening.address, Deadline::After(std::chrono::seconds(5)));
    pause();
    _exit(fd ? 0 : 1);
  }
  std::optional<uid_t> seen;
  const Deadline deadline = Deadline::After(kSoon);
  for (auto accepted = AcceptNow(listening.fd.get());;
       accepted = AcceptNow(listening.fd.get())) {
    if (accepted) {
      seen = PeerUser(accepted->fd.get());
    }
    if (accepted || deadline.Expired()) {
      break;
    }
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  return seen;
}

TEST(PeerUser, IsTheUserOfTheProcessThatDialled) {
  EXPECT_EQ(UserOfCaller(geteuid()), geteuid());
}

TEST(PeerUser, TellsUsersApart) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can become another user";
  }
  EXPECT_EQ(UserOfCaller(65534), 65534U);
}

TEST(ListeningUser, IsTheUserOfTheListener) {
  const auto listening = Listen({.host = "127.0.0.1", .port = 0}).value();
  EXPECT_EQ(ListeningUser(listening.address.port), geteuid());
  EXPECT_EQ(ListeningUser(1), std::nullopt);
}

}  // namespace
}  // namespace muster::sys
