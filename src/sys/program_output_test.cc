// SPDX-License-Identifier: Apache-2.0
#include "sys/program_output.h"

#include <gtest/gtest.h>

namespace muster::sys {
namespace {

// Four times what a slow machine needs to start a program.
Deadline Soon() {
  return Deadline::After(std::chrono::seconds(20));
}

TEST(OutputOf, GivesWhatTheProgramPrints) {
  EXPECT_EQ(OutputOf({"printf", "%s", "a b"}, 100, Soon()).value(), "a b");
}

TEST(OutputOf, PassesNoWordThroughAShell) {
  EXPECT_EQ(OutputOf({"printf", "%s", "$(id)"}, 100, Soon()).value(), "$(id)");
}

TEST(OutputOf, IsCutAtTheLimit) {
  EXPECT_EQ(OutputOf({"yes"}, 64, Soon()).value().size(), 64U);
}

TEST(OutputOf, TellsThatThereIsNoSuchProgram) {
  const auto output = OutputOf({"muster-no-such-program"}, 100, Soon());
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().cause(), Cause::kProgramNotFound);
}

TEST(OutputOf, TellsThatTheProgramFailed) {
  const auto output = OutputOf({"false"}, 100, Soon());
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().cause(), Cause::kAppException);
}

TEST(OutputOf, EndsAProgramThatDoesNotAnswer) {
  const auto output = OutputOf({"sleep", "1000"}, 100,
                               Deadline::After(std::chrono::milliseconds(50)));
  ASSERT_FALSE(output);
  EXPECT_EQ(output.error().cause(), Cause::kDeadlineExceeded);
}

}  // namespace
}  // namespace muster::sys
