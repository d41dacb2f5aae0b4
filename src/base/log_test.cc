// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(Log, EscapesSentenceAndFields) {
  testing::internal::CaptureStderr();
  Log(LogLevel::kInfo, "e.tar:b\x1b]0;T\x07\n.dat: skipped",
      {{"why", "\xe2\x80\xae"}});
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "muster: info e.tar:b\\x1b]0;T\\x07\\n.dat: skipped "
            "why=\\xe2\\x80\\xae\n");
}

}  // namespace
}  // namespace muster
