// SPDX-License-Identifier: Apache-2.0
#include "netcheck/diagnosis/path_findings.h"

#include <algorithm>

#include "base/text.h"
#include "wire/mesh_frame.h"

namespace muster::netcheck {
namespace {

// More findings of one kind are told together.
constexpr std::size_t kMaxOfAKind = 4;

// "no answer", with numbers of a typical path.
std::string Observed(const PathResult& path) {
  std::string text(ToString(path.path));
  if (!path.seen.empty()) {
    text += ": " + Printable(path.seen);
  }
  if (path.tries > 1) {
    text += ", " + std::to_string(path.tries) + " tries";
  }
  return text;
}

// Who saw what, equal sights together.
std::vector<Fact> SightsOf(const MeshCase& one, const MeshFault& fault) {
  std::map<std::pair<Path, MeshTarget>, std::vector<int>> sights;
  for (const auto& [from, to] : fault.paths) {
    if (const PathResult* path = one.Find(from, to)) {
      sights[{path->path, to}].push_back(from);
    }
  }
  std::vector<Fact> facts;
  for (const auto& [what, by] : sights) {
    if (facts.size() == kMaxEvidence) {
      break;
    }
    const PathResult& path = *one.Find(by.front(), what.second);
    const Address address = AddressOf(one.cluster, what.second);
    std::string place = muster::ToString(address);
    if (!path.number.empty() && path.number != place) {
      place += " (" + path.number + ")";
    }
    Fact fact = Seen(one, place + ": " + Observed(path),
                     NamesOf(one.cluster, {by.begin(), by.end()}));
    fact.fields["host"] = address.host;
    fact.fields["port"] = std::int64_t{address.port};
    fact.fields["peer"] = muster::ToString(address);
    facts.push_back(std::move(fact));
  }
  return facts;
}

// Whether the host of a target shows that it is up, and how.
std::string LifeOf(const MeshCase& one, const MeshTarget& target) {
  for (const auto& [from, row] : one.rows) {
    const auto path = row.paths.find(target);
    if (path != row.paths.end() && !path->second.sign_of_life.empty()) {
      return path->second.sign_of_life + ": the host is up";
    }
  }
  if (one.rows.count(target.rank) > 0) {
    return "its member sends messages: the host is up";
  }
  for (const auto& [from, row] : one.rows) {
    for (const auto& [other, path] : row.paths) {
      if (other.rank == target.rank && path.path != Path::kNoAnswer &&
          path.path != Path::kNoRoute && path.path != Path::kUnresolved &&
          path.path != Path::kOwnLimit && path.path != Path::kUntried) {
        return "port " + std::to_string(other.port) +
               " responds: the host is up";
      }
    }
  }
  return "";
}

// What its own network tells of a host, by whoever is there, too. One that
// answers anybody is up.
std::string_view ArpStateOf(const MeshCase& one, int rank) {
  std::string_view told;
  for (const auto& [from, row] : one.rows) {
    for (const auto& [target, path] : row.paths) {
      if (target.rank == rank && told != kAnswersArp &&
          (path.neighbor == kAnswersArp || path.neighbor == kNoArp)) {
        told = path.neighbor == kAnswersArp ? kAnswersArp : kNoArp;
      }
    }
  }
  return told;
}

// Not filtered: nobody is there.
bool IsDown(const MeshCase& one, const MeshFault& fault) {
  const int rank = fault.paths.front().second.rank;
  return fault.shape == FaultShape::kAbsentHost &&
         fault.trouble == Trouble::kUnreachable &&
         LifeOf(one, fault.paths.front().second).empty() &&
         ArpStateOf(one, rank) == kNoArp;
}

// The kernel of who asks knows no way: no packet left.
bool HasNoRoute(const MeshCase& one, const MeshFault& fault) {
  return std::all_of(
      fault.paths.begin(), fault.paths.end(), [&](const auto& at) {
        const PathResult* path = one.Find(at.first, at.second);
        return path != nullptr && path->path == Path::kNoRoute &&
               (path->seen == "ENETUNREACH" || path->seen == "ENETDOWN");
      });
}

// The member itself, which had answered as who it is.
bool IsItsMember(const PathResult* path, int rank) {
  return path != nullptr && path->answered_as == rank &&
         (path->path == Path::kSilent || path->path == Path::kClosed);
}

struct Words {
  Cause cause;
  const char* text;  // after the name of a host: "gives no answer"
};

Words WordsOf(const MeshCase& one, const MeshFault& fault) {
  const PathResult* path =
      fault.paths.empty()
          ? nullptr
          : one.Find(fault.paths.front().first, fault.paths.front().second);
  const Path first = path == nullptr ? Path::kNoAnswer : path->path;
  switch (fault.trouble) {
    case Trouble::kUnresolved:
      return {Cause::kNetNameResolution, "does not resolve"};
    case Trouble::kRefused:
      return {Cause::kRendezvousTimeout, "refuses connections"};
    case Trouble::kStranger:
      return {Cause::kNetWrongEndpoint,
              "responds with another key: another run, or another token file"};
    case Trouble::kNotMuster:
      if (path != nullptr &&
          path->seen.find(wire::kOtherVersion) != std::string::npos) {
        return {Cause::kVerPeerMismatch, "runs another version of muster"};
      }
      if (path != nullptr && path->seen.find("HTTP/1.") != std::string::npos &&
          (path->seen.find(" 403") != std::string::npos ||
           path->seen.find(" 407") != std::string::npos)) {
        return {Cause::kNetProxy, "is served by a proxy"};
      }
      if (IsItsMember(path, fault.paths.front().second.rank)) {
        return first == Path::kClosed
                   ? Words{Cause::kPeerDied, "responds and then disconnects"}
                   : Words{Cause::kHeartbeatMissed,
                           "responds and then sends nothing"};
      }
      return {Cause::kNetWrongEndpoint,
              first == Path::kSilent   ? "accepts connections and sends nothing"
              : first == Path::kClosed ? "accepts connections and closes them"
                                       : "is not muster"};
    case Trouble::kLargeLost:
      return {Cause::kNetMtu, "drops large packets"};
    default:
      return {Cause::kNetTimeoutFiltered, first == Path::kNoRoute
                                              ? "cannot be reached: no route"
                                              : "does not respond"};
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

std::set<int> SourcesOf(const MeshFault& fault) {
  std::set<int> ranks;
  for (const auto& path : fault.paths) {
    ranks.insert(path.first);
  }
  return ranks;
}

std::string WhatOf(const MeshCase& one, const MeshFault& fault,
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
      return targets + " " + text + ", seen from " + sources + " only";
    case FaultShape::kLink:
      return "between " + sources + " and " + targets +
             " no path works: each " + text;
    case FaultShape::kIsolated:
      return named + " is isolated in both directions: it " + text;
    case FaultShape::kOutbound:
      return named + " reaches no other member: each " + text;
    case FaultShape::kAll:
      return "no member reaches any other: each " + text;
    case FaultShape::kPortEverywhere:
      return Ports(fault) + " of all members " + text;
    case FaultShape::kPartition:
      return "two groups cannot reach each other (" + sources + " | " +
             targets + "): each " + text;
    case FaultShape::kBlock:
      return targets + " " + text + ", seen from " + sources;
  }
  return text;
}

// How sure a cause is that was observed itself. Silence and an end are also
// what a member gives that is stopped or busy.
Confidence ConfidenceOf(const MeshCase& one, const MeshFault& fault) {
  const PathResult* path =
      one.Find(fault.paths.front().first, fault.paths.front().second);
  const bool mute = path != nullptr && (path->path == Path::kSilent ||
                                        path->path == Path::kClosed);
  return mute ? Confidence::kLikely : Confidence::kCertain;
}

// What the shape adds to the evidence, and how sure it makes the cause.
Confidence Explain(const MeshCase& one, const MeshFault& fault,
                   std::vector<Fact>& facts) {
  if (HasNoRoute(one, fault)) {
    facts.push_back(Seen(one, "its kernel has no route: no packet was sent",
                         NamesOf(one.cluster, SourcesOf(fault))));
    return Confidence::kCertain;
  }
  if (fault.shape == FaultShape::kDirection) {
    const auto back = TargetRanks(fault);
    for (const int rank : back) {
      for (const MeshTarget& target : TargetsOf(one.cluster)) {
        const PathResult* path = one.Find(rank, target);
        if (fault.sources.count(target.rank) > 0 && path != nullptr &&
            path->path == Path::kOk) {
          facts.push_back(
              Seen(one, "the reverse path works: only one direction fails",
                   NameOf(one.cluster, rank)));
          return ConfidenceOf(one, fault);
        }
      }
    }
  }
  if (fault.trouble != Trouble::kUnreachable &&
      fault.trouble != Trouble::kRefused) {
    return ConfidenceOf(one, fault);
  }
  const std::string life = LifeOf(one, fault.paths.front().second);
  if (!life.empty() && fault.trouble == Trouble::kUnreachable) {
    facts.push_back(Seen(one, life + ", so a firewall drops packets", "mesh"));
    return Confidence::kCertain;
  }
  if (fault.shape != FaultShape::kAbsentHost ||
      fault.trouble != Trouble::kUnreachable) {
    return Confidence::kLikely;
  }
  if (IsDown(one, fault)) {
    facts.push_back(
        Seen(one,
             "it does not respond to ARP on its network, which firewalls do "
             "not filter: the host is down, or no host has this address",
             "mesh"));
    return Confidence::kCertain;
  }
  facts.push_back(
      Seen(one,
           ArpStateOf(one, fault.paths.front().second.rank) == kAnswersArp
               ? "it responds to ARP, but on no port: the host is up and a "
                 "firewall drops packets"
               : "it responds on no port and its member sends nothing: the "
                 "host is down, or a firewall drops everything",
           "mesh"));
  return Confidence::kLikely;
}

// Some refusal was seen after who listens there was heard of.
bool RefusedWhileThere(const MeshCase& one, const MeshFault& fault) {
  return std::any_of(fault.paths.begin(), fault.paths.end(),
                     [&](const auto& at) {
                       const PathResult* path = one.Find(at.first, at.second);
                       return path != nullptr && !path->sign_of_life.empty();
                     });
}

// It has begun to listen when others had stopped trying.
void CameLate(MeshCase& one, const MeshFault& fault, std::vector<Fact> facts) {
  facts.push_back(
      Seen(one, "its member joined after the last attempt", "mesh"));
  Add(one, Cause::kRendezvousTimeout,
      WhatOf(one, fault, "joined too late for another attempt"),
      Confidence::kLikely, facts, fault.named);
  one.findings.back().severity = Severity::kNote;
}

void JudgeFault(MeshCase& one, const MeshFault& fault) {
  auto facts = SightsOf(one, fault);
  Words words = WordsOf(one, fault);
  // Its member listens there, as it says itself: somebody else refuses.
  const bool present = one.rows.count(fault.paths.front().second.rank) > 0;
  if (fault.trouble == Trouble::kRefused) {
    if (present && !RefusedWhileThere(one, fault)) {
      CameLate(one, fault, facts);
      return;
    }
    if (present) {
      words = {Cause::kNetTimeoutFiltered, "is rejected by a packet filter"};
      facts.push_back(Seen(one,
                           "its member listens on the port, so something on "
                           "the path rejects the connection",
                           "mesh"));
    } else {
      words.text =
          "never joined: its host refuses connections, so nothing listens "
          "there";
    }
  }
  const Confidence confidence = Explain(one, fault, facts);
  const bool down = IsDown(one, fault);
  Add(one, words.cause,
      WhatOf(one, fault,
             down ? "does not respond, not even to ARP" : words.text),
      confidence, facts, fault.named);
  auto& fixes = one.findings.back().fixes;
  if (HasNoRoute(one, fault)) {
    const std::string host =
        AddressOf(one.cluster, fault.paths.front().second).host;
    fixes = {
        {.text = "show the route to it",
         .command = Address{.host = host}.IsNumeric() ? "ip route get " + host
                                                      : "ip route",
         .safety = Safety::kSafe},
        {.text = "add a route on the reporting host, or list an address on a "
                 "network that it can reach"}};
  } else if (down) {
    fixes.insert(fixes.begin(),
                 {.text = "start the host, or remove it from the list"});
  }
}

// More than a few of one shape and trouble become one.
std::vector<MeshFault> Fold(std::vector<MeshFault> faults) {
  std::vector<MeshFault> folded;
  for (MeshFault& fault : faults) {
    const auto alike = [&](const MeshFault& other) {
      return other.shape == fault.shape && other.trouble == fault.trouble;
    };
    if (static_cast<std::size_t>(std::count_if(faults.begin(), faults.end(),
                                               alike)) <= kMaxOfAKind) {
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

}  // namespace

void JudgeFaults(MeshCase& one, const MeshView& view) {
  for (const MeshFault& fault : Fold(FindFaults(view))) {
    JudgeFault(one, fault);
  }
}

}  // namespace muster::netcheck
