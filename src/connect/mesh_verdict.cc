// SPDX-License-Identifier: Apache-2.0
#include "connect/mesh_verdict.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/json.h"
#include "base/text.h"
#include "connect/mesh_faults.h"
#include "connect/mesh_matrix.h"

namespace muster::connect {
namespace {

constexpr std::size_t kMostEvidence = 4;
constexpr std::size_t kMostPathsTold = 1024;
constexpr std::chrono::seconds kSkewWarned{1};
constexpr std::chrono::seconds kSkewBad{60};
// More findings of one kind are told together.
constexpr std::size_t kMostOfAKind = 4;

// "rank 1 (10.0.0.7:8476)"; the host that looks and is no member.
std::string NameOf(const Cluster& cluster, int rank) {
  return rank < 0
             ? "this host"
             : muster::Name(cluster.members.at(static_cast<std::size_t>(rank)));
}

// "rank 1 (a:1), rank 2 (b:1) and 5 more".
std::string NamesOf(const Cluster& cluster, const std::set<int>& ranks) {
  std::vector<std::string> names;
  for (const int rank : ranks) {
    if (names.size() == 3 && ranks.size() > 4) {
      return Join(names, ", ") + " and " +
             std::to_string(ranks.size() - names.size()) + " more";
    }
    names.push_back(NameOf(cluster, rank));
  }
  return Join(names, ", ");
}

// Everything that a judgement looks at.
struct Case {
  const Cluster& cluster;
  const std::map<int, MeshRow>& rows;
  int self = -1;
  WallTime at{};
  std::vector<Finding> findings;

  bool alone() const { return rows.size() == 1; }
  const PathResult* Find(int from, const MeshTarget& to) const {
    const auto row = rows.find(from);
    if (row == rows.end()) {
      return nullptr;
    }
    const auto path = row->second.paths.find(to);
    return path == row->second.paths.end() ? nullptr : &path->second;
  }
};

Fact Seen(const Case& one, std::string text, std::string by) {
  return {.name = "mesh.seen",
          .fields = {{"text", std::move(text)}},
          .by = std::move(by),
          .at = one.at};
}

void Add(Case& one, Cause cause, std::string what, Confidence confidence,
         const std::vector<Fact>& facts, const std::set<int>& named) {
  Finding finding = MakeFinding(cause, std::move(what), confidence, facts);
  for (const int rank : named) {
    finding.subjects.push_back(rank < 0 ? "this host"
                                        : "rank " + std::to_string(rank));
  }
  one.findings.push_back(std::move(finding));
}

// ---- Roots that are told and not inferred ----

// As MeshIdentity::Who.
std::string WhoOf(const MeshRow& row) {
  return "host " + row.host + ", pid " + std::to_string(row.pid);
}

// Who has another list than most. Of two, nobody can say which is right.
void JudgeLists(Case& one, MeshView& view) {
  std::map<std::string, std::set<std::string>> differs;  // from whom
  std::map<std::string, std::string> lines;
  for (const auto& [rank, row] : one.rows) {
    const std::string own = WhoOf(row);
    for (const auto& [who, line] : row.other_lists) {
      differs[own].insert(who);
      differs[who].insert(own);
      lines[who] = line;
    }
  }
  if (differs.empty()) {
    return;
  }
  std::size_t most = 0;
  for (const auto& [who, others] : differs) {
    most = std::max(most, others.size());
  }
  std::vector<std::string> named;
  std::vector<Fact> facts;
  for (const auto& [who, others] : differs) {
    if (others.size() == most) {
      named.push_back(Printable(who));
      if (lines.count(who) > 0 && facts.size() < kMostEvidence) {
        facts.push_back(
            Seen(one, "its list has " + Printable(lines[who]), named.back()));
      }
    }
  }
  Add(one, Cause::kRankWorldMismatch,
      Join(named, " and ") +
          (named.size() == 1 ? " has another list of members than the others"
                             : " have different lists of members"),
      Confidence::kCertain, facts, {});
  one.findings.back().subjects = named;
  // Ranks of another list are other members.
  for (auto& [at, trouble] : view.paths) {
    if (trouble == Trouble::kWrongMember) {
      trouble = Trouble::kNone;
    }
  }
}

void JudgeVersions(Case& one) {
  std::map<std::string, std::set<int>> versions;
  for (const auto& [rank, row] : one.rows) {
    const std::string& version = row.version;
    versions[version.substr(0, version.rfind('.'))].insert(rank);
  }
  if (versions.size() < 2) {
    return;
  }
  std::vector<Fact> facts;
  std::set<int> named;
  const auto most = std::max_element(versions.begin(), versions.end(),
                                     [](const auto& a, const auto& b) {
                                       return a.second.size() < b.second.size();
                                     });
  for (const auto& [version, ranks] : versions) {
    facts.push_back(
        Seen(one, "muster " + Printable(version), NamesOf(one.cluster, ranks)));
    if (version != most->first) {
      named.insert(ranks.begin(), ranks.end());
    }
  }
  Add(one, Cause::kVerPeerMismatch,
      NamesOf(one.cluster, named) + " runs another version of muster",
      Confidence::kCertain, facts, named);
}

// Two processes that call themselves the same rank. With different lists ranks
// mean nothing.
void JudgeClaims(Case& one, MeshView& view) {
  if (std::any_of(one.rows.begin(), one.rows.end(), [](const auto& row) {
        return !row.second.other_lists.empty();
      })) {
    return;
  }
  std::map<int, std::set<std::string>> claims;
  for (const auto& [rank, row] : one.rows) {
    for (const auto& [claimed, names] : row.claims) {
      claims[claimed].insert(names.begin(), names.end());
    }
  }
  bool any = false;
  for (const auto& [rank, names] : claims) {
    if (rank < 0 || names.size() < 2 ||
        rank >= static_cast<int>(view.hosts.size())) {
      continue;
    }
    any = true;
    std::vector<Fact> facts;
    for (const std::string& who : names) {
      facts.push_back(Seen(one, "claims to be rank " + std::to_string(rank),
                           Printable(who)));
    }
    Add(one, Cause::kDuplicateIdentity,
        std::to_string(names.size()) + " processes claim to be " +
            NameOf(one.cluster, rank),
        Confidence::kCertain, facts, {rank});
  }
  if (any) {
    // Who took the rank answers at an address that is another's.
    for (auto& [at, trouble] : view.paths) {
      if (trouble == Trouble::kWrongMember) {
        trouble = Trouble::kNone;
      }
    }
  }
}

// A port that its own member could not listen on.
void JudgeTaken(Case& one, MeshView& view) {
  for (const auto& [rank, row] : one.rows) {
    for (const PortTaken& taken : row.taken) {
      const MeshTarget target{rank, taken.port};
      std::vector<Fact> facts{
          Seen(one, Printable(taken.why), NameOf(one.cluster, rank))};
      for (auto& [at, trouble] : view.paths) {
        if (at.second != target || trouble == Trouble::kNone) {
          continue;
        }
        if (const PathResult* path = one.Find(at.first, target);
            path != nullptr && facts.size() < 2) {
          facts.push_back(Seen(one, Printable(path->seen) + " answers there",
                               NameOf(one.cluster, at.first)));
        }
        trouble = Trouble::kNone;
      }
      Add(one, Cause::kNetPortInUse,
          NameOf(one.cluster, rank) + " cannot listen on port " +
              std::to_string(taken.port) + ": " + Printable(taken.why),
          Confidence::kCertain, facts, {rank});
    }
  }
}

// Which ranks answer at addresses of others: one finding for all of them.
void JudgeWrongMembers(Case& one, MeshView& view) {
  std::map<std::pair<int, int>, std::set<int>>
      answers;  // place, who -> seen by
  for (auto& [at, trouble] : view.paths) {
    if (trouble != Trouble::kWrongMember) {
      continue;
    }
    trouble = Trouble::kNone;
    const PathResult* path = one.Find(at.first, at.second);
    answers[{at.second.rank, path == nullptr ? -1 : path->answered_as}].insert(
        at.first);
  }
  if (answers.empty()) {
    return;
  }
  std::vector<Fact> facts;
  std::set<int> named;
  for (const auto& [what, by] : answers) {
    named.insert(what.first);
    if (what.second >= 0) {
      named.insert(what.second);
    }
    if (facts.size() < kMostEvidence) {
      facts.push_back(Seen(one,
                           "at the address of " +
                               NameOf(one.cluster, what.first) +
                               " answers rank " + std::to_string(what.second),
                           NamesOf(one.cluster, by)));
    }
  }
  const auto& [place, who] = answers.begin()->first;
  Add(one, Cause::kNetWrongEndpoint,
      "rank " + std::to_string(who) + " answers at the address of " +
          NameOf(one.cluster, place) +
          (answers.size() > 1 ? ", and others are changed about, too" : ""),
      Confidence::kCertain, facts, named);
}

// ---- Faults of paths ----

// "no answer", with numbers of a typical path.
std::string Observed(const PathResult& path) {
  std::string text(ToText(path.path));
  if (!path.seen.empty()) {
    text += ": " + Printable(path.seen);
  }
  if (path.tries > 1) {
    text += ", " + std::to_string(path.tries) + " tries";
  }
  return text;
}

// Who saw what, equal sights together.
std::vector<Fact> SightsOf(const Case& one, const MeshFault& fault) {
  std::map<std::pair<Path, MeshTarget>, std::vector<int>> sights;
  for (const auto& [from, to] : fault.paths) {
    if (const PathResult* path = one.Find(from, to)) {
      sights[{path->path, to}].push_back(from);
    }
  }
  std::vector<Fact> facts;
  for (const auto& [what, by] : sights) {
    if (facts.size() == kMostEvidence) {
      break;
    }
    const PathResult& path = *one.Find(by.front(), what.second);
    const Address address = AddressOf(one.cluster, what.second);
    std::string place = muster::ToText(address);
    if (!path.number.empty() && path.number != place) {
      place += " (" + path.number + ")";
    }
    Fact fact = Seen(one, place + ": " + Observed(path),
                     NamesOf(one.cluster, {by.begin(), by.end()}));
    fact.fields["host"] = address.host;
    fact.fields["port"] = std::int64_t{address.port};
    fact.fields["peer"] = muster::ToText(address);
    facts.push_back(std::move(fact));
  }
  return facts;
}

// Whether the host of a target shows that it is up, and how.
std::string LifeOf(const Case& one, const MeshTarget& target) {
  for (const auto& [from, row] : one.rows) {
    const auto path = row.paths.find(target);
    if (path != row.paths.end() && !path->second.sign_of_life.empty()) {
      return path->second.sign_of_life + ": the host is up";
    }
  }
  if (one.rows.count(target.rank) > 0) {
    return "its own member speaks: the host is up";
  }
  for (const auto& [from, row] : one.rows) {
    for (const auto& [other, path] : row.paths) {
      if (other.rank == target.rank && path.path != Path::kNoAnswer &&
          path.path != Path::kNoRoute && path.path != Path::kUnresolved) {
        return "port " + std::to_string(other.port) +
               " answers: the host is up";
      }
    }
  }
  return "";
}

struct Words {
  Cause cause;
  const char* text;  // after the name of a host: "gives no answer"
};

Words WordsOf(const Case& one, const MeshFault& fault) {
  const PathResult* path =
      fault.paths.empty()
          ? nullptr
          : one.Find(fault.paths.front().first, fault.paths.front().second);
  const Path first = path == nullptr ? Path::kNoAnswer : path->path;
  switch (fault.trouble) {
    case Trouble::kUnresolved:
      return {Cause::kNetNameResolution, "cannot be looked up"};
    case Trouble::kRefused:
      return {Cause::kRendezvousTimeout, "refuses connections"};
    case Trouble::kStranger:
      return {Cause::kNetWrongEndpoint,
              "answers with another key: another run, or another token file"};
    case Trouble::kNotMuster:
      if (path != nullptr && path->seen.find("HTTP/1.") != std::string::npos &&
          (path->seen.find(" 403") != std::string::npos ||
           path->seen.find(" 407") != std::string::npos)) {
        return {Cause::kNetProxy, "is answered for by a proxy"};
      }
      return {Cause::kNetWrongEndpoint,
              first == Path::kSilent   ? "takes connections and stays silent"
              : first == Path::kClosed ? "takes connections and ends them"
                                       : "is not muster"};
    case Trouble::kLargeLost:
      return {Cause::kNetMtu, "loses large packets"};
    default:
      return {Cause::kNetTimeoutFiltered, first == Path::kNoRoute
                                              ? "cannot be reached: no route"
                                              : "gives no answer"};
  }
}

std::string Ports(const MeshFault& fault) {
  std::set<std::string> ports;
  for (const auto& path : fault.paths) {
    ports.insert(std::to_string(path.second.port));
  }
  return std::string(ports.size() == 1 ? "port " : "ports ") +
         Join(std::vector<std::string>(ports.begin(), ports.end()), ", ");
}

std::set<int> TargetRanks(const MeshFault& fault) {
  std::set<int> ranks;
  for (const MeshTarget& target : fault.targets) {
    ranks.insert(target.rank);
  }
  return ranks;
}

std::string WhatOf(const Case& one, const MeshFault& fault,
                   const std::string& text) {
  const std::string sources = NamesOf(one.cluster, fault.sources);
  const std::string targets = NamesOf(one.cluster, TargetRanks(fault));
  const std::string named = NamesOf(one.cluster, fault.named);
  switch (fault.shape) {
    case FaultShape::kAbsentHost:
    case FaultShape::kHost:
      return named + " " + text;
    case FaultShape::kPort:
      return Ports(fault) + " of " + named + " " + text;
    case FaultShape::kDirection:
      return targets + " " + text + ", seen from " + sources + " alone";
    case FaultShape::kLink:
      return "between " + sources + " and " + targets +
             " nothing works: each " + text;
    case FaultShape::kIsolated:
      return named + " is cut off, both ways: it " + text;
    case FaultShape::kOutbound:
      return named + " reaches nobody: each other member " + text;
    case FaultShape::kAll:
      return "nobody reaches anybody: each member " + text;
    case FaultShape::kPortEverywhere:
      return Ports(fault) + " of all members " + text;
    case FaultShape::kPartition:
      return "two groups do not reach each other (" + sources + " | " +
             targets + "): each " + text;
    case FaultShape::kBlock:
      return targets + " " + text + ", seen from " + sources;
  }
  return text;
}

// What the shape adds to the evidence, and how sure it makes the cause.
Confidence Explain(const Case& one, const MeshFault& fault,
                   std::vector<Fact>& facts) {
  if (fault.shape == FaultShape::kDirection) {
    const auto back = TargetRanks(fault);
    for (const int rank : back) {
      for (const MeshTarget& target : TargetsOf(one.cluster)) {
        const PathResult* path = one.Find(rank, target);
        if (fault.sources.count(target.rank) > 0 && path != nullptr &&
            path->path == Path::kOk) {
          facts.push_back(Seen(one, "the way back works: one direction only",
                               NameOf(one.cluster, rank)));
          return Confidence::kCertain;
        }
      }
    }
  }
  if (fault.trouble != Trouble::kUnreachable &&
      fault.trouble != Trouble::kRefused) {
    return Confidence::kCertain;
  }
  const std::string life = LifeOf(one, fault.paths.front().second);
  if (!life.empty() && fault.trouble == Trouble::kUnreachable) {
    facts.push_back(Seen(one, life + ", so packets are filtered", "mesh"));
    return Confidence::kCertain;
  }
  if (fault.shape == FaultShape::kAbsentHost &&
      fault.trouble == Trouble::kUnreachable) {
    facts.push_back(Seen(one,
                         "no port of it answers and no member speaks from it: "
                         "the host is down, or everything is filtered",
                         "mesh"));
  }
  return Confidence::kLikely;
}

void JudgeFault(Case& one, const MeshFault& fault) {
  auto facts = SightsOf(one, fault);
  Words words = WordsOf(one, fault);
  // Its member listens there, as it says itself: somebody else refuses.
  const bool present = one.rows.count(fault.paths.front().second.rank) > 0;
  if (fault.trouble == Trouble::kRefused) {
    if (present) {
      words = {Cause::kNetTimeoutFiltered, "is refused by a packet filter"};
      facts.push_back(Seen(one,
                           "its own member listens there, so something on the "
                           "way refuses",
                           "mesh"));
    } else {
      words.text = "never came: its host refuses, so nothing listens there";
    }
  }
  const Confidence confidence = Explain(one, fault, facts);
  Add(one, words.cause, WhatOf(one, fault, words.text), confidence, facts,
      fault.named);
}

// More than a few of one shape and trouble become one.
std::vector<MeshFault> Fold(std::vector<MeshFault> faults) {
  std::vector<MeshFault> folded;
  for (MeshFault& fault : faults) {
    const auto alike = [&](const MeshFault& other) {
      return other.shape == fault.shape && other.trouble == fault.trouble;
    };
    if (static_cast<std::size_t>(std::count_if(faults.begin(), faults.end(),
                                               alike)) <= kMostOfAKind) {
      folded.push_back(fault);
      continue;
    }
    const auto at = std::find_if(folded.begin(), folded.end(), alike);
    if (at == folded.end()) {
      folded.push_back(fault);
    } else {
      at->sources.insert(fault.sources.begin(), fault.sources.end());
      at->targets.insert(fault.targets.begin(), fault.targets.end());
      at->named.insert(fault.named.begin(), fault.named.end());
      at->paths.insert(at->paths.end(), fault.paths.begin(), fault.paths.end());
    }
  }
  return folded;
}

// ---- What works, and not quite ----

Duration Median(std::vector<Duration> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void JudgeClocks(Case& one) {
  std::map<int, std::vector<Duration>> ahead;
  for (const auto& [from, row] : one.rows) {
    for (const auto& [to, path] : row.paths) {
      if (path.path == Path::kOk) {
        ahead[to.rank].push_back(path.clock_ahead);
      }
    }
  }
  for (const auto& [rank, values] : ahead) {
    const Duration offset = Median(values);
    const Duration size = std::chrono::abs(offset);
    // Of two clocks that differ both look wrong; the second is told.
    const bool pair = ahead.size() <= 2;
    if (size < kSkewWarned || (pair && rank != ahead.rbegin()->first)) {
      continue;
    }
    const std::string way = offset > Duration::zero() ? " ahead" : " behind";
    std::set<int> named{rank};
    if (pair) {
      for (const auto& [from, row] : one.rows) {
        named.insert(from);
      }
    }
    Add(one, Cause::kClockSkew,
        "the clock of " + NameOf(one.cluster, rank) + " is " +
            muster::ToText(size) + way + " of " +
            (pair ? "its peer's" : "the others'"),
        Confidence::kCertain,
        {Seen(one,
              muster::ToText(size) + way + ", within half a round trip, by " +
                  Count(static_cast<std::int64_t>(values.size()), "peer"),
              "mesh")},
        named);
    if (size < kSkewBad) {
      one.findings.back().severity = Severity::kWarning;
    }
  }
}

void JudgeTranslations(Case& one) {
  std::set<int> sources;
  std::vector<Fact> facts;
  for (const auto& [from, row] : one.rows) {
    for (const auto& [to, path] : row.paths) {
      if (path.path != Path::kOk || path.translated.empty()) {
        continue;
      }
      sources.insert(from);
      if (facts.size() < kMostEvidence) {
        facts.push_back(Seen(one,
                             "a connection of " + NameOf(one.cluster, from) +
                                 " arrives from " + Printable(path.translated),
                             NameOf(one.cluster, to.rank)));
      }
    }
  }
  if (!sources.empty()) {
    Add(one, Cause::kNetProxy,
        "something between the members stands in for " +
            NamesOf(one.cluster, sources) +
            ": peers see another address (a proxy or a translation)",
        Confidence::kCertain, facts, sources);
    one.findings.back().severity = Severity::kWarning;
  }
}

Cause CauseOfHealed(Path path) {
  switch (path) {
    case Path::kUnresolved:
      return Cause::kNetNameResolution;
    case Path::kLargeLost:
      return Cause::kNetMtu;
    case Path::kNoAnswer:
    case Path::kNoRoute:
      return Cause::kNetTimeoutFiltered;
    default:
      return Cause::kNetWrongEndpoint;
  }
}

// A member that was refused was not started yet.
void JudgeHealed(Case& one) {
  std::map<Path, std::vector<std::pair<int, MeshTarget>>> healed;
  for (const auto& [from, row] : one.rows) {
    for (const auto& [to, path] : row.paths) {
      if (path.path == Path::kOk && path.before != Path::kUntried &&
          path.before != Path::kRefused) {
        healed[path.before].emplace_back(from, to);
      }
    }
  }
  for (const auto& [before, paths] : healed) {
    std::vector<Fact> facts;
    std::set<int> named;
    for (const auto& [from, to] : paths) {
      named.insert({from, to.rank});
      const PathResult& path = *one.Find(from, to);
      if (facts.size() < kMostEvidence) {
        facts.push_back(Seen(one,
                             muster::ToText(AddressOf(one.cluster, to)) +
                                 ": well after " + std::to_string(path.tries) +
                                 " tries, " + muster::ToText(path.healed),
                             NameOf(one.cluster, from)));
      }
    }
    Add(one, CauseOfHealed(before),
        Count(static_cast<std::int64_t>(paths.size()), "path") + " showed `" +
            std::string(ToText(before)) + "` at first and then healed",
        Confidence::kCertain, facts, named);
    one.findings.back().severity = Severity::kNote;
  }
}

MeshView ViewOf(const Case& one) {
  MeshView view;
  for (const Member& member : one.cluster.members) {
    view.hosts.push_back(member.address ? member.address->value.host
                                        : std::to_string(member.rank));
  }
  view.targets = TargetsOf(one.cluster);
  const auto size = static_cast<int>(view.hosts.size());
  for (const auto& [rank, row] : one.rows) {
    if (rank >= 0 && row.final) {
      view.present.insert(rank);
    }
    for (const auto& [to, path] : row.paths) {
      if (path.path != Path::kUntried && to.rank < size) {
        view.paths[{rank, to}] = TroubleOf(path.path);
      }
    }
  }
  return view;
}

// Nobody else speaks: those whose hosts refuse are not started.
std::set<int> NotStarted(const Case& one, MeshView& view) {
  std::set<int> ranks;
  if (one.alone()) {
    for (auto& [at, trouble] : view.paths) {
      if (trouble == Trouble::kRefused) {
        ranks.insert(at.second.rank);
        trouble = Trouble::kNone;
      }
    }
  }
  return ranks;
}

std::string DetailOf(const Case& one, const MeshView& view,
                     const std::set<int>& not_started) {
  std::vector<Duration> times;
  std::size_t tried = 0;
  for (const auto& [from, row] : one.rows) {
    for (const auto& [to, path] : row.paths) {
      ++tried;
      if (path.path == Path::kOk) {
        times.push_back(path.round_trip);
      }
    }
  }
  const std::size_t good = times.size();
  std::string text = std::to_string(good) + " of " +
                     Count(static_cast<std::int64_t>(tried), "path") + " work";
  if (!times.empty()) {
    text += ", " + muster::ToText(Median(std::move(times)));
  }
  if (!not_started.empty()) {
    text += "; " +
            Count(static_cast<std::int64_t>(not_started.size()), "host") +
            (not_started.size() == 1 ? " answers" : " answer") +
            ", and muster is not started there";
  }
  const std::size_t members = view.hosts.size();
  if (members > 64) {
    text += "; of " + std::to_string(members * (members - 1)) +
            " pairs a selection is tried";
  }
  return text;
}

}  // namespace

MeshVerdict JudgeMesh(const Cluster& cluster,
                      const std::map<int, MeshRow>& rows, int self,
                      WallTime at) {
  Case one{.cluster = cluster, .rows = rows, .self = self, .at = at};
  MeshView view = ViewOf(one);
  JudgeLists(one, view);
  JudgeVersions(one);
  JudgeClaims(one, view);
  JudgeTaken(one, view);
  const auto not_started = NotStarted(one, view);
  JudgeWrongMembers(one, view);
  for (const MeshFault& fault : Fold(FindFaults(view))) {
    JudgeFault(one, fault);
  }
  JudgeTranslations(one);
  JudgeClocks(one);
  JudgeHealed(one);
  return {.findings = std::move(one.findings),
          .detail = DetailOf(one, view, not_started),
          .lines = Matrix(cluster, rows)};
}

Json PathsToJson(const std::map<int, MeshRow>& rows) {
  Json paths = Json::array();
  std::size_t all = 0;
  for (const auto& [from, row] : rows) {
    all += row.paths.size();
  }
  for (const auto& [from, row] : rows) {
    for (const auto& [to, result] : row.paths) {
      if (all > kMostPathsTold && result.path == Path::kOk) {
        continue;
      }
      Json path = ToJson(result);
      path["from"] = from;
      path["to"] = to.rank;
      path["port"] = to.port;
      paths.push_back(std::move(path));
    }
  }
  return paths;
}

}  // namespace muster::connect
