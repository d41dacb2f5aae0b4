// SPDX-License-Identifier: Apache-2.0
// Scores `explain` on a folder of cases (one JSON file each, in the format of
// the failure corpus): only `signal` and `exit` are given to it.
//
//   explain_corpus [--output json] [--fold I/N] [--show KIND] DIR
//
// --fold 2/5 scores only every fifth case, beginning with the third. --show
// wrong (or right, abstained) prints these cases. Exit 0: scored, whatever the
// score; 1 when a file holds no case, with --goals when the goals for this half
// are missed, with --strict when a case is neither right nor has its cause
// among the candidates; 77: no cases.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "case_text.h"
#include "diagnose/match/log_scanner.h"
#include "diagnose/verdict/answer.h"

namespace muster {
namespace {

struct Case {
  std::string id, signal, exit, cause;
  std::vector<std::string> ranks;  // a log of each, instead of one signal
  std::int64_t root = -1;          // the rank that has to be named
  bool settled = false;
  bool symptom_only = false;
};

struct Options {
  std::string folder;
  bool json = false;
  bool goals = false;
  bool strict = false;
  std::size_t fold = 0;
  std::size_t folds = 1;
  std::string show;
};

struct Score {
  int right = 0;
  int abstained = 0;
  int wrong = 0;
  int candidate = 0;  // abstained with the right label among the candidates
  int certain_wrong = 0;

  int all() const { return right + abstained + wrong; }
};

// True when the signal is a description, without any line of a log.
bool IsSymptomOnly(const std::string& signal) {
  bool symptom_only = true;
  bool described = false;
  for (const std::string& line : Split(signal, '\n')) {
    const std::string_view text = Trim(line);
    described = described || text.starts_with("(symptom)");
    symptom_only = symptom_only && (text.empty() || text[0] == '(');
  }
  return symptom_only || (described && signal.starts_with("(symptom)"));
}

std::optional<Case> ReadCase(const std::filesystem::path& path) {
  std::ifstream in(path);
  const Json json = Json::parse(in, nullptr, false);
  if (!json.is_object() ||
      !(json.contains("signal") || json.contains("ranks"))) {
    return std::nullopt;
  }
  Case one{.id = json.value("id", path.stem().string()),
           .signal = json.value("signal", ""),
           .cause = json.value("cause", "")};
  one.settled = json.value("settled", false);
  one.root = json.value("root", std::int64_t{-1});
  if (json.contains("exit") && json["exit"].is_string()) {
    one.exit = json["exit"].get<std::string>();
  }
  for (const Json& log : json.value("ranks", Json::array())) {
    one.ranks.push_back(log.get<std::string>());
  }
  one.symptom_only = one.ranks.empty() && IsSymptomOnly(one.signal);
  return one;
}

diagnose::Answer Ask(const diagnose::Matcher& matcher, const Case& one) {
  diagnose::LogScanner scanner(matcher);
  const corpus::CaseText signal = corpus::SplitCase(one.signal);
  if (one.ranks.empty()) {
    scanner.Begin({.name = "log"});
    scanner.Feed(signal.log);
    scanner.End();
  }
  for (std::size_t rank = 0; rank < one.ranks.size(); ++rank) {
    scanner.Begin({.name = "rank" + std::to_string(rank) + ".log",
                   .rank = static_cast<int>(rank)});
    scanner.Feed(one.ranks[rank]);
    scanner.End();
  }
  scanner.AddNotes(signal.notes);
  std::vector<Fact> facts = scanner.TakeFacts();
  if (!one.exit.empty()) {
    facts.push_back(diagnose::ExitFact(one.exit));
  }
  return diagnose::Explain(std::move(facts));
}

std::string AnswerText(const diagnose::Answer& answer) {
  if (answer.kind == diagnose::AnswerKind::kCause) {
    return std::string(Label(answer.findings.front().cause));
  }
  std::string text(diagnose::ToText(answer.kind));
  for (const auto& candidate : answer.candidates) {
    text += " " + std::string(Label(candidate.cause));
  }
  return text;
}

bool HasCandidate(const diagnose::Answer& answer, const std::string& label) {
  return std::any_of(answer.candidates.begin(), answer.candidates.end(),
                     [&](const diagnose::Candidate& candidate) {
                       return Label(candidate.cause) == label;
                     });
}

// "right", "abstained" or "wrong".
std::string Judge(const Case& one, const diagnose::Answer& answer) {
  const bool named = answer.kind == diagnose::AnswerKind::kCause;
  if (one.cause == "none") {
    return named ? "wrong" : "right";
  }
  if (!named) {
    return "abstained";
  }
  const Finding& first = answer.findings.front();
  const bool named_root =
      one.root < 0 ||
      (!first.subjects.empty() &&
       first.subjects.front() == "rank " + std::to_string(one.root));
  return Label(first.cause) == one.cause && named_root ? "right" : "wrong";
}

void Count(Score& score, const Case& one, const diagnose::Answer& answer,
           const std::string& judged) {
  (judged == "right"       ? score.right
   : judged == "abstained" ? score.abstained
                           : score.wrong)++;
  if (judged == "abstained" && HasCandidate(answer, one.cause)) {
    ++score.candidate;
  }
  if (judged == "wrong" && !answer.findings.empty() &&
      answer.findings.front().confidence == Confidence::kCertain) {
    ++score.certain_wrong;
  }
}

std::string GroupOf(const Case& one) {
  if (one.cause == "none") {
    return "none";
  }
  if (one.symptom_only) {
    return "symptom-only";
  }
  return one.settled ? "settled" : "unsettled";
}

int Percent(int part, int whole) {
  return whole == 0 ? 0 : (200 * part + whole) / (2 * whole);
}

void PrintScores(const std::map<std::string, Score>& groups) {
  std::printf("%-26s %5s %6s %10s %6s %10s\n", "", "cases", "right",
              "abstained", "wrong", "candidate");
  for (const auto& [name, score] : groups) {
    std::printf("%-26s %5d %3d %2d%% %7d %2d%% %3d %2d%% %10d\n", name.c_str(),
                score.all(), score.right, Percent(score.right, score.all()),
                score.abstained, Percent(score.abstained, score.all()),
                score.wrong, Percent(score.wrong, score.all()),
                score.candidate);
  }
}

Json JsonOf(const std::map<std::string, Score>& groups) {
  Json json = Json::object();
  for (const auto& [name, score] : groups) {
    Json row = Json::object();
    row["cases"] = score.all();
    row["right"] = score.right;
    row["abstained"] = score.abstained;
    row["wrong"] = score.wrong;
    row["right_among_candidates"] = score.candidate;
    row["certain_and_wrong"] = score.certain_wrong;
    json[name] = std::move(row);
  }
  return json;
}

// The goals for the half of the corpus that is known; where nothing is told
// without a line, none of that can be missed.
bool GoalsMet(std::map<std::string, Score>& groups) {
  const Score& settled = groups["settled"];
  const Score& none = groups["none"];
  const Score& symptoms = groups["symptom-only"];
  int certain_wrong = 0;
  for (const auto& [name, score] : groups) {
    certain_wrong += score.certain_wrong;
  }
  return Percent(settled.right, settled.all()) >= 92 &&
         Percent(settled.wrong, settled.all()) <= 3 && none.wrong == 0 &&
         certain_wrong == 0 &&
         (symptoms.all() == 0 ||
          Percent(symptoms.candidate, symptoms.all()) >= 70);
}

// Nothing, and a line for each that cannot be read, unless all can.
std::optional<std::vector<Case>> ReadCases(const Options& options) {
  std::vector<std::filesystem::path> paths;
  if (std::filesystem::is_directory(options.folder)) {
    for (const auto& entry :
         std::filesystem::directory_iterator(options.folder)) {
      if (entry.path().extension() == ".json") {
        paths.push_back(entry.path());
      }
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Case> cases;
  bool all_read = true;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    if (i % options.folds != options.fold) {
      continue;
    }
    if (auto one = ReadCase(paths[i])) {
      cases.push_back(std::move(*one));
    } else {
      all_read = false;
      std::fprintf(stderr, "%s: no case with a `signal` or `ranks`\n",
                   paths[i].c_str());
    }
  }
  return all_read ? std::optional(std::move(cases)) : std::nullopt;
}

int Run(const Options& options) {
  const auto cases = ReadCases(options);
  if (!cases) {
    return 1;
  }
  if (cases->empty()) {
    std::printf("skipped: no cases in %s\n", options.folder.c_str());
    return 77;
  }
  const diagnose::Matcher matcher;
  std::map<std::string, Score> groups;
  std::map<std::string, Score> families;
  std::string confusions;
  for (const Case& one : *cases) {
    const diagnose::Answer answer = Ask(matcher, one);
    const std::string judged = Judge(one, answer);
    const std::string group = GroupOf(one);
    Count(groups[group], one, answer, judged);
    if (group == "settled") {
      const auto cause = CauseFromLabel(one.cause);
      Count(families["family " +
                     std::string(cause ? Family(*cause) : "not known")],
            one, answer, judged);
    }
    if (judged == "wrong" || judged == options.show || options.show == "all") {
      confusions += judged + " " + group + " " + one.id + ": " + one.cause +
                    " -> " + AnswerText(answer) + "\n";
    }
  }
  const bool met = GoalsMet(groups);
  if (options.json) {
    Json json = Json::object();
    json["schema"] = "muster.explain-corpus/1";
    json["groups"] = JsonOf(groups);
    json["families"] = JsonOf(families);
    json["goals_met"] = met;
    std::printf("%s\n", json.dump(2).c_str());
  } else {
    PrintScores(groups);
    PrintScores(families);
    std::printf("%sgoals %s\n", confusions.c_str(), met ? "met" : "missed");
  }
  bool all_met = true;
  for (const auto& [name, score] : groups) {
    all_met = all_met && score.right + score.candidate == score.all();
  }
  return (options.goals && !met) || (options.strict && !all_met) ? 1 : 0;
}

Options Parse(const std::vector<std::string>& args) {
  Options options;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string next = i + 1 < args.size() ? args[i + 1] : "";
    if (args[i] == "--output") {
      options.json = next == "json";
      ++i;
    } else if (args[i] == "--goals") {
      options.goals = true;
    } else if (args[i] == "--strict") {
      options.strict = true;
    } else if (args[i] == "--show") {
      options.show = next;
      ++i;
    } else if (args[i] == "--fold") {
      const auto parts = Split(next, '/');
      if (parts.size() == 2) {
        options.folds = static_cast<std::size_t>(
            std::max<std::int64_t>(1, ParseInt(parts[1]).value_or(1)));
        options.fold = static_cast<std::size_t>(std::max<std::int64_t>(
                           0, ParseInt(parts[0]).value_or(0))) %
                       options.folds;
      }
      ++i;
    } else {
      options.folder = args[i];
    }
  }
  return options;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  return muster::Run(
      muster::Parse(std::vector<std::string>(argv + 1, argv + argc)));
}
