// SPDX-License-Identifier: Apache-2.0
#include "netcheck/diagnosis/reported_faults.h"

#include <algorithm>

#include "base/text.h"
#include "netcheck/diagnosis/mesh_findings.h"

namespace muster::netcheck {
namespace {

// Linux: net.ipv4.ip_unprivileged_port_start, as it is without a setting.
constexpr std::uint16_t kFirstForAnybody = 1024;

// As MeshIdentity::Who.
std::string WhoOf(const MeshRow& row) {
  return "host " + row.host + ", pid " + std::to_string(row.pid);
}

}  // namespace

// Who has another list than most. Of two, nobody can say which is right.
void JudgeLists(MeshCase& one, MeshView& view) {
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
      if (lines.count(who) > 0 && facts.size() < kMaxEvidence) {
        facts.push_back(
            Seen(one, "its list has " + Printable(lines[who]), named.back()));
      }
    }
  }
  Add(one, Cause::kRankWorldMismatch,
      Join(named, " and ") +
          (named.size() == 1
               ? " has a different list of members than the others"
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

void JudgeVersions(MeshCase& one) {
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
      NamesOf(one.cluster, named) + " runs a different version of muster",
      Confidence::kCertain, facts, named);
}

namespace {

// Name -> version -> ranks.
using Packages = std::map<std::string, std::map<std::string, std::set<int>>>;

// Clusters train on hosts whose systems differ; a driver or a library of
// collectives that differs is worth a word.
std::optional<Severity> WeightOfSystem(const std::string& name) {
  if (name == "kernel" || name == "glibc") {
    return Severity::kNote;
  }
  if (name == "nvidia-driver" || name == "nccl") {
    return Severity::kWarning;
  }
  return std::nullopt;
}

// What a host does not have is not compared: it may not need it. Where only the
// last number differs it is a warning at most.
void JudgeSideBySide(MeshCase& one, const Packages& packages,
                     Severity severity) {
  std::vector<std::string> differ;
  std::vector<Fact> facts;
  std::set<int> named;
  std::set<std::string> lines;  // without their last number
  for (const auto& [name, versions] : packages) {
    if (versions.size() < 2) {
      continue;
    }
    differ.push_back(Printable(name));
    named.merge(OddOnes(versions));
    for (const auto& [version, ranks] : versions) {
      std::string line = name;
      line.append(1, ' ').append(version, 0, version.rfind('.'));
      lines.insert(std::move(line));
      if (facts.size() < kMaxEvidence) {
        facts.push_back(Seen(
            one, Printable(std::string(name).append(1, ' ').append(version)),
            NamesOf(one.cluster, ranks)));
      }
    }
  }
  if (differ.empty()) {
    return;
  }
  Add(one, Cause::kVerPeerMismatch,
      NamesOf(one.cluster, named) +
          (named.size() == 1 ? " has different versions of "
                             : " have different versions of ") +
          Join(differ, ", ") + (named.size() == 1 ? " than its peers" : ""),
      Confidence::kCertain, facts, named);
  if (lines.size() == differ.size() && severity == Severity::kError) {
    severity = Severity::kWarning;
  }
  one.findings.back().severity = severity;
}

}  // namespace

// Packages that talk across hosts, and systems.
void JudgePackages(MeshCase& one) {
  std::map<Severity, Packages> by_weight;
  for (const auto& [rank, row] : one.rows) {
    for (const auto& [name, version] : row.versions) {
      by_weight[WeightOfSystem(name).value_or(Severity::kError)][name][version]
          .insert(rank);
    }
  }
  for (const auto& [severity, packages] : by_weight) {
    JudgeSideBySide(one, packages, severity);
  }
}

// Two processes that call themselves the same rank. With different lists ranks
// mean nothing.
void JudgeClaims(MeshCase& one, MeshView& view) {
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

void SetWayOut(Cause cause, std::uint16_t port, Finding& finding) {
  if (cause == Cause::kOsLimit && port < kFirstForAnybody) {
    finding.fixes = {
        {.text = "show the lowest port that any user can listen on",
         .command = "sysctl net.ipv4.ip_unprivileged_port_start",
         .safety = Safety::kSafe},
        {.text = "use a port from this value upward"}};
  }
}

// A port that its own member could not listen on.
void JudgeTaken(MeshCase& one, MeshView& view) {
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
          facts.push_back(
              Seen(one, Printable(path->seen) + " responds at this address",
                   NameOf(one.cluster, at.first)));
        }
        trouble = Trouble::kNone;
      }
      Add(one, taken.cause,
          NameOf(one.cluster, rank) + " cannot listen on port " +
              std::to_string(taken.port) + ": " + Printable(taken.why),
          Confidence::kCertain, facts, {rank});
      SetWayOut(taken.cause, taken.port, one.findings.back());
    }
  }
}

// Who could not begin to connect, for want of something of its own.
void JudgeLimits(MeshCase& one) {
  for (const auto& [rank, row] : one.rows) {
    std::vector<Fact> facts;
    std::int64_t paths = 0;
    for (const auto& [to, path] : row.paths) {
      if (path.path != Path::kOwnLimit) {
        continue;
      }
      ++paths;
      if (facts.size() < kMaxEvidence) {
        facts.push_back(Seen(one,
                             muster::ToString(AddressOf(one.cluster, to)) +
                                 ": " + Printable(path.seen),
                             NameOf(one.cluster, rank)));
      }
    }
    if (paths > 0) {
      Add(one, Cause::kOsLimit,
          NameOf(one.cluster, rank) + " could not open a connection on " +
              Count(paths, "path"),
          Confidence::kCertain, facts, {rank});
    }
  }
}

// Which ranks answer at addresses of others: one finding for all of them.
void JudgeWrongMembers(MeshCase& one, MeshView& view) {
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
    if (facts.size() < kMaxEvidence) {
      facts.push_back(Seen(one,
                           "rank " + std::to_string(what.second) +
                               " responds at the address of " +
                               NameOf(one.cluster, what.first),
                           NamesOf(one.cluster, by)));
    }
  }
  const auto& [place, who] = answers.begin()->first;
  Add(one, Cause::kNetWrongEndpoint,
      "rank " + std::to_string(who) + " responds at the address of " +
          NameOf(one.cluster, place) +
          (answers.size() > 1 ? ", and others are swapped as well" : ""),
      Confidence::kCertain, facts, named);
}

}  // namespace muster::netcheck
