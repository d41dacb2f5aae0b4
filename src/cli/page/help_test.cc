// SPDX-License-Identifier: Apache-2.0
// Every page of help, as a whole.
#include "cli/page/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/command_line.h"
#include "settings/settings.h"

namespace muster::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Help, FitsATerminal) {
  for (const Verb& verb : Verbs()) {
    for (const std::string& line : Split(HelpText(verb), '\n')) {
      EXPECT_LE(Columns(line), 80U) << verb.path << ": " << line;
      EXPECT_FALSE(line.ends_with(' ')) << verb.path << ": " << line;
    }
  }
}

TEST(Help, OfEverySubCommandSaysWhatItDoesHowItIsTypedAndHowItEnds) {
  for (const Verb& verb : Verbs()) {
    EXPECT_FALSE(verb.summary.empty()) << verb.path;
    EXPECT_FALSE(verb.about.empty()) << verb.path;
    EXPECT_FALSE(verb.examples.empty()) << verb.path;
    EXPECT_THAT(HelpText(verb), HasSubstr("\nUsage:\n  " + verb.Typed()));
    EXPECT_TRUE(verb.run == nullptr || !verb.exits.empty() ||
                !verb.has_settings)
        << verb.path;
  }
}

TEST(Help, ExamplesAreUnderstood) {
  int understood = 0;
  for (const Verb& verb : Verbs()) {
    for (const Example& example : verb.examples) {
      const std::string& command = example.command;
      if (!command.starts_with("muster ") ||
          command.find_first_of(">'|") != std::string::npos) {
        continue;
      }
      std::vector<std::string> words = Split(command, ' ');
      words.erase(words.begin());
      const auto line = ParseCommandLine(words);
      EXPECT_TRUE(line) << command << ": " << line.error().ToString();
      ++understood;
    }
  }
  EXPECT_GE(understood, 40);
}

TEST(Help, DescribesEveryFlagOnce) {
  for (const Verb& verb : Verbs()) {
    std::vector<std::string> seen;
    for (const FlagGroup& group : verb.groups) {
      for (const Flag& flag : group.flags) {
        EXPECT_THAT(seen, Not(testing::Contains(flag.name()))) << verb.path;
        seen.push_back(flag.name());
        EXPECT_TRUE(flag.take) << flag.name();
        if (!flag.help.empty()) {
          EXPECT_THAT(HelpText(verb), HasSubstr("  " + flag.names));
        }
      }
    }
  }
}

TEST(Help, HasItsOwnFlagsAlone) {
  const std::string create = HelpText(*FindVerb("tpu create"));
  EXPECT_THAT(create, HasSubstr("--any-zone"));
  EXPECT_THAT(create, Not(HasSubstr("--worker")));
  EXPECT_THAT(HelpText(*FindVerb("check fit")), Not(HasSubstr("--hosts")));
  EXPECT_THAT(HelpText(*FindVerb("check")), Not(HasSubstr("--params")));
}

TEST(Help, NamesEverySetting) {
  for (const settings::SettingRow& row : settings::SettingRows()) {
    bool found = false;
    for (const Verb& verb : Verbs()) {
      const std::string help = HelpText(verb);
      found = found || (help.find(row.flag) != std::string::npos &&
                        help.find(row.variable) != std::string::npos);
    }
    EXPECT_TRUE(found) << row.flag;
  }
}

TEST(Help, OfAGroupListsItsSubCommands) {
  EXPECT_THAT(HelpText(*FindVerb("tpu")),
              testing::AllOf(HasSubstr("\n  create "), HasSubstr("\n  queued "),
                             Not(HasSubstr("\n  queued list"))));
  EXPECT_THAT(HelpText(*FindVerb("check")), HasSubstr("\n  program "));
}

}  // namespace
}  // namespace muster::cli
