// SPDX-License-Identifier: Apache-2.0
#include "diagnose/verdict/ranking.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "diagnose/derive/derive_parts.h"

namespace muster::diagnose {
namespace {

using ByName = std::multimap<std::string_view, const Fact*>;

std::string FieldText(const Fact& fact, std::string_view field) {
  const auto found = fact.fields.find(std::string(field));
  if (found == fact.fields.end()) {
    return {};
  }
  if (const auto* number = std::get_if<std::int64_t>(&found->second)) {
    return std::to_string(*number);
  }
  const auto* text = std::get_if<std::string>(&found->second);
  return text == nullptr ? std::string() : *text;
}

// Those that hold, the first in time first where all of them tell their time.
std::vector<const Fact*> Holding(const ByName& facts,
                                 const Condition& condition) {
  std::vector<const Fact*> holding;
  const auto [begin, end] = facts.equal_range(condition.fact);
  for (auto it = begin; it != end; ++it) {
    if (condition.field.empty() ||
        FieldText(*it->second, condition.field) == condition.value) {
      holding.push_back(it->second);
    }
  }
  if (std::all_of(holding.begin(), holding.end(),
                  [](const Fact* fact) { return fact->at != WallTime{}; })) {
    std::stable_sort(
        holding.begin(), holding.end(),
        [](const Fact* a, const Fact* b) { return a->at < b->at; });
  }
  return holding;
}

// The facts that the rule rests on, its own pattern's first; nullopt: a
// condition does not hold.
std::optional<std::vector<const Fact*>> Apply(const Rule& rule,
                                              const ByName& facts) {
  std::vector<const Fact*> evidence;
  for (const Condition& condition : rule.with) {
    const auto holding = Holding(facts, condition);
    if (holding.empty()) {
      return std::nullopt;
    }
    evidence.insert(evidence.end(), holding.begin(), holding.end());
  }
  const bool excluded = std::any_of(
      rule.without.begin(), rule.without.end(),
      [&](const Condition& c) { return !Holding(facts, c).empty(); });
  return excluded ? std::nullopt : std::optional(std::move(evidence));
}

// True when something says, and not in passing, that the program failed. A
// hang-up and a call that was refused are no warnings, at whatever level they
// are noted.
bool SaysFailure(std::span<const Fact> facts) {
  return std::any_of(facts.begin(), facts.end(), [&](const Fact& fact) {
    const bool speaks =
        IsTrouble(fact, facts) || fact.name == "python.exception" ||
        (fact.name == "hang.mentioned" && fact.Has("note")) ||
        (fact.name.starts_with("exit.") && fact.Text("code") != "0") ||
        fact.name.starts_with("cascade.");
    const bool ended = fact.name == "exit.sighup" ||
                       fact.name == "http.refused" ||
                       fact.name == "call.failed";
    const std::string level = fact.Text("level");
    return (speaks && level != "W" && level != "I") || (ended && level != "I");
  });
}

// What all facts together say of how much one of them is worth.
struct Setting {
  bool failed = false;  // something says, and not in passing, that it failed
  bool asked = false;   // the user gave a note or a status
  std::map<std::string, std::int64_t> ends;  // the last lines, by source
};

Setting SettingOf(std::span<const Fact> facts) {
  Setting setting{.failed = SaysFailure(facts)};
  for (const Fact& fact : facts) {
    if (fact.name == "log.end") {
      setting.ends[fact.Text("source")] = fact.Number("line", 0);
    } else {
      setting.asked = setting.asked || fact.Has("note") || fact.Has("ended");
    }
  }
  return setting;
}

// True when its log goes on after it as if nothing had been: what knows it is
// only noted, something follows, and nothing tells of trouble.
bool IsPassedBy(const Rule& rule, const Fact& first, const Setting& setting) {
  const auto end = setting.ends.find(first.Text("source"));
  if (setting.failed || setting.asked || CauseMetaOf(rule.cause).lasting ||
      end == setting.ends.end()) {
    return false;
  }
  return rule.weight == RuleWeight::kDirect && first.Text("level") == "I" &&
         end->second > LastLine(first);
}

// What a program notes in passing only hints; what it warns of, too, where
// nothing failed.
RuleWeight WeightOf(const Rule& rule, const Fact& first,
                    const Setting& setting) {
  const std::string level = first.Text("level");
  const bool noted =
      level == "I" ||
      (level == "W" && (!setting.failed || rule.weight == RuleWeight::kWeak));
  return (noted && rule.weight != RuleWeight::kDirect) ||
                 IsPassedBy(rule, first, setting)
             ? RuleWeight::kHint
             : rule.weight;
}

void Merge(Hypothesis& suspicion, const Rule& rule, const Setting& setting,
           const std::vector<const Fact*>& evidence) {
  const Fact& first = *evidence.front();
  const RuleWeight weight = WeightOf(rule, first, setting);
  const auto specificity =
      static_cast<int>(rule.with.size() + rule.without.size());
  const std::int64_t order = first.Number("order", 0);
  const bool stronger = suspicion.hints == 0 || weight > suspicion.weight;
  ++suspicion.hints;
  if (stronger) {
    suspicion.weight = weight;
    suspicion.specificity = specificity;
    suspicion.order = order;
    suspicion.at = first.at;
    suspicion.evidence.insert(suspicion.evidence.begin(), evidence.begin(),
                              evidence.end());
    return;
  }
  if (weight == suspicion.weight) {
    suspicion.specificity = std::max(suspicion.specificity, specificity);
    if (order < suspicion.order) {
      suspicion.order = order;
      suspicion.at = first.at;
    }
  }
  suspicion.evidence.insert(suspicion.evidence.end(), evidence.begin(),
                            evidence.end());
}

// Said of what nothing narrower explains.
bool IsLastResort(Cause cause) {
  return cause == Cause::kAppException || cause == Cause::kFrameworkBug;
}

bool Before(const Hypothesis& a, const Hypothesis& b) {
  if (a.weight != b.weight) {
    return a.weight > b.weight;
  }
  if (IsLastResort(a.cause) != IsLastResort(b.cause)) {
    return IsLastResort(b.cause);
  }
  if (a.weight == RuleWeight::kHint && a.hints != b.hints) {
    return a.hints > b.hints;
  }
  if (a.specificity != b.specificity) {
    return a.specificity > b.specificity;
  }
  if (a.at != b.at && a.at != WallTime{} && b.at != WallTime{}) {
    return a.at < b.at;
  }
  return a.order < b.order;
}

bool Explains(const Hypothesis& a, const Hypothesis& b) {
  const auto over = CauseMetaOf(a.cause).over;
  return a.weight > RuleWeight::kHint &&
         std::find(over.begin(), over.end(), b.cause) != over.end();
}

// True when the program was begun anew after the fact, from what it had saved.
bool ResumedAfter(const Fact& fact, const Progress& progress) {
  const auto resumed = progress.resumed.find(fact.Text("source"));
  return resumed != progress.resumed.end() && resumed->second > LastLine(fact);
}

// What stands right below the line with which a job was ended had waited in a
// buffer: the program did not go on, unless it was begun anew.
void DropBuffered(std::span<const Fact> facts, Progress& progress) {
  constexpr std::int64_t kBuffered = 20;  // lines
  for (const Fact& ended : facts) {
    if (ended.name != "job.ended" || ResumedAfter(ended, progress)) {
      continue;
    }
    const std::string source = ended.Text("source");
    const std::int64_t last = LastLine(ended);
    std::erase_if(progress.lines, [&](const auto& of_source) {
      const std::int64_t line = of_source.second.line;
      return of_source.first == source && line > last &&
             line <= last + kBuffered;
    });
  }
}

Progress ProgressOf(std::span<const Fact> facts,
                    std::initializer_list<std::string_view> names) {
  Progress progress;
  for (const Fact& fact : facts) {
    if (std::find(names.begin(), names.end(), fact.name) != names.end()) {
      progress.lines.emplace(fact.Text("source"),
                             WentOn{.rank = fact.Number("rank", -1),
                                    .line = fact.Number("line", 0),
                                    .over = fact.name == "progress.over"});
    } else if (fact.name == "run.resumed") {
      std::int64_t& last = progress.resumed[fact.Text("source")];
      last = std::max(last, LastLine(fact));
    }
  }
  DropBuffered(facts, progress);
  return progress;
}

// True for the status of an exception, and not of a signal.
bool EndedInException(const Fact& fact) {
  return fact.Has("ended") && fact.Text("signal").empty() &&
         fact.Text("code") != "0";
}

// True when the program went on after all that speaks for the cause.
bool AllSurvived(const Hypothesis& suspicion, const Progress& progress) {
  const bool lasting = CauseMetaOf(suspicion.cause).lasting;
  return std::all_of(suspicion.evidence.begin(), suspicion.evidence.end(),
                     [&](const Fact* fact) {
                       return WasSurvived(*fact, progress) &&
                              (!lasting || ResumedAfter(*fact, progress));
                     });
}

// True when it is what a log ends in: some of it stands below the last
// progress.
bool IsTheEnd(const Hypothesis& suspicion, const Progress& before) {
  return suspicion.weight > RuleWeight::kHint &&
         !IsLastResort(suspicion.cause) &&
         std::any_of(suspicion.evidence.begin(), suspicion.evidence.end(),
                     [&](const Fact* fact) {
                       return before.lines.contains(fact->Text("source")) &&
                              !fact->Has("note") && !WasSurvived(*fact, before);
                     });
}

// Of a log that ends in trouble, what the program had survived until then
// counts no more, unless it explains what the log ends in.
void DropSurvived(std::span<const Fact> facts, std::vector<Hypothesis>& all) {
  const Progress before = ProgressOf(
      facts, {"progress.went_on", "progress.over", "progress.then_failed"});
  std::vector<Hypothesis> left;
  for (const Hypothesis& one : all) {
    const bool survived = AllSurvived(one, before);
    const bool replaced =
        survived && std::any_of(all.begin(), all.end(), [&](const auto& other) {
          return IsTheEnd(other, before) && !Explains(one, other);
        });
    if (!replaced) {
      left.push_back(one);
    }
  }
  all = std::move(left);
}

// True when only notes speak for the cause.
bool RestsOnNotes(const Hypothesis& suspicion) {
  return std::all_of(suspicion.evidence.begin(), suspicion.evidence.end(),
                     [](const Fact* fact) { return IsUnobserved(*fact); });
}

// The user is a witness and no proof: what no program printed is named where it
// explains what one did, and else only hinted at.
void WeighNotes(std::vector<Hypothesis>& all) {
  for (Hypothesis& noted : all) {
    const bool explains =
        std::any_of(all.begin(), all.end(), [&](const Hypothesis& other) {
          return other.weight > RuleWeight::kHint && !RestsOnNotes(other) &&
                 !IsLastResort(other.cause) && Explains(noted, other);
        });
    if (RestsOnNotes(noted) && !explains) {
      noted.weight = RuleWeight::kHint;
    }
  }
}

// Moves the first cause that stands over one before it to that one's place.
bool LiftOne(std::vector<Hypothesis>& all) {
  for (auto lower = all.begin(); lower != all.end(); ++lower) {
    const auto higher =
        std::find_if(lower + 1, all.end(), [&](const Hypothesis& other) {
          return Explains(other, *lower) && !Explains(*lower, other);
        });
    if (higher != all.end()) {
      std::rotate(lower, higher, higher + 1);
      return true;
    }
  }
  return false;
}

// A cause that stands over another one is placed before it.
void LiftNarrower(std::vector<Hypothesis>& all) {
  for (std::size_t moves = 0; moves < all.size() && LiftOne(all); ++moves) {
  }
}

bool LiesBelow(std::string_view source, std::string_view folder) {
  return folder == "./" ? !source.starts_with("/") && !source.starts_with("../")
                        : source.starts_with(folder);
}

}  // namespace

bool IsTrouble(const Fact& fact, std::span<const Fact> facts) {
  return fact.name == "log.trouble" &&
         std::none_of(facts.begin(), facts.end(), [&](const Fact& other) {
           return other.name == "pip.conflict" &&
                  other.Text("source") == fact.Text("source") &&
                  other.Number("line", 0) == fact.Number("line", 0);
         });
}

Progress LastProgress(std::span<const Fact> facts) {
  Progress progress = ProgressOf(facts, {"progress.went_on", "progress.over"});
  if (EndedWell(facts) != nullptr) {
    for (const Fact& fact : facts) {
      if (fact.Has("ended")) {
        progress.ended_well.push_back(fact.Text("below"));
      }
    }
  }
  if (std::none_of(facts.begin(), facts.end(), EndedInException)) {
    return progress;
  }
  for (const Fact& fact : facts) {
    if (fact.Has("uncaught") && !ResumedAfter(fact, progress)) {
      std::int64_t& last =
          progress.deaths[{fact.Text("source"), fact.Number("rank", -1)}];
      last = std::max(last, LastLine(fact));
    }
  }
  return progress;
}

const Fact* EndedWell(std::span<const Fact> facts) {
  const Fact* well = nullptr;
  for (const Fact& fact : facts) {
    const bool complains = fact.Has("note") && (fact.name == "hang.mentioned" ||
                                                fact.name == "slow.mentioned");
    if (complains || (fact.Has("ended") && fact.Text("code") != "0")) {
      return nullptr;
    }
    if (well == nullptr && fact.Has("ended")) {
      well = &fact;
    }
  }
  return well;
}

bool WasSurvived(const Fact& fact, const Progress& progress) {
  if (fact.Has("note")) {
    return false;  // it is about the whole run
  }
  const std::string source = fact.Text("source");
  if (std::any_of(progress.ended_well.begin(), progress.ended_well.end(),
                  [&](const std::string& folder) {
                    return LiesBelow(source, folder);
                  })) {
    return true;
  }
  const std::int64_t rank = fact.Number("rank", -1);
  const auto death = progress.deaths.find({source, rank});
  if (death != progress.deaths.end() && LastLine(fact) >= death->second) {
    return false;
  }
  const bool fatal = fact.Has("fatal") && !ResumedAfter(fact, progress);
  const std::int64_t line = fact.Number("line", 0);
  const auto [begin, end] = progress.lines.equal_range(source);
  return std::any_of(begin, end, [&](const auto& of_source) {
    const WentOn& went_on = of_source.second;
    // A rank lives on while another one is dead; and it ends all the same.
    const bool says_nothing =
        fatal && (went_on.over || (rank >= 0 && went_on.rank != rank));
    // What the line of progress itself says for the first time is not over.
    return !says_nothing && line < went_on.line &&
           LastLine(fact) <= went_on.line;
  });
}

bool IsUnobserved(const Fact& fact) {
  return fact.Has("note") && !fact.name.starts_with("tried.");
}

std::vector<Hypothesis> Hypotheses(std::span<const Fact> facts,
                                   std::span<const Rule> rules) {
  ByName by_name;
  for (const Fact& fact : facts) {
    by_name.emplace(fact.name, &fact);
  }
  const Setting setting = SettingOf(facts);
  std::map<Cause, Hypothesis> found;
  for (const Rule& rule : rules) {
    if (const auto evidence = Apply(rule, by_name)) {
      auto& suspicion =
          found.try_emplace(rule.cause, Hypothesis{.cause = rule.cause})
              .first->second;
      Merge(suspicion, rule, setting, *evidence);
    }
  }
  const auto progress = LastProgress(facts);
  std::vector<Hypothesis> all;
  all.reserve(found.size());
  for (auto& [cause, suspicion] : found) {
    if (!AllSurvived(suspicion, progress)) {
      all.push_back(std::move(suspicion));
    }
  }
  DropSurvived(facts, all);
  WeighNotes(all);
  std::stable_sort(all.begin(), all.end(), Before);
  LiftNarrower(all);
  return all;
}

}  // namespace muster::diagnose
