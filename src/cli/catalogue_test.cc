// SPDX-License-Identifier: Apache-2.0
// The commands that the catalog recommends are commands that we understand.
#include "finding/catalogue.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/command_line.h"
#include "settings/settings.h"
#include "sys/fake/fake_env.h"

namespace muster::cli {
namespace {

// A recommended command as words; placeholders stand for one word each.
std::vector<std::string> WordsOf(std::string_view command) {
  std::vector<std::string> words = Split(command, ' ');
  words.erase(words.begin());
  return words;
}

TEST(CatalogueCommands, AreUnderstood) {
  int understood = 0;
  for (Cause cause : AllCauses()) {
    for (const CatalogueFix& fix : EntryOf(cause).fixes) {
      if (!fix.command.starts_with("muster ")) {
        continue;
      }
      auto line = ParseCommandLine(WordsOf(fix.command));
      ASSERT_TRUE(line) << Label(cause) << ": " << fix.command << ": "
                        << line.error().ToString();
      auto settings = settings::ReadSettings(line->settings, sys::FakeEnv());
      ASSERT_TRUE(settings) << fix.command;
      ++understood;
    }
  }
  EXPECT_GE(understood, 5);
}

}  // namespace
}  // namespace muster::cli
