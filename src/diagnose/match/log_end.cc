// SPDX-License-Identifier: Apache-2.0
#include "diagnose/match/log_end.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "diagnose/match/matcher.h"
#include "diagnose/match/prefix.h"

namespace muster::diagnose {
namespace {

// What only a tracker prints, when its process ends ("wandb:   epoch 5").
constexpr std::string_view kSummary = "progress.summary";

// All patterns of the catalog whose fact is wanted, as one.
template <typename Wanted>
std::unique_ptr<RE2> OneOf(Wanted wanted) {
  std::string all;
  for (const PatternRow& row : CataloguePatterns()) {
    if (wanted(row.fact)) {
      all += (all.empty() ? "(?:" : "|(?:") + std::string(row.text) + ")";
    }
  }
  // Groups of the same name in two patterns: names are not needed here.
  RE2::GlobalReplace(&all, R"(\(\?P<\w+>)", "(?:");
  RE2::Options options(RE2::Quiet);
  options.set_encoding(RE2::Options::EncodingLatin1);
  return std::make_unique<RE2>(all, options);
}

struct Kinds {
  std::unique_ptr<RE2> progress =
      OneOf([](std::string_view fact) { return fact == kWentOn; });
  std::unique_ptr<RE2> over =
      OneOf([](std::string_view fact) { return fact == kOver; });
  std::unique_ptr<RE2> summary =
      OneOf([](std::string_view fact) { return fact == kSummary; });
  std::unique_ptr<RE2> trouble = OneOf([](std::string_view fact) {
    return fact == "log.trouble" || fact == "python.exception" ||
           fact.starts_with("exit.") || fact.starts_with("cascade.");
  });
  std::unique_ptr<RE2> ignored =
      OneOf([](std::string_view fact) { return fact == "python.ignored"; });
  std::unique_ptr<RE2> raised =
      OneOf([](std::string_view fact) { return fact == "python.exception"; });
  std::unique_ptr<RE2> harmless =
      OneOf([](std::string_view fact) { return fact == "log.harmless"; });
  // tqdm's: "12/1000 [00:10<14:00", "1.2G/3.0G [00:10<", "12it [00:10, ".
  RE2 bar{R"((\d[\d.]*)([kMGTP]?)(?:/(\d[\d.]*[kMGTP]?)|\w{0,12}))"
          R"( \[(?:\d+:)?\d+:\d\d[<,])"};
};

bool Is(const RE2& kind, std::string_view line) {
  return RE2::PartialMatch({line.data(), line.size()}, kind);
}

struct Line {
  std::string_view text;
  std::string_view said;    // without the rank before it
  std::int64_t number = 0;  // from zero; a bar overwrites its line
  int rank = -1;
  bool passed_over = false;  // it tells nothing of how the log ends
  bool fails = false;        // it tells of trouble
  bool at_rest = false;      // a bar that a dying program may have painted
};

std::vector<Line> LinesOf(std::string_view tail) {
  std::vector<Line> lines;
  std::int64_t number = 0;
  while (!tail.empty()) {
    const std::size_t end = std::min(tail.find_first_of("\r\n"), tail.size());
    if (end > 0) {
      const std::string_view text = tail.substr(0, end);
      lines.push_back({text, WithoutRank(text), number});
    }
    number += end < tail.size() && tail[end] == '\n' ? 1 : 0;
    tail.remove_prefix(std::min(end + 1, tail.size()));
  }
  return lines;
}

// From "Exception ignored in" to the exception that ends its traceback: Python
// goes on after it. And source code that a traceback quotes.
void MarkPassedOver(const Kinds& kinds, std::vector<Line>& lines) {
  bool ignoring = false;
  bool frame = false;
  for (Line& line : lines) {
    const std::string_view said = line.said;
    const bool quoted = frame && said.starts_with("    ");
    frame = said.starts_with("  File \"");
    if (Is(*kinds.ignored, said)) {
      ignoring = true;
      line.passed_over = true;
      continue;
    }
    const bool raised = Is(*kinds.raised, said);
    const bool ignored =
        ignoring &&
        (raised || said.starts_with("Traceback (") || said.starts_with(' '));
    line.passed_over = ignored || quoted;
    ignoring = ignored && !raised;
  }
}

// How far a bar is, and of how much: bars of one total are one bar.
struct Bar {
  double count = 0;
  std::string total;  // empty: it tells none
  bool full = false;
};

std::optional<Bar> BarOf(const Kinds& kinds, std::string_view line) {
  Bar bar;
  std::string number;
  std::string unit;
  if (!RE2::PartialMatch({line.data(), line.size()}, kinds.bar, &number, &unit,
                         &bar.total) ||
      !RE2::FullMatch(number, R"((\d+(?:\.\d+)?))", &bar.count)) {
    return std::nullopt;
  }
  bar.full = bar.count > 0 && number + unit == bar.total;
  constexpr std::string_view kUnits = "kMGTP";
  for (std::size_t i = 0; !unit.empty() && i <= kUnits.find(unit[0]); ++i) {
    bar.count *= 1000;
  }
  return bar;
}

// Programs that die paint their bars once more: below the trouble, and nothing
// goes beyond them. Such a bar says nothing.
class Bars {
 public:
  explicit Bars(const Kinds& kinds) : kinds_(kinds) {}

  // Lines from the first one down.
  void Take(Line& line) {
    const auto bar = BarOf(kinds_, line.text);
    if (!bar) {
      below_trouble_ = line.fails;
      troubles_ += line.fails ? 1 : 0;
      return;
    }
    const Key key{line.rank, bar->total};
    const auto above = last_.find(key);
    const bool known = above != last_.end();
    const bool again = known && above->second.troubles == troubles_;
    const bool rises = again && bar->count > above->second.count;
    if (rises) {
      above->second.line->at_rest = false;
    }
    const bool repeats = known && (!again || above->second.line->at_rest);
    line.at_rest =
        !bar->full && !rises && (bar->count == 0 || below_trouble_ || repeats);
    last_.insert_or_assign(key, Last{&line, bar->count, troubles_});
  }

 private:
  using Key = std::pair<int, std::string>;  // rank and total
  struct Last {
    Line* line;
    double count;
    int troubles;  // above it
  };

  const Kinds& kinds_;
  std::map<Key, Last> last_;
  bool below_trouble_ = false;
  int troubles_ = 0;
};

// Reads lines from the last one up, until each rank's progress is found.
class Upwards {
 public:
  explicit Upwards(const Kinds& kinds) : kinds_(kinds) {}

  void Take(const Line& line, std::int64_t newlines) {
    if (line.fails) {
      failed_.insert(line.rank);
    }
    if (line.passed_over || line.fails || done_.contains(line.rank)) {
      return;
    }
    if (Is(*kinds_.progress, line.said)) {
      // Bars and the summaries of trackers are printed however it ended.
      if (!line.at_rest && !Is(*kinds_.summary, line.said)) {
        Add(Failed(line.rank) ? kThenFailed : kWentOn, line, newlines);
        done_.insert(line.rank);
      }
    } else if (Is(*kinds_.over, line.said) && !Failed(line.rank) &&
               over_.insert(line.rank).second) {
      Add(kOver, line, newlines);
    }
  }

  const std::set<int>& done() const { return done_; }
  std::vector<LogEnd> TakeEnds() { return std::move(ends_); }

 private:
  // True when trouble stands below that may be this rank's.
  bool Failed(int rank) const {
    return rank < 0 ? !failed_.empty()
                    : failed_.contains(rank) || failed_.contains(-1);
  }

  void Add(std::string_view fact, const Line& line, std::int64_t newlines) {
    ends_.push_back({.fact = fact,
                     .rank = line.rank,
                     .newlines = newlines,
                     .text = std::string(line.text)});
  }

  const Kinds& kinds_;
  std::set<int> done_;    // ranks whose last progress is found
  std::set<int> over_;    // ranks that said the end
  std::set<int> failed_;  // ranks with trouble
  std::vector<LogEnd> ends_;
};

}  // namespace

bool IsOfEnd(std::string_view fact) {
  return fact == kWentOn || fact == kOver || fact == kSummary;
}

std::vector<LogEnd> LastProgress(std::string_view tail,
                                 const RankOfLine& rank_of) {
  static const Kinds kinds;
  const std::int64_t newlines = std::count(tail.begin(), tail.end(), '\n');
  std::vector<Line> lines = LinesOf(tail);
  MarkPassedOver(kinds, lines);
  std::set<int> ranks;
  Bars bars(kinds);
  for (Line& line : lines) {
    line.rank = rank_of(line.text);
    ranks.insert(line.rank);
    line.passed_over = line.passed_over || Is(*kinds.harmless, line.said);
    line.fails = !line.passed_over && Is(*kinds.trouble, line.said);
    bars.Take(line);
  }
  Upwards upwards(kinds);
  for (auto line = lines.rbegin();
       line != lines.rend() && upwards.done() != ranks; ++line) {
    upwards.Take(*line, newlines - line->number);
  }
  return upwards.TakeEnds();
}

}  // namespace muster::diagnose
