// SPDX-License-Identifier: Apache-2.0
// What `muster resolve` prints.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "cluster/cluster_json.h"
#include "resolve/resolve.h"

namespace muster::resolve {
namespace {

constexpr std::size_t kMostMembers = 64;

// Rows of columns that are as wide as their widest cell, the last one open.
std::string Table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string out;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += row[i];
      if (i + 1 < row.size()) {
        out.append(widths[i] - row[i].size() + 2, ' ');
      }
    }
    out += "\n";
  }
  return out;
}

}  // namespace

std::string RenderText(const Resolved& resolved) {
  const Cluster& cluster = resolved.cluster;
  std::vector<std::vector<std::string>> rows;
  rows.push_back(
      {"size", std::to_string(cluster.size.value), cluster.size.source});
  if (cluster.self) {
    rows.push_back({"own rank", std::to_string(cluster.self->value),
                    cluster.self->source});
  } else {
    rows.push_back(
        {"own rank", "all of them, on this host", cluster.size.source});
  }
  if (cluster.coordinator) {
    rows.push_back({"coordinator", ToText(cluster.coordinator->value),
                    cluster.coordinator->source});
  } else {
    rows.push_back({"coordinator", "in this process", "no source tells one"});
  }
  std::string out = Table(rows) + "\n";
  rows.clear();
  rows.push_back({"rank", "task", "address", "source"});
  for (const Member& member : cluster.members) {
    if (rows.size() > kMostMembers) {
      rows.push_back({"…", Count(std::ssize(cluster.members) -
                                     std::ptrdiff_t{kMostMembers},
                                 "more member")});
      break;
    }
    const auto& address = member.address;
    rows.push_back({std::to_string(member.rank),
                    Printable(member.task) + " " + std::to_string(member.index),
                    address ? ToText(address->value) : "-",
                    address ? address->source : "not told"});
  }
  out += Table(rows) + "\n";
  rows.clear();
  rows.push_back({"source", "what it said"});
  for (const Claim& claim : resolved.claims) {
    rows.push_back(
        {claim.source, &claim == &resolved.claims.front() ? "used" : "agrees"});
  }
  for (const Silence& silence : resolved.silent) {
    rows.push_back({silence.source, silence.why});
  }
  return out + Table(rows);
}

Json ToJson(const Resolved& resolved) {
  Json json = muster::ToJson(resolved.cluster);
  Json sources = Json::array();
  for (const Claim& claim : resolved.claims) {
    sources.push_back({{"source", claim.source},
                       {"used", &claim == &resolved.claims.front()},
                       {"claims", muster::ToJson(claim.cluster)}});
  }
  for (const Silence& silence : resolved.silent) {
    sources.push_back(
        {{"source", silence.source}, {"used", false}, {"silent", silence.why}});
  }
  json["sources"] = std::move(sources);
  json["findings"] = Json::array();
  for (const Finding& finding : resolved.findings) {
    json["findings"].push_back(muster::ToJson(finding));
  }
  return json;
}

}  // namespace muster::resolve
