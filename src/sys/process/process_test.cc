// SPDX-License-Identifier: Apache-2.0
#include "sys/process/process.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>
#include <vector>

#include "sys/file/fd.h"
#include "sys/memory.h"

namespace muster::sys {
namespace {

TEST(ReadProcess, SeesThisProcess) {
  const auto self = ReadProcess(OwnPid());
  ASSERT_TRUE(self);
  EXPECT_EQ(self->state, 'R');
  EXPECT_GT(self->rss_bytes, 100'000U);
}

TEST(ReadProcess, SeesAStoppedOneAndThatItIsGone) {
  const pid_t child = fork();
  if (child == 0) {
    raise(SIGSTOP);
    _exit(0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  EXPECT_EQ(ReadProcess(child)->state, 'T');
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(ReadProcess(child), std::nullopt);
}

TEST(OwnMemoryOf, GrowsWithWhatIsWritten) {
  const std::uint64_t before = OwnMemoryOf(OwnPid()).value();
  const std::vector<char> more(64 << 20, 'x');
  EXPECT_GE(OwnMemoryOf(OwnPid()).value(), before + (48 << 20));
  EXPECT_EQ(OwnMemoryOf(0), std::nullopt);
}

TEST(ReadHostMemory, HasSome) {
  const auto memory = ReadHostMemory();
  ASSERT_TRUE(memory);
  EXPECT_GT(memory->total, memory->available);
  EXPECT_GT(memory->available, 0U);
}

TEST(SharedMemory, IsSeenThroughEveryMapping) {
  const Fd fd(MakeSharedMemory("test", 8192).value());
  auto one = Mapping::Map(fd.get(), 8192);
  auto two = Mapping::Map(fd.get(), 4096);
  ASSERT_TRUE(one && two);
  static_cast<char*>(one->data())[7] = 'x';
  EXPECT_EQ(static_cast<char*>(two->data())[7], 'x');
}

TEST(SharedMemory, BeginsEmptyWhenItIsToGrow) {
  const Fd fd(MakeSharedMemory("test", 0).value());
  EXPECT_EQ(lseek(fd.get(), 0, SEEK_END), 0);
}

TEST(RaiseFileLimit, NeverLowersAndStopsAtTheHardLimit) {
  const auto before = RaiseFileLimit(0);
  EXPECT_GT(before, 0U);
  EXPECT_GE(RaiseFileLimit(before + 1), before);
  EXPECT_GE(RaiseFileLimit(UINT64_MAX), before);
}

// This thread shall share its core with every other that calls it.
void StayOnOneCore() {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  std::size_t core = 0;
  while (!CPU_ISSET(core, &allowed)) {
    ++core;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
}

TEST(OwnCoreTime, TellsHowLongAThreadRanAndWaitedForItsCore) {
  if (!RealFs().Read("/proc/thread-self/schedstat")) {
    GTEST_SKIP() << "the kernel does not tell how long a thread waits";
  }
  std::jthread other([](const std::stop_token& stop) {
    StayOnOneCore();
    while (!stop.stop_requested()) {
    }
  });
  std::jthread([] {
    StayOnOneCore();
    const CoreTime before = OwnCoreTime();
    CoreTime now = before;
    const auto hung = Deadline::After(std::chrono::minutes(1));
    while (now.queued == before.queued && !hung.Expired()) {
      now = OwnCoreTime();
    }
    EXPECT_GT(now.queued, before.queued);
    EXPECT_GT(now.ran, before.ran);
  });
}

TEST(Futex, WakesAcrossThreadsAndHonoursTheDeadline) {
  std::atomic<std::uint32_t> word{0};
  FutexWait(word, 0, Deadline::After(std::chrono::milliseconds(1)));
  FutexWait(word, 1, Deadline::After(std::chrono::hours(1)));
  std::jthread other([&] {
    word = 1;
    FutexWakeAll(word);
  });
  while (word == 0) {
    FutexWait(word, 0, Deadline::After(std::chrono::seconds(10)));
  }
  EXPECT_EQ(word, 1U);
}

}  // namespace
}  // namespace muster::sys
