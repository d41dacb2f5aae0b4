// SPDX-License-Identifier: Apache-2.0
#include "diagnose/match/matcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "diagnose/match/automaton.h"
#include "diagnose/match/log_end.h"

namespace muster::diagnose {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> FactsOf(const Matcher& matcher,
                                 std::string_view text) {
  std::vector<std::string> facts;
  Matcher::Memory memory;
  matcher.Begin(memory);
  matcher.Scan(text, memory, [&](const Matcher::Suspect& suspect) {
    const auto line = text.substr(suspect.begin, suspect.end - suspect.begin);
    for (const Match& match : matcher.Matches(line, suspect, memory)) {
      facts.emplace_back(match.row->fact);
    }
  });
  return facts;
}

TEST(Automaton, FindsWordsInsideOfWordsWithoutCase) {
  const Automaton automaton({"she", "he", "hers"});
  std::vector<std::pair<std::size_t, int>> found;
  automaton.Scan("uSHErs", [&](std::size_t end, int literal) {
    found.emplace_back(end, literal);
  });
  EXPECT_THAT(found,
              ElementsAre(std::pair(4, 0), std::pair(4, 1), std::pair(6, 2)));
}

TEST(Automaton, FindsInAllPartsOfALongTextInTheirOrder) {
  const std::vector<std::string> literals = {"aba", "bab", "abacus"};
  std::string text = std::string(100'000, 'x') + "aba\nbab\r";
  for (int i = 0; i < 40'000; ++i) {
    text += i % 7 == 0 ? "abacus\n" : i % 3 == 0 ? "cab" : "abab";
  }
  std::vector<std::pair<std::size_t, int>> expected;
  for (std::size_t end = 1; end <= text.size(); ++end) {
    for (int literal : {2, 0, 1}) {  // of one end the longest first
      if (std::string_view(text).substr(0, end).ends_with(
              literals[static_cast<std::size_t>(literal)])) {
        expected.emplace_back(end, literal);
      }
    }
  }
  std::vector<std::pair<std::size_t, int>> found;
  Automaton(literals).Scan(text, [&](std::size_t end, int literal) {
    found.emplace_back(end, literal);
  });
  EXPECT_EQ(found, expected);
}

TEST(Automaton, OfNoLiteralsFindsNothing) {
  Automaton({}).Scan("anything", [](std::size_t, int) { FAIL(); });
}

TEST(Matcher, TriesALineOnlyWhenItHoldsTheLiterals) {
  constexpr PatternRow kRows[] = {{"no space on (?P<disk>\\w+)", "full", ""},
                                  {"Killed process \\d+", "killed", ""}};
  const Matcher matcher(kRows);
  EXPECT_THAT(FactsOf(matcher, "a\nno space on sda\nKilled process x\n"),
              ElementsAre("full"));
}

TEST(Matcher, GivesNamedGroups) {
  constexpr PatternRow kRows[] = {{"rank (?P<rank>\\d+) died", "died", ""}};
  const Matcher matcher(kRows);
  Matcher::Memory memory;
  matcher.Begin(memory);
  matcher.Scan("rank 12 died\n", memory, [&](const Matcher::Suspect& suspect) {
    const auto matches = matcher.Matches("rank 12 died", suspect, memory);
    ASSERT_EQ(matches.size(), 1U);
    EXPECT_EQ(matches[0].fields.at("rank"), "12");
  });
}

TEST(Matcher, FindsWhatComesAfterManyLinesInVain) {
  constexpr PatternRow kRows[] = {{"rank (?P<rank>\\d+) died", "died", ""},
                                  {"rank \\d+ has died", "has", ""},
                                  {"rank \\d+ said it died", "said", ""}};
  const Matcher matcher(kRows);
  std::string text;
  for (int i = 0; i < 5'000; ++i) {
    text += "rank x died\n";
  }
  text += "rank 3 died\nrank y died\nrank 4 has died\n";
  EXPECT_THAT(FactsOf(matcher, text), ElementsAre("died", "has"));
}

// What was done in one source is looked for in the next one.
TEST(Matcher, ForgetsWhatIsDoneWithTheSource) {
  constexpr PatternRow kRows[] = {{"rank \\d+ died", "died", ""},
                                  {"rank [a-z] died", "also", ""}};
  const Matcher matcher(kRows);
  Matcher::Memory memory;
  const auto found = [&](std::string_view line, int times) {
    std::size_t matches = 0;
    for (int i = 0; i < times; ++i) {
      matcher.Scan(line, memory, [&](const Matcher::Suspect& suspect) {
        matches += matcher.Matches(line, suspect, memory).size();
      });
    }
    return matches;
  };
  matcher.Begin(memory);
  memory.done[0] = true;
  EXPECT_EQ(found("rank 1 died\n", 5'000), 0U);
  matcher.Begin(memory);
  EXPECT_EQ(found("rank 1 died\n", 1), 1U);
  memory.done.assign(2, true);  // an automaton of none
  EXPECT_EQ(found("rank 1 died\n", 3'000), 0U);
}

TEST(Catalogue, HasNoPatternThatDoesNotCompile) {
  const auto rows = CataloguePatterns();
  const auto of_ends =
      std::count_if(rows.begin(), rows.end(),
                    [](const PatternRow& row) { return IsOfEnd(row.fact); });
  EXPECT_GT(of_ends, 0);
  EXPECT_EQ(Matcher().patterns(),
            rows.size() - static_cast<std::size_t>(of_ends));
}

TEST(Catalogue, HasNoPatternThatWouldMeetEveryLine) {
  EXPECT_THAT(Matcher().WithoutLiteral(), IsEmpty());
}

}  // namespace
}  // namespace muster::diagnose
