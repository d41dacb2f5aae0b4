// SPDX-License-Identifier: Apache-2.0
#include "sys/net/net.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <set>
#include <thread>

#include "sys/net/stream.h"

namespace muster::sys {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

Deadline Soon() {
  return Deadline::After(seconds(10));
}
Address Local(std::uint16_t port) {
  return {.host = "127.0.0.1", .port = port};
}

TEST(Listen, TakesAnyPortAndTellsWhich) {
  const auto listening = Listen(Local(0));
  ASSERT_TRUE(listening);
  EXPECT_GT(listening->address.port, 0);
  EXPECT_TRUE(Dial(listening->address, Soon()));
}

TEST(Listen, NamesWhoHoldsAPort) {
  const auto first = Listen(Local(0));
  const auto second = Listen(first->address);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().cause(), Cause::kNetPortInUse);
  EXPECT_NE(second.error().message().find("process " +
                                          std::to_string(getpid()) + " ("),
            std::string::npos)
      << second.error().message();
}

TEST(Listen, RefusesAnAddressOfAnotherMachine) {
  const auto listening = Listen({.host = "192.0.2.1", .port = 0});
  ASSERT_FALSE(listening);
  EXPECT_EQ(listening.error().cause(), Cause::kNetWrongEndpoint);
}

TEST(HoldPorts, HoldsDifferentPortsThatNobodyElseGets) {
  const auto held = HoldPorts("", 4, 0, 0);
  ASSERT_TRUE(held);
  std::set<std::uint16_t> ports;
  for (const auto& one : *held) {
    ports.insert(one.address.port);
    EXPECT_FALSE(Listen(Local(one.address.port)));
    EXPECT_FALSE(HoldPorts("", 1, one.address.port, one.address.port));
  }
  EXPECT_EQ(ports.size(), 4U);
}

TEST(HoldPorts, GivesAPortBackAtOnce) {
  auto held = HoldPorts("127.0.0.1", 1, 0, 0);
  const Address address = held->front().address;
  EXPECT_EQ(Dial(address, Soon()).error().cause(), Cause::kNetWrongEndpoint);
  held->clear();
  EXPECT_TRUE(Listen(address));
}

TEST(HoldPorts, NamesARangeThatIsUsedUp) {
  const auto taken = Listen(Local(0));
  const auto port = taken->address.port;
  EXPECT_EQ(HoldPorts("127.0.0.1", 1, port, port).error().cause(),
            Cause::kNetPortInUse);
  const auto held =
      HoldPorts("127.0.0.1", 3, port, static_cast<std::uint16_t>(port + 1));
  ASSERT_FALSE(held);
  EXPECT_NE(held.error().message().find("of 3 ports are free in the range " +
                                        std::to_string(port)),
            std::string::npos);
  EXPECT_EQ(HoldPorts("", 1, 2, 1).error().cause(), Cause::kUsageInvalid);
}

TEST(Dial, TellsRefused) {
  const auto port = HoldPorts("127.0.0.1", 1, 0, 0)->front().address.port;
  const auto fd = Dial(Local(port), Soon());
  ASSERT_FALSE(fd);
  EXPECT_EQ(fd.error().cause(), Cause::kNetWrongEndpoint);
  ASSERT_EQ(fd.error().evidence().size(), 1U);
  EXPECT_EQ(fd.error().evidence()[0].name, "connect.refused");
  EXPECT_EQ(fd.error().evidence()[0].Text("errno"), "ECONNREFUSED");
}

TEST(Dial, TellsNoAnswer) {
  // A full backlog drops further SYNs, as a filter does.
  auto listening = Listen(Local(0));
  ASSERT_EQ(listen(listening->fd.get(), 0), 0);
  std::vector<Fd> waiting;
  Error seen(Cause::kInternalError, "always accepted");
  for (int i = 0; i < 8; ++i) {
    auto fd = Dial(listening->address, Deadline::After(milliseconds(50)));
    if (!fd) {
      seen = fd.error();
      break;
    }
    waiting.push_back(std::move(*fd));
  }
  EXPECT_EQ(seen.cause(), Cause::kNetTimeoutFiltered) << seen.ToText();
  EXPECT_EQ(seen.evidence().at(0).name, "connect.timeout");
}

TEST(Dial, TellsANameThatDoesNotResolve) {
  const auto fd = Dial({.host = "no-such-host.invalid", .port = 1}, Soon());
  ASSERT_FALSE(fd);
  EXPECT_EQ(fd.error().cause(), Cause::kNetNameResolution);
  EXPECT_EQ(fd.error().evidence().at(0).name, "name.unresolved");
}

TEST(Dial, TriesEveryNumberOfAName) {
  const auto listening = Listen(Local(0));
  EXPECT_TRUE(
      Dial({.host = "localhost", .port = listening->address.port}, Soon()));
}

class StreamTest : public testing::Test {
 protected:
  std::pair<Fd, Fd> ends = SocketPair().value();
  std::string buffer;
};

TEST_F(StreamTest, CarriesDescriptorsBesideBytes) {
  auto pipe = MakePipe().value();
  const int sent[] = {pipe.write.get()};
  ASSERT_TRUE(SendAll(ends.first.get(), "hello", sent, Soon()));
  std::vector<Fd> descriptors;
  ASSERT_TRUE(ReceiveSome(ends.second.get(), buffer, &descriptors, Soon()));
  EXPECT_EQ(buffer, "hello");
  ASSERT_EQ(descriptors.size(), 1U);
  EXPECT_EQ(*WriteNow(descriptors[0].get(), "x"), 1U);
  EXPECT_EQ(*ReadNow(pipe.read.get(), buffer), Arrived::kSome);
  EXPECT_EQ(buffer, "hellox");
}

TEST_F(StreamTest, ClosesDescriptorsThatNobodyWants) {
  auto pipe = MakePipe().value();
  const int sent[] = {pipe.write.get()};
  ASSERT_TRUE(SendAll(ends.first.get(), "x", sent, Soon()));
  pipe.write.Close();
  ASSERT_TRUE(ReceiveSome(ends.second.get(), buffer, nullptr, Soon()));
  EXPECT_EQ(*ReadNow(pipe.read.get(), buffer), Arrived::kEnd);
}

TEST_F(StreamTest, SendsMoreThanTheSocketHolds) {
  const std::string much(4 << 20, 'x');
  std::jthread reader([&] {
    while (buffer.size() < much.size()) {
      ASSERT_TRUE(ReceiveSome(ends.second.get(), buffer, nullptr, Soon()));
    }
  });
  EXPECT_TRUE(SendAll(ends.first.get(), much, {}, Soon()));
  reader.join();
  EXPECT_EQ(buffer.size(), much.size());
}

TEST_F(StreamTest, EndsAtTheDeadlineWhenTheOtherSideSaysNothing) {
  const auto brief = Deadline::After(milliseconds(1));
  EXPECT_EQ(
      ReceiveSome(ends.first.get(), buffer, nullptr, brief).error().cause(),
      Cause::kDeadlineExceeded);
  const std::string much(4 << 20, 'x');
  EXPECT_EQ(SendAll(ends.first.get(), much, {}, brief).error().cause(),
            Cause::kDeadlineExceeded);
}

TEST_F(StreamTest, TellsThatTheOtherSideIsGone) {
  ends.second.Close();
  EXPECT_EQ(
      ReceiveSome(ends.first.get(), buffer, nullptr, Soon()).error().cause(),
      Cause::kPeerDied);
  EXPECT_EQ(SendAll(ends.first.get(), "x", {}, Soon()).error().cause(),
            Cause::kPeerDied);
}

TEST(Pipe, NeverWaits) {
  auto pipe = MakePipe().value();
  std::string buffer;
  EXPECT_EQ(*ReadNow(pipe.read.get(), buffer), Arrived::kNothing);
  auto writer = OpenWithoutWaiting(pipe.write.get());
  ASSERT_TRUE(writer);
  const std::string much(1 << 20, 'x');
  std::size_t total = 0;
  while (const std::size_t some = WriteNow(writer->get(), much).value()) {
    total += some;
  }
  EXPECT_GT(total, 0U);
  EXPECT_LT(total, much.size());
  pipe.write.Close();
  writer->Close();
  while (*ReadNow(pipe.read.get(), buffer) == Arrived::kSome) {
  }
  EXPECT_EQ(buffer.size(), total);
}

// Ends a child that waits where it must not.
constexpr unsigned kPatience = 10;

// The exit code of `play` in a process of its own; -1: it was ended.
int CodeOf(const std::function<int()>& play) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kPatience);
    _exit(play());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// Fills the pipe, and wants it full then; 0: so it was.
int Fill(int fd, std::size_t limit) {
  const std::string much(1 << 20, 'x');
  std::size_t total = 0;
  while (const std::size_t some = WriteNow(fd, much).value()) {
    total += some;
  }
  return total > 0 && total <= limit ? 0 : 1;
}

TEST(Pipe, NeverWaitsWhereItIsOfTheBlockingKind) {
  auto pipe = MakePipe().value();
  EXPECT_EQ(CodeOf([&] { return Fill(pipe.write.get(), 1 << 20); }), 0);
  std::string buffer;
  ASSERT_EQ(*ReadNow(pipe.read.get(), buffer), Arrived::kSome);
  EXPECT_EQ(CodeOf([&] { return Fill(pipe.write.get(), buffer.size()); }), 0);
}

TEST(Pipe, NeverWaitsWhereItIsAnotherUsers) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can become another user";
  }
  auto pipe = MakePipe().value();
  EXPECT_EQ(CodeOf([&] {
              constexpr uid_t kNobody = 65534;
              if (setgid(kNobody) != 0 || setuid(kNobody) != 0) {
                return 2;
              }
              const auto writer = OpenWithoutWaiting(pipe.write.get());
              return writer ? Fill(writer->get(), 1 << 20) : 3;
            }),
            0);
}

}  // namespace
}  // namespace muster::sys
