// SPDX-License-Identifier: Apache-2.0
#include "sys/signal/signals.h"

#include <gtest/gtest.h>
#include <signal.h>

namespace muster::sys {
namespace {

TEST(SignalWatch, TellsEachSignalOnTheLoop) {
  auto loop = Loop::Make().value();
  std::vector<int> seen;
  auto watch = SignalWatch::Make(*loop, {SIGINT, SIGTERM}, [&](int signal) {
                 EXPECT_TRUE(loop->InLoop());
                 seen.push_back(signal);
                 if (seen.size() == 3) {
                   loop->Quit();
                 }
               }).value();
  raise(SIGINT);
  raise(SIGTERM);
  raise(SIGINT);
  loop->Run();
  EXPECT_EQ(seen, (std::vector<int>{SIGINT, SIGTERM, SIGINT}));
}

TEST(SignalWatch, LeavesAnIgnoredSignalAlone) {
  auto loop = Loop::Make().value();
  signal(SIGHUP, SIG_IGN);
  {
    auto watch = SignalWatch::Make(
        *loop, {SIGHUP}, [](int) { ADD_FAILURE() << "nohup was not obeyed"; });
    raise(SIGHUP);
    loop->Post([&] { loop->Quit(); });
    loop->Run();
  }
  EXPECT_EQ(signal(SIGHUP, SIG_DFL), SIG_IGN);
}

TEST(SignalWatch, RestoresWhatWasBefore) {
  auto loop = Loop::Make().value();
  {
    auto watch = SignalWatch::Make(*loop, {SIGUSR2}, [](int) {});
  }
  EXPECT_EQ(signal(SIGUSR2, SIG_DFL), SIG_DFL);
}

}  // namespace
}  // namespace muster::sys
