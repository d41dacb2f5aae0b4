// SPDX-License-Identifier: Apache-2.0
#include "sys/net/acceptor.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <atomic>
#include <vector>

#include "base/mutex.h"

namespace muster::sys {
namespace {

using std::chrono::seconds;

// Keeps what it is given.
class Keeping {
 public:
  void Take(Fd fd) {
    MutexLock lock(mutex_);
    kept_.push_back(std::move(fd));
    changed_.NotifyAll();
  }
  bool HasSoon(std::size_t count) {
    const auto deadline = Deadline::After(seconds(20));
    MutexLock lock(mutex_);
    while (kept_.size() < count) {
      if (!changed_.WaitUntil(mutex_, deadline.when())) {
        return kept_.size() >= count;
      }
    }
    return true;
  }
  std::size_t Clear() {
    MutexLock lock(mutex_);
    const auto count = kept_.size();
    kept_.clear();
    return count;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  std::vector<Fd> kept_ MUSTER_GUARDED_BY(mutex_);
};

class AcceptorTest : public ::testing::Test {
 protected:
  AcceptorTest()
      : acceptor(*Listen({"127.0.0.1", 0}),
                 [this](Fd fd) { kept.Take(std::move(fd)); }) {}
  Result<Fd> Connect() {
    return Dial(acceptor.address(), Deadline::After(seconds(20)));
  }

  Keeping kept;
  Acceptor acceptor;
};

// True when the other side has closed it, within 20 s.
bool IsClosed(const Fd& fd) {
  pollfd ready{fd.get(), POLLIN, 0};
  char byte = 0;
  return poll(&ready, 1, 20000) == 1 && recv(fd.get(), &byte, 1, 0) == 0;
}

TEST_F(AcceptorTest, GivesConnectionsAway) {
  const auto one = Connect();
  const auto other = Connect();
  EXPECT_TRUE(one && other);
  EXPECT_TRUE(kept.HasSoon(2));
}

TEST_F(AcceptorTest, EndsWhileNobodyComes) {
  // By its destructor, which this test waits for.
  EXPECT_NE(acceptor.address().port, 0);
}

TEST_F(AcceptorTest, KeepsDescriptorsFreeAndGoesOnAfterwards) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit few = before;
  few.rlim_cur = 128;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<Fd> held;
  bool refused = false;
  for (int i = 0; i < 200; ++i) {
    auto fd = Connect();
    if (!fd) {
      break;  // of our own end of the connections, too, there are none left
    }
    if (!refused && fd->get() >= 112) {
      // It has said why by then, and what checks a virtual call needs a file.
      refused = IsClosed(*fd);
      EXPECT_TRUE(refused);
    }
    held.push_back(*std::move(fd));
  }
  EXPECT_TRUE(refused);
  EXPECT_GT(held.size(), 32U);
  held.clear();
  EXPECT_LT(kept.Clear(), 96U);
  EXPECT_TRUE(Connect());
  EXPECT_TRUE(kept.HasSoon(1));
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace
}  // namespace muster::sys
