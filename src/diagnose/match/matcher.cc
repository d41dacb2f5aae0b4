// SPDX-License-Identifier: Apache-2.0
#include "diagnose/match/matcher.h"

#include <re2/filtered_re2.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "diagnose/match/automaton.h"
#include "diagnose/match/log_end.h"

namespace muster::diagnose {
namespace {

constexpr int kLeastLiteral = 3;

// Sets of literals whose patterns are remembered.
constexpr std::size_t kRemembered = 20'000;

// Automata of one reader, each of a MiB at most.
constexpr std::size_t kAutomata = 48;

// The byte after the last line end in [from, at), or `from`.
std::size_t LineBegin(std::string_view block, std::size_t from,
                      std::size_t at) {
  const auto after = [&](char ending) {
    const void* const found = memrchr(block.data() + from, ending, at - from);
    from = found == nullptr
               ? from
               : static_cast<std::size_t>(static_cast<const char*>(found) + 1 -
                                          block.data());
  };
  after('\n');
  after('\r');
  return from;
}

// The first line end at or behind `at`, or the end of the block.
std::size_t LineEnd(std::string_view block, std::size_t at) {
  const std::size_t end = std::min(block.find('\n', at), block.size());
  return std::min(block.substr(0, end).find('\r', at), end);
}

RE2::Options RegexOptions() {
  RE2::Options options(RE2::Quiet);
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_max_mem(1 << 20);
  return options;
}

// Whether none of the automaton's patterns matches the line for sure.
bool MatchesNone(const RE2::Set& any, re2::StringPiece line) {
  RE2::Set::ErrorInfo error{};
  return !any.Match(line, nullptr, &error) && error.kind == RE2::Set::kNoError;
}

// Spreads small numbers over 64 bits (the finaliser of splitmix64), so that
// sums of them tell sets apart.
std::uint64_t Mixed(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

}  // namespace

struct Matcher::Patterns {
  std::vector<PatternRow> rows;
  re2::FilteredRE2 regexes{kLeastLiteral};
  std::optional<Automaton> automaton;
  std::size_t literals = 0;

  // An automaton of those that are not done; null: it would be too large.
  std::unique_ptr<RE2::Set> AnyOf(const std::vector<int>& indices,
                                  const std::vector<bool>& done) const {
    auto any = std::make_unique<RE2::Set>(RegexOptions(), RE2::UNANCHORED);
    for (const int index : indices) {
      if (!done[static_cast<std::size_t>(index)]) {
        any->Add(regexes.GetRE2(index).pattern(), nullptr);
      }
    }
    return any->Compile() ? std::move(any) : nullptr;
  }

  Match Take(std::size_t index, std::string_view line) const {
    Match match{static_cast<int>(index), &rows[index], {}};
    const RE2& regex = regexes.GetRE2(static_cast<int>(index));
    const auto& names = regex.CapturingGroupNames();
    if (names.empty()) {
      return match;
    }
    std::vector<re2::StringPiece> groups(
        static_cast<std::size_t>(regex.NumberOfCapturingGroups()) + 1);
    regex.Match({line.data(), line.size()}, 0, line.size(), RE2::UNANCHORED,
                groups.data(), static_cast<int>(groups.size()));
    for (const auto& [number, name] : names) {
      const auto& group = groups[static_cast<std::size_t>(number)];
      if (!group.empty() && match.fields[name].empty()) {
        match.fields[name] = std::string(group.data(), group.size());
      }
    }
    return match;
  }
};

Matcher::Matcher(std::span<const PatternRow> rows)
    : patterns_(std::make_unique<Patterns>()) {
  for (const PatternRow& row : rows) {
    if (IsOfEnd(row.fact)) {
      continue;
    }
    int id = -1;
    const auto code = patterns_->regexes.Add(
        re2::StringPiece(row.text.data(), row.text.size()), RegexOptions(),
        &id);
    if (code == RE2::NoError) {
      patterns_->rows.push_back(row);
    }
  }
  std::vector<std::string> atoms;
  patterns_->regexes.Compile(&atoms);
  patterns_->literals = atoms.size();
  patterns_->automaton.emplace(atoms);
}

Matcher::~Matcher() = default;

void Matcher::Begin(Memory& memory, Lines lines) const {
  memory.done.clear();
  for (const PatternRow& row : patterns_->rows) {
    memory.done.push_back(row.of_notes && lines == Lines::kLog);
  }
  memory.stamps.resize(patterns_->literals, 0);
  // These are without what was done in the source before.
  for (auto& [key, possible] : memory.possible) {
    possible = {std::move(possible.patterns), nullptr};
  }
  memory.automata = 0;
}

void Matcher::Scan(std::string_view block, Memory& memory,
                   const std::function<void(const Suspect&)>& found) const {
  Suspect suspect;  // end 0: none yet
  patterns_->automaton->Scan(block, [&](std::size_t end, int literal) {
    if (end > suspect.end) {
      if (suspect.end != 0) {
        found(suspect);
      }
      suspect.atoms.clear();
      suspect.key = 0;
      ++memory.stamp;
      suspect.begin = LineBegin(block, suspect.end, end - 1);
      suspect.end = LineEnd(block, end);
    }
    std::uint32_t& stamp = memory.stamps[static_cast<std::size_t>(literal)];
    if (stamp != memory.stamp) {
      stamp = memory.stamp;
      suspect.atoms.push_back(literal);
      suspect.key += Mixed(static_cast<std::uint64_t>(literal));
    }
  });
  if (suspect.end != 0) {
    found(suspect);
  }
}

std::vector<Match> Matcher::Matches(std::string_view line,
                                    const Suspect& suspect,
                                    Memory& memory) const {
  auto known = memory.possible.find(suspect.key);
  if (known == memory.possible.end()) {
    if (memory.possible.size() > kRemembered) {
      memory.possible.clear();
      memory.automata = 0;
    }
    Possible possible;
    patterns_->regexes.AllPotentials(suspect.atoms, &possible.patterns);
    std::sort(possible.patterns.begin(), possible.patterns.end());
    known = memory.possible.emplace(suspect.key, std::move(possible)).first;
  }
  Possible& possible = known->second;
  const re2::StringPiece text(line.data(), line.size());
  std::vector<Match> matches;
  if (possible.any != nullptr && MatchesNone(*possible.any, text)) {
    return matches;
  }
  for (const int index : possible.patterns) {
    const auto at = static_cast<std::size_t>(index);
    if (!memory.done[at] &&
        RE2::PartialMatch(text, patterns_->regexes.GetRE2(index))) {
      matches.push_back(patterns_->Take(at, line));
    }
  }
  const bool room = possible.any != nullptr || memory.automata < kAutomata;
  if (matches.empty() && ++possible.vain == possible.enough && room) {
    possible.enough *= 2;
    memory.automata -= possible.any == nullptr ? 0U : 1U;
    possible.any = patterns_->AnyOf(possible.patterns, memory.done);
    memory.automata += possible.any == nullptr ? 0U : 1U;
  }
  return matches;
}

std::string Matcher::Without(std::string_view line,
                             const std::vector<Match>& matches) const {
  std::string rest(line);
  for (const Match& match : matches) {
    re2::StringPiece found;
    const RE2& regex = patterns_->regexes.GetRE2(match.pattern);
    std::size_t from = 0;
    while (from < line.size() &&
           regex.Match({line.data(), line.size()}, from, line.size(),
                       RE2::UNANCHORED, &found, 1)) {
      const auto at = static_cast<std::size_t>(found.data() - line.data());
      rest.replace(at, found.size(), found.size(), ' ');
      from = at + std::max<std::size_t>(found.size(), 1);
    }
  }
  return rest;
}

std::size_t Matcher::patterns() const {
  return patterns_->rows.size();
}

std::vector<std::string_view> Matcher::WithoutLiteral() const {
  std::vector<int> indices;
  patterns_->regexes.AllPotentials({}, &indices);
  std::vector<std::string_view> texts;
  texts.reserve(indices.size());
  for (int index : indices) {
    texts.push_back(patterns_->rows[static_cast<std::size_t>(index)].text);
  }
  return texts;
}

}  // namespace muster::diagnose
