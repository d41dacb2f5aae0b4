// SPDX-License-Identifier: Apache-2.0
#include "diagnose/verdict/refine.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "diagnose/verdict/answer.h"

namespace muster::diagnose {
namespace {

// Said of every end that nothing more is known of.
bool IsWide(Cause cause) {
  return cause == Cause::kAppException || cause == Cause::kPeerDied;
}

std::vector<Fact> OfRoot(const Verdict& verdict,
                         const std::vector<Fact>& logs) {
  std::vector<Fact> facts;
  std::copy_if(logs.begin(), logs.end(), std::back_inserter(facts),
               [&](const Fact& fact) {
                 return verdict.cascade ||
                        fact.Number("rank", -1) == verdict.rank;
               });
  return facts;
}

// Adds what is not said yet.
void Append(std::vector<Evidence> more, std::vector<Evidence>& evidence) {
  for (Evidence& one : more) {
    const bool said = std::any_of(
        evidence.begin(), evidence.end(), [&](const Evidence& known) {
          return known.what.find(one.what) != std::string::npos;
        });
    if (!said) {
      evidence.push_back(std::move(one));
    }
  }
}

}  // namespace

void Refine(Verdict& verdict, const std::vector<Fact>& logs) {
  if (verdict.findings.empty() || !IsWide(verdict.findings.front().cause)) {
    return;
  }
  Finding& root = verdict.findings.front();
  Answer answer = Explain(OfRoot(verdict, logs));
  if (answer.kind != AnswerKind::kCause) {
    return;
  }
  Finding& told = answer.findings.front();
  if (IsWide(told.cause) || told.confidence == Confidence::kPossible) {
    return;
  }
  told.what = std::move(root.what);
  told.subjects = std::move(root.subjects);
  told.victims = std::move(root.victims);
  Append(std::move(root.evidence), told.evidence);
  root = std::move(told);
}

}  // namespace muster::diagnose
