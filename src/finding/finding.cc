// SPDX-License-Identifier: Apache-2.0
#include "finding/finding.h"

#include <algorithm>

#include "base/text.h"
#include "finding/catalogue.h"

namespace muster {
namespace {

// Characters that mean nothing to a shell.
bool SafeToPaste(std::string_view value) {
  return !value.empty() && value[0] != '-' &&
         std::all_of(value.begin(), value.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  (c >= '0' && c <= '9') ||
                  std::string_view("._:/@%+=,-").find(c) !=
                      std::string_view::npos;
         });
}

// The path of a call that failed is its `object`.
std::optional<std::string> FieldOf(std::span<const Fact> facts,
                                   std::string_view field) {
  for (const Fact& fact : facts) {
    if (fact.Has(field)) {
      return fact.Text(field);
    }
    if (field == "path" && fact.Has("object")) {
      return fact.Text("object");
    }
  }
  return std::nullopt;
}

void AddOnce(std::vector<std::string>& list, const std::string& item) {
  if (!item.empty() &&
      std::find(list.begin(), list.end(), item) == list.end()) {
    list.push_back(item);
  }
}

}  // namespace

std::string Filled(std::string_view command, std::span<const Fact> facts) {
  std::string out;
  while (!command.empty()) {
    const auto open = command.find('{');
    const auto close = command.find('}', open);
    if (open == std::string_view::npos || close == std::string_view::npos) {
      break;
    }
    const std::string_view inside = command.substr(open + 1, close - open - 1);
    const auto bar = inside.find('|');
    const std::string_view field = inside.substr(0, bar);
    const auto value = FieldOf(facts, field);
    out += command.substr(0, open);
    out += value && SafeToPaste(*value) ? *value
           : bar == std::string_view::npos
               ? Upper(field)
               : std::string(inside.substr(bar + 1));
    command.remove_prefix(close + 1);
  }
  return out + std::string(command);
}

Evidence FromFact(const Fact& fact) {
  return {fact.Has("text") ? fact.Text("text") : ToString(fact), fact.by,
          fact.at};
}

Finding MakeFinding(Cause cause, std::string what, Confidence confidence,
                    std::span<const Fact> facts) {
  const CatalogueEntry& entry = EntryOf(cause);
  Finding finding{.cause = cause};
  finding.severity = SeverityOf(cause);
  finding.confidence = confidence;
  finding.what = std::move(what);
  for (const Fact& fact : facts) {
    AddOnce(finding.subjects, fact.subject);
    finding.evidence.push_back(FromFact(fact));
  }
  for (const CatalogueFix& fix : entry.fixes) {
    finding.fixes.push_back({std::string(fix.text), Filled(fix.command, facts),
                             fix.safety, fix.changes_results});
  }
  for (const RelatedCause& related : entry.related) {
    finding.related.emplace_back(Label(related.cause));
  }
  return finding;
}

Finding FromError(const Error& error, Confidence confidence) {
  std::string what = error.message();
  for (const std::string& doing : error.context()) {
    what += " (" + doing + ")";
  }
  return MakeFinding(error.cause(), std::move(what), confidence,
                     error.evidence());
}

std::string_view ToString(Confidence confidence) {
  switch (confidence) {
    case Confidence::kPossible:
      return "possible";
    case Confidence::kLikely:
      return "likely";
    case Confidence::kCertain:
      return "certain";
  }
  return "?";
}

std::string_view ToString(Safety safety) {
  switch (safety) {
    case Safety::kSafe:
      return "safe";
    case Safety::kAsks:
      return "asks";
    case Safety::kCosts:
      return "costs";
  }
  return "?";
}

std::string_view ToString(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "?";
}

std::string_view ToString(Retry retry) {
  switch (retry) {
    case Retry::kTransient:
      return "transient";
    case Retry::kNeedsChange:
      return "needs-change";
    case Retry::kNeedsHuman:
      return "needs-human";
    case Retry::kBug:
      return "bug";
  }
  return "?";
}

}  // namespace muster
