// SPDX-License-Identifier: Apache-2.0
#include "resolve/formats/key_values.h"

#include "base/text.h"

namespace muster::resolve {
namespace {

constexpr std::size_t kMaxKeyValues = 1U << 20;

Error Wrong(std::string_view text, std::size_t at, const std::string& what) {
  return Error(Cause::kClusterSpecInvalid,
               "`" + Printable(text.substr(0, 200)) +
                   "` is not a list of key=value pairs: " + what +
                   " at position " + std::to_string(at + 1));
}

// 'VALUE' or "VALUE" without its quotes.
std::string_view Unquoted(std::string_view text) {
  const bool quoted = text.size() > 1 && text.front() == text.back() &&
                      (text.front() == '\'' || text.front() == '"');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// No quote that begins it and does not end it.
bool IsClosed(std::string_view text) {
  const bool opens = text.starts_with('\'') || text.starts_with('"');
  return !opens || (text.size() > 1 && text.back() == text.front());
}

bool IsKey(std::string_view text) {
  for (const char c : text) {
    const bool fits = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
                      (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!fits) {
      return false;
    }
  }
  return !text.empty();
}

}  // namespace

Result<std::map<std::string, std::string>> ParseRdzvConf(
    std::string_view text) {
  std::map<std::string, std::string> conf;
  if (Trim(text).empty()) {
    return conf;
  }
  if (text.size() > kMaxKeyValues) {
    return Wrong(text, 0, "it is longer than " + BytesText(kMaxKeyValues));
  }
  std::size_t at = 0;
  while (at <= text.size()) {
    const auto end = std::min(text.find(',', at), text.size());
    const auto pair = text.substr(at, end - at);
    const auto equals = pair.find('=');
    const auto key = Trim(pair.substr(0, equals));
    if (key.empty()) {
      return Wrong(text, at, "a key is missing");
    }
    const auto value = equals == std::string_view::npos
                           ? std::string_view()
                           : Trim(pair.substr(equals + 1));
    if (value.empty()) {
      return Wrong(text, at, "the key `" + Printable(key) + "` has no value");
    }
    conf[std::string(key)] = value;
    at = end + 1;
  }
  return conf;
}

TpuEnv ParseTpuEnv(std::string_view text) {
  TpuEnv env;
  if (text.size() > kMaxKeyValues) {
    env.odd.push_back("it is longer than " + BytesText(kMaxKeyValues));
    return env;
  }
  int number = 0;
  for (const std::string& whole : Split(text, '\n')) {
    ++number;
    const std::string_view line = Trim(whole);
    if (line.empty() || line.starts_with('#') || line == "---" ||
        line == "...") {
      continue;
    }
    const auto colon = line.find(':');
    const auto key = Trim(line.substr(0, colon));
    const auto value = colon == std::string_view::npos
                           ? std::string_view()
                           : Trim(line.substr(colon + 1));
    if (colon == std::string_view::npos || !IsKey(key) || !IsClosed(value)) {
      env.odd.push_back("line " + std::to_string(number) + ": `" +
                        Printable(line.substr(0, 80)) +
                        "` is not KEY: 'VALUE'");
      continue;
    }
    env.values[std::string(key)] = Unquoted(value);
  }
  return env;
}

}  // namespace muster::resolve
