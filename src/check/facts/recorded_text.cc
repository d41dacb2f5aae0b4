// SPDX-License-Identifier: Apache-2.0
#include "check/facts/recorded_text.h"

#include "base/json.h"
#include "base/text.h"

namespace muster::check {

void AddTexts(const std::vector<RecordedText>& texts, Outcome& outcome) {
  Json data{{"texts", Json::array()}};
  for (const auto& [name, text] : texts) {
    data["texts"].push_back({{"name", name}, {"text", text}});
    outcome.lines.push_back(name + ":");
    for (const std::string& line : Split(text, '\n')) {
      if (!line.empty()) {
        outcome.lines.push_back("  " + line);
      }
    }
  }
  outcome.data = Dump(data);
}

std::vector<RecordedText> TextsOf(const Outcome& outcome) {
  std::vector<RecordedText> texts;
  const Json data = Json::parse(outcome.data, nullptr, false);
  if (data.is_object() && data.contains("texts")) {
    for (const Json& one : data["texts"]) {
      texts.push_back({one.value("name", ""), one.value("text", "")});
    }
  }
  return texts;
}

}  // namespace muster::check
