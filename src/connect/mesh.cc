// SPDX-License-Identifier: Apache-2.0
#include "connect/mesh.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/text.h"
#include "connect/peer_json.h"

namespace muster::connect {
namespace {

constexpr std::array<std::string_view, 13> kWords{
    "untried",    "ok",     "refused",      "no answer", "no route",
    "unresolved", "itself", "other member", "stranger",  "foreign",
    "silent",     "closed", "large lost"};

std::int64_t Micros(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration)
      .count();
}

Path WordIn(PeerJson& reader, const char* name) {
  const std::string text = reader.Text(name);
  const auto at = std::find(kWords.begin(), kWords.end(), text);
  if (text.empty()) {
    return Path::kUntried;
  }
  if (at == kWords.end()) {
    reader.Wrong(name);
    return Path::kUntried;
  }
  return static_cast<Path>(at - kWords.begin());
}

PathResult PathFrom(PeerJson& reader) {
  return {.path = WordIn(reader, "path"),
          .round_trip = reader.Time("round_trip_us"),
          .tries = reader.Rank("tries"),
          .before = WordIn(reader, "before"),
          .healed = reader.Time("healed_us"),
          .seen = reader.Text("seen"),
          .number = reader.Text("number"),
          .answered_as = reader.Rank("answered_as", -1),
          .sign_of_life = reader.Text("sign_of_life"),
          .translated = reader.Text("translated"),
          .clock_ahead = reader.Time("clock_ahead_us")};
}

MeshTarget TargetFrom(PeerJson& reader) {
  return {.rank = std::max(reader.Rank("rank"), 0), .port = reader.Port()};
}

void ReadPaths(PeerJson& reader, MeshRow& row) {
  for (const Json& one : reader.List("paths")) {
    PeerJson path(one);
    const MeshTarget target = TargetFrom(path);
    row.paths[target] = PathFrom(path);
    if (!path.wrong().empty()) {
      reader.Wrong("paths");
    }
  }
}

void ReadClaims(PeerJson& reader, MeshRow& row) {
  for (const Json& one : reader.List("heard")) {
    if (one.is_number_integer()) {
      row.heard.insert(one.get<int>());
    }
  }
  for (const Json& one : reader.List("claims")) {
    PeerJson claim(one);
    const int rank = claim.Rank("rank");
    row.claims[rank].insert(claim.Text("who"));
  }
  for (const Json& one : reader.List("taken")) {
    PeerJson taken(one);
    row.taken.push_back({.port = taken.Port(), .why = taken.Text("why")});
  }
  for (const Json& one : reader.List("other_lists")) {
    PeerJson list(one);
    row.other_lists[list.Text("who")] = list.Text("line");
  }
}

}  // namespace

std::string_view ToText(Path path) {
  return kWords.at(static_cast<std::size_t>(path));
}

Json ToJson(const PathResult& result) {
  Json json{{"path", ToText(result.path)}, {"tries", result.tries}};
  const auto number = [&](const char* name, std::int64_t value) {
    if (value != 0) {
      json[name] = value;
    }
  };
  const auto text = [&](const char* name, std::string_view value) {
    if (!value.empty()) {
      json[name] = value;
    }
  };
  if (result.before != Path::kUntried) {
    json["before"] = ToText(result.before);
  }
  if (result.answered_as >= 0) {
    json["answered_as"] = result.answered_as;
  }
  number("round_trip_us", Micros(result.round_trip));
  number("healed_us", Micros(result.healed));
  number("clock_ahead_us", Micros(result.clock_ahead));
  text("seen", result.seen);
  text("number", result.number);
  text("sign_of_life", result.sign_of_life);
  text("translated", result.translated);
  return json;
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
  PeerJson reader(json);
  MeshRow row;
  row.rank = reader.Rank("rank", -1);
  row.host = reader.Text("host");
  row.pid = static_cast<int>(reader.Number("pid", {0, INT32_MAX}));
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
