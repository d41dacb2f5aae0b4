// SPDX-License-Identifier: Apache-2.0
#include "run/plan/plan_text.h"

#include <algorithm>
#include <vector>

#include "base/command_text.h"
#include "base/json.h"
#include "base/redact/redact.h"
#include "base/text.h"
#include "cluster/cluster_json.h"

namespace muster::run {
namespace {

int AgentOf(const wire::LaunchPlan& plan, int rank) {
  for (std::size_t agent = 0; agent < plan.agents.size(); ++agent) {
    const auto& ranks = plan.agents[agent];
    if (std::find(ranks.begin(), ranks.end(), rank) != ranks.end()) {
      return static_cast<int>(agent);
    }
  }
  return 0;
}

std::string Command(const Json& argv) {
  std::vector<std::string> words;
  for (const Json& word : argv) {
    words.push_back(Printable(word.get<std::string>()));
  }
  return CommandLine(words);
}

// "  RANK=1                        cluster".
std::string Line(const std::string& name, const Json& sourced) {
  constexpr std::size_t kColumn = 44;
  std::string line =
      "  " + name + "=" + Printable(sourced["value"].get<std::string>());
  line.append(line.size() < kColumn ? kColumn - line.size() : 1, ' ');
  return line + " " + Printable(sourced["source"].get<std::string>()) + "\n";
}

bool SameForAll(const Json& ranks, const std::string& name,
                const Json& sourced) {
  return ranks.size() > 1 &&
         std::all_of(ranks.begin(), ranks.end(), [&](const Json& rank) {
           const auto found = rank["environment"].find(name);
           return found != rank["environment"].end() && *found == sourced;
         });
}

void AddRank(const Json& ranks, const Json& rank, std::string& text) {
  text += rank["name"].get<std::string>() + ", agent " + Dump(rank["agent"]) +
          ", local rank " + Dump(rank["local_rank"]) + " of " +
          Dump(rank["local_size"]);
  if (!rank["cores"].empty()) {
    text += ", cores";
    for (const Json& core : rank["cores"]) {
      text += " " + Dump(core);
    }
  }
  text += "\n";
  for (const auto& [name, sourced] : rank["environment"].items()) {
    if (!SameForAll(ranks, name, sourced)) {
      text += Line(name, sourced);
    }
  }
  for (const Json& name : rank["unset"]) {
    text += "  " + name.get<std::string>() + " is unset\n";
  }
}

}  // namespace

Json PlanJson(const Cluster& cluster, const Planned& planned) {
  const wire::LaunchPlan& plan = planned.plan;
  Json json;
  json["schema"] = "muster.plan/1";
  json["cluster"] = ToJson(cluster);
  json["world_size"] = plan.world_size;
  json["attempt"] = plan.attempt;
  json["grace_ms"] = plan.grace_ms;
  json["notes"] = planned.notes;
  json["ranks"] = Json::array();
  for (const wire::RankPlan& rank : plan.ranks) {
    Json entry;
    entry["rank"] = rank.rank;
    entry["name"] = rank.name;
    entry["agent"] = AgentOf(plan, rank.rank);
    entry["local_rank"] = rank.local_rank;
    entry["local_size"] = rank.local_size;
    entry["argv"] = RedactedCommand(rank.argv);
    entry["cores"] = rank.cores;
    entry["environment"] = Json::object();
    for (const auto& [name, value] : rank.environment) {
      entry["environment"][name] = {{"value", value.value},
                                    {"source", value.source}};
    }
    entry["unset"] = rank.unset;
    json["ranks"].push_back(std::move(entry));
  }
  return json;
}

std::string RenderPlan(const Json& plan) {
  const Json& ranks = plan["ranks"];
  std::string text = "dry run: nothing is started\n\n";
  text += "command  " + Command(ranks[0]["argv"]) + "\n";
  text += "cluster  " + Count(std::ssize(ranks), "member") + ", world size " +
          Dump(plan["world_size"]) + " (" +
          Printable(plan["cluster"]["size"]["source"].get<std::string>()) +
          ")\n";
  for (const Json& note : plan["notes"]) {
    text += "note     " + Printable(note.get<std::string>()) + "\n";
  }
  if (ranks.size() > 1) {
    text += "\nevery rank\n";
    for (const auto& [name, sourced] : ranks[0]["environment"].items()) {
      if (SameForAll(ranks, name, sourced)) {
        text += Line(name, sourced);
      }
    }
  }
  for (const Json& rank : ranks) {
    text += "\n";
    AddRank(ranks, rank, text);
  }
  return text;
}

}  // namespace muster::run
