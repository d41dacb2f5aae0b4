// SPDX-License-Identifier: Apache-2.0
#include "netcheck/diagnosis/mesh_findings.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "netcheck/diagnosis/diagnosis_context.h"
#include "netcheck/diagnosis/path_findings.h"
#include "netcheck/diagnosis/quality_findings.h"
#include "netcheck/diagnosis/reported_faults.h"
#include "netcheck/diagnosis/shared_findings.h"
#include "netcheck/mesh/matrix.h"

namespace muster::netcheck {
namespace {

constexpr std::size_t kMaxPathsReported = 1024;

MeshView ViewOf(const MeshCase& one) {
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
      // What was not begun says nothing of the other end.
      if (path.path != Path::kUntried && path.path != Path::kOwnLimit &&
          to.rank < size) {
        view.paths[{rank, to}] = TroubleOf(path.path);
      }
    }
  }
  return view;
}

// Nobody else speaks: those whose hosts refuse are not started.
std::set<int> NotStarted(const MeshCase& one, MeshView& view) {
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

std::string DetailOf(const MeshCase& one, const MeshView& view,
                     const std::set<int>& not_started) {
  std::vector<Duration> times;
  Duration clocks_apart{};
  std::size_t tried = 0;
  for (const auto& [from, row] : one.rows) {
    for (const auto& [to, path] : row.paths) {
      ++tried;
      if (path.path == Path::kOk) {
        times.push_back(path.round_trip);
        clocks_apart =
            std::max(clocks_apart,
                     std::chrono::abs(path.clock_ahead) + path.round_trip / 2);
      }
    }
  }
  const std::size_t good = times.size();
  std::string text = std::to_string(good) + " of " +
                     Count(static_cast<std::int64_t>(tried), "path") + " work";
  if (!times.empty()) {
    text += ", " + muster::ToString(Median(std::move(times))) +
            "; clocks differ by at most " + muster::ToString(clocks_apart);
  }
  if (!not_started.empty()) {
    text += "; " +
            Count(static_cast<std::int64_t>(not_started.size()), "host") +
            (not_started.size() == 1 ? " responds" : " respond") +
            ", but muster is not running there";
  }
  const std::size_t members = view.hosts.size();
  if (members > 64) {
    text += "; of " + std::to_string(members * (members - 1)) +
            " pairs, a sample was tested";
  }
  return text;
}

}  // namespace

MeshFindings JudgeMesh(const Cluster& cluster,
                       const std::map<int, MeshRow>& rows, WallTime at) {
  MeshCase one{.cluster = cluster, .rows = rows, .at = at, .findings = {}};
  MeshView view = ViewOf(one);
  JudgeLists(one, view);
  JudgeVersions(one);
  JudgePackages(one);
  JudgeFiles(one);
  JudgeMarks(one);
  JudgeClaims(one, view);
  JudgeTaken(one, view);
  JudgeLimits(one);
  const auto not_started = NotStarted(one, view);
  JudgeWrongMembers(one, view);
  JudgeFaults(one, view);
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
      if (all > kMaxPathsReported && result.path == Path::kOk) {
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

}  // namespace muster::netcheck
