// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/text.h"
#include "cli/answer.h"
#include "cli/verbs.h"
#include "finding/catalogue.h"

namespace muster::cli {
namespace {

std::string ListText() {
  std::map<std::string_view, std::vector<Cause>> families;
  for (Cause cause : AllCauses()) {
    families[Family(cause)].push_back(cause);
  }
  std::string text;
  for (const auto& [family, causes] : families) {
    text += (text.empty() ? "" : "\n") + std::string(family) + "\n";
    for (Cause cause : causes) {
      std::string line = "  " + std::string(Label(cause));
      line.append(line.size() < 28 ? 28 - line.size() : 1, ' ');
      text += line + std::string(Title(cause)) + "\n";
    }
  }
  return text;
}

Json ListDocument() {
  Json causes = Json::array();
  for (Cause cause : AllCauses()) {
    causes.push_back({{"label", Label(cause)},
                      {"family", Family(cause)},
                      {"title", Title(cause)},
                      {"severity", ToText(SeverityOf(cause))},
                      {"retry", ToText(RetryOf(cause))}});
  }
  return Json{{"schema", "muster.causes/1"}, {"causes", std::move(causes)}};
}

Error NoSuchCause(const std::string& label) {
  std::vector<std::string> labels;
  for (Cause cause : AllCauses()) {
    labels.emplace_back(Label(cause));
  }
  const auto meant = DidYouMean(label, labels);
  return Error(Cause::kUsageInvalid,
               "there is no cause `" + Printable(label) + "`" +
                   (meant ? ", did you mean `" + *meant + "`?"
                          : ": `muster explain --list` prints all"));
}

}  // namespace

Status ExplainVerb(const CommandLine& line, const Settings& settings) {
  const bool json = settings.output.value == Output::kJson;
  if (line.list) {
    json ? PrintDocument(ListDocument()) : PrintResult(ListText());
    return Ok();
  }
  const auto cause = CauseFromLabel(line.label);
  if (!cause) {
    return NoSuchCause(line.label);
  }
  const CatalogueEntry& entry = EntryOf(*cause);
  json ? PrintDocument(ToJson(entry)) : PrintResult(RenderText(entry));
  return Ok();
}

}  // namespace muster::cli
