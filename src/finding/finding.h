// SPDX-License-Identifier: Apache-2.0
// A finding: one named cause, what happened, the evidence, the fixes.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "muster/error.h"

namespace muster {

// certain: a direct observation. likely: the pattern of a known cause.
// possible: inference by exclusion.
enum class Confidence { kPossible, kLikely, kCertain };
// safe: changes nothing. asks: changes something of the user's. costs: creates
// or deletes cloud resources.
enum class Safety { kSafe, kAsks, kCosts };

struct Fix {
  std::string text;
  std::string command;  // may be pasted; empty: none
  Safety safety = Safety::kAsks;
  bool changes_results = false;

  bool operator==(const Fix&) const = default;
};

// One line of evidence: what was seen, by whom, when.
struct Evidence {
  std::string what;
  std::string source;
  WallTime at{};

  bool operator==(const Evidence&) const = default;
};

// muster.finding/1 of the documents. A value; any thread.
struct Finding {
  Cause cause;
  Severity severity = Severity::kError;
  Confidence confidence = Confidence::kLikely;
  std::string what;                   // who, what, to whom, how often
  std::vector<std::string> subjects;  // "rank 1", "10.0.0.7:8476"
  std::vector<Evidence> evidence;
  std::vector<std::string> ruled_out;
  std::vector<Fix> fixes;
  std::vector<std::string> victims;  // "rank 0 lost rank 1 0.3 s later"
  std::vector<std::string> related;  // labels

  bool operator==(const Finding&) const = default;
};

// A finding with the catalog's severity, fixes (their commands filled from
// the facts) and related causes.
Finding MakeFinding(Cause cause, std::string what, Confidence confidence,
                    std::span<const Fact> facts = {});
// A finding of what an Error says: cause, message, evidence, the catalog's
// fixes and related causes.
Finding FromError(const Error& error,
                  Confidence confidence = Confidence::kCertain);
// A field `text` of the fact is the line; without one it is name and fields.
Evidence FromFact(const Fact& fact);

// The JSON of every document (schema muster.finding/1), and back.
Json ToJson(const Finding& finding);
Result<Finding> FindingFromJson(const Json& json);

struct RenderOptions {
  int width = 80;
  bool color = false;
};
// The text of STYLE's order: cause, what happened, evidence (at most five
// lines), likely cause, see also, fix, more. Rendered from the JSON's values.
std::string RenderText(const Finding& finding, const RenderOptions& options);
// All of them, and once below them what the safety words of their fixes mean.
std::string RenderText(std::span<const Finding> findings,
                       const RenderOptions& options);
// That line alone; empty where no fix has been shown.
std::string SafetyText(std::span<const Finding> findings,
                       const RenderOptions& options);

std::string_view ToString(Confidence confidence);
std::string_view ToString(Safety safety);
std::string_view ToString(Severity severity);

}  // namespace muster
