// SPDX-License-Identifier: Apache-2.0
// Part of finding.h and catalogue.h: muster.finding/1, and the catalog's
// entries.
#include "base/json.h"
#include "base/text.h"
#include "finding/catalogue.h"
#include "finding/finding.h"

namespace muster {
namespace {

constexpr std::string_view kSchema = "muster.finding/1";

Error NotAFinding(const std::string& why) {
  return Error(Cause::kFileCorrupt,
               "not a " + std::string(kSchema) + ": " + Printable(why));
}

template <typename Enum>
Result<Enum> EnumFromJson(const Json& json, const char* key,
                          std::initializer_list<Enum> all) {
  const auto text = json.at(key).get<std::string>();
  for (Enum value : all) {
    if (ToString(value) == text) {
      return value;
    }
  }
  return NotAFinding(std::string(key) + " is `" + text + "`");
}

Json TimeToJson(WallTime at) {
  return at == WallTime{} ? Json() : Json(ToString(at));
}

Result<Evidence> EvidenceFromJson(const Json& json) {
  Evidence evidence{json.at("what").get<std::string>(),
                    json.at("source").get<std::string>(),
                    {}};
  if (!json.at("at").is_null()) {
    MUSTER_ASSIGN(evidence.at, ParseWallTime(json.at("at").get<std::string>()));
  }
  return evidence;
}

Result<Fix> FixFromJson(const Json& json) {
  MUSTER_ASSIGN(const Safety safety,
                EnumFromJson(json, "safety",
                             {Safety::kSafe, Safety::kAsks, Safety::kCosts}));
  return Fix{json.at("text").get<std::string>(),
             json.at("command").get<std::string>(), safety,
             json.at("changes_results").get<bool>()};
}

// May throw what the JSON library throws.
Result<Finding> Read(const Json& json) {
  if (json.at("schema").get<std::string>() != kSchema) {
    return NotAFinding("schema is `" + Dump(json.at("schema")) + "`");
  }
  const auto label = json.at("cause").get<std::string>();
  const auto cause = CauseFromLabel(label);
  if (!cause) {
    return NotAFinding("unknown cause `" + label + "`");
  }
  Finding finding{.cause = *cause};
  MUSTER_ASSIGN(
      finding.severity,
      EnumFromJson(json, "severity",
                   {Severity::kNote, Severity::kWarning, Severity::kError}));
  MUSTER_ASSIGN(finding.confidence,
                EnumFromJson(json, "confidence",
                             {Confidence::kPossible, Confidence::kLikely,
                              Confidence::kCertain}));
  finding.what = json.at("what").get<std::string>();
  finding.subjects = json.at("subjects").get<std::vector<std::string>>();
  for (const Json& item : json.at("evidence")) {
    MUSTER_ASSIGN(auto evidence, EvidenceFromJson(item));
    finding.evidence.push_back(std::move(evidence));
  }
  finding.ruled_out = json.at("ruled_out").get<std::vector<std::string>>();
  for (const Json& item : json.at("fixes")) {
    MUSTER_ASSIGN(auto fix, FixFromJson(item));
    finding.fixes.push_back(std::move(fix));
  }
  finding.victims = json.at("victims").get<std::vector<std::string>>();
  finding.related = json.at("related").get<std::vector<std::string>>();
  return finding;
}

}  // namespace

Json ToJson(const Finding& finding) {
  Json evidence = Json::array();
  for (const Evidence& item : finding.evidence) {
    evidence.push_back({{"what", item.what},
                        {"source", item.source},
                        {"at", TimeToJson(item.at)}});
  }
  Json fixes = Json::array();
  for (const Fix& fix : finding.fixes) {
    fixes.push_back({{"text", fix.text},
                     {"command", fix.command},
                     {"safety", ToString(fix.safety)},
                     {"changes_results", fix.changes_results}});
  }
  return Json{{"schema", kSchema},
              {"cause", Label(finding.cause)},
              {"severity", ToString(finding.severity)},
              {"confidence", ToString(finding.confidence)},
              {"what", finding.what},
              {"subjects", finding.subjects},
              {"evidence", std::move(evidence)},
              {"ruled_out", finding.ruled_out},
              {"fixes", std::move(fixes)},
              {"victims", finding.victims},
              {"related", finding.related}};
}

Result<Finding> FindingFromJson(const Json& json) {
  try {
    return Read(json);
  } catch (const Json::exception& error) {
    return NotAFinding(error.what());
  }
}

Json ToJson(const CatalogueEntry& entry) {
  Json fixes = Json::array();
  for (const CatalogueFix& fix : entry.fixes) {
    fixes.push_back({{"text", fix.text},
                     {"command", Filled(fix.command)},
                     {"safety", ToString(fix.safety)},
                     {"changes_results", fix.changes_results}});
  }
  Json related = Json::array();
  for (const RelatedCause& other : entry.related) {
    related.push_back({{"cause", Label(other.cause)}, {"tells", other.tells}});
  }
  return Json{{"schema", "muster.cause/1"},
              {"label", Label(entry.cause)},
              {"family", Family(entry.cause)},
              {"title", Title(entry.cause)},
              {"severity", ToString(SeverityOf(entry.cause))},
              {"retry", ToString(RetryOf(entry.cause))},
              {"applies", entry.applies},
              {"since", entry.since},
              {"match", entry.match},
              {"facts", entry.facts},
              {"what_happened", entry.happened},
              {"why", entry.why},
              {"confirm", entry.confirm},
              {"fix", entry.fix},
              {"fixes", std::move(fixes)},
              {"related", std::move(related)},
              {"references", entry.references}};
}

}  // namespace muster
