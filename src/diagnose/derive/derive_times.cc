// SPDX-License-Identifier: Apache-2.0
#include "diagnose/derive/derive_times.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "base/text.h"
#include "diagnose/derive/derive_parts.h"

namespace muster::diagnose {
namespace {

// Minutes that c10d and its store wait unless told otherwise.
constexpr std::int64_t kBounds[] = {10, 30, 60};

// "[29:55<03:25": a bar that stood near the bound of those who wait, or beyond
// it: the one that the log tells, else, where something went wrong, of a bar
// that did not come to its end, those of c10d and the store, the smallest of
// them where the log tells that a wait ended. A bar that moved until the very
// minute in which the wait ended began with it: somebody worked on while the
// others waited.
void CompareWaits(std::vector<Fact>& facts) {
  const auto of_place = NumberOf(facts, "collective.timeout", "limit");
  const auto told =
      of_place ? of_place : NumberOf(facts, "collective.bound", "limit");
  const bool wait_ended = FirstOf(facts, "collective.wait_ended") != nullptr;
  const bool trouble =
      std::any_of(facts.begin(), facts.end(), [](const Fact& fact) {
        return fact.name == "log.trouble" || fact.name == "hang.mentioned" ||
               fact.name.starts_with("cascade.");
      });
  const std::vector<Fact> seen = facts;
  for (const Fact& bar : seen) {
    if (bar.name != "progress.bar") {
      continue;
    }
    const std::int64_t minutes =
        NumberIn(bar, "hours") * 60 + NumberIn(bar, "minutes");
    const std::int64_t begun = minutes * 60'000;
    if (told && begun <= *told && begun + 60'000 >= *told) {
      AddOn(facts, bar, "numbers.bar_ends_with_wait");
    }
    const bool beyond = wait_ended && minutes + 1 >= kBounds[0];
    const bool ended = NumberIn(bar, "percent") == 100;
    const bool near =
        trouble && !ended &&
        std::any_of(
            std::begin(kBounds), std::end(kBounds), [&](std::int64_t bound) {
              return minutes + 1 >= bound && minutes <= bound + bound / 10;
            });
    if (told ? (minutes + 1) * 60'000 >= *told : near || beyond) {
      AddOn(facts, bar, "numbers.bar_at_limit");
      return;
    }
  }
}

// A function of the program that was compiled for several shapes.
void CompareCompiledShapes(std::vector<Fact>& facts) {
  constexpr std::size_t kShapes = 3;
  std::map<std::string, std::set<std::string>> shapes;
  std::optional<Fact> anew;
  for (const Fact& fact : facts) {
    if (fact.name == "compile.reported") {
      auto& of_function =
          shapes[fact.Text("host") + fact.subject + fact.Text("function")];
      of_function.insert(fact.Text("shapes"));
      if (of_function.size() >= kShapes) {
        anew = fact;
      }
    }
  }
  if (anew) {
    anew->fields.erase("level");  // counted here, whatever level it is noted at
    AddOn(facts, *anew, "numbers.compiled_anew");
  }
}

// The names and counts of a report in the order of its lines: a line that is
// there twice is one fact, and stands where it was first and last.
std::vector<Fact> ReportInOrder(const std::vector<Fact>& facts) {
  std::vector<std::pair<std::pair<std::string, std::int64_t>, Fact>> lines;
  lines.reserve(facts.size());
  for (const Fact& fact : facts) {
    if (fact.name == "metric.name" || fact.name == "metric.samples") {
      const std::int64_t first = fact.Number("line", 0);
      const std::int64_t last = fact.Number("last_line", first);
      lines.push_back({{fact.Text("source"), first}, fact});
      if (last > first) {
        lines.push_back({{fact.Text("source"), last}, fact});
      }
    }
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& one, const auto& other) {
                     return one.first < other.first;
                   });
  std::vector<Fact> ordered;
  ordered.reserve(lines.size());
  for (auto& line : lines) {
    ordered.push_back(std::move(line.second));
  }
  return ordered;
}

// A runtime that counts compilations beside executions, or beside those that it
// found compiled: more than one in three was compiled anew.
void CompareCompilations(std::vector<Fact>& facts) {
  constexpr std::int64_t kCompilations = 10;
  std::map<std::string, std::int64_t> counts;
  std::string metric;
  std::optional<Fact> anew;
  for (const Fact& fact : ReportInOrder(facts)) {
    if (fact.name == "metric.name") {
      metric = fact.Text("name");
      continue;
    }
    counts[metric] = NumberIn(fact, "count");
    const std::int64_t compiled =
        std::max({counts["CompileTime"], counts["UncachedCompile"],
                  counts["XrtCompile"]});
    const std::int64_t executed =
        std::max({counts["ExecuteTime"], counts["XrtExecute"],
                  counts["CachedCompile"] == 0
                      ? 0
                      : counts["CachedCompile"] + counts["UncachedCompile"]});
    if (compiled > kCompilations && executed > 0 && compiled * 3 >= executed) {
      anew = fact;
    }
  }
  if (anew) {
    anew->fields.erase("level");  // counted here, whatever level it is noted at
    AddOn(facts, *anew, "numbers.compiled_anew");
  }
}

// "data_time: 4.82  batch_time: 5.01": most of a step is waiting for data. The
// first step of an epoch always does; steps of a second and more, twice and in
// sum, are what the log tells of by itself.
void CompareStepTimes(std::vector<Fact>& facts) {
  const std::vector<Fact> seen = facts;
  bool one = false;
  int waits = 0;
  double sum = 0;
  double sum_of_data = 0;
  for (const Fact& fact : seen) {
    if (fact.name != "loader.times") {
      continue;
    }
    const double whole =
        BytesOf(fact.Text(fact.Has("whole") ? "whole" : "whole_last"));
    const double data =
        BytesOf(fact.Text(fact.Has("data") ? "data" : "data_first"));
    if (whole <= 0 || data > whole * 1.1) {
      continue;
    }
    const bool waited = data * 2 > whole;
    if (waited && !std::exchange(one, true)) {
      AddOn(facts, fact, "numbers.waits_for_data");
    }
    if (fact.Text("text").find("[0/") != std::string::npos) {
      continue;
    }
    sum += whole;
    sum_of_data += data;
    waits += whole >= 1 && waited ? 1 : 0;
    if (waits > 1 && sum_of_data * 2 > sum) {
      Fact told = fact;
      told.fields.erase("level");  // compared here, at whatever level noted
      AddOn(facts, told, "numbers.mostly_waits_for_data");
      return;
    }
  }
}

}  // namespace

void CompareTimes(std::vector<Fact>& facts) {
  CompareWaits(facts);
  CompareCompiledShapes(facts);
  CompareCompilations(facts);
  CompareStepTimes(facts);
}

}  // namespace muster::diagnose
