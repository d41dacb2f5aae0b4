// SPDX-License-Identifier: Apache-2.0
// What `muster resolve` prints.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "cluster/cluster_json.h"
#include "resolve/resolve.h"

namespace muster::resolve {
namespace {

constexpr std::size_t kMaxMembers = 64;

// Rows of columns that are as wide as their widest cell, the last one open.
std::string Table(std::vector<std::vector<std::string>> rows) {
  std::vector<std::size_t> widths;
  for (auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = Printable(row[i]);
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

using Rows = std::vector<std::vector<std::string>>;

Rows Head(const Resolved& resolved) {
  const Cluster& cluster = resolved.cluster;
  Rows rows;
  rows.push_back(
      {"size", std::to_string(cluster.size.value), cluster.size.source});
  if (cluster.self) {
    rows.push_back(
        {"rank", std::to_string(cluster.self->value), cluster.self->source});
  } else {
    rows.push_back({"rank", "all of them, on this host", cluster.size.source});
  }
  if (cluster.coordinator) {
    rows.push_back({"coordinator", ToString(cluster.coordinator->value),
                    cluster.coordinator->source});
  } else {
    rows.push_back({"coordinator", "in this process", "no source"});
  }
  return rows;
}

// What the winner knows beside the cluster.
Rows Details(const Claim& claim) {
  Rows rows;
  const auto add = [&](const char* name, const Number& number) {
    if (number) {
      rows.push_back({name, std::to_string(number->value), number->source});
    }
  };
  add("local rank", claim.local_process_id);
  add("local size", claim.local_num_processes);
  add("node", claim.node_rank);
  add("nodes", claim.num_nodes);
  add("processes per node", claim.nproc_per_node);
  if (claim.num_slices && claim.num_slices->value > 1) {
    add("slice", claim.slice_id);
    add("slices", claim.num_slices);
  }
  if (claim.accelerator_type) {
    rows.push_back({"accelerator", claim.accelerator_type->value,
                    claim.accelerator_type->source});
  }
  return rows;
}

// Whoever tells them; alone they are what TensorFlow calls local.
Rows Chips(const Resolved& resolved) {
  for (const Claim& claim : resolved.claims) {
    if (claim.chips_per_host && claim.chips_per_host->value > 0) {
      const bool alone = resolved.cluster.size.value == 1;
      return {{"TPU chips here",
               std::to_string(claim.chips_per_host->value) +
                   (alone ? ", use tpu='local'" : ""),
               claim.chips_per_host->source}};
    }
  }
  return {};
}

std::string HostOf(const Claim& winner, const Member& member) {
  if (member.address) {
    return ToString(member.address->value);
  }
  const auto rank = static_cast<std::size_t>(member.rank);
  return winner.rank_hosts.size() > rank ? winner.rank_hosts[rank] : "-";
}

Rows Members(const Resolved& resolved) {
  const Cluster& cluster = resolved.cluster;
  const Claim& winner = resolved.claims.front();
  Rows rows{{"rank", "task", "address", "source"}};
  for (const Member& member : cluster.members) {
    if (rows.size() > kMaxMembers) {
      rows.push_back(
          {"…", Count(std::ssize(cluster.members) - std::ptrdiff_t{kMaxMembers},
                      "more member")});
      break;
    }
    const auto& address = member.address;
    const std::string host = HostOf(winner, member);
    rows.push_back({std::to_string(member.rank),
                    member.task + " " + std::to_string(member.index), host,
                    address       ? address->source
                    : host != "-" ? "source " + winner.source
                                  : "no source"});
  }
  return rows;
}

Rows PortRows(const Resolved& resolved) {
  Rows rows;
  for (const PortUse& port : resolved.ports) {
    rows.push_back(
        {"port " + std::to_string(port.port), port.what, port.source});
  }
  return rows;
}

// Silences that tell why nothing was found belong to the short form too.
bool IsTelling(const Silence& silence, const Resolved& resolved) {
  return resolved.claims.front().source == "default" &&
         (silence.source == "gce-tpu-vm" || silence.source == "k8s-job") &&
         silence.why.find("SERVICE_HOST is not set") == std::string::npos;
}

std::string Says(const Claim& claim) {
  std::string text = "size " + std::to_string(claim.cluster.size.value) + " (" +
                     claim.cluster.size.source + ")";
  if (claim.cluster.self) {
    text += ", rank " + std::to_string(claim.cluster.self->value);
  }
  if (claim.cluster.coordinator) {
    text += ", coordinator " + ToString(claim.cluster.coordinator->value);
  }
  return text;
}

Rows Sources(const Resolved& resolved, bool verbose) {
  Rows rows{{"source", "result"}};
  for (const Claim& claim : resolved.claims) {
    const bool winner = &claim == &resolved.claims.front();
    rows.push_back({claim.source, winner ? "used" : "read, overridden"});
    if (verbose) {
      rows.back()[1] += ": " + Says(claim);
    }
  }
  for (const Silence& silence : resolved.silent) {
    if (verbose || IsTelling(silence, resolved)) {
      rows.push_back({silence.source, silence.why});
    }
  }
  return rows;
}

}  // namespace

std::string RenderText(const Resolved& resolved, const RenderOptions& options) {
  Rows head = Head(resolved);
  const Rows details = Details(resolved.claims.front());
  head.insert(head.end(), details.begin(), details.end());
  const Rows chips = Chips(resolved);
  head.insert(head.end(), chips.begin(), chips.end());
  std::string out = Table(head) + "\n" + Table(Members(resolved)) + "\n";
  if (const Rows ports = PortRows(resolved); !ports.empty()) {
    out += Table(ports) + "\n";
  }
  out += Table(Sources(resolved, options.verbose));
  if (!options.verbose) {
    out += Count(std::ssize(resolved.silent), "source") +
           (resolved.silent.size() == 1 ? " was" : " were") +
           " not used; muster resolve -v shows why\n";
  }
  return out;
}

namespace {

Json DetailsJson(const Claim& claim) {
  Json json = Json::object();
  const auto put = [&](const char* name, const auto& value) {
    if (value) {
      json[name] = Json::object();
      json[name]["value"] = value->value;
      json[name]["source"] = value->source;
    }
  };
  put("local_rank", claim.local_process_id);
  put("local_size", claim.local_num_processes);
  put("node_rank", claim.node_rank);
  put("num_nodes", claim.num_nodes);
  put("nproc_per_node", claim.nproc_per_node);
  put("slice_id", claim.slice_id);
  put("num_slices", claim.num_slices);
  put("accelerator_type", claim.accelerator_type);
  put("tpu_chips", claim.chips_per_host);
  put("coordinator_host", claim.coordinator_host);
  put("coordinator_port", claim.coordinator_port);
  if (!claim.rank_hosts.empty()) {
    json["hosts_by_rank"] = claim.rank_hosts;
  }
  for (const auto& [name, value] : claim.more) {
    json[name] = std::visit([](const auto& one) { return Json(one); }, value);
  }
  return json;
}

}  // namespace

Json ToJson(const Resolved& resolved) {
  Json json = muster::ToJson(resolved.cluster);
  Json sources = Json::array();
  for (const Claim& claim : resolved.claims) {
    Json entry = Json::object();
    entry["source"] = claim.source;
    entry["used"] = &claim == &resolved.claims.front();
    entry["claims"] = muster::ToJson(claim.cluster);
    entry["details"] = DetailsJson(claim);
    sources.push_back(std::move(entry));
  }
  for (const Silence& silence : resolved.silent) {
    Json entry = Json::object();
    entry["source"] = silence.source;
    entry["used"] = false;
    entry["silent"] = silence.why;
    sources.push_back(std::move(entry));
  }
  json["sources"] = std::move(sources);
  json["ports"] = Json::array();
  for (const PortUse& port : resolved.ports) {
    Json entry = Json::object();
    entry["port"] = port.port;
    entry["what"] = port.what;
    entry["source"] = port.source;
    json["ports"].push_back(std::move(entry));
  }
  json["findings"] = Json::array();
  for (const Finding& finding : resolved.findings) {
    json["findings"].push_back(muster::ToJson(finding));
  }
  return json;
}

}  // namespace muster::resolve
