// SPDX-License-Identifier: Apache-2.0
#include "diagnose/match/bm25.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/text.h"
#include "diagnose/match/rules.h"
#include "finding/catalogue.h"

namespace muster::diagnose {
namespace {

constexpr double kSaturation = 1.2;     // k1
constexpr double kLengthMatters = .75;  // b
constexpr std::size_t kShortestWord = 2;
constexpr std::size_t kShortestStem = 3;
constexpr std::size_t kWordsShown = 6;

// They stand in every text, sorted.
constexpr std::string_view kStopWords[] = {
    "after", "all",  "an",    "and",  "are",  "as",   "at",    "be",   "before",
    "but",   "by",   "can",   "did",  "do",   "does", "for",   "from", "had",
    "has",   "have", "if",    "in",   "is",   "it",   "its",   "me",   "more",
    "my",    "no",   "not",   "of",   "on",   "one",  "only",  "or",   "other",
    "our",   "same", "so",    "than", "that", "the",  "their", "them", "then",
    "there", "they", "this",  "to",   "two",  "us",   "was",   "we",   "were",
    "what",  "when", "which", "who",  "will", "with", "would", "you",  "your"};

// The longest that fits is taken off, so that forms of a word are one word.
constexpr std::string_view kWordEndings[] = {"ations", "ation", "ings", "ing",
                                             "edly",   "ied",   "ies",  "ed",
                                             "es",     "ly",    "s"};

std::string Stem(std::string_view word) {
  for (const std::string_view ending : kWordEndings) {
    if (word.ends_with(ending) &&
        word.size() >= ending.size() + kShortestStem) {
      return std::string(word.substr(0, word.size() - ending.size()));
    }
  }
  return std::string(word);
}

bool IsLetter(char c) {
  return c >= 'a' && c <= 'z';
}

struct RankedWord {
  std::string stem, text;
};

// The words of ASCII letters; without numbers, which differ from run to run.
std::vector<RankedWord> WordsOf(std::string_view text) {
  const std::string lower = Lower(text);
  std::vector<RankedWord> words;
  for (auto at = lower.begin(); at != lower.end();) {
    const auto begin = std::find_if(at, lower.end(), IsLetter);
    at = std::find_if_not(begin, lower.end(), IsLetter);
    const std::string_view word(begin, at);
    if (word.size() >= kShortestWord &&
        !std::binary_search(std::begin(kStopWords), std::end(kStopWords),
                            word)) {
      words.push_back({Stem(word), std::string(word)});
    }
  }
  return words;
}

struct Document {
  Cause cause{};
  std::map<std::string, int, std::less<>> counts;
  double length = 0;  // in words
};

Document DocumentOf(Cause cause) {
  const CatalogueEntry& entry = EntryOf(cause);
  Document document{.cause = cause};
  // The title says the most.
  for (const std::string_view text :
       {Title(cause), Title(cause), entry.happened, entry.why, entry.fix,
        KnownTextsOf(cause)}) {
    for (RankedWord& word : WordsOf(text)) {
      ++document.counts[std::move(word.stem)];
      ++document.length;
    }
  }
  return document;
}

// By stem, as it was written first.
using Words = std::map<std::string, std::string>;

class Index {
 public:
  Index() {
    for (const Cause cause : AllCauses()) {
      if (Family(cause) != "muster") {
        documents_.push_back(DocumentOf(cause));
      }
    }
    for (const Document& document : documents_) {
      mean_length_ += document.length / static_cast<double>(documents_.size());
      for (const auto& [stem, count] : document.counts) {
        ++documents_with_[stem];
      }
    }
  }

  std::vector<Nearness> Near(const Words& words) const {
    std::vector<Nearness> near;
    for (const Document& document : documents_) {
      if (Nearness one = Compare(words, document); one.score > 0) {
        near.push_back(std::move(one));
      }
    }
    std::stable_sort(
        near.begin(), near.end(),
        [](const Nearness& a, const Nearness& b) { return a.score > b.score; });
    return near;
  }

 private:
  // How much a word tells: the rarer it is, the more.
  double WeightOf(const std::string& stem) const {
    const double with = documents_with_.at(stem);
    const auto all = static_cast<double>(documents_.size());
    return std::log(1 + (all - with + .5) / (with + .5));
  }

  Nearness Compare(const Words& words, const Document& document) const {
    const double length =
        1 - kLengthMatters + kLengthMatters * document.length / mean_length_;
    std::vector<std::pair<double, std::string>> shared;
    Nearness near{.cause = document.cause};
    for (const auto& [stem, word] : words) {
      const auto found = document.counts.find(stem);
      if (found != document.counts.end()) {
        const double count = found->second;
        const double score = WeightOf(stem) * count * (kSaturation + 1) /
                             (count + kSaturation * length);
        near.score += score;
        shared.emplace_back(-score, word);
      }
    }
    std::sort(shared.begin(), shared.end());
    for (auto& [score, word] : shared) {
      if (near.words.size() < kWordsShown) {
        near.words.push_back(std::move(word));
      }
    }
    return near;
  }

  std::vector<Document> documents_;
  std::map<std::string, int> documents_with_;
  double mean_length_ = 0;
};

}  // namespace

std::vector<Nearness> SimilarCauses(std::string_view text) {
  static const Index index;
  Words words;
  for (RankedWord& word : WordsOf(text)) {
    words.try_emplace(std::move(word.stem), std::move(word.text));
  }
  return index.Near(words);
}

}  // namespace muster::diagnose
