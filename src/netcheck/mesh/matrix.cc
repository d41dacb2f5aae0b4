// SPDX-License-Identifier: Apache-2.0
#include "netcheck/mesh/matrix.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

namespace muster::netcheck {
namespace {

constexpr std::size_t kMaxColumns = 9;
constexpr std::size_t kMaxRows = 16;
constexpr std::size_t kWidth = 8;

std::string Cell(std::string text) {
  text.insert(0, text.size() < kWidth ? kWidth - text.size() : 1, ' ');
  return text;
}

std::string ToString(const PathResult& result) {
  switch (result.path) {
    case Path::kUntried:
      return ".";
    case Path::kOk: {
      std::array<char, 32> text{};
      std::snprintf(
          text.data(), text.size(), "%.2f",
          std::chrono::duration<double, std::milli>(result.round_trip).count());
      return text.data();
    }
    case Path::kRefused:
      return "refused";
    case Path::kNoAnswer:
      return "none";
    case Path::kNoRoute:
      return "noroute";
    case Path::kUnresolved:
      return "noname";
    case Path::kItself:
      return "itself";
    case Path::kOtherMember:
      return "rank" + std::to_string(result.answered_as);
    case Path::kStranger:
      return "key";
    case Path::kForeign:
      return "foreign";
    case Path::kSilent:
      return "silent";
    case Path::kClosed:
      return "closed";
    case Path::kLargeLost:
      return "large";
    case Path::kOwnLimit:
      return "limit";
  }
  return "?";
}

std::string LabelOf(int rank) {
  return rank < 0 ? "here" : "rank" + std::to_string(rank);
}

}  // namespace

std::vector<std::string> Matrix(const Cluster& cluster,
                                const std::map<int, MeshRow>& rows) {
  std::set<MeshTarget> bad_columns;
  std::set<int> bad_rows;
  for (const auto& [from, row] : rows) {
    for (const auto& [to, result] : row.paths) {
      if (result.path != Path::kOk) {
        bad_columns.insert(to);
        bad_rows.insert(from);
      }
    }
  }
  std::vector<MeshTarget> columns = TargetsOf(cluster);
  const bool folded = columns.size() > kMaxColumns;
  if (folded) {
    columns.assign(bad_columns.begin(), bad_columns.end());
    columns.resize(std::min(columns.size(), kMaxColumns));
  }
  if (columns.empty() || rows.empty()) {
    return {};
  }
  std::string ports = Cell("");
  std::string head = Cell("to");
  for (const MeshTarget& target : columns) {
    head += Cell(LabelOf(target.rank));
    ports += Cell(":" + std::to_string(target.port));
  }
  std::vector<std::string> lines{head + "   round trip in ms", ports};
  for (const auto& [from, row] : rows) {
    if (folded && (bad_rows.count(from) == 0 || lines.size() > kMaxRows)) {
      continue;
    }
    std::string line = Cell(LabelOf(from));
    for (const MeshTarget& target : columns) {
      const auto path = row.paths.find(target);
      line += Cell(path != row.paths.end() ? ToString(path->second)
                   : target.rank == from   ? "-"
                                           : ".");
    }
    lines.push_back(std::move(line));
  }
  if (folded) {
    lines.push_back(Cell("") + " healthy paths are omitted");
  }
  return lines;
}

}  // namespace muster::netcheck
