// SPDX-License-Identifier: Apache-2.0
// The JSON of messages. Each message is described once, by a Fields() in this
// namespace that names its members; JsonWriter and JsonReader walk the same
// description, so that the two cannot differ. For .cc files of wire only.
#pragma once

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/text.h"
#include "finding/finding.h"
#include "muster/error.h"
#include "wire/progress_page.h"

namespace muster::wire {

template <typename Io, typename T>
concept FieldsFor = requires(Io& io, T& value) {
  Fields(io, value);
};

// A number, or a list of such, that is not negative.
template <typename T>
struct Natural {
  T& value;
};
template <typename T>
Natural(T&) -> Natural<T>;

inline Error Misfit(const std::string& what) {
  return Error(Cause::kVerPeerMismatch,
               "a message does not match this version: " + what);
}

class JsonWriter {
 public:
  template <typename T>
  void operator()(const char* name, T&& value) {
    json_[name] = Value(value);
  }
  Json Take() { return std::move(json_); }

 private:
  template <typename T>
  static Json Value(T& value) {
    if constexpr (FieldsFor<JsonWriter, T>) {
      JsonWriter inner;
      Fields(inner, value);
      return inner.Take();
    } else if constexpr (std::is_same_v<T, Phase>) {
      return static_cast<std::uint32_t>(value);
    } else if constexpr (std::is_same_v<T, char>) {
      return std::string(1, value);
    } else if constexpr (std::is_same_v<T, WallTime>) {
      return muster::ToString(value);
    } else if constexpr (std::is_same_v<T, Fact> ||
                         std::is_same_v<T, Finding>) {
      return muster::ToJson(value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      return BytesToJson(value);
    } else {
      return value;
    }
  }
  template <typename T>
  static Json Value(Natural<T>& number) {
    return Value(number.value);
  }
  template <typename T>
  static Json Value(std::vector<T>& list) {
    Json json = Json::array();
    for (T& item : list) {
      json.push_back(Value(item));
    }
    return json;
  }
  template <typename T>
  static Json Value(std::map<std::string, T>& map) {
    Json json = Json::array();
    for (auto& [key, item] : map) {
      json.push_back(Json::array({BytesToJson(key), Value(item)}));
    }
    return json;
  }

  Json json_ = Json::object();
};

// Keeps the first misfit and ignores what comes after it. Unknown keys are
// ignored too: a later minor version may add some.
class JsonReader {
 public:
  explicit JsonReader(const Json& json) : json_(json) {
    if (!json.is_object()) {
      error_ = Misfit("not an object");
    }
  }
  template <typename T>
  void operator()(const char* name, T&& value) {
    if (error_) {
      return;
    }
    const auto found = json_.find(name);
    if (found == json_.end()) {
      error_ = Misfit(std::string("`") + name + "` is missing");
      wrong_ = name;
    } else if (auto status = Read(*found, value); !status) {
      error_ = std::move(status).error().While(std::string("reading `") + name +
                                               "`");
      wrong_ = name;
    }
  }
  // The first field that does not fit; empty: all do.
  const std::string& wrong() const { return wrong_; }
  Status Finish() {
    if (error_) {
      return *std::move(error_);
    }
    return Ok();
  }

 private:
  template <typename T>
  static Status Read(const Json& json, T& value) {
    if constexpr (FieldsFor<JsonReader, T>) {
      JsonReader inner(json);
      Fields(inner, value);
      return inner.Finish();
    } else if constexpr (std::is_same_v<T, bool>) {
      return ReadAs(json, json.is_boolean(), value);
    } else if constexpr (std::is_same_v<T, double>) {
      // JSON has no NaN; the writer makes it null.
      if (json.is_null()) {
        value = std::numeric_limits<double>::quiet_NaN();
        return Ok();
      }
      return ReadAs(json, json.is_number(), value);
    } else if constexpr (std::is_same_v<T, std::string>) {
      auto bytes = BytesFromJson(json);
      if (!bytes) {
        return WrongType(json);
      }
      value = *std::move(bytes);
      return Ok();
    } else {
      return ReadInteger(json, value);
    }
  }
  static Error WrongType(const Json& json) {
    return Misfit(std::string("a ") + json.type_name() + " has the wrong type");
  }
  template <typename T>
  static Status ReadAs(const Json& json, bool fits, T& value) {
    if (!fits) {
      return WrongType(json);
    }
    value = json.get<T>();
    return Ok();
  }
  template <typename T>
  static Status ReadInteger(const Json& json, T& value) {
    if (!json.is_number_integer()) {
      return WrongType(json);
    }
    const bool fits = json.is_number_unsigned()
                          ? std::in_range<T>(json.get<std::uint64_t>())
                          : std::in_range<T>(json.get<std::int64_t>());
    if (!fits) {
      return Misfit(Dump(json) + " is out of range");
    }
    value = json.get<T>();
    return Ok();
  }
  static Status Read(const Json& json, Phase& phase) {
    std::uint32_t number = 0;
    MUSTER_TRY(ReadInteger(json, number));
    if (number > static_cast<std::uint32_t>(Phase::kFinished)) {
      return Misfit("phase " + std::to_string(number) + " is unknown");
    }
    phase = static_cast<Phase>(number);
    return Ok();
  }
  static Status Read(const Json& json, char& letter) {
    std::string text;
    MUSTER_TRY(Read(json, text));
    if (text.size() != 1) {
      return Misfit("`" + Printable(text) + "` is not one letter");
    }
    letter = text[0];
    return Ok();
  }
  static Status Read(const Json& json, WallTime& time) {
    std::string text;
    MUSTER_TRY(Read(json, text));
    MUSTER_ASSIGN(time, ParseWallTime(text));
    return Ok();
  }
  static Status Read(const Json& json, Fact& fact) {
    MUSTER_ASSIGN(fact, FactFromJson(json));
    return Ok();
  }
  static Status Read(const Json& json, Finding& finding) {
    MUSTER_ASSIGN(finding, FindingFromJson(json));
    return Ok();
  }
  template <typename T>
  static Status Read(const Json& json, Natural<T>& number) {
    MUSTER_TRY(Read(json, number.value));
    bool fits = true;
    if constexpr (std::is_integral_v<T>) {
      fits = number.value >= 0;
    } else {
      fits = std::all_of(number.value.begin(), number.value.end(),
                         [](const auto& one) { return one >= 0; });
    }
    return fits ? Ok() : Status(Misfit(Dump(json) + " is out of range"));
  }
  template <typename T>
  static Status Read(const Json& json, std::vector<T>& list) {
    if (!json.is_array()) {
      return Misfit("not a list");
    }
    for (const Json& item : json) {
      MUSTER_TRY(Read(item, list.emplace_back()));
    }
    return Ok();
  }
  template <typename T>
  static Status Read(const Json& json, std::map<std::string, T>& map) {
    if (!json.is_array()) {
      return Misfit("not a list of pairs");
    }
    for (const Json& pair : json) {
      if (!pair.is_array() || pair.size() != 2) {
        return Misfit("not a list of pairs");
      }
      std::string key;
      MUSTER_TRY(Read(pair[0], key));
      MUSTER_TRY(Read(pair[1], map[key]));
    }
    return Ok();
  }

  const Json& json_;
  std::optional<Error> error_;
  std::string wrong_;
};

}  // namespace muster::wire
