// SPDX-License-Identifier: Apache-2.0
// Part of answer.h: the answer as text and as JSON.
#include "base/json.h"
#include "base/text.h"
#include "diagnose/verdict/answer.h"

namespace muster::diagnose {
namespace {

Json JsonOf(const Candidate& candidate) {
  Json json = Json::object();
  json["cause"] = Label(candidate.cause);
  json["title"] = Title(candidate.cause);
  json["why"] = candidate.why;
  json["decide"] = candidate.decide;
  json["command"] = candidate.command;
  return json;
}

Json JsonOf(const Evidence& evidence) {
  Json json = Json::object();
  json["what"] = evidence.what;
  json["source"] = evidence.source;
  return json;
}

void TextOf(const Candidate& candidate, std::string& out) {
  out += "  " + std::string(Label(candidate.cause)) + ": " +
         std::string(Title(candidate.cause)) + "\n";
  if (!candidate.why.empty()) {
    out += "      seen      " + Printable(candidate.why) + "\n";
  }
  out +=
      "      to confirm: " +
      Printable(candidate.decide +
                (candidate.command.empty() ? "" : ": " + candidate.command)) +
      "\n";
}

std::string UnknownText(const Answer& answer) {
  std::string out = "unknown: ";
  if (!answer.interrupted.empty()) {
    return out +
           "interrupted from the keyboard, with no failure before it\n"
           "  next      if it hung, say so: --note 'it hangs at step 30'\n";
  }
  if (answer.candidates.empty()) {
    return out +
           "a failure without a recognized cause\n"
           "  next      give the logs of all ranks, or the run's folder: "
           "muster explain FILE…\n";
  }
  out += answer.candidates.size() == 1
             ? "1 possible cause; the logs do not prove it\n"
             : std::to_string(answer.candidates.size()) +
                   " possible causes; the logs do not distinguish them\n";
  for (const Candidate& candidate : answer.candidates) {
    TextOf(candidate, out);
  }
  return out;
}

}  // namespace

Json ToJson(const Answer& answer) {
  Json json = Json::object();
  json["schema"] = "muster.explain/1";
  json["verdict"] = ToString(answer.kind);
  json["findings"] = Json::array();
  for (const Finding& finding : answer.findings) {
    json["findings"].push_back(ToJson(finding));
  }
  json["candidates"] = Json::array();
  for (const Candidate& candidate : answer.candidates) {
    json["candidates"].push_back(JsonOf(candidate));
  }
  json["harmless"] = Json::array();
  for (const Evidence& evidence : answer.harmless) {
    json["harmless"].push_back(JsonOf(evidence));
  }
  json["interrupted"] = answer.interrupted;
  json["reported_success"] = answer.reported_success;
  json["host"] = Json::array();
  for (const Evidence& evidence : answer.host) {
    json["host"].push_back(JsonOf(evidence));
  }
  return json;
}

std::string RenderText(const Answer& answer, const RenderOptions& options) {
  std::string out;
  switch (answer.kind) {
    case AnswerKind::kCause:
      out += RenderText(std::span(answer.findings), options);
      break;
    case AnswerKind::kUnknown:
      out += UnknownText(answer);
      break;
    case AnswerKind::kHealthy:
      out +=
          "healthy: " +
          (answer.reported_success.empty()
               ? "no failure found in these logs"
               : "run succeeded (" + Printable(answer.reported_success) + ")") +
          "\n"
          "  next      if it failed nevertheless, say how: --exit STATUS, or "
          "--note 'it\n"
          "            hangs after the first epoch'\n";
      break;
  }
  if (!answer.harmless.empty()) {
    out += "  harmless  " + Count(std::ssize(answer.harmless), "line") +
           " with alarming words\n";
    for (std::size_t i = 0;
         i < std::min<std::size_t>(answer.harmless.size(), 3); ++i) {
      out += "            " + Printable(answer.harmless[i].what) + "\n";
    }
  }
  for (const Evidence& seen : answer.host) {
    out += "  inspected " + Printable(seen.source) + ": " +
           Printable(seen.what) + "\n";
  }
  return out;
}

}  // namespace muster::diagnose
