// SPDX-License-Identifier: Apache-2.0
#include "base/words/suggest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Words = std::vector<std::string>;

TEST(EditDistance, CountsASwapOfNeighborsOnce) {
  EXPECT_EQ(EditDistance("", "abc"), 3U);
  EXPECT_EQ(EditDistance("abc", ""), 3U);
  EXPECT_EQ(EditDistance("run", "run"), 0U);
  EXPECT_EQ(EditDistance("rnu", "run"), 1U);
  EXPECT_EQ(EditDistance("chekc", "check"), 1U);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3U);
}

TEST(DidYouMean, FindsTheNearestWord) {
  const Words flags{"--hosts", "--cluster", "--max-restarts"};
  EXPECT_EQ(DidYouMean("--host", flags), "--hosts");
  EXPECT_EQ(DidYouMean("--max-restart", flags), "--max-restarts");
  EXPECT_EQ(DidYouMean("--verbose", flags), std::nullopt);
}

TEST(Nearest, FindsWordsOfWhichItIsAPart) {
  const Words causes{"oom-device", "oom-host", "net-loopback-name", "room"};
  EXPECT_THAT(Nearest("oom", Words{"oom-device", "oom-host", "broom"}),
              ElementsAre("oom-device", "oom-host"));
  EXPECT_THAT(Nearest("loopback", causes), ElementsAre("net-loopback-name"));
  EXPECT_THAT(Nearest("oo", Words{"oo-x"}), IsEmpty());
  EXPECT_THAT(Nearest("loop", causes), IsEmpty());
}

TEST(MeantText, NamesAll) {
  EXPECT_EQ(MeantText("oom", Words{"oom-device", "oom-host"}),
            ", did you mean `oom-device` or `oom-host`?");
  EXPECT_EQ(MeantText("rnu", Words{"run", "runs"}), ", did you mean `run`?");
  EXPECT_EQ(MeantText("fly", Words{"run"}), "");
}

}  // namespace
}  // namespace muster
