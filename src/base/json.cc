// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <cstdio>
#include <ctime>
#include <set>

#include "base/json_fields.h"
#include "base/text.h"

namespace muster {
namespace {

constexpr int kMaxDepth = 64;
constexpr std::string_view kHexDigits = "0123456789abcdef";

// Where in the text a byte lies, for an error message.
std::string Position(std::string_view text, std::size_t byte) {
  byte = std::min(byte, text.size());
  const auto before = text.substr(0, byte);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto start = before.rfind('\n');
  const auto column =
      byte - (start == std::string_view::npos ? 0 : start + 1) + 1;
  const auto from = byte < 20 ? 0 : byte - 20;
  return "line " + std::to_string(line) + ", column " + std::to_string(column) +
         ", near `" + Printable(text.substr(from, 40)) + "`";
}

// The same value with the escape \xe9 where a text has a byte that is no UTF-8.
Json WithVisibleBytes(const Json& json) {
  if (json.is_string()) {
    const auto text = json.get<std::string>();
    return IsUtf8(text) ? json : Json(EscapeBytes(text));
  }
  if (json.is_object()) {
    Json copy = Json::object();
    for (const auto& [key, value] : json.items()) {
      copy[EscapeBytes(key)] = WithVisibleBytes(value);
    }
    return copy;
  }
  if (json.is_array()) {
    Json copy = Json::array();
    for (const Json& value : json) {
      copy.push_back(WithVisibleBytes(value));
    }
    return copy;
  }
  return json;
}

// How deep brackets nest outside of strings.
int Depth(std::string_view text) {
  int depth = 0;
  int deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      i += c == '\\' ? 1 : 0;
      in_string = c != '"';
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

}  // namespace

Result<Json> ParseJson(std::string_view text, Cause cause,
                       std::string_view what) {
  if (Depth(text) > kMaxDepth) {
    return Error(cause, std::string(what) + " is nested more than " +
                            std::to_string(kMaxDepth) + " levels deep");
  }
  std::string duplicate;
  std::vector<std::set<std::string>> keys;
  auto watch = [&](int, nlohmann::detail::parse_event_t event, Json& parsed) {
    using Event = nlohmann::detail::parse_event_t;
    if (event == Event::object_start) {
      keys.emplace_back();
    } else if (event == Event::object_end) {
      keys.pop_back();
    } else if (event == Event::key && !keys.empty()) {
      auto key = parsed.get<std::string>();
      if (!keys.back().insert(key).second && duplicate.empty()) {
        duplicate = key;
      }
    }
    return true;
  };
  try {
    Json json = Json::parse(text, watch);
    if (!duplicate.empty()) {
      return Error(cause, std::string(what) + " has the key `" +
                              Printable(duplicate) + "` twice");
    }
    return json;
  } catch (const Json::parse_error& error) {
    const auto byte = error.byte == 0 ? 0 : error.byte - 1;
    return Error(cause,
                 std::string(what) + " is not JSON: " + Position(text, byte));
  } catch (const Json::exception& error) {
    return Error(cause, std::string(what) +
                            " is not valid JSON: " + Printable(error.what()));
  }
}

std::string Dump(const Json& json, int indent) {
  try {
    return Printable(json.dump(indent), TextForm::kJson);
  } catch (const Json::type_error&) {
    return Printable(WithVisibleBytes(json).dump(indent), TextForm::kJson);
  }
}

std::string DumpAscii(const Json& json) {
  constexpr bool kAscii = true;
  try {
    return json.dump(-1, ' ', kAscii);
  } catch (const Json::type_error&) {
    return WithVisibleBytes(json).dump(-1, ' ', kAscii);
  }
}

Json BytesToJson(std::string_view bytes) {
  if (IsUtf8(bytes)) {
    return bytes;
  }
  std::string hex;
  hex.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kHexDigits[byte >> 4U];
    hex += kHexDigits[byte & 15U];
  }
  return {{"bytes", std::move(hex)}};
}

std::optional<std::string> BytesFromJson(const Json& json) {
  if (json.is_string()) {
    return json.get<std::string>();
  }
  const auto hex = TextOf(json, "bytes");
  if (hex.empty() || hex.size() % 2 != 0 ||
      hex.find_first_not_of(kHexDigits) != std::string::npos) {
    return std::nullopt;
  }
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    bytes += static_cast<char>(kHexDigits.find(hex[i]) << 4U |
                               kHexDigits.find(hex[i + 1]));
  }
  return bytes;
}

std::string ToString(WallTime time) {
  // Before 1970 the microseconds still count up.
  const auto whole = std::chrono::floor<std::chrono::seconds>(time);
  const std::time_t seconds = whole.time_since_epoch().count();
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[96];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ",
                parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                parts.tm_hour, parts.tm_min, parts.tm_sec,
                static_cast<int>((time - whole).count()));
  return text;
}

Result<WallTime> ParseWallTime(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00.000000Z";
  const bool fits =
      std::equal(text.begin(), text.end(), kForm.begin(), kForm.end(),
                 [](char c, char form) {
                   return form == '0' ? IsDigits({&c, 1}) : c == form;
                 });
  const auto part = [&](std::size_t at, std::size_t size) {
    return static_cast<int>(*ParseInt(text.substr(at, size)));
  };
  if (fits) {
    const std::chrono::year_month_day day(
        std::chrono::year(part(0, 4)),
        std::chrono::month(static_cast<unsigned>(part(5, 2))),
        std::chrono::day(static_cast<unsigned>(part(8, 2))));
    if (day.ok() && part(11, 2) < 24 && part(14, 2) < 60 && part(17, 2) <= 60) {
      return std::chrono::sys_days(day) + std::chrono::hours(part(11, 2)) +
             std::chrono::minutes(part(14, 2)) +
             std::chrono::seconds(part(17, 2)) +
             std::chrono::microseconds(part(20, 6));
    }
  }
  return Error(Cause::kFileCorrupt, "`" + Printable(text.substr(0, 64)) +
                                        "` is not a valid timestamp");
}

Json ToJson(const Fact& fact) {
  Json fields = Json::object();
  for (const auto& [name, value] : fact.fields) {
    fields[name] = std::visit([](const auto& v) { return Json(v); }, value);
  }
  return Json{{"name", fact.name},
              {"fields", std::move(fields)},
              {"subject", fact.subject},
              {"by", fact.by},
              {"at", ToString(fact.at)}};
}

Result<Fact> FactFromJson(const Json& json) {
  Fact fact;
  try {
    fact.name = json.at("name").get<std::string>();
    fact.subject = json.value("subject", "");
    fact.by = json.value("by", "");
    MUSTER_ASSIGN(fact.at, ParseWallTime(json.at("at").get<std::string>()));
    for (const auto& [name, value] : json.at("fields").items()) {
      if (value.is_boolean()) {
        fact.fields[name] = value.get<bool>();
      } else if (const auto whole = IntegerOf(value)) {
        fact.fields[name] = *whole;
      } else if (value.is_number()) {
        fact.fields[name] = value.get<double>();
      } else {
        fact.fields[name] = value.get<std::string>();
      }
    }
  } catch (const Json::exception& error) {
    return Error(Cause::kFileCorrupt, "not a fact: " + Printable(error.what()));
  }
  return fact;
}

}  // namespace muster
