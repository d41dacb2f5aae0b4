// SPDX-License-Identifier: Apache-2.0
#include "case_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::corpus {
namespace {

TEST(CaseText, TellsADescriptionFromALine) {
  EXPECT_TRUE(IsDescription("(it stops after (about) 17 hours)"));
  EXPECT_TRUE(IsDescription("  (symptom) nothing happens, no error"));
  EXPECT_FALSE(IsDescription("(pid=71) Killed (no memory)"));
  EXPECT_FALSE(IsDescription("(0) Unavailable: Socket closed"));
  EXPECT_FALSE(IsDescription("it stops (after 17 hours)"));
  EXPECT_FALSE(IsDescription("(never closed"));
  EXPECT_TRUE(IsDescription("(hangs)"));
  EXPECT_FALSE(IsDescription("(tensor(0.56, device='cuda:0'), tensor(0.36))"));
  EXPECT_FALSE(IsDescription("(InService: !, Deleting: o, Failed: *)"));
  EXPECT_FALSE(IsDescription(""));
}

TEST(CaseText, IsALogAndNotes) {
  const CaseText split =
      SplitCase("(symptom) no error\nstep 1\n(it hangs (often))\nstep 2");
  EXPECT_EQ(split.log, "step 1\nstep 2\n");
  EXPECT_THAT(split.notes,
              testing::ElementsAre("no error", "it hangs (often)"));
}

}  // namespace
}  // namespace muster::corpus
