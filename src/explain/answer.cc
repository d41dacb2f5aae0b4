// SPDX-License-Identifier: Apache-2.0
#include "explain/answer.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "base/text.h"
#include "explain/clocks.h"
#include "explain/derive.h"
#include "explain/ranking.h"

namespace muster::explain {
namespace {

constexpr std::size_t kCandidates = 3;
constexpr std::size_t kEvidenceLines = 8;
constexpr std::size_t kVictims = 16;

Evidence EvidenceOf(const Fact& fact) {
  const std::string text = fact.Text("text");
  std::string source = fact.by;
  if (!fact.subject.empty()) {
    source = fact.subject + ", " + source;
  }
  const std::int64_t times = fact.Number("times", 1);
  return {.what = (text.empty() ? ToText(fact) : text) +
                  (times > 1 ? " (" + std::to_string(times) + " times)" : ""),
          .source = std::move(source),
          .at = fact.at};
}

// Each line once, in the order of the facts.
std::vector<Evidence> EvidenceOf(const std::vector<const Fact*>& facts) {
  std::vector<Evidence> evidence;
  std::set<std::string> seen;
  for (const Fact* fact : facts) {
    if (evidence.size() < kEvidenceLines && seen.insert(fact->by).second) {
      evidence.push_back(EvidenceOf(*fact));
    }
  }
  return evidence;
}

Confidence ConfidenceOf(const Suspicion& root,
                        const std::vector<Suspicion>& all) {
  if (root.weight == RuleWeight::kWeak) {
    return Confidence::kPossible;
  }
  if (root.weight != RuleWeight::kDirect) {
    return Confidence::kLikely;
  }
  // Another direct fact that this cause does not explain: not certain.
  const bool contested =
      std::any_of(all.begin(), all.end(), [&](const Suspicion& other) {
        const auto over = StandingOf(root.cause).over;
        return other.cause != root.cause &&
               other.weight == RuleWeight::kDirect &&
               std::find(over.begin(), over.end(), other.cause) == over.end();
      });
  return contested ? Confidence::kLikely : Confidence::kCertain;
}

// "rank 1: Connection closed by peer".
std::vector<std::string> VictimsOf(const Suspicion& root,
                                   const std::vector<Fact>& facts) {
  std::vector<std::string> victims;
  for (const Fact& fact : facts) {
    const bool follows =
        fact.name.starts_with("cascade.") &&
        fact.Text("text") != root.evidence.front()->Text("text");
    if (follows && victims.size() < kVictims) {
      victims.push_back(
          (fact.subject.empty() ? fact.by : fact.subject + ", " + fact.by) +
          ": " + fact.Text("text"));
    }
  }
  return victims;
}

// "the kernel killed a rank for memory: Out of memory: Killed process 3494".
std::string WhatOf(const Suspicion& suspicion) {
  const Fact& first = *suspicion.evidence.front();
  std::string what(Title(suspicion.cause));
  if (!first.subject.empty()) {
    what = first.subject + ": " + what;
  }
  return what;
}

Finding FindingOf(const Suspicion& suspicion, Confidence confidence) {
  std::vector<Fact> facts;
  for (const Fact* fact : suspicion.evidence) {
    facts.push_back(*fact);
  }
  Finding finding =
      MakeFinding(suspicion.cause, WhatOf(suspicion), confidence, facts);
  finding.evidence = EvidenceOf(suspicion.evidence);
  return finding;
}

std::vector<std::string> RuledOut(const Suspicion& root,
                                  const std::vector<Suspicion>& all) {
  std::vector<std::string> out;
  const auto over = StandingOf(root.cause).over;
  for (const Suspicion& other : all) {
    if (std::find(over.begin(), over.end(), other.cause) != over.end()) {
      out.push_back(std::string(Label(other.cause)) +
                    ": what speaks for it follows from " +
                    std::string(Label(root.cause)));
    }
  }
  return out;
}

Candidate CandidateOf(Cause cause, const Fact& why) {
  const Standing& standing = StandingOf(cause);
  return {.cause = cause,
          .why = why.Text("text"),
          .decide = standing.decide.empty()
                        ? "muster explain " + std::string(Label(cause)) +
                              " tells how to confirm it"
                        : std::string(standing.decide),
          .command = std::string(standing.command)};
}

std::vector<Candidate> CandidatesOf(const std::vector<Suspicion>& all) {
  std::vector<Candidate> candidates;
  for (const Suspicion& suspicion : all) {
    if (candidates.size() < kCandidates) {
      candidates.push_back(
          CandidateOf(suspicion.cause, *suspicion.evidence.front()));
    }
  }
  return candidates;
}

// Fills the places that are left with causes of which a remark has the words of
// two groups, those with most groups first.
void AddFaint(const std::vector<Fact>& facts,
              std::vector<Candidate>& candidates) {
  struct Spoken {
    std::set<std::string_view> groups;
    const Fact* first = nullptr;
  };
  std::map<std::string_view, Spoken> spoken;  // by label
  for (const Fact& fact : facts) {
    const std::string_view name = fact.name;
    const std::size_t dot = name.rfind('.');
    if (name.starts_with("remark.") && dot > 7) {
      Spoken& of_label = spoken[name.substr(7, dot - 7)];
      of_label.groups.insert(name.substr(dot));
      of_label.first = of_label.first == nullptr ? &fact : of_label.first;
    }
  }
  for (std::size_t groups = 5; groups >= 2; --groups) {
    for (const auto& [label, of_label] : spoken) {
      const auto cause = CauseFromLabel(label);
      const bool listed = std::any_of(
          candidates.begin(), candidates.end(),
          [&](const Candidate& known) { return known.cause == cause; });
      if (cause && !listed && of_label.groups.size() == groups &&
          candidates.size() < kCandidates) {
        candidates.push_back(CandidateOf(*cause, *of_label.first));
      }
    }
  }
}

// True when something went wrong, whatever it was.
bool SaysTrouble(const std::vector<Fact>& facts) {
  const Progress progress = LastProgress(facts);
  return std::any_of(facts.begin(), facts.end(), [&](const Fact& fact) {
    if (WasSurvived(fact, progress)) {
      return false;
    }
    if (fact.name == "exit.status") {
      return fact.Text("code") != "0";
    }
    return fact.name == "log.trouble" || fact.name.starts_with("cascade.") ||
           fact.name == "python.exception" || fact.name == "call.failed" ||
           fact.name == "told.symptom";
  });
}

// True when nothing was printed by a program, all was told by whoever asks.
bool IsOnlyTold(const std::vector<Fact>& facts) {
  return std::all_of(facts.begin(), facts.end(),
                     [](const Fact& fact) { return fact.Has("remark"); });
}

// True when whoever hands the log over complains of something that a cause has.
bool IsComplaint(const std::vector<Suspicion>& all) {
  return std::any_of(all.begin(), all.end(), [](const Suspicion& suspicion) {
    return std::any_of(suspicion.evidence.begin(), suspicion.evidence.end(),
                       [](const Fact* fact) { return fact->Has("remark"); });
  });
}

}  // namespace

Answer Explain(std::vector<Fact> facts) {
  AlignClocks(facts);
  Derive(facts);
  const std::vector<Suspicion> all = Suspicions(facts, CatalogueRules());
  Answer answer;
  for (const Fact& fact : facts) {
    if (fact.name == "log.harmless") {
      Evidence evidence = EvidenceOf(fact);
      if (const std::string says = fact.Text("says"); !says.empty()) {
        evidence.what += ": " + says;
      }
      answer.harmless.push_back(std::move(evidence));
    } else if (fact.name == "look.seen") {
      answer.looks.push_back(EvidenceOf(fact));
    }
  }
  const bool hinted = all.empty() || all.front().weight == RuleWeight::kHint;
  if (hinted || IsOnlyTold(facts)) {
    // Words that may speak for a cause are everywhere in healthy logs.
    if (!hinted || SaysTrouble(facts) || IsComplaint(all)) {
      answer.kind = AnswerKind::kUnknown;
      answer.candidates = CandidatesOf(all);
    }
    if (IsOnlyTold(facts)) {
      AddFaint(facts, answer.candidates);
      answer.kind =
          answer.candidates.empty() ? answer.kind : AnswerKind::kUnknown;
    }
    return answer;
  }
  const Suspicion& root = all.front();
  answer.kind = AnswerKind::kCause;
  Finding finding = FindingOf(root, ConfidenceOf(root, all));
  for (const Fact& fact : facts) {
    if (fact.name == "clock.offset") {
      finding.evidence.push_back(EvidenceOf(fact));
    }
  }
  finding.victims = VictimsOf(root, facts);
  finding.ruled_out = RuledOut(root, all);
  answer.findings.push_back(std::move(finding));
  const std::vector<Suspicion> rest(all.begin() + 1, all.end());
  answer.candidates = CandidatesOf(rest);
  return answer;
}

Answer WithReported(Answer answer, std::vector<Finding> reported) {
  if (reported.empty()) {
    return answer;
  }
  const auto is_generic = [](const Finding& finding) {
    return finding.cause == Cause::kAppException ||
           finding.cause == Cause::kPeerDied ||
           finding.cause == Cause::kNoProgress;
  };
  if (answer.kind == AnswerKind::kCause && is_generic(reported.front()) &&
      !is_generic(answer.findings.front())) {
    answer.findings.front().victims = reported.front().victims;
    answer.findings.insert(answer.findings.end(), reported.begin(),
                           reported.end());
  } else {
    answer.findings = std::move(reported);
  }
  answer.kind = AnswerKind::kCause;
  return answer;
}

std::string_view ToText(AnswerKind kind) {
  switch (kind) {
    case AnswerKind::kCause:
      return "cause";
    case AnswerKind::kUnknown:
      return "unknown";
    case AnswerKind::kHealthy:
      break;
  }
  return "healthy";
}

}  // namespace muster::explain
