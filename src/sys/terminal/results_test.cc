// SPDX-License-Identifier: Apache-2.0
#include "sys/terminal/results.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace muster::sys {
namespace {

TEST(Results, KeepLinesAndColorsAndEscapeTheRest) {
  testing::internal::CaptureStdout();
  PrintResult("\x1b[31mbad\x1b[0m \x1b]52;c;x\x07\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(),
            "\x1b[31mbad\x1b[0m \\x1b]52;c;x\\x07\n");
  testing::internal::CaptureStderr();
  PrintAside("a\rb\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "a\\rb\n");
}

TEST(Results, AreDocumentsThatReadTheSame) {
  const Json document{{"text", "\xc2\x9b \xe2\x80\xae \x7f \x1b h\xc3\xa9"}};
  testing::internal::CaptureStdout();
  PrintDocument(document);
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(
      text,
      "{\n  \"text\": \"\\u009b \\u202e \\u007f \\u001b h\xc3\xa9\"\n}\n");
  EXPECT_EQ(Json::parse(text), document);
}

}  // namespace
}  // namespace muster::sys
