// SPDX-License-Identifier: Apache-2.0
#include "channel/handshake.h"

#include "base/json.h"
#include "base/text.h"
#include "channel/evidence.h"

namespace muster::channel {
namespace {

constexpr std::size_t kFactsInARefusal = 16;

std::string Dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

Envelope HelloMessage(const char* kind, const wire::Hello& hello) {
  return {.kind = kind, .body = Dump(ToJson(hello))};
}

Envelope CallMessage(int attempt) {
  return {.kind = kCall, .body = Dump(Json{{"attempt", attempt}})};
}

Envelope Refusal(const Error& error) {
  Json json;
  json["cause"] = Label(error.cause());
  json["message"] = error.message();
  json["evidence"] = Json::array();
  for (const Fact& fact : error.evidence()) {
    if (json["evidence"].size() < kFactsInARefusal) {
      json["evidence"].push_back(ToJson(fact));
    }
  }
  return {.kind = kRefused, .body = Dump(json)};
}

Error RefusalFrom(const std::string& body) {
  auto json = ParseJson(body, Cause::kNetWrongEndpoint, "a refusal");
  if (!json) {
    return std::move(json).error();
  }
  const auto text = [&](const char* name) {
    const auto at = json->is_object() ? json->find(name) : json->end();
    return at != json->end() && at->is_string() ? at->get<std::string>()
                                                : std::string();
  };
  const auto cause = CauseFromLabel(text("cause"));
  const std::string message = Printable(text("message"));
  if (!cause || message.empty()) {
    return Error(Cause::kNetWrongEndpoint,
                 "the coordinator refused without a cause that is known here, "
                 "or without a word on it: `" +
                     Printable(body.substr(0, 200)) + "`");
  }
  std::vector<Fact> facts;
  const auto evidence = json->find("evidence");
  if (evidence != json->end() && evidence->is_array()) {
    for (const Json& entry : *evidence) {
      if (auto fact = FactFromJson(entry)) {
        facts.push_back(*std::move(fact));
      }
    }
  }
  return WithFacts(Error(*cause, message), facts, kFactsInARefusal);
}

}  // namespace muster::channel
