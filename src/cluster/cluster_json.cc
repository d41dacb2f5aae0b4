// SPDX-License-Identifier: Apache-2.0
#include "cluster/cluster_json.h"

#include <limits>

#include "base/json.h"
#include "base/text.h"
#include "base/words/suggest.h"
#include "cluster/members.h"

namespace muster {
namespace {

constexpr std::string_view kSchema = "muster.cluster/1";
constexpr int kLastIndex = 65535;

Json SourcedJson(Json value, const std::string& source) {
  Json json = Json::object();
  json["value"] = std::move(value);
  json["source"] = source;
  return json;
}

Json AddressJson(const std::optional<Sourced<Address>>& address) {
  return address ? SourcedJson(ToString(address->value), address->source)
                 : Json();
}

// Reads one document; carries its name and the place for messages.
class Reader {
 public:
  explicit Reader(std::string_view what) : what_(what) {}

  Error Wrong(const std::string& place, const std::string& problem) const {
    return Error(Cause::kClusterSpecInvalid,
                 what_ + ": `" + place + "` " + problem);
  }

  Status Keys(const Json& json, const std::string& place,
              const std::vector<std::string>& known) const {
    if (!json.is_object()) {
      return Wrong(place,
                   std::string("is not an object but ") + json.type_name());
    }
    for (const auto& [key, value] : json.items()) {
      if (std::find(known.begin(), known.end(), key) != known.end()) {
        continue;
      }
      const auto meant = DidYouMean(key, known);
      return Wrong(place, "has the unknown key `" + Printable(key) + "`" +
                              (meant ? ", did you mean `" + *meant + "`" : ""));
    }
    return Ok();
  }

  Result<int> Int(const Json& json, const std::string& place) const {
    if (!json.is_number_integer()) {
      return Wrong(place, "is not a whole number");
    }
    if (json > std::numeric_limits<int>::max() || json < 0) {
      return Wrong(place, "is " + Dump(json) + ", which is out of range");
    }
    return json.get<int>();
  }

  Result<std::string> Text(const Json& json, const std::string& place) const {
    if (!json.is_string()) {
      return Wrong(place, "is not a string");
    }
    return json.get<std::string>();
  }

  Result<Address> HostPort(const Json& json, const std::string& place) const {
    MUSTER_ASSIGN(const auto text, Text(json, place));
    auto address = Address::Parse(text);
    if (!address) {
      return Wrong(
          place, "is `" + Printable(text) + "`: " + address.error().message());
    }
    return address;
  }

  // {"value", "source"} or a bare value; nullopt when absent or null.
  template <typename Read>
  auto Value(const Json& parent, const char* key, const std::string& place,
             Read read) const
      -> Result<std::optional<Sourced<typename std::invoke_result_t<
          Read, Json, std::string>::value_type>>> {
    using T =
        typename std::invoke_result_t<Read, Json, std::string>::value_type;
    using Found = std::optional<Sourced<T>>;
    const auto at = parent.find(key);
    if (at == parent.end() || at->is_null()) {
      return Found();
    }
    if (!at->is_object()) {
      MUSTER_ASSIGN(auto bare, read(*at, place));
      return Found(Sourced<T>{std::move(bare), what_});
    }
    MUSTER_TRY(Keys(*at, place, {"value", "source"}));
    if (!at->contains("value")) {
      return Wrong(place, "has no `value`");
    }
    MUSTER_ASSIGN(auto value, read((*at)["value"], place + ".value"));
    std::string source = what_;
    if (at->contains("source")) {
      MUSTER_ASSIGN(source, Text((*at)["source"], place + ".source"));
    }
    return Found(Sourced<T>{std::move(value), std::move(source)});
  }

  const std::string& what() const { return what_; }

 private:
  std::string what_;
};

// `index_of` counts the members of each task, for those without an index.
Result<Member> ReadMember(const Reader& reader, const Json& json, int position,
                          std::map<std::string, int>& index_of) {
  const std::string place = "members[" + std::to_string(position) + "]";
  MUSTER_TRY(
      reader.Keys(json, place, {"rank", "task", "index", "address", "node"}));
  Member member;
  member.rank = position;
  if (json.contains("rank")) {
    MUSTER_ASSIGN(member.rank, reader.Int(json["rank"], place + ".rank"));
  }
  if (json.contains("task")) {
    MUSTER_ASSIGN(member.task, reader.Text(json["task"], place + ".task"));
  }
  if (member.task.empty()) {
    return reader.Wrong(place + ".task", "is empty");
  }
  member.index = index_of[member.task]++;
  if (json.contains("index")) {
    MUSTER_ASSIGN(member.index, reader.Int(json["index"], place + ".index"));
    // A list of all tasks has a place for each index below it.
    if (member.index > kLastIndex) {
      return reader.Wrong(place + ".index",
                          "is " + std::to_string(member.index) +
                              ", expected 0 to " + std::to_string(kLastIndex));
    }
  }
  if (json.contains("node")) {
    MUSTER_ASSIGN(member.node, reader.Int(json["node"], place + ".node"));
  }
  MUSTER_ASSIGN(member.address,
                reader.Value(json, "address", place + ".address",
                             [&](const Json& value, const std::string& at) {
                               return reader.HostPort(value, at);
                             }));
  return member;
}

Result<std::vector<Member>> ReadMembers(const Reader& reader,
                                        const Json& json) {
  const auto list = json.find("members");
  if (list == json.end() || !list->is_array()) {
    return reader.Wrong("members", "is not a list");
  }
  std::vector<Member> members;
  std::map<std::string, int> index_of;
  for (const Json& entry : *list) {
    MUSTER_ASSIGN(
        auto member,
        ReadMember(reader, entry, static_cast<int>(members.size()), index_of));
    members.push_back(std::move(member));
  }
  std::stable_sort(
      members.begin(), members.end(),
      [](const Member& a, const Member& b) { return a.rank < b.rank; });
  return members;
}

}  // namespace

Json ToJson(const Cluster& cluster) {
  Json json;
  json["schema"] = kSchema;
  json["members"] = Json::array();
  for (const Member& member : cluster.members) {
    Json entry;
    entry["rank"] = member.rank;
    entry["task"] = member.task;
    entry["index"] = member.index;
    entry["address"] = AddressJson(member.address);
    if (member.node >= 0) {
      entry["node"] = member.node;
    }
    json["members"].push_back(std::move(entry));
  }
  json["self"] = cluster.self
                     ? SourcedJson(cluster.self->value, cluster.self->source)
                     : Json();
  json["coordinator"] = AddressJson(cluster.coordinator);
  json["size"] = SourcedJson(cluster.size.value, cluster.size.source);
  json["one_host"] = cluster.one_host;
  return json;
}

Result<Cluster> ClusterFromJson(const Json& json, std::string_view what) {
  const Reader reader(what);
  MUSTER_TRY(reader.Keys(
      json, "the document",
      {"schema", "members", "self", "coordinator", "size", "one_host",
       // What `muster resolve` says beside the cluster.
       "sources", "ports", "findings"}));
  if (json.contains("schema") && json["schema"] != kSchema) {
    return reader.Wrong("schema", "is " + Printable(Dump(json["schema"])) +
                                      ", but muster reads \"" +
                                      std::string(kSchema) + "\"");
  }
  const auto read_int = [&](const Json& value, const std::string& place) {
    return reader.Int(value, place);
  };
  const auto read_address = [&](const Json& value, const std::string& place) {
    return reader.HostPort(value, place);
  };
  Cluster cluster;
  MUSTER_ASSIGN(cluster.members, ReadMembers(reader, json));
  MUSTER_ASSIGN(cluster.self, reader.Value(json, "self", "self", read_int));
  MUSTER_ASSIGN(cluster.coordinator,
                reader.Value(json, "coordinator", "coordinator", read_address));
  MUSTER_ASSIGN(auto size, reader.Value(json, "size", "size", read_int));
  cluster.size = size ? *std::move(size)
                      : Sourced<int>{static_cast<int>(cluster.members.size()),
                                     reader.what() + ", members counted"};
  if (json.contains("one_host")) {
    if (!json["one_host"].is_boolean()) {
      return reader.Wrong("one_host", "is not true or false");
    }
    cluster.one_host = json["one_host"].get<bool>();
  }
  if (auto sound = CheckMembers(cluster); !sound) {
    return std::move(sound).error().While("reading " + reader.what());
  }
  return cluster;
}

}  // namespace muster
