// SPDX-License-Identifier: Apache-2.0
#include "check/outcome_json.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"

namespace muster::check {
namespace {

constexpr std::array kOutcomeStates{OutcomeState::kPass, OutcomeState::kWarn,
                                    OutcomeState::kFail, OutcomeState::kSkip,
                                    OutcomeState::kBroken};

double Seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace

std::string Encode(const Outcome& outcome) {
  Json findings = Json::array();
  for (const Finding& finding : outcome.findings) {
    findings.push_back(muster::ToJson(finding));
  }
  return Dump(Json{{"outcome", ToString(outcome.state)},
                   {"detail", outcome.detail},
                   {"lines", outcome.lines},
                   {"data", outcome.data},
                   {"findings", std::move(findings)}});
}

Result<Outcome> Decode(std::string_view text) {
  const Error unreadable(Cause::kInternalError,
                         "the child process of the check printed `" +
                             Printable(text.substr(0, 80)) + "`");
  const auto json = ParseJson(text, Cause::kInternalError, "an outcome");
  if (!json || !At(*json, {"findings"}).is_array()) {
    return unreadable;
  }
  Outcome outcome{.detail = TextOf(*json, "detail")};
  outcome.data = TextOf(*json, "data");
  for (const Json& line : ListOf(*json, "lines")) {
    outcome.lines.push_back(line.is_string() ? line.get<std::string>() : "");
  }
  const std::string word = TextOf(*json, "outcome");
  const auto state =
      std::find_if(kOutcomeStates.begin(), kOutcomeStates.end(),
                   [&](OutcomeState one) { return ToString(one) == word; });
  if (state == kOutcomeStates.end()) {
    return unreadable;
  }
  outcome.state = *state;
  for (const Json& one : ListOf(*json, "findings")) {
    MUSTER_ASSIGN(Finding finding, FindingFromJson(one));
    outcome.findings.push_back(std::move(finding));
  }
  return outcome;
}

Json ToJson(const Answer& answer) {
  Json causes = Json::array();
  for (const Finding& finding : answer.outcome.findings) {
    causes.push_back(Label(finding.cause));
  }
  Json json{{"id", answer.check->id},
            {"title", answer.check->title},
            {"scope", ToString(answer.check->scope)},
            {"outcome", ToString(answer.outcome.state)},
            {"detail", answer.outcome.detail},
            {"causes", std::move(causes)},
            {"seconds", Seconds(answer.took)}};
  if (!answer.outcome.data.empty()) {
    json["data"] = Json::parse(answer.outcome.data, nullptr, false);
  }
  return json;
}

Json ToJson(const Check& check) {
  Json needs = Json::array();
  for (const std::string& one : Split(check.needs, ',')) {
    needs.push_back(Trim(one));
  }
  return {{"id", check.id},
          {"title", check.title},
          {"scope", ToString(check.scope)},
          {"needs", std::move(needs)},
          {"on_request", check.on_request},
          {"deadline_s", Seconds(check.deadline)}};
}

}  // namespace muster::check
