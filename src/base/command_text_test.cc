// SPDX-License-Identifier: Apache-2.0
#include "base/command_text.h"

#include <gtest/gtest.h>

#include <vector>

namespace muster {
namespace {

TEST(CommandLine, QuotesWhatAShellWouldChange) {
  const std::vector<std::string> argv = {"python3", "a b.py", "--lr=0.1",
                                         "",        "it's",   "$HOME"};
  EXPECT_EQ(CommandLine(argv),
            R"(python3 'a b.py' --lr=0.1 '' 'it'\''s' '$HOME')");
}

}  // namespace
}  // namespace muster
