// SPDX-License-Identifier: Apache-2.0
#include "netcheck/mesh/mesh.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "netcheck/mesh/peer_json.h"

namespace muster::netcheck {
namespace {

constexpr std::array<std::string_view, 14> kWords{
    "untried",    "ok",     "refused",      "no answer", "no route",
    "unresolved", "itself", "other member", "stranger",  "foreign",
    "silent",     "closed", "large lost",   "own limit"};

constexpr std::size_t kMaxPairs = 64;

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
          .neighbor = reader.Text("neighbor"),
          .translated = reader.Text("translated"),
          .clock_ahead = reader.Time("clock_ahead_us")};
}

MeshTarget TargetFrom(PeerJson& reader) {
  return {.rank = std::max(reader.Rank("rank"), 0), .port = reader.Port()};
}

// Worked at the first try, and nothing more to say. Nearly all paths of a large
// mesh are like this, and every member reads all of them, so each is sent as
// four numbers.
bool IsPlain(const MeshTarget& target, const PathResult& result) {
  return result.path == Path::kOk && result.tries == 1 &&
         result.answered_as == target.rank && result.before == Path::kUntried &&
         result.seen.empty() && result.sign_of_life.empty() &&
         result.neighbor.empty() && result.translated.empty();
}

constexpr std::size_t kPlainNumbers = 4;

void ReadPlain(PeerJson& reader, MeshRow& row) {
  for (const Json& one : reader.List("well")) {
    std::array<std::int64_t, kPlainNumbers> numbers{};
    bool right = one.is_array() && one.size() == kPlainNumbers;
    for (std::size_t i = 0; right && i < kPlainNumbers; ++i) {
      const auto number = IntegerOf(one[i]);
      right = number.has_value();
      numbers.at(i) = number.value_or(0);
    }
    const auto& [rank, port, round_trip, ahead] = numbers;
    if (!right || rank < 0 || rank > 1'000'000 || port < 0 || port > 65535 ||
        round_trip < 0 || round_trip > kMaxMicros || ahead < -kMaxMicros ||
        ahead > kMaxMicros) {
      reader.Wrong("well");
      return;
    }
    const MeshTarget target{.rank = static_cast<int>(rank),
                            .port = static_cast<std::uint16_t>(port)};
    row.paths[target] = {.path = Path::kOk,
                         .round_trip = std::chrono::microseconds(round_trip),
                         .tries = 1,
                         .answered_as = target.rank,
                         .clock_ahead = std::chrono::microseconds(ahead)};
  }
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

void ReadPairs(PeerJson& reader, const char* name,
               std::map<std::string, std::string>& pairs) {
  for (const Json& one : reader.List(name)) {
    if (!one.is_array() || one.size() != 2 || !one[0].is_string() ||
        !one[1].is_string() || pairs.size() == kMaxPairs) {
      reader.Wrong(name);
      return;
    }
    pairs[BoundedText(one[0])] = BoundedText(one[1]);
  }
}

Json PairsOf(const std::map<std::string, std::string>& pairs) {
  Json list = Json::array();
  for (const auto& [name, value] : pairs) {
    list.push_back(Json::array({name, value}));
  }
  return list;
}

// [rank, folder, folder, …] each.
void ReadMarks(PeerJson& reader, MeshRow& row) {
  for (const Json& one : reader.List("marks")) {
    const auto rank =
        one.is_array() && !one.empty() ? RankOf(one[0]) : std::nullopt;
    if (!rank || one.size() > kMaxPairs) {
      reader.Wrong("marks");
      return;
    }
    auto& folders = row.marks[*rank];
    for (std::size_t i = 1; i < one.size(); ++i) {
      if (!one[i].is_string()) {
        reader.Wrong("marks");
        return;
      }
      folders.push_back(BoundedText(one[i]));
    }
  }
}

void ReadClaims(PeerJson& reader, MeshRow& row) {
  for (const Json& one : reader.List("heard")) {
    if (const auto rank = RankOf(one)) {
      row.heard.insert(*rank);
    }
  }
  for (const Json& one : reader.List("claims")) {
    const auto rank =
        one.is_array() && one.size() == 2 ? RankOf(one[0]) : std::nullopt;
    if (!rank || !one[1].is_string()) {
      reader.Wrong("claims");
      return;
    }
    row.claims[*rank].insert(BoundedText(one[1]));
  }
  for (const Json& one : reader.List("taken")) {
    PeerJson taken(one);
    row.taken.push_back({.port = taken.Port(),
                         .why = taken.Text("why"),
                         .cause = CauseFromLabel(taken.Text("cause"))
                                      .value_or(Cause::kNetPortInUse)});
  }
  for (const Json& one : reader.List("other_lists")) {
    PeerJson list(one);
    row.other_lists[list.Text("who")] = list.Text("line");
  }
}

}  // namespace

std::string_view ToString(Path path) {
  return kWords.at(static_cast<std::size_t>(path));
}

Json ToJson(const PathResult& result) {
  Json json{{"path", ToString(result.path)}, {"tries", result.tries}};
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
    json["before"] = ToString(result.before);
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
  text("neighbor", result.neighbor);
  text("translated", result.translated);
  return json;
}

Json ToJson(const MeshRow& row) {
  Json paths = Json::array();
  Json well = Json::array();
  for (const auto& [target, result] : row.paths) {
    if (IsPlain(target, result)) {
      well.push_back({target.rank, target.port, Micros(result.round_trip),
                      Micros(result.clock_ahead)});
      continue;
    }
    Json path = ToJson(result);
    path["rank"] = target.rank;
    path["port"] = target.port;
    paths.push_back(std::move(path));
  }
  Json claims = Json::array();
  for (const auto& [rank, names] : row.claims) {
    for (const std::string& who : names) {
      claims.push_back(Json::array({rank, who}));
    }
  }
  Json taken = Json::array();
  for (const PortTaken& one : row.taken) {
    taken.push_back(
        {{"port", one.port}, {"why", one.why}, {"cause", Label(one.cause)}});
  }
  Json lists = Json::array();
  for (const auto& [who, line] : row.other_lists) {
    lists.push_back({{"who", who}, {"line", line}});
  }
  Json marks = Json::array();
  for (const auto& [rank, folders] : row.marks) {
    Json mark = Json::array({rank});
    for (const std::string& folder : folders) {
      mark.push_back(folder);
    }
    marks.push_back(std::move(mark));
  }
  return {{"rank", row.rank},
          {"host", row.host},
          {"pid", row.pid},
          {"version", row.version},
          {"versions", PairsOf(row.versions)},
          {"files", PairsOf(row.files)},
          {"marks", std::move(marks)},
          {"taken", std::move(taken)},
          {"other_lists", std::move(lists)},
          {"heard", row.heard},
          {"claims", std::move(claims)},
          {"final", row.final},
          {"well", std::move(well)},
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
  ReadPairs(reader, "versions", row.versions);
  ReadPairs(reader, "files", row.files);
  ReadMarks(reader, row);
  ReadClaims(reader, row);
  ReadPaths(reader, row);
  ReadPlain(reader, row);
  if (!reader.wrong().empty()) {
    return Error(Cause::kNetWrongEndpoint,
                 "a row of the mesh has no valid `" + reader.wrong() + "`");
  }
  return row;
}

void KeepRanksBelow(int size, MeshRow& row) {
  const auto foreign = [size](int rank) { return rank < 0 || rank >= size; };
  std::erase_if(row.paths,
                [&](const auto& path) { return foreign(path.first.rank); });
  std::erase_if(row.claims,
                [&](const auto& claim) { return foreign(claim.first); });
  std::erase_if(row.marks,
                [&](const auto& mark) { return foreign(mark.first); });
  std::erase_if(row.heard, foreign);
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

}  // namespace muster::netcheck
