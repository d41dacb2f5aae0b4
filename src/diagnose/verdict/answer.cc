// SPDX-License-Identifier: Apache-2.0
#include "diagnose/verdict/answer.h"

#include <algorithm>
#include <set>

#include "base/text.h"
#include "diagnose/derive/derive.h"
#include "diagnose/derive/derive_parts.h"
#include "diagnose/match/bm25.h"
#include "diagnose/verdict/clocks.h"
#include "diagnose/verdict/ranking.h"

namespace muster::diagnose {
namespace {

constexpr std::size_t kCandidates = 3;
constexpr std::size_t kEvidenceLines = 8;
constexpr std::size_t kVictims = 16;
// How much nearer than the next one a cause is that its words speak for.
constexpr double kClearly = 1.3;

Evidence EvidenceOf(const Fact& fact) {
  const std::string text = fact.Text("text");
  std::string source = fact.by;
  if (!fact.subject.empty()) {
    source = fact.subject + ", " + source;
  }
  const std::int64_t times = fact.Number("times", 1);
  return {.what = (text.empty() ? ToString(fact) : text) +
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

Confidence ConfidenceOf(const Hypothesis& root,
                        const std::vector<Hypothesis>& all) {
  if (root.weight == RuleWeight::kWeak) {
    return Confidence::kPossible;
  }
  if (root.weight != RuleWeight::kDirect) {
    return Confidence::kLikely;
  }
  // Another direct fact that this cause does not explain: not certain.
  const bool contested =
      std::any_of(all.begin(), all.end(), [&](const Hypothesis& other) {
        const auto over = CauseMetaOf(root.cause).over;
        return other.cause != root.cause &&
               other.weight == RuleWeight::kDirect &&
               std::find(over.begin(), over.end(), other.cause) == over.end();
      });
  return contested ? Confidence::kLikely : Confidence::kCertain;
}

// "rank 1: Connection closed by peer".
std::vector<std::string> VictimsOf(const Hypothesis& root,
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
std::string WhatOf(const Hypothesis& suspicion) {
  const Fact& first = *suspicion.evidence.front();
  std::string what(Title(suspicion.cause));
  if (!first.subject.empty()) {
    what = first.subject + ": " + what;
  }
  return what;
}

Finding FindingOf(const Hypothesis& suspicion, Confidence confidence) {
  std::vector<Fact> facts;
  for (const Fact* fact : suspicion.evidence) {
    facts.push_back(*fact);
  }
  Finding finding =
      MakeFinding(suspicion.cause, WhatOf(suspicion), confidence, facts);
  finding.evidence = EvidenceOf(suspicion.evidence);
  return finding;
}

std::vector<std::string> RuledOut(const Hypothesis& root,
                                  const std::vector<Hypothesis>& all) {
  std::vector<std::string> out;
  const auto over = CauseMetaOf(root.cause).over;
  for (const Hypothesis& other : all) {
    if (std::find(over.begin(), over.end(), other.cause) != over.end()) {
      out.push_back(std::string(Label(other.cause)) +
                    ": its evidence is explained by " +
                    std::string(Label(root.cause)));
    }
  }
  return out;
}

Candidate CandidateOf(Cause cause, std::string why) {
  const CauseMeta& standing = CauseMetaOf(cause);
  return {.cause = cause,
          .why = std::move(why),
          .decide = std::string(standing.decide),
          .command = std::string(standing.command)};
}

std::vector<Candidate> CandidatesOf(const std::vector<Hypothesis>& all) {
  std::vector<Candidate> candidates;
  for (const Hypothesis& suspicion : all) {
    if (candidates.size() < kCandidates) {
      candidates.push_back(CandidateOf(
          suspicion.cause, suspicion.evidence.front()->Text("text")));
    }
  }
  return candidates;
}

// The last lines of all sources.
std::string EndsOf(const std::vector<Fact>& facts) {
  std::string ends;
  for (const Fact& fact : facts) {
    if (fact.name == "log.end") {
      ends += fact.Text("text") + "\n";
    }
  }
  return ends;
}

std::string SharedWords(const Nearness& near) {
  return "shares the words " + Join(near.words, ", ");
}

// The nearest causes take the places that the rules leave.
void FillUp(std::vector<Candidate>& candidates,
            const std::vector<Nearness>& near) {
  for (const Nearness& one : near) {
    const bool is_there =
        std::any_of(candidates.begin(), candidates.end(),
                    [&](const Candidate& c) { return c.cause == one.cause; });
    if (candidates.size() < kCandidates && !is_there) {
      candidates.push_back(CandidateOf(one.cause, SharedWords(one)));
    }
  }
}

// Two witnesses agree: what the rules hint at first is clearly the nearest in
// words, too.
bool Agree(const std::vector<Hypothesis>& all,
           const std::vector<Nearness>& near) {
  return !all.empty() && near.size() > 1 &&
         all.front().cause == near[0].cause &&
         near[0].score > kClearly * near[1].score;
}

// True when a program printed that something went wrong, whatever it was.
bool SaysTrouble(const std::vector<Fact>& facts) {
  const Progress progress = LastProgress(facts);
  return std::any_of(facts.begin(), facts.end(), [&](const Fact& fact) {
    if (fact.Has("note") || WasSurvived(fact, progress)) {
      return false;
    }
    if (fact.name == "exit.status") {
      return fact.Text("code") != "0";
    }
    const std::string level = fact.Text("level");
    return fact.name == "call.failed" ||
           (level != "I" && level != "W" &&
            (IsTrouble(fact, facts) || fact.name.starts_with("cascade.") ||
             fact.name == "python.exception"));
  });
}

// True when nothing was printed by a program or tried: all are notes.
bool AreNotes(const std::vector<Fact>& facts) {
  return std::all_of(facts.begin(), facts.end(), IsUnobserved);
}

// The note that says that all went well; null when none does. What trains to
// its end and then hangs or is killed did not, nor what ended with a status.
const Fact* NotedWell(const std::vector<Fact>& facts) {
  const Fact* well = FirstOf(facts, "note.well");
  const bool holds =
      well != nullptr &&
      std::none_of(facts.begin(), facts.end(),
                   [](const Fact& fact) {
                     return fact.Has("ended") && fact.Text("code") != "0";
                   }) &&
      FirstOf(facts, "hang.mentioned") == nullptr &&
      FirstOf(facts, "note.ends_badly") == nullptr &&
      FirstOf(facts, "slow.mentioned") == nullptr;
  return holds ? well : nullptr;
}

// True when a note says what happened: in words that are known, where there is
// a log.
bool HasNotes(const std::vector<Fact>& facts) {
  const bool has_log =
      std::any_of(facts.begin(), facts.end(), [](const Fact& fact) {
        return fact.name == "log.end" && !fact.Has("note");
      });
  return std::any_of(facts.begin(), facts.end(), [&](const Fact& fact) {
    return fact.Has("note") && !(has_log && fact.name == "log.end");
  });
}

// The interruption from the keyboard before which nothing had failed; null
// where there is none. What is printed after it follows from it.
const Fact* Interruption(const std::vector<Fact>& facts) {
  const auto interrupt =
      std::find_if(facts.begin(), facts.end(), [](const Fact& fact) {
        return fact.name == "python.exception" &&
               fact.Text("type") == "KeyboardInterrupt";
      });
  const bool first =
      interrupt != facts.end() &&
      std::none_of(facts.begin(), facts.end(), [&](const Fact& fact) {
        return fact.Number("order", 0) < interrupt->Number("order", 0) &&
               fact.Text("text").find("Traceback (") == std::string::npos &&
               (IsTrouble(fact, facts) || fact.name.starts_with("cascade.") ||
                fact.name == "python.exception");
      });
  return first ? &*interrupt : nullptr;
}

// No rule decides. What only notes complain of stays open in any case.
void LeaveOpen(std::vector<Hypothesis> all, const std::vector<Nearness>& near,
               bool trouble, Answer& answer) {
  answer.kind = AnswerKind::kUnknown;
  if (trouble && Agree(all, near)) {
    answer.kind = AnswerKind::kCause;
    answer.findings.push_back(FindingOf(all.front(), Confidence::kPossible));
    answer.findings.front().evidence.push_back(
        {.what = "its end " + SharedWords(near.front()) +
                 " with what is known of this cause, and fewer with others",
         .source = "catalogue",
         .at = {}});
    all.erase(all.begin());
  }
  answer.candidates = CandidatesOf(all);
  if (!trouble) {
    // Descriptions name many things: of the rules the first is enough.
    answer.candidates.resize(std::min<std::size_t>(all.size(), 1));
  }
  if (answer.kind == AnswerKind::kUnknown && (!trouble || all.empty())) {
    FillUp(answer.candidates, near);
  }
}

}  // namespace

Answer Explain(std::vector<Fact> facts) {
  AlignClocks(facts);
  Derive(facts);
  const std::vector<Hypothesis> all = Hypotheses(facts, CatalogueRules());
  Answer answer;
  for (const Fact& fact : facts) {
    if (fact.name == "log.harmless") {
      Evidence evidence = EvidenceOf(fact);
      if (const std::string says = fact.Text("says"); !says.empty()) {
        evidence.what += ": " + says;
      }
      answer.harmless.push_back(std::move(evidence));
    } else if (fact.name == "host.seen") {
      answer.host.push_back(EvidenceOf(fact));
    }
  }
  if (const Fact* well = NotedWell(facts); well != nullptr) {
    answer.reported_success = EvidenceOf(*well).what;
    if (!all.empty()) {
      answer.harmless.push_back(EvidenceOf(*all.front().evidence.front()));
    }
    return answer;
  }
  const bool hinted = all.empty() || all.front().weight == RuleWeight::kHint;
  if (hinted || AreNotes(facts)) {
    // Words that may speak for a cause are everywhere in healthy logs.
    const bool trouble = SaysTrouble(facts);
    const Fact* interrupt = Interruption(facts);
    if (interrupt != nullptr && all.empty() && !HasNotes(facts)) {
      answer.kind = AnswerKind::kUnknown;
      answer.interrupted = EvidenceOf(*interrupt).what;
    } else if (trouble || HasNotes(facts)) {
      LeaveOpen(all, SimilarCauses(EndsOf(facts)), trouble, answer);
    } else if (const Fact* well = EndedWell(facts); well != nullptr) {
      answer.reported_success = EvidenceOf(*well).what;
    }
    return answer;
  }
  const Hypothesis& root = all.front();
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
  const std::vector<Hypothesis> rest(all.begin() + 1, all.end());
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

std::string_view ToString(AnswerKind kind) {
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

}  // namespace muster::diagnose
