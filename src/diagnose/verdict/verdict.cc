// SPDX-License-Identifier: Apache-2.0
#include "diagnose/verdict/verdict.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <tuple>

#include "base/signal_name.h"
#include "base/text.h"
#include "diagnose/verdict/hypothesis.h"
#include "diagnose/verdict/judgement.h"

namespace muster::diagnose {
namespace {

// Ends that are no further apart are ordered by their evidence and not by their
// time: a rank whose program unwinds after an exception is seen to end later
// than the peers that it has left.
constexpr auto kWindow = std::chrono::seconds(1);

constexpr std::size_t kMaxNames = 4;

// Ranks that failed in the same way, the first of them first.
using Failure = std::vector<const Suspect*>;

std::vector<Suspect> AllSuspects(const AttemptEnd& attempt) {
  std::vector<Suspect> all;
  for (const RankEnd& end : attempt.ends) {
    if (auto suspect = SuspectOf(end, attempt)) {
      all.push_back(*std::move(suspect));
    }
  }
  for (const AgentLoss& loss : attempt.lost) {
    all.push_back(SuspectOf(loss));
  }
  const std::size_t culprits =
      attempt.culprits == 0 ? attempt.stalls.size()
                            : std::min(attempt.culprits, attempt.stalls.size());
  for (std::size_t i = 0; i < culprits; ++i) {
    all.push_back(SuspectOf(attempt.stalls[i], attempt));
  }
  return all;
}

bool Stronger(const Suspect& a, const Suspect& b) {
  return std::tie(a.weight, a.when, a.rank) <
         std::tie(b.weight, b.when, b.rank);
}

// Root first. Own ends that began within the window of the earliest one are
// ordered by evidence, later ones follow by time, then all the rest by
// evidence.
void Order(std::vector<Suspect>& all) {
  const auto rest = std::partition(
      all.begin(), all.end(), [](const Suspect& s) { return IsOwn(s.weight); });
  std::sort(rest, all.end(), Stronger);
  std::sort(all.begin(), rest, [](const Suspect& a, const Suspect& b) {
    return std::tie(a.when, a.rank) < std::tie(b.when, b.rank);
  });
  if (all.begin() == rest) {
    return;
  }
  const WallTime last = all.front().when + kWindow;
  const auto later =
      std::find_if(all.begin(), rest,
                   [&](const Suspect& suspect) { return suspect.when > last; });
  std::sort(all.begin(), later, Stronger);
}

bool SameFailure(const Suspect& a, const Suspect& b) {
  return a.weight == b.weight && a.cause == b.cause && a.key == b.key;
}

// A failure in its own right, whatever else happened in the attempt.
bool StandsAlone(const Suspect& suspect) {
  return suspect.weight == Weight::kMemory ||
         suspect.weight == Weight::kReported ||
         suspect.weight == Weight::kLost || suspect.weight == Weight::kKilled;
}

std::string Apart(WallTime from, WallTime to) {
  const auto gap = to - from;
  const std::string text = muster::ToString(
      std::chrono::duration_cast<Duration>(gap < gap.zero() ? -gap : gap));
  return gap < gap.zero() ? text + " before" : text + " later";
}

std::string Victim(const Suspect& suspect, const Suspect& root) {
  if (suspect.weight == Weight::kStopped) {
    const int signal = SignalOf(suspect.wait_status);
    return suspect.name + ": muster stopped it (" +
           (signal != 0 ? SignalName(signal)
                        : "exit status " +
                              std::to_string(CodeOf(suspect.wait_status))) +
           ")" + suspect.where + " after " + root.name + " failed";
  }
  return suspect.name + " " + suspect.did + ", " +
         Apart(root.when, suspect.when);
}

// A finding of one failure.
Finding FindingOf(const Failure& same) {
  const Suspect& first = *same.front();
  std::string what = first.name + " " + first.did;
  std::vector<std::string> others;
  for (std::size_t i = 1; i < same.size() && i <= kMaxNames; ++i) {
    others.push_back(same[i]->name);
  }
  if (same.size() > kMaxNames + 1) {
    others.push_back(std::to_string(same.size() - kMaxNames - 1) + " more");
  }
  if (!others.empty()) {
    what += "; " + Join(others, ", ") + " likewise";
  }
  Finding finding =
      MakeFinding(first.cause, what, first.confidence, first.facts);
  finding.evidence.clear();
  finding.subjects.clear();
  for (const Suspect* suspect : same) {
    finding.subjects.push_back(suspect->name);
    finding.evidence.insert(finding.evidence.end(), suspect->evidence.begin(),
                            suspect->evidence.end());
  }
  return finding;
}

// The root with those that failed in the same way, and what else failed in its
// own right.
std::vector<Failure> Failures(const std::vector<Suspect>& all) {
  std::vector<Failure> failures{{&all.front()}};
  for (std::size_t i = 1; i < all.size(); ++i) {
    const auto same = std::find_if(
        failures.begin(), failures.end(), [&](const Failure& failure) {
          return SameFailure(*failure.front(), all[i]);
        });
    if (IsOwn(all[i].weight) && same != failures.end()) {
      same->push_back(&all[i]);
    } else if (StandsAlone(all[i])) {
      failures.push_back({&all[i]});
    }
  }
  return failures;
}

// Everybody who is not part of a failure.
std::vector<std::string> Victims(const std::vector<Suspect>& all,
                                 const std::vector<Failure>& failures) {
  std::set<int> failed;
  for (const Failure& failure : failures) {
    for (const Suspect* suspect : failure) {
      failed.insert(suspect->rank);
    }
  }
  std::vector<std::string> victims;
  for (const Suspect& suspect : all) {
    if (failed.count(suspect.rank) == 0) {
      victims.push_back(Victim(suspect, all.front()));
    }
  }
  return victims;
}

// Nobody was seen to go first, all only lost somebody. A rank that ended well
// before them is the one that they lost.
void ExplainCascade(const AttemptEnd& attempt, const Suspect& root,
                    Finding& finding) {
  for (const RankEnd& end : attempt.ends) {
    if (end.wait_status == 0 && !end.could_not_start && end.at <= root.when) {
      finding.evidence.insert(
          finding.evidence.begin(),
          {"rank " + std::to_string(end.rank) + " exited with status 0 " +
               Apart(root.when, end.at),
           "agent of rank " + std::to_string(end.rank), end.at});
      return;
    }
  }
  finding.evidence.push_back(
      {"no rank ended before it", "coordinator", root.when});
}

}  // namespace

Verdict Judge(const AttemptEnd& attempt) {
  std::vector<Suspect> all = AllSuspects(attempt);
  Order(all);
  Verdict verdict;
  if (all.empty() || all.front().weight == Weight::kStopped) {
    return verdict;
  }
  const Suspect& root = all.front();
  verdict.kind = root.kind;
  verdict.rank = root.rank;
  verdict.wait_status = root.wait_status;
  verdict.step = root.step;
  verdict.late = root.weight == Weight::kLateDeath;

  const auto failures = Failures(all);
  std::vector<std::string> victims = Victims(all, failures);
  for (const Failure& failure : failures) {
    verdict.findings.push_back(FindingOf(failure));
  }
  verdict.findings.front().victims = std::move(victims);
  if (root.weight == Weight::kCascade) {
    verdict.cascade = true;
    ExplainCascade(attempt, root, verdict.findings.front());
  }
  return verdict;
}

}  // namespace muster::diagnose
