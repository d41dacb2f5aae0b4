// SPDX-License-Identifier: Apache-2.0
#include "vector.h"

#include <algorithm>

#include "base/json.h"
#include "sys/fake/fake_http.h"

namespace muster::conformance {
namespace {

std::string Lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  return text;
}

const Json& Member(const Json& json, const char* key) {
  static const Json* const nothing = new Json(Json::object());
  const auto found = json.find(key);
  return found == json.end() || found->is_null() ? *nothing : *found;
}

void FillHttp(const Json& http, sys::FakeHttp& fake) {
  for (const auto& [url, told] : http.items()) {
    sys::FakeHttp::Answer answer;
    answer.fault = told.value("fault", "");
    answer.response.status = told.value("status", 0);
    answer.response.body = told.value("body", "");
    for (const auto& [name, value] : Member(told, "headers").items()) {
      answer.response.headers[Lower(name)] = value.get<std::string>();
    }
    fake.answers[url] = std::move(answer);
  }
}

// A list of a job equals the map from index to address.
Json AsMap(const Json& list) {
  Json map = Json::object();
  for (std::size_t i = 0; i < list.size(); ++i) {
    map[std::to_string(i)] = list[i];
  }
  return map;
}

bool Equal(const Json& expected, const Json& got);

bool EqualObjects(const Json& expected, const Json& got) {
  if (expected.size() != got.size()) {
    return false;
  }
  return std::all_of(expected.items().begin(), expected.items().end(),
                     [&](const auto& item) {
                       const auto found = got.find(item.key());
                       return found != got.end() && Equal(item.value(), *found);
                     });
}

bool Equal(const Json& expected, const Json& got) {
  if (expected.is_array() != got.is_array() &&
      expected.is_object() != got.is_object()) {
    return expected.is_array()
               ? EqualObjects(AsMap(expected), got)
               : got.is_array() && EqualObjects(expected, AsMap(got));
  }
  if (expected.is_object() && got.is_object()) {
    return EqualObjects(expected, got);
  }
  if (expected.is_array() && got.is_array()) {
    return expected.size() == got.size() &&
           std::equal(expected.begin(), expected.end(), got.begin(), Equal);
  }
  if (expected.is_string() && got.is_string()) {
    const auto text = expected.get<std::string>();
    const auto other = got.get<std::string>();
    if (text.ends_with(":*")) {
      return other.starts_with(text.substr(0, text.size() - 1)) &&
             other.size() >= text.size();
    }
    return text == other;
  }
  if (expected.is_number() && got.is_number()) {
    return expected.get<double>() == got.get<double>();
  }
  return expected == got;
}

std::vector<Difference> CompareError(const Json& vector,
                                     const Result<Json>& answer) {
  if (answer) {
    return {{"expect_error", vector["expect_error"].dump(), answer->dump()}};
  }
  std::vector<Difference> differences;
  const std::string text = answer.error().ToString();
  // That nobody could be asked is no answer.
  if (answer.error().cause() == Cause::kInternalError) {
    return {{"expect_error", vector["expect_error"].dump(), text}};
  }
  for (const Json& token : Member(vector, "error_must_name")) {
    if (text.find(token.get<std::string>()) == std::string::npos) {
      differences.push_back({"error_must_name", token.dump(), text});
    }
  }
  return differences;
}

}  // namespace

std::unique_ptr<Question> MakeQuestion(const Json& vector) {
  auto question = std::make_unique<Question>();
  question->resolver = vector.value("resolver", "");
  question->args = std::make_unique<Json>(Member(vector, "args"));
  for (const auto& [name, value] : Member(vector, "env").items()) {
    question->env.variables[name] = value.get<std::string>();
  }
  question->env.addresses = {"127.0.0.1", "::1"};
  if (vector.contains("hostname") && vector["hostname"].is_string()) {
    question->env.hostname = vector["hostname"].get<std::string>();
  }
  for (const auto& [name, address] : Member(vector, "dns").items()) {
    question->names.addresses[name] = {address.get<std::string>()};
    if (name == question->env.hostname) {
      question->env.addresses.push_back(address.get<std::string>());
    }
  }
  for (const auto& [path, text] : Member(vector, "files").items()) {
    question->fs.files[path] = text.get<std::string>();
  }
  FillHttp(Member(vector, "http"), question->http);
  question->http.flavor_on_404 = question->resolver != "gce-detect";
  return question;
}

std::vector<Difference> Compare(const Json& vector,
                                const Result<Json>& answer) {
  if (vector.contains("expect_error")) {
    return CompareError(vector, answer);
  }
  std::vector<Difference> differences;
  for (const auto& [key, expected] : Member(vector, "expect").items()) {
    if (!answer) {
      differences.push_back({key, expected.dump(), answer.error().ToString()});
      continue;
    }
    const auto found = answer->find(key);
    const Json got = found == answer->end() ? Json() : *found;
    if (!Equal(expected, got)) {
      differences.push_back({key, expected.dump(), got.dump()});
    }
  }
  return differences;
}

}  // namespace muster::conformance
