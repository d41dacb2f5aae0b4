// SPDX-License-Identifier: Apache-2.0
#include "connect/mesh.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/text.h"

namespace muster::connect {
namespace {

constexpr std::array<std::string_view, 13> kWords{
    "untried",    "ok",     "refused",      "no answer", "no route",
    "unresolved", "itself", "other member", "stranger",  "foreign",
    "silent",     "closed", "large lost"};

constexpr std::size_t kMostPaths = 1U << 16;
constexpr std::size_t kMostText = 512;

std::int64_t Micros(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration)
      .count();
}

// Reads fields of a peer's JSON; remembers the first that is wrong.
class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {
    if (!json.is_object()) {
      wrong_ = "it";
    }
  }

  std::int64_t Number(const char* name, std::int64_t least, std::int64_t most) {
    const auto* field = Field(name);
    if (field == nullptr || !field->is_number_integer() ||
        field->get<std::int64_t>() < least ||
        field->get<std::int64_t>() > most) {
      Wrong(name);
      return least;
    }
    return field->get<std::int64_t>();
  }
  Duration Time(const char* name) {
    return std::chrono::microseconds(
        Number(name, -4'000'000'000'000'000, 4'000'000'000'000'000));
  }
  std::string Text(const char* name) {
    const auto* field = Field(name);
    if (field == nullptr || !field->is_string()) {
      Wrong(name);
      return "";
    }
    return field->get<std::string>().substr(0, kMostText);
  }
  // The list, or one without elements.
  const Json& List(const char* name) {
    static const Json kNone = Json::array();
    const auto* field = Field(name);
    if (field == nullptr || !field->is_array() || field->size() > kMostPaths) {
      Wrong(name);
      return kNone;
    }
    return *field;
  }
  void Wrong(const char* name) {
    if (wrong_.empty()) {
      wrong_ = name;
    }
  }
  const std::string& wrong() const { return wrong_; }

 private:
  const Json* Field(const char* name) const {
    if (!json_.is_object()) {
      return nullptr;
    }
    const auto at = json_.find(name);
    return at == json_.end() ? nullptr : &*at;
  }

  const Json& json_;
  std::string wrong_;
};

PathResult PathFrom(Reader& reader) {
  PathResult result;
  const auto word = [&](const char* name) {
    const std::string text = reader.Text(name);
    const auto at = std::find(kWords.begin(), kWords.end(), text);
    if (at == kWords.end()) {
      reader.Wrong(name);
      return Path::kUntried;
    }
    return static_cast<Path>(at - kWords.begin());
  };
  result.path = word("path");
  result.before = word("before");
  result.round_trip = reader.Time("round_trip_us");
  result.healed = reader.Time("healed_us");
  result.clock_ahead = reader.Time("clock_ahead_us");
  result.tries = static_cast<int>(reader.Number("tries", 0, 1'000'000));
  result.answered_as =
      static_cast<int>(reader.Number("answered_as", -1, 1'000'000));
  result.seen = reader.Text("seen");
  result.number = reader.Text("number");
  result.sign_of_life = reader.Text("sign_of_life");
  result.translated = reader.Text("translated");
  return result;
}

MeshTarget TargetFrom(Reader& reader) {
  return {.rank = static_cast<int>(reader.Number("rank", 0, 1'000'000)),
          .port = static_cast<std::uint16_t>(reader.Number("port", 0, 65535))};
}

void ReadPaths(Reader& reader, MeshRow& row) {
  for (const Json& one : reader.List("paths")) {
    Reader path(one);
    const MeshTarget target = TargetFrom(path);
    row.paths[target] = PathFrom(path);
    if (!path.wrong().empty()) {
      reader.Wrong("paths");
    }
  }
}

void ReadClaims(Reader& reader, MeshRow& row) {
  for (const Json& one : reader.List("heard")) {
    if (one.is_number_integer()) {
      row.heard.insert(one.get<int>());
    }
  }
  for (const Json& one : reader.List("claims")) {
    Reader claim(one);
    const auto rank = static_cast<int>(claim.Number("rank", -1, 1'000'000));
    row.claims[rank].insert(claim.Text("who"));
  }
  for (const Json& one : reader.List("taken")) {
    Reader taken(one);
    row.taken.push_back(
        {.port = static_cast<std::uint16_t>(taken.Number("port", 0, 65535)),
         .why = taken.Text("why")});
  }
  for (const Json& one : reader.List("other_lists")) {
    Reader list(one);
    row.other_lists[list.Text("who")] = list.Text("line");
  }
}

}  // namespace

std::string_view ToText(Path path) {
  return kWords.at(static_cast<std::size_t>(path));
}

Json ToJson(const PathResult& result) {
  return {{"path", ToText(result.path)},
          {"before", ToText(result.before)},
          {"round_trip_us", Micros(result.round_trip)},
          {"healed_us", Micros(result.healed)},
          {"clock_ahead_us", Micros(result.clock_ahead)},
          {"tries", result.tries},
          {"answered_as", result.answered_as},
          {"seen", result.seen},
          {"number", result.number},
          {"sign_of_life", result.sign_of_life},
          {"translated", result.translated}};
}

Json ToJson(const MeshRow& row) {
  Json paths = Json::array();
  for (const auto& [target, result] : row.paths) {
    Json path = ToJson(result);
    path["rank"] = target.rank;
    path["port"] = target.port;
    paths.push_back(std::move(path));
  }
  Json claims = Json::array();
  for (const auto& [rank, names] : row.claims) {
    for (const std::string& who : names) {
      claims.push_back({{"rank", rank}, {"who", who}});
    }
  }
  Json taken = Json::array();
  for (const PortTaken& one : row.taken) {
    taken.push_back({{"port", one.port}, {"why", one.why}});
  }
  Json lists = Json::array();
  for (const auto& [who, line] : row.other_lists) {
    lists.push_back({{"who", who}, {"line", line}});
  }
  return {{"rank", row.rank},
          {"host", row.host},
          {"pid", row.pid},
          {"version", row.version},
          {"taken", std::move(taken)},
          {"other_lists", std::move(lists)},
          {"heard", row.heard},
          {"claims", std::move(claims)},
          {"final", row.final},
          {"paths", std::move(paths)}};
}

Result<MeshRow> MeshRowFromJson(const Json& json) {
  Reader reader(json);
  MeshRow row;
  row.rank = static_cast<int>(reader.Number("rank", -1, 1'000'000));
  row.host = reader.Text("host");
  row.pid = static_cast<int>(reader.Number("pid", 0, INT32_MAX));
  row.version = reader.Text("version");
  row.final = json.is_object() && json.contains("final") &&
              json["final"].is_boolean() && json["final"].get<bool>();
  ReadClaims(reader, row);
  ReadPaths(reader, row);
  if (!reader.wrong().empty()) {
    return Error(Cause::kNetWrongEndpoint,
                 "a row of the mesh has no good `" + reader.wrong() + "`");
  }
  return row;
}

std::vector<MeshTarget> TargetsOf(const Cluster& cluster) {
  std::vector<MeshTarget> targets;
  for (const Member& member : cluster.members) {
    if (member.address && member.address->value.port != 0) {
      targets.push_back({member.rank, member.address->value.port});
    }
    if (member.rank == 0 && cluster.coordinator &&
        cluster.coordinator->value.port != 0) {
      targets.push_back({0, cluster.coordinator->value.port});
    }
  }
  std::sort(targets.begin(), targets.end());
  targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
  return targets;
}

Address AddressOf(const Cluster& cluster, const MeshTarget& target) {
  const Member& member =
      cluster.members.at(static_cast<std::size_t>(target.rank));
  if (member.address && member.address->value.port == target.port) {
    return member.address->value;
  }
  if (cluster.coordinator && cluster.coordinator->value.port == target.port) {
    return cluster.coordinator->value;
  }
  return {.host = member.address ? member.address->value.host : "",
          .port = target.port};
}

}  // namespace muster::connect
