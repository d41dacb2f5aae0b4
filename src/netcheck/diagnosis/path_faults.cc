// SPDX-License-Identifier: Apache-2.0
#include "netcheck/diagnosis/path_faults.h"

#include <algorithm>
#include <array>
#include <optional>

#include "muster/address.h"

namespace muster::netcheck {
namespace {

using At = std::pair<int, MeshTarget>;
using Ranks = std::set<int>;
using Targets = std::set<MeshTarget>;

constexpr std::size_t kMaxFaults = 24;

// "10.0.0.7" -> "10.0.0."; a name is its own group.
std::string NetworkOf(const std::string& host) {
  const auto dot = host.rfind('.');
  const bool numeric =
      host.find_first_not_of("0123456789.") == std::string::npos;
  return numeric && dot != std::string::npos ? host.substr(0, dot + 1) : host;
}

// A possible explanation: one rectangle, or two that mirror each other.
struct Candidate {
  FaultShape shape = FaultShape::kBlock;
  Ranks sources;
  Targets targets;
  bool both_ways = false;
  Ranks named;
};

class Search {
 public:
  Search(const MeshView& view, Trouble trouble)
      : view_(view), trouble_(trouble) {
    for (const MeshTarget& target : view.targets) {
      all_targets_.insert(target);
      targets_of_[target.rank].insert(target);
    }
    for (std::size_t rank = 0; rank < view.hosts.size(); ++rank) {
      hosts_[view.hosts[rank]].insert(static_cast<int>(rank));
      networks_[NetworkOf(view.hosts[rank])].insert(static_cast<int>(rank));
    }
    for (const auto& [at, trouble_here] : view.paths) {
      everybody_.insert(at.first);
      if (trouble_here == trouble) {
        left_.insert(at);
      }
    }
  }

  std::vector<MeshFault> Run() {
    std::vector<MeshFault> faults;
    while (!left_.empty() && faults.size() < kMaxFaults) {
      MeshFault fault = Take(Widest());
      if (fault.paths.empty()) {
        break;
      }
      faults.push_back(std::move(fault));
    }
    if (!left_.empty()) {
      faults.push_back(Rest());
    }
    return faults;
  }

 private:
  Targets TargetsOfRanks(const Ranks& ranks) const {
    Targets targets;
    for (const int rank : ranks) {
      const auto at = targets_of_.find(rank);
      if (at != targets_of_.end()) {
        targets.insert(at->second.begin(), at->second.end());
      }
    }
    return targets;
  }
  static Ranks RanksOf(const Targets& targets) {
    Ranks ranks;
    for (const MeshTarget& target : targets) {
      ranks.insert(target.rank);
    }
    return ranks;
  }
  const std::string& HostOf(int rank) const {
    static const std::string none;
    return rank < 0 ? none : view_.hosts[static_cast<std::size_t>(rank)];
  }
  // "" is who looks and is no member.
  Ranks RanksAt(const std::string& host) const {
    return host.empty() ? Ranks{-1} : hosts_.at(host);
  }
  Ranks TriersBut(const Ranks& ranks) const {
    Ranks others;
    for (const int source : everybody_) {
      if (ranks.count(source) == 0) {
        others.insert(source);
      }
    }
    return others;
  }
  // Of names that are looked up, a number is no example.
  bool Counts(const MeshTarget& target) const {
    return trouble_ != Trouble::kUnresolved ||
           !Address{.host = HostOf(target.rank)}.IsNumeric();
  }

  // Adds the paths of a rectangle; false: one of them is not of this trouble.
  bool Paths(const Ranks& sources, const Targets& targets,
             std::set<At>& paths) const {
    for (const int source : sources) {
      for (const MeshTarget& target : targets) {
        const auto at = view_.paths.find({source, target});
        if (at == view_.paths.end() || !Counts(target)) {
          continue;
        }
        if (at->second != trouble_) {
          return false;
        }
        paths.insert(at->first);
      }
    }
    return true;
  }

  // The paths that a candidate explains; nullopt: it does not hold.
  std::optional<std::set<At>> Explains(const Candidate& one) const {
    std::set<At> paths;
    if (!Paths(one.sources, one.targets, paths)) {
      return std::nullopt;
    }
    if (one.both_ways) {
      const std::size_t there = paths.size();
      if (there == 0 ||
          !Paths(RanksOf(one.targets), TargetsOfRanks(one.sources), paths) ||
          paths.size() == there) {
        return std::nullopt;
      }
    }
    return paths;
  }

  std::size_t Score(const Candidate& one) const {
    const auto paths = Explains(one);
    if (!paths) {
      return 0;
    }
    return static_cast<std::size_t>(
        std::count_if(paths->begin(), paths->end(),
                      [&](const At& at) { return left_.count(at) > 0; }));
  }

  // In the order of the shapes: of equally wide ones the first is taken.
  std::vector<Candidate> Candidates() const {
    std::vector<Candidate> all;
    std::set<std::string> to, from;
    Targets targets;
    for (const auto& [source, target] : left_) {
      from.insert(HostOf(source));
      to.insert(HostOf(target.rank));
      targets.insert(target);
    }
    for (const std::string& host : to) {
      AddHost(host, all);
      for (const std::string& other : from) {
        AddPair(other, host, all);
      }
    }
    AddPorts(targets, all);
    for (const std::string& host : from) {
      AddOutbound(host, all);
    }
    all.push_back({.shape = FaultShape::kAll,
                   .sources = everybody_,
                   .targets = all_targets_,
                   .named = everybody_});
    AddOtherHalf(all);
    AddNetworks(all);
    AddComponents(all);
    std::stable_sort(all.begin(), all.end(),
                     [](const Candidate& a, const Candidate& b) {
                       return a.shape < b.shape;
                     });
    return all;
  }

  void AddHost(const std::string& host, std::vector<Candidate>& all) const {
    const Ranks ranks = hosts_.at(host);
    const bool absent = std::none_of(ranks.begin(), ranks.end(), [&](int rank) {
      return view_.present.count(rank) > 0;
    });
    const Candidate host_alone{
        .shape = absent ? FaultShape::kAbsentHost : FaultShape::kHost,
        .sources = TriersBut(ranks),
        .targets = TargetsOfRanks(ranks),
        .named = ranks};
    all.push_back(host_alone);
    Candidate isolated = host_alone;
    isolated.shape = FaultShape::kIsolated;
    isolated.both_ways = true;
    isolated.sources = ranks;
    isolated.targets.clear();
    for (const MeshTarget& target : all_targets_) {
      if (ranks.count(target.rank) == 0) {
        isolated.targets.insert(target);
      }
    }
    all.push_back(isolated);
  }

  void AddPair(const std::string& from, const std::string& to,
               std::vector<Candidate>& all) const {
    const Ranks sources = RanksAt(from);
    const Ranks others = hosts_.at(to);
    Candidate one{.shape = FaultShape::kDirection,
                  .sources = sources,
                  .targets = TargetsOfRanks(others),
                  .named = sources};
    one.named.insert(others.begin(), others.end());
    all.push_back(one);
    if (from < to) {
      one.shape = FaultShape::kLink;
      one.both_ways = true;
      all.push_back(one);
    }
  }

  void AddPorts(const Targets& targets, std::vector<Candidate>& all) const {
    for (const MeshTarget& target : targets) {
      all.push_back({.shape = FaultShape::kPort,
                     .sources = TriersBut(RanksAt(HostOf(target.rank))),
                     .targets = {target},
                     .named = {target.rank}});
      for (const int source : everybody_) {
        if (left_.count({source, target}) > 0) {
          all.push_back({.shape = FaultShape::kDirection,
                         .sources = {source},
                         .targets = {target},
                         .named = {source, target.rank}});
        }
      }
      Targets same;
      for (const MeshTarget& other : all_targets_) {
        if (other.port == target.port) {
          same.insert(other);
        }
      }
      if (RanksOf(same).size() > 1) {
        all.push_back({.shape = FaultShape::kPortEverywhere,
                       .sources = everybody_,
                       .targets = same,
                       .named = RanksOf(same)});
      }
    }
  }

  void AddOutbound(const std::string& host, std::vector<Candidate>& all) const {
    const Ranks ranks = RanksAt(host);
    Targets others;
    for (const MeshTarget& target : all_targets_) {
      if (ranks.count(target.rank) == 0) {
        others.insert(target);
      }
    }
    all.push_back({.shape = FaultShape::kOutbound,
                   .sources = ranks,
                   .targets = others,
                   .named = ranks});
  }

  // Both ways before one way.
  static void AddGroups(const Ranks& sources, const Targets& targets,
                        std::vector<Candidate>& all) {
    Candidate block{.shape = FaultShape::kBlock,
                    .sources = sources,
                    .targets = targets,
                    .named = sources};
    const Ranks others = RanksOf(targets);
    block.named.insert(others.begin(), others.end());
    all.push_back(block);
    const bool apart =
        std::none_of(others.begin(), others.end(),
                     [&](int rank) { return sources.count(rank) > 0; });
    if (apart) {
      block.shape = FaultShape::kPartition;
      block.both_ways = true;
      all.push_back(block);
    }
  }

  // Half of the members and more are silent for all who speak: a split, seen
  // from one side.
  void AddOtherHalf(std::vector<Candidate>& all) const {
    Ranks absent;
    for (std::size_t rank = 0; rank < view_.hosts.size(); ++rank) {
      if (view_.present.count(static_cast<int>(rank)) == 0) {
        absent.insert(static_cast<int>(rank));
      }
    }
    if (trouble_ == Trouble::kUnreachable && everybody_.size() > 1 &&
        absent.size() > 1 && absent.size() * 2 >= view_.hosts.size()) {
      Candidate half{.shape = FaultShape::kPartition,
                     .sources = everybody_,
                     .targets = TargetsOfRanks(absent),
                     .named = everybody_};
      half.named.insert(absent.begin(), absent.end());
      all.push_back(half);
    }
  }

  void AddNetworks(std::vector<Candidate>& all) const {
    if (networks_.size() < 2 || networks_.size() > 16) {
      return;
    }
    for (const auto& [name, sources] : networks_) {
      for (const auto& [other_name, others] : networks_) {
        if (name != other_name && others.size() > 1) {
          AddGroups(sources, TargetsOfRanks(others), all);
        }
      }
    }
  }

  // Nobody reaches any of them: each is a fault of its own, not a group.
  bool WholeColumns(const Targets& targets) const {
    return std::all_of(view_.paths.begin(), view_.paths.end(),
                       [&](const auto& path) {
                         return targets.count(path.first.second) == 0 ||
                                path.second == trouble_;
                       });
  }

  // Groups that bad paths alone connect.
  void AddComponents(std::vector<Candidate>& all) const {
    std::set<At> open = left_;
    while (!open.empty()) {
      Ranks sources{open.begin()->first};
      Targets targets;
      for (bool grown = true; grown;) {
        grown = false;
        for (const auto& [source, target] : open) {
          if (sources.count(source) > 0 || targets.count(target) > 0) {
            grown |= sources.insert(source).second;
            grown |= targets.insert(target).second;
          }
        }
      }
      if (!WholeColumns(targets) && everybody_.size() > 1) {
        AddGroups(sources, targets, all);
      }
      std::erase_if(open,
                    [&](const At& at) { return sources.count(at.first) > 0; });
    }
  }

  Candidate Widest() const {
    Candidate best;
    std::size_t most = 0;
    for (Candidate& one : Candidates()) {
      const std::size_t score = Score(one);
      if (score > most) {
        most = score;
        best = std::move(one);
      }
    }
    return best;
  }

  // What is left of a mesh that has more faults than anybody reads.
  MeshFault Rest() const {
    MeshFault rest{.trouble = trouble_};
    for (const auto& [source, target] : left_) {
      rest.sources.insert(source);
      rest.targets.insert(target);
      rest.named.insert({source, target.rank});
      rest.paths.emplace_back(source, target);
    }
    return rest;
  }

  MeshFault Take(Candidate one) {
    MeshFault fault{.shape = one.shape,
                    .trouble = trouble_,
                    .sources = std::move(one.sources),
                    .targets = std::move(one.targets),
                    .named = std::move(one.named)};
    for (const At& at : Explains({.sources = fault.sources,
                        .targets = fault.targets,
                        .both_ways = one.both_ways})
                            .value_or(std::set<At>())) {
      if (left_.erase(at) > 0) {
        fault.paths.push_back(at);
      }
    }
    return fault;
  }

  const MeshView& view_;
  Trouble trouble_;
  Targets all_targets_;
  std::map<int, Targets> targets_of_;
  std::map<std::string, Ranks> hosts_;
  std::map<std::string, Ranks> networks_;
  Ranks everybody_;  // who tried
  std::set<At> left_;
};

}  // namespace

Trouble TroubleOf(Path path) {
  switch (path) {
    case Path::kUntried:
    case Path::kOk:
    case Path::kOwnLimit:
      return Trouble::kNone;
    case Path::kNoAnswer:
    case Path::kNoRoute:
      return Trouble::kUnreachable;
    case Path::kRefused:
      return Trouble::kRefused;
    case Path::kUnresolved:
      return Trouble::kUnresolved;
    case Path::kItself:
    case Path::kOtherMember:
      return Trouble::kWrongMember;
    case Path::kStranger:
      return Trouble::kStranger;
    case Path::kForeign:
    case Path::kSilent:
    case Path::kClosed:
      return Trouble::kNotMuster;
    case Path::kLargeLost:
      return Trouble::kLargeLost;
  }
  return Trouble::kNone;
}

std::string_view ToString(FaultShape shape) {
  constexpr std::array<std::string_view, 11> kShapes{
      "absent host", "link", "direction",       "isolated host", "host", "port",
      "outbound",    "all",  "port everywhere", "partition",     "block"};
  return kShapes.at(static_cast<std::size_t>(shape));
}

std::vector<MeshFault> FindFaults(const MeshView& view) {
  std::vector<MeshFault> faults;
  for (const Trouble trouble :
       {Trouble::kUnresolved, Trouble::kUnreachable, Trouble::kRefused,
        Trouble::kWrongMember, Trouble::kStranger, Trouble::kNotMuster,
        Trouble::kLargeLost, Trouble::kSlow, Trouble::kLate}) {
    auto some = Search(view, trouble).Run();
    faults.insert(faults.end(), std::make_move_iterator(some.begin()),
                  std::make_move_iterator(some.end()));
  }
  return faults;
}

}  // namespace muster::netcheck
