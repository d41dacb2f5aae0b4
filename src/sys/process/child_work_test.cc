// SPDX-License-Identifier: Apache-2.0
#include "sys/process/child_work.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

#include "sys/file/fs.h"

namespace muster::sys {
namespace {

constexpr auto kLimit = std::chrono::seconds(10);

TEST(ChildWork, GivesWhatTheFunctionReturns) {
  auto work = ChildWork::Start([] { return std::string(200'000, 'x'); });
  ASSERT_TRUE(work);
  EXPECT_EQ(work->Await(kLimit).value().size(), 200'000U);
}

TEST(ChildWork, TellsHowFarTheWorkIs) {
  auto work = ChildWork::Start([](const ChildWork::Say& say) {
    say("1 of 2");
    say("2 of 2");
    return std::string("done");
  });
  ASSERT_TRUE(work);
  EXPECT_EQ(work->Await(kLimit).value(), "done");
  EXPECT_EQ(work->said(), "2 of 2");
}

TEST(ChildWork, ThatIsExpendableIsTheFirstThatTheKernelEnds) {
  auto work = ChildWork::Start(
      [] { return RealFs().Read("/proc/self/oom_score_adj").value_or("none"); },
      {.expendable = true});
  ASSERT_TRUE(work);
  EXPECT_EQ(work->Await(kLimit).value(), "1000\n");
}

TEST(ChildWork, NamesTheSignalThatEndedTheChild) {
  auto work = ChildWork::Start([]() -> std::string {
    raise(SIGKILL);
    return "";
  });
  ASSERT_TRUE(work);
  const auto text = work->Await(kLimit);
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message().find("signal 9"), std::string::npos);
}

TEST(ChildWork, ThatThrowsEndsWhereItBegan) {
  auto work = ChildWork::Start(
      []() -> std::string { throw std::runtime_error("out of range"); });
  ASSERT_TRUE(work);
  const auto text = work->Await(kLimit);
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().message().find("with status 1: out of range"),
            std::string::npos);
}

TEST(ChildWork, GivesTheChildAloneVariablesAndSilence) {
  auto work = ChildWork::Start(
      [] {
        puts("this goes nowhere");
        // NOLINTNEXTLINE(concurrency-mt-unsafe): a child has one thread.
        const char* value = getenv("MUSTER_TEST_OF_CHILD");
        return std::string(value == nullptr ? "unset" : value);
      },
      {.variables = {{"MUSTER_TEST_OF_CHILD", "set"}}, .silent = true});
  ASSERT_TRUE(work);
  EXPECT_EQ(work->Await(kLimit).value(), "set");
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody writes to it.
  EXPECT_EQ(getenv("MUSTER_TEST_OF_CHILD"), nullptr);
}

TEST(ChildWork, EndsAChildThatNeverReturns) {
  int pid = 0;
  {
    auto pipe = std::array<int, 2>{};
    ASSERT_EQ(::pipe(pipe.data()), 0);
    auto work = ChildWork::Start([&]() -> std::string {
      const int self = getpid();
      EXPECT_EQ(write(pipe[1], &self, sizeof self),
                static_cast<ssize_t>(sizeof self));
      while (true) {
        pause();
      }
    });
    ASSERT_TRUE(work);
    ASSERT_EQ(read(pipe[0], &pid, sizeof pid),
              static_cast<ssize_t>(sizeof pid));
    const auto none = work->Await(std::chrono::milliseconds(10));
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().cause(), Cause::kDeadlineExceeded);
    close(pipe[0]);
    close(pipe[1]);
  }
  EXPECT_EQ(kill(pid, 0), -1);
}

}  // namespace
}  // namespace muster::sys
