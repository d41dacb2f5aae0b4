// SPDX-License-Identifier: Apache-2.0
#include "run/agent/log_evidence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <fstream>

#include "sys/testing.h"

namespace muster::run {
namespace {

using testing::Contains;
using testing::Field;
using testing::Not;

TEST(LogEvidence, OnlyOwnEndsAreWorthReading) {
  EXPECT_TRUE(IsWorthReading(1 << 8));
  EXPECT_TRUE(IsWorthReading(SIGABRT));
  EXPECT_FALSE(IsWorthReading(0));
  EXPECT_FALSE(IsWorthReading(SIGKILL));
  EXPECT_FALSE(IsWorthReading(SIGTERM));
}

class Logs : public testing::Test {
 protected:
  void Write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
  }

  const sys::TemporaryFolder owned_;
  const std::string folder_ = owned_.path();
};

TEST_F(Logs, OfARankTellItsFactsAndItsStatus) {
  Write("rank3.err",
        "Traceback (most recent call last):\n"
        "  File \"train.py\", line 7, in <module>\n"
        "    load()\n"
        "ValueError: no such column\n");
  const auto facts = ReadRankLogs(folder_, 3, 1 << 8);
  EXPECT_THAT(facts, Contains(Field(&Fact::name, "python.exception")));
  EXPECT_THAT(facts, Contains(Field(&Fact::name, "exit.status")));
  for (const Fact& fact : facts) {
    EXPECT_EQ(fact.Number("rank", -1), 3) << fact.name;
  }
}

TEST_F(Logs, AreReadFromTheEnd) {
  std::string text = "ValueError: of long ago\n";
  for (int i = 0; i < 9 * 1024; ++i) {
    text += std::string(1023, '.') + "\n";
  }
  Write("rank0.err", text);
  EXPECT_THAT(ReadRankLogs(folder_, 0, 1 << 8),
              Not(Contains(Field(&Fact::name, "python.exception"))));
}

TEST_F(Logs, ThatAreNotThereTellTheStatusAlone) {
  EXPECT_EQ(ReadRankLogs(folder_, 0, 1 << 8).size(), 1U);
}

}  // namespace
}  // namespace muster::run
