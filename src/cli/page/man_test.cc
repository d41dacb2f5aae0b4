// SPDX-License-Identifier: Apache-2.0
#include "cli/page/man.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"

namespace muster::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

TEST(ManPage, HasTheSectionsOfOne) {
  const Verb& create = *FindVerb("tpu create");
  EXPECT_EQ(ManPageName(create), "muster-tpu-create");
  EXPECT_THAT(
      ManPage(create),
      AllOf(HasSubstr(".TH \"MUSTER-TPU-CREATE\" 1 "),
            HasSubstr(".SH NAME\nmuster\\-tpu\\-create \\- create a TPU"),
            HasSubstr(".SH OPTIONS\n"), HasSubstr(".SH EXIT STATUS\n"),
            HasSubstr("\\fBmuster\\-tpu\\fR(1)"),
            HasSubstr("\\fB\\-\\-any\\-zone\\fR \\fIZ1,Z2\\fR\n")));
}

TEST(ManPage, HasNoRequestThatIsText) {
  for (const Verb& verb : Verbs()) {
    for (const std::string& line : Split(ManPage(verb), '\n')) {
      const bool request = line.starts_with(".") || line.starts_with("'");
      EXPECT_TRUE(!request || line.starts_with(".\\\" ") ||
                  line.starts_with(".TH ") || line.starts_with(".SH ") ||
                  line.starts_with(".SS ") || line.starts_with(".TP") ||
                  line.starts_with(".PP") || line == ".nh" || line == ".ad l")
          << line;
      EXPECT_TRUE(std::all_of(line.begin(), line.end(), [](char c) {
        return c >= ' ' && c <= '~';
      })) << line;
    }
  }
}

TEST(ManPage, NamesEveryFlagThatIsShown) {
  const Verb& run = *FindVerb("run");
  const std::string page = ManPage(run);
  EXPECT_THAT(page,
              HasSubstr("\\fB\\-\\-nproc\\-per\\-node, \\-n\\fR \\fIN\\fR"));
  EXPECT_THAT(page, HasSubstr("\\[u00B1]25 %"));
  EXPECT_EQ(page.find("internal\\-ip\\fR\n"), std::string::npos);
}

}  // namespace
}  // namespace muster::cli
