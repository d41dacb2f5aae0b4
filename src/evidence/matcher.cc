// SPDX-License-Identifier: Apache-2.0
#include "evidence/matcher.h"

#include <re2/filtered_re2.h>
#include <re2/re2.h>

#include <algorithm>
#include <optional>

#include "evidence/automaton.h"

namespace muster::evidence {
namespace {

constexpr int kLeastLiteral = 3;

bool IsLineEnd(char c) {
  return c == '\n' || c == '\r';
}

}  // namespace

struct Matcher::Patterns {
  std::vector<PatternRow> rows;
  re2::FilteredRE2 regexes{kLeastLiteral};
  std::optional<Automaton> automaton;

  Match Take(std::size_t index, std::string_view line) const {
    Match match{&rows[index], {}};
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
  RE2::Options options(RE2::Quiet);
  options.set_encoding(RE2::Options::EncodingLatin1);
  options.set_max_mem(1 << 20);
  for (const PatternRow& row : rows) {
    int id = -1;
    const auto code = patterns_->regexes.Add(
        re2::StringPiece(row.text.data(), row.text.size()), options, &id);
    if (code == RE2::NoError) {
      patterns_->rows.push_back(row);
    }
  }
  std::vector<std::string> atoms;
  patterns_->regexes.Compile(&atoms);
  patterns_->automaton.emplace(atoms);
}

Matcher::~Matcher() = default;

void Matcher::Scan(std::string_view block,
                   const std::function<void(const Suspect&)>& found) const {
  Suspect suspect;  // end 0: none yet
  const auto flush = [&] {
    if (suspect.end == 0) {
      return;
    }
    std::sort(suspect.atoms.begin(), suspect.atoms.end());
    suspect.atoms.erase(std::unique(suspect.atoms.begin(), suspect.atoms.end()),
                        suspect.atoms.end());
    found(suspect);
    suspect.atoms.clear();
  };
  patterns_->automaton->Scan(block, [&](std::size_t end, int literal) {
    if (end > suspect.end) {
      flush();
      suspect.begin = end - 1;
      while (suspect.begin > 0 && !IsLineEnd(block[suspect.begin - 1])) {
        --suspect.begin;
      }
      suspect.end = end;
      while (suspect.end < block.size() && !IsLineEnd(block[suspect.end])) {
        ++suspect.end;
      }
    }
    suspect.atoms.push_back(literal);
  });
  flush();
}

std::vector<Match> Matcher::Matches(std::string_view line,
                                    const std::vector<int>& atoms) const {
  std::vector<int> indices;
  patterns_->regexes.AllMatches(re2::StringPiece(line.data(), line.size()),
                                atoms, &indices);
  std::sort(indices.begin(), indices.end());
  std::vector<Match> matches;
  matches.reserve(indices.size());
  for (int index : indices) {
    matches.push_back(patterns_->Take(static_cast<std::size_t>(index), line));
  }
  return matches;
}

std::vector<std::string_view> Matcher::WithoutLiteral() const {
  std::vector<int> indices;
  patterns_->regexes.AllPotentials({}, &indices);
  std::vector<std::string_view> texts;
  for (int index : indices) {
    texts.push_back(patterns_->rows[static_cast<std::size_t>(index)].text);
  }
  return texts;
}

}  // namespace muster::evidence
