// SPDX-License-Identifier: Apache-2.0
#include "wire/hello.h"

#include <limits>

#include "base/json.h"
#include "base/text.h"

namespace muster::wire {
namespace {

// Reads one hello field by field; the first field that is wrong is kept.
class HelloFields {
 public:
  explicit HelloFields(const Json& json) : json_(json) {}

  void Read(const char* name, std::string& into) {
    if (const Json* value = Find(name, Json::value_t::string)) {
      into = value->get<std::string>();
    }
  }

  template <std::integral T>
  void Read(const char* name, T& into) {
    if (const Json* value = Find(name)) {
      ReadInt(name, *value, into);
    }
  }

  void Read(const char* name, WallTime& into) {
    std::string text;
    Read(name, text);
    if (wrong_) {
      return;
    }
    if (auto time = ParseWallTime(text)) {
      into = *time;
    } else {
      wrong_ = Error(Cause::kNetWrongEndpoint,
                     std::string("`") + name + "` of a hello is not a time");
    }
  }

  template <typename T>
  void Read(const char* name, std::vector<T>& into) {
    const Json* list = Find(name, Json::value_t::array);
    if (list == nullptr) {
      return;
    }
    for (const Json& entry : *list) {
      if constexpr (std::integral<T>) {
        ReadInt(name, entry, into.emplace_back());
      } else if (entry.is_string()) {
        into.push_back(entry.get<std::string>());
      } else {
        Wrong(name);
      }
    }
  }

  void Read(const char* name, std::map<std::string, std::string>& into) {
    const Json* object = Find(name, Json::value_t::object);
    if (object == nullptr) {
      return;
    }
    for (const auto& [key, value] : object->items()) {
      if (value.is_string()) {
        into[key] = value.get<std::string>();
      } else {
        Wrong(name);
      }
    }
  }

  void Read(const char* name, std::vector<Finding>& into) {
    const Json* list = Find(name, Json::value_t::array);
    for (const Json& entry : list == nullptr ? Json::array() : *list) {
      if (auto finding = FindingFromJson(entry)) {
        into.push_back(*std::move(finding));
      } else {
        Wrong(name);
      }
    }
  }

  std::optional<Error>& wrong() { return wrong_; }

 private:
  const Json* Find(const char* name) {
    const auto at = json_.find(name);
    if (at == json_.end()) {
      Wrong(name);
      return nullptr;
    }
    return &*at;
  }

  const Json* Find(const char* name, Json::value_t type) {
    const Json* value = Find(name);
    if (value != nullptr && value->type() != type) {
      Wrong(name);
      return nullptr;
    }
    return value;
  }

  // All numbers of a hello are small and not negative.
  template <std::integral T>
  void ReadInt(const char* name, const Json& value, T& into) {
    if (!value.is_number_integer() || value < 0 ||
        value > std::numeric_limits<T>::max()) {
      Wrong(name);
      return;
    }
    into = value.get<T>();
  }

  void Wrong(const char* name) {
    if (!wrong_) {
      wrong_ = Error(Cause::kNetWrongEndpoint,
                     std::string("a hello without a valid `") + name + "`");
    }
  }

  const Json& json_;
  std::optional<Error> wrong_;
};

// "0.1" of "0.1.7".
std::string_view WithoutLastPart(std::string_view version) {
  const auto dot = version.rfind('.');
  return dot == std::string_view::npos ? version : version.substr(0, dot);
}

std::string Introduced(const Hello& hello) {
  return Who(hello) + " is muster " +
         (hello.version.empty() ? "of an unknown version"
                                : Printable(hello.version)) +
         " (protocol " + std::to_string(hello.protocol) + ")";
}

}  // namespace

Json ToJson(const Hello& hello) {
  Json json;
  json["protocol"] = hello.protocol;
  json["version"] = hello.version;
  json["cluster_key"] = hello.cluster_key;
  json["members"] = hello.members;
  json["ranks"] = hello.ranks;
  json["host"] = hello.host;
  json["pid"] = hello.pid;
  json["attempt"] = hello.attempt;
  json["clock"] = muster::ToString(hello.clock);
  json["program"] = hello.program;
  json["program_digest"] = hello.program_digest;
  json["environment_digest"] = hello.environment_digest;
  json["cores"] = hello.cores;
  json["core_ids"] = hello.core_ids;
  json["environment"] = hello.environment;
  json["addresses"] = hello.addresses;
  json["ports"] = hello.ports;
  json["findings"] = Json::array();
  for (const Finding& finding : hello.findings) {
    json["findings"].push_back(muster::ToJson(finding));
  }
  return json;
}

Result<Hello> HelloFromJson(const Json& json) {
  if (!json.is_object()) {
    return Error(Cause::kNetWrongEndpoint, "a hello that is not an object");
  }
  Hello hello;
  HelloFields fields(json);
  fields.Read("protocol", hello.protocol);
  if (!fields.wrong() && hello.protocol != kProtocol) {
    // What else another protocol says and how is not known here.
    return hello;
  }
  fields.Read("version", hello.version);
  fields.Read("cluster_key", hello.cluster_key);
  fields.Read("members", hello.members);
  fields.Read("ranks", hello.ranks);
  fields.Read("host", hello.host);
  fields.Read("pid", hello.pid);
  fields.Read("attempt", hello.attempt);
  fields.Read("clock", hello.clock);
  fields.Read("program", hello.program);
  fields.Read("program_digest", hello.program_digest);
  fields.Read("environment_digest", hello.environment_digest);
  fields.Read("cores", hello.cores);
  fields.Read("core_ids", hello.core_ids);
  fields.Read("environment", hello.environment);
  fields.Read("addresses", hello.addresses);
  fields.Read("ports", hello.ports);
  fields.Read("findings", hello.findings);
  if (fields.wrong()) {
    return *std::move(fields.wrong());
  }
  return hello;
}

Result<Hello> ParseHello(std::string_view bytes) {
  MUSTER_ASSIGN(const Json json,
                ParseJson(bytes, Cause::kNetWrongEndpoint, "a hello"));
  return HelloFromJson(json);
}

std::optional<Error> Incompatible(const Hello& ours, const Hello& theirs) {
  if (ours.protocol == theirs.protocol &&
      WithoutLastPart(ours.version) == WithoutLastPart(theirs.version)) {
    return std::nullopt;
  }
  return Error(Cause::kVerPeerMismatch,
               Introduced(theirs) + ", " + Introduced(ours) +
                   ": agents of one run may differ in the last part of the "
                   "version only");
}

std::string Who(const Hello& hello) {
  std::string text = "an agent";
  if (hello.ranks.size() == 1) {
    text = "rank " + std::to_string(hello.ranks.front());
  } else if (!hello.ranks.empty()) {
    text = "ranks " + std::to_string(hello.ranks.front()) + " to " +
           std::to_string(hello.ranks.back());
  }
  if (!hello.host.empty()) {
    text += " (host " + Printable(hello.host) + ", pid " +
            std::to_string(hello.pid) + ")";
  }
  return text;
}

}  // namespace muster::wire
