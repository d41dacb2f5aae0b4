// SPDX-License-Identifier: Apache-2.0
#include "sys/env.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sys/time/clock.h"

namespace muster::sys {
namespace {

// What holds for every environment, whatever is in it.
class EnvTest : public testing::TestWithParam<const char*> {
 protected:
  EnvTest() {
    if (GetParam() == std::string("fake")) {
      auto fake = std::make_unique<FakeEnv>();
      fake->variables["PATH"] = "/bin";
      env = std::move(fake);
    } else {
      env = std::make_unique<RealEnv>();
    }
  }
  std::unique_ptr<Env> env;
};

TEST_P(EnvTest, TellsOneVariableAsItTellsAll) {
  for (const auto& [name, value] : env->All()) {
    EXPECT_EQ(env->Get(name), value) << name;
  }
  EXPECT_TRUE(env->Get("PATH"));
  EXPECT_EQ(env->Get("MUSTER_NO_SUCH_VARIABLE"), std::nullopt);
}

TEST_P(EnvTest, HasAPlaceInTheWorld) {
  EXPECT_FALSE(env->Hostname().empty());
  EXPECT_TRUE(env->WorkingDirectory().starts_with('/'));
  const auto addresses = env->LocalAddresses();
  EXPECT_TRUE(addresses.empty() ||
              std::count(addresses.begin(), addresses.end(), "127.0.0.1") == 1);
}

TEST_P(EnvTest, HasAtLeastOneCore) {
  EXPECT_GE(env->Cores(), 1);
  EXPECT_LE(env->Cores(), static_cast<int>(env->CoreIds().size()));
}

INSTANTIATE_TEST_SUITE_P(Env, EnvTest, testing::Values("real", "fake"),
                         [](const auto& test) { return test.param; });

TEST(Clock, TellsTheTimeOfTheMachine) {
  const RealClock clock;
  const auto before = std::chrono::steady_clock::now();
  EXPECT_GE(clock.Now(), before);
  EXPECT_GT(clock.WallNow(), WallTime(std::chrono::seconds(1'700'000'000)));
}

TEST(FakeClock, MovesOnlyWhenTold) {
  FakeClock clock;
  const auto start = clock.Now();
  const auto wall = clock.WallNow();
  clock.Advance(std::chrono::milliseconds(5));
  EXPECT_EQ(clock.Now() - start, std::chrono::milliseconds(5));
  EXPECT_EQ(clock.WallNow() - wall, std::chrono::milliseconds(5));
}

}  // namespace
}  // namespace muster::sys
