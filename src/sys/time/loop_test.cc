// SPDX-License-Identifier: Apache-2.0
#include "sys/time/loop.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <thread>

#include "sys/file/fd.h"

namespace muster::sys {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;

class LoopTest : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
    read_end = Fd(ends[0]);
    write_end = Fd(ends[1]);
  }
  void Fill(std::string_view text) const {
    ASSERT_EQ(write(write_end.get(), text.data(), text.size()),
              static_cast<ssize_t>(text.size()));
  }

  std::unique_ptr<Loop> loop = Loop::Make().value();
  Fd read_end;
  Fd write_end;
};

TEST_F(LoopTest, RunsPostedTasksInOrder) {
  std::string seen;
  loop->Post([&] { seen += "a"; });
  loop->Post([&] { loop->Post([&] { seen += "c", loop->Quit(); }); });
  loop->Post([&] { seen += "b"; });
  loop->Run();
  EXPECT_EQ(seen, "abc");
}

TEST_F(LoopTest, IsWokenByAnotherThread) {
  bool in_loop = false;
  std::jthread other([&] {
    EXPECT_FALSE(loop->InLoop());
    loop->Post([&] { in_loop = loop->InLoop(), loop->Quit(); });
  });
  loop->Run();
  EXPECT_TRUE(in_loop);
}

TEST_F(LoopTest, RunsTimersByTheirTime) {
  std::string seen;
  auto late = loop->After(milliseconds(3), [&] { seen += "b", loop->Quit(); });
  auto soon = loop->After(milliseconds(1), [&] { seen += "a"; });
  auto never = loop->After(hours(1), [&] { seen += "x"; });
  loop->Run();
  EXPECT_EQ(seen, "ab");
  EXPECT_FALSE(soon.active());
  EXPECT_TRUE(never.active());
}

TEST_F(LoopTest, RepeatsUntilCancelledByItself) {
  int times = 0;
  Loop::Handle every;
  every = loop->Every(milliseconds(1), [&] {
    if (++times == 3) {
      every.Cancel();
      loop->Quit();
    }
  });
  loop->Run();
  EXPECT_EQ(times, 3);
  EXPECT_FALSE(every.active());
}

TEST_F(LoopTest, ATimerThatArmsItselfDoesNotStarveOthers) {
  Loop::Handle again;
  std::function<void()> arm = [&] {
    again = loop->After(Duration::zero(), arm);
  };
  arm();
  auto watch = loop->OnReadable(read_end.get(), [&] { loop->Quit(); });
  Fill("x");
  loop->Run();
}

TEST_F(LoopTest, TellsReadableUntilItIsRead) {
  int times = 0;
  auto watch = loop->OnReadable(read_end.get(), [&] {
    char c = 0;
    ASSERT_EQ(read(read_end.get(), &c, 1), 1);
    if (++times == 2) {
      loop->Quit();
    }
  });
  Fill("xy");
  loop->Run();
  EXPECT_EQ(times, 2);
}

TEST_F(LoopTest, TellsAHangUpToTheReader) {
  auto watch = loop->OnReadable(read_end.get(), [&] { loop->Quit(); });
  write_end.Close();
  loop->Run();
}

TEST_F(LoopTest, WatchesBothWaysOnOneDescriptor) {
  Fd both(open("/dev/ptmx", O_RDWR | O_CLOEXEC | O_NOCTTY));
  if (!both) {
    GTEST_SKIP() << "no pseudo-terminal here";
  }
  auto reads = loop->OnReadable(both.get(), [] {});
  auto writes = loop->OnWritable(both.get(), [&] { loop->Quit(); });
  loop->Run();
  writes.Cancel();
  EXPECT_TRUE(reads.active());
}

TEST_F(LoopTest, DoesNotCallWhatAnEarlierCallbackCancelled) {
  Fd copy(dup(read_end.get()));
  int calls = 0;
  Loop::Handle first;
  Loop::Handle second;
  first = loop->OnReadable(read_end.get(), [&] { ++calls, second.Cancel(); });
  second = loop->OnReadable(copy.get(), [&] { ++calls, first.Cancel(); });
  Fill("x");
  loop->Post([&] { loop->Quit(); });
  loop->Run();
  EXPECT_EQ(calls, 1);
}

TEST_F(LoopTest, TreatsAFileAsAlwaysReady) {
  Fd file(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  int calls = 0;
  auto watch = loop->OnReadable(file.get(), [&] {
    if (++calls == 2) {
      loop->Quit();
    }
  });
  loop->Run();
  EXPECT_EQ(calls, 2);
}

TEST_F(LoopTest, AHandleMayOutliveTheLoop) {
  auto timer = loop->After(hours(1), [] {});
  auto watch = loop->OnReadable(read_end.get(), [] {});
  loop.reset();
  EXPECT_FALSE(timer.active());
  watch.Cancel();
}

TEST_F(LoopTest, ACallbackMayDestroyItsOwnHandle) {
  auto handle = std::make_unique<Loop::Handle>();
  auto kept = std::make_shared<int>(7);
  *handle = loop->OnReadable(read_end.get(), [&, kept] {
    handle.reset();
    EXPECT_EQ(*kept, 7);
    loop->Quit();
  });
  Fill("x");
  loop->Run();
  EXPECT_EQ(kept.use_count(), 1);
}

TEST_F(LoopTest, RunsAgainAfterQuit) {
  int runs = 0;
  for (int i = 0; i < 2; ++i) {
    loop->Post([&] { ++runs, loop->Quit(); });
    loop->Run();
  }
  EXPECT_EQ(runs, 2);
}

}  // namespace
}  // namespace muster::sys
