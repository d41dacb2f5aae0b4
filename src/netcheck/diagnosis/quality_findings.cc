// SPDX-License-Identifier: Apache-2.0
#include "netcheck/diagnosis/quality_findings.h"

#include <algorithm>

#include "base/text.h"

namespace muster::netcheck {
namespace {

constexpr std::chrono::seconds kSkewWarned{1};
// What the certificates of agents bear, and Google's and Kerberos' servers.
constexpr std::chrono::minutes kSkewBad{5};

Cause CauseOfHealed(Path path) {
  switch (path) {
    case Path::kUnresolved:
      return Cause::kNetNameResolution;
    case Path::kLargeLost:
      return Cause::kNetMtu;
    case Path::kOwnLimit:
      return Cause::kOsLimit;
    case Path::kNoAnswer:
    case Path::kNoRoute:
      return Cause::kNetTimeoutFiltered;
    default:
      return Cause::kNetWrongEndpoint;
  }
}

// What most peers see. Of the two in the middle the nearer to zero: one of them
// may be a peer whose own clock is wrong.
Duration OffsetOf(std::vector<Duration> values) {
  std::sort(values.begin(), values.end());
  const Duration low = values[(values.size() - 1) / 2];
  const Duration high = values[values.size() / 2];
  return std::chrono::abs(low) < std::chrono::abs(high) ? low : high;
}

}  // namespace

void JudgeClocks(MeshCase& one) {
  std::map<int, std::vector<Duration>> ahead, bounds;
  for (const auto& [from, row] : one.rows) {
    for (const auto& [to, path] : row.paths) {
      if (path.path == Path::kOk) {
        ahead[to.rank].push_back(path.clock_ahead);
        bounds[to.rank].push_back(path.round_trip / 2);
      }
    }
  }
  for (const auto& [rank, values] : ahead) {
    const Duration offset = OffsetOf(values);
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
            muster::ToString(size) + way + " of " +
            (pair ? "its peer's" : "the others'"),
        Confidence::kCertain,
        {Seen(one,
              muster::ToString(size) + way + ", give or take " +
                  muster::ToString(Median(bounds[rank])) +
                  " (half a round trip), by " +
                  Count(static_cast<std::int64_t>(values.size()), "peer"),
              "mesh")},
        named);
    if (size < kSkewBad) {
      one.findings.back().severity = Severity::kWarning;
    }
  }
}

void JudgeTranslations(MeshCase& one) {
  std::set<int> sources;
  std::vector<Fact> facts;
  for (const auto& [from, row] : one.rows) {
    for (const auto& [to, path] : row.paths) {
      if (path.path != Path::kOk || path.translated.empty()) {
        continue;
      }
      sources.insert(from);
      if (facts.size() < kMaxEvidence) {
        facts.push_back(Seen(one,
                             "a connection of " + NameOf(one.cluster, from) +
                                 " arrives from " + Printable(path.translated),
                             NameOf(one.cluster, to.rank)));
      }
    }
  }
  if (!sources.empty()) {
    Add(one, Cause::kNetProxy,
        "a proxy or NAT between the members hides " +
            NamesOf(one.cluster, sources) + ": peers see another address",
        Confidence::kCertain, facts, sources);
    one.findings.back().severity = Severity::kWarning;
  }
}

// A member that was refused was not started yet.
void JudgeHealed(MeshCase& one) {
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
      if (facts.size() < kMaxEvidence) {
        facts.push_back(Seen(one,
                             muster::ToString(AddressOf(one.cluster, to)) +
                                 ": succeeded after " +
                                 std::to_string(path.tries) + " tries, " +
                                 muster::ToString(path.healed),
                             NameOf(one.cluster, from)));
      }
    }
    Add(one, CauseOfHealed(before),
        Count(static_cast<std::int64_t>(paths.size()), "path") +
            " first failed with `" + std::string(ToString(before)) +
            "` and then recovered",
        Confidence::kCertain, facts, named);
    one.findings.back().severity = Severity::kNote;
  }
}

}  // namespace muster::netcheck
