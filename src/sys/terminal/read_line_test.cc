// SPDX-License-Identifier: Apache-2.0
#include "sys/terminal/read_line.h"

#include <gtest/gtest.h>

#include "sys/net/stream.h"

namespace muster::sys {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

struct ReadLineTest : ::testing::Test {
  void Write(std::string_view text) {
    ASSERT_EQ(*WriteNow(pipe.write.get(), text), text.size());
  }
  Result<std::string> Read(Duration limit = seconds(20)) {
    return ReadLine(pipe.read.get(), 8, Deadline::After(limit));
  }
  PipeEnds pipe = *MakePipe();
};

TEST_F(ReadLineTest, LeavesWhatComesAfterTheLine) {
  Write("one\ntwo\n");
  EXPECT_EQ(*Read(), "one");
  EXPECT_EQ(*Read(), "two");
}

TEST_F(ReadLineTest, EndsAtItsDeadline) {
  Write("one");
  EXPECT_EQ(Read(milliseconds(20)).error().cause(), Cause::kDeadlineExceeded);
}

TEST_F(ReadLineTest, NamesAnEndAndALineThatIsTooLong) {
  Write("one two three");
  EXPECT_EQ(Read().error().cause(), Cause::kUsageInvalid);
  pipe.write.Close();
  while (Read()) {
  }
  EXPECT_EQ(Read().error().cause(), Cause::kPeerDied);
}

}  // namespace
}  // namespace muster::sys
