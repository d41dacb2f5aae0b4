// SPDX-License-Identifier: Apache-2.0
// From what a source told to the nouns of the house.
#include <set>

#include "base/text.h"
#include "base/words/suggest.h"
#include "cluster/members.h"
#include "resolve/claim.h"
#include "resolve/formats/address_list.h"
#include "resolve/variables.h"

namespace muster::resolve {
namespace {

// How the map is called in messages: "TF_CONFIG.cluster".
std::string PlaceOf(const Claim& claim) {
  return claim.source == "tf-config" ? "TF_CONFIG" : claim.source;
}

Error BadTask(const std::string& place, const std::string& problem) {
  return Error(Cause::kClusterSpecInvalid, place + " " + problem);
}

// What TensorFlow's own readers refuse sooner or later.
Status CheckLeaders(const TaskMap& map, const std::string& place) {
  const auto count = [&](const char* job) {
    const auto found = map.jobs.find(job);
    return found == map.jobs.end() ? std::ptrdiff_t{0}
                                   : std::ssize(found->second);
  };
  if (count("chief") > 0 && count("master") > 0) {
    return BadTask(place,
                   "has both `chief` and `master`, but only one can lead");
  }
  for (const char* job : {"chief", "master", "evaluator"}) {
    if (count(job) > 1) {
      return BadTask(place + "." + job,
                     "has " + std::to_string(count(job)) +
                         " addresses, but at most one is allowed");
    }
  }
  return Ok();
}

Result<std::vector<Member>> MembersOf(const TaskMap& map,
                                      const std::string& place,
                                      const std::string& source) {
  std::vector<Member> members;
  std::size_t count = 0;
  for (const auto& [job, tasks] : map.jobs) {
    count += tasks.size();
  }
  members.reserve(count);
  for (const auto& [job, tasks] : map.jobs) {
    for (const auto& [index, text] : tasks) {
      auto address = Address::Parse(text);
      if (!address) {
        return BadTask(
            place + "." + Printable(job) + "[" + std::to_string(index) + "]",
            "is not an address: " + address.error().message());
      }
      members.push_back(
          {.rank = 0,
           .task = job,
           .index = index,
           .address = Sourced<Address>{*std::move(address), source}});
    }
  }
  AssignRanks(members);
  return members;
}

Result<Sourced<int>> OwnRank(const Claim& claim) {
  const std::string& type = claim.task_type->value;
  const int index = claim.task_id->value;
  const std::string place = PlaceOf(claim);
  std::set<std::string> types;
  int same = 0;
  for (const Member& member : claim.cluster.members) {
    if (member.task == type && member.index == index) {
      return Sourced<int>{member.rank, claim.task_id->source + ", task " +
                                           type + " " + std::to_string(index)};
    }
    same += member.task == type ? 1 : 0;
    types.insert(member.task);
  }
  if (same == 0) {
    const std::vector<std::string> known(types.begin(), types.end());
    const auto meant = DidYouMean(type, known);
    return BadTask(place + ".task.type",
                   "is `" + Printable(type) +
                       "`, which is not in the cluster (" + Join(known, ", ") +
                       ")" + (meant ? ", did you mean `" + *meant + "`?" : ""));
  }
  return BadTask(place + ".task.index", "is " + std::to_string(index) +
                                            ", but `" + Printable(type) +
                                            "` has " + Count(same, "address"));
}

// Indices that the map leaves out.
void RemarkHoles(Claim& claim) {
  for (const auto& [job, tasks] : claim.tasks->jobs) {
    if (TaskMap::Places(tasks) == std::ssize(tasks)) {
      continue;
    }
    Finding remark =
        Warning(Cause::kClusterSpecInvalid,
                PlaceOf(claim) + ".cluster." + Printable(job) + " names " +
                    Count(std::ssize(tasks), "task") + " up to index " +
                    std::to_string(TaskMap::Places(tasks) - 1) +
                    ": a sparse map describes a part of the cluster, and only "
                    "that part is used");
    remark.confidence = Confidence::kCertain;
    claim.remarks.push_back(std::move(remark));
  }
}

Status CompleteTasks(Claim& claim) {
  const std::string place = PlaceOf(claim) + ".cluster";
  const std::string source =
      claim.source == "tf-config" ? "env TF_CONFIG" : "source " + claim.source;
  Cluster& cluster = claim.cluster;
  MUSTER_TRY(CheckLeaders(*claim.tasks, place));
  MUSTER_ASSIGN(cluster.members, MembersOf(*claim.tasks, place, source));
  if (cluster.members.empty()) {
    return BadTask(place, "contains no address");
  }
  cluster.size = {static_cast<int>(cluster.members.size()), source};
  if (auto sound = CheckMembers(cluster); !sound) {
    return std::move(sound).error().While("while reading " + PlaceOf(claim));
  }
  if (claim.task_type && claim.task_id) {
    MUSTER_ASSIGN(cluster.self, OwnRank(claim));
  }
  ConcludeCoordinator(cluster);
  RemarkHoles(claim);
  return Ok();
}

Status CheckBelow(const Number& rank, const Number& size, const char* what) {
  if (!rank || !size || (rank->value >= 0 && rank->value < size->value)) {
    return Ok();
  }
  return Error(Cause::kRankWorldMismatch,
               std::string("the ") + what + " " + std::to_string(rank->value) +
                   " (" + rank->source + ") is outside of " +
                   std::to_string(size->value) + " (" + size->source +
                   "): it is 0 to " + std::to_string(size->value - 1));
}

}  // namespace

void TakeGivenCoordinator(Claim& claim) {
  if (claim.coordinator_host && claim.coordinator_port) {
    claim.cluster.coordinator = Sourced<Address>{
        {.host = claim.coordinator_host->value,
         .port = static_cast<std::uint16_t>(claim.coordinator_port->value)},
        claim.coordinator_host->source == claim.coordinator_port->source
            ? claim.coordinator_host->source
            : claim.coordinator_host->source +
                  ", port: " + claim.coordinator_port->source};
    claim.coordinator_told = true;
  }
}

Status CheckNumbers(const Claim& claim) {
  MUSTER_TRY(CheckBelow(claim.process_id, claim.num_processes, "rank"));
  MUSTER_TRY(CheckBelow(claim.local_process_id, claim.local_num_processes,
                        "local rank"));
  MUSTER_TRY(CheckBelow(claim.node_rank, claim.num_nodes, "node rank"));
  MUSTER_TRY(CheckBelow(claim.slice_id, claim.num_slices, "slice"));
  if (claim.coordinator_port && (claim.coordinator_port->value < 1 ||
                                 claim.coordinator_port->value > 65535)) {
    return Error(Cause::kClusterSpecInvalid,
                 "the port of the coordinator is " +
                     std::to_string(claim.coordinator_port->value) + " (" +
                     claim.coordinator_port->source + "), expected 1 to 65535");
  }
  return Ok();
}

Status Complete(Claim& claim) {
  Cluster& cluster = claim.cluster;
  if (!cluster.members.empty() || !claim.nothing.empty()) {
    return Ok();
  }
  MUSTER_TRY(CheckNumbers(claim));
  if (claim.tasks && !claim.tasks->jobs.empty()) {
    return CompleteTasks(claim);
  }
  if (claim.num_processes && claim.process_id) {
    cluster = Unplaced(*claim.num_processes);
    cluster.self = claim.process_id;
  } else if (claim.num_nodes && claim.node_rank) {
    cluster = Unplaced(*claim.num_nodes);
    cluster.self = claim.node_rank;
  } else {
    claim.nothing = "it contains no size and no rank";
    return Ok();
  }
  TakeGivenCoordinator(claim);
  return CheckMembers(cluster);
}

}  // namespace muster::resolve
