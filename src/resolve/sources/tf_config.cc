// SPDX-License-Identifier: Apache-2.0
// TF_CONFIG: {"cluster": {task: [address, …] or {"index": address}},
//             "task": {"type": …, "index": …}}
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "cluster/members.h"
#include "resolve/address_list.h"
#include "resolve/self.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::tf_config {
namespace {

constexpr const char* kSourceText = "env TF_CONFIG";

Error Wrong(const std::string& place, const std::string& problem) {
  return Error(Cause::kClusterSpecInvalid, "TF_CONFIG" + place + " " + problem);
}

// An index as a number or as text.
Result<int> IndexOf(const Json& json, const std::string& place) {
  std::optional<std::int64_t> index;
  if (json.is_string()) {
    index = ParseInt(json.get<std::string>());
  } else if (json.is_number_integer()) {
    index = json.get<std::int64_t>();
  }
  if (!index) {
    return Wrong(place,
                 "is " + Printable(json.dump()) + ", which is no whole number");
  }
  if (*index < 0 || *index > 65535) {
    return Wrong(place,
                 "is " + std::to_string(*index) + ", which is no task index");
  }
  return static_cast<int>(*index);
}

Result<Member> ReadMember(const std::string& task, int index, const Json& json,
                          const std::string& place) {
  if (!json.is_string()) {
    return Wrong(place, std::string("is no address but ") + json.type_name());
  }
  auto address = Address::Parse(json.get<std::string>());
  if (!address) {
    return Wrong(place, "is no address: " + address.error().message());
  }
  return Member{.rank = 0,
                .task = task,
                .index = index,
                .address = Sourced<Address>{*std::move(address), kSourceText}};
}

// One task of the map: a list, or a map from index to address.
Status ReadTask(const std::string& task, const Json& json,
                std::vector<Member>& members) {
  const std::string place = ".cluster." + Printable(task);
  if (!json.is_array() && !json.is_object()) {
    return Wrong(place, std::string("is neither a list of addresses nor a map "
                                    "from index to address, but ") +
                            json.type_name());
  }
  int position = 0;
  for (const auto& [key, value] : json.items()) {
    int index = position++;
    if (json.is_object()) {
      MUSTER_ASSIGN(index, IndexOf(Json(key), place + " key"));
    }
    MUSTER_ASSIGN(auto member,
                  ReadMember(task, index, value,
                             place + "[" + std::to_string(index) + "]"));
    members.push_back(std::move(member));
  }
  return Ok();
}

int CountOf(const std::vector<Member>& members, std::string_view task) {
  return static_cast<int>(
      std::count_if(members.begin(), members.end(),
                    [&](const Member& member) { return member.task == task; }));
}

// What TensorFlow's own readers refuse sooner or later.
Status CheckTasks(const std::vector<Member>& members) {
  const int chiefs = CountOf(members, "chief");
  const int masters = CountOf(members, "master");
  if (chiefs > 0 && masters > 0) {
    return Wrong(".cluster", "has both `chief` and `master`: one leads");
  }
  for (const char* task : {"chief", "master", "evaluator"}) {
    if (const int count = CountOf(members, task); count > 1) {
      return Wrong(
          std::string(".cluster.") + task,
          "has " + std::to_string(count) + " addresses: there is at most one");
    }
  }
  return Ok();
}

struct Task {
  std::string type;
  int index = 0;
};

Result<std::optional<Task>> ReadOwnTask(const Json& json, bool has_cluster) {
  const auto task = json.find("task");
  if (task == json.end() || task->is_null() ||
      (task->is_object() && task->empty())) {
    return std::optional<Task>();
  }
  if (!task->is_object()) {
    return Wrong(".task", std::string("is no object but ") + task->type_name());
  }
  Task own;
  for (const char* key : {"type", "index"}) {
    if (!task->contains(key)) {
      return Wrong(".task", std::string("has no `") + key + "`");
    }
  }
  if (!(*task)["type"].is_string()) {
    return Wrong(".task.type", "is no text");
  }
  own.type = (*task)["type"].get<std::string>();
  MUSTER_ASSIGN(own.index, IndexOf((*task)["index"], ".task.index"));
  if (!has_cluster && own.type != "worker") {
    return Wrong(".task.type", "is `" + Printable(own.type) +
                                   "` although there is no `cluster`: one "
                                   "process alone is worker 0");
  }
  if (!has_cluster && own.index != 0) {
    return Wrong(".task.index", "is " + std::to_string(own.index) +
                                    " although there is no `cluster`: one "
                                    "process alone is worker 0");
  }
  return std::optional<Task>(own);
}

Result<Sourced<int>> RankOf(const Task& task, const Cluster& cluster) {
  std::set<std::string> types;
  for (const Member& member : cluster.members) {
    if (member.task == task.type && member.index == task.index) {
      return Sourced<int>{member.rank, std::string(kSourceText) + ", task " +
                                           task.type + " " +
                                           std::to_string(task.index)};
    }
    types.insert(member.task);
  }
  if (types.count(task.type) == 0) {
    const std::vector<std::string> known(types.begin(), types.end());
    const auto meant = DidYouMean(task.type, known);
    return Wrong(".task.type",
                 "is `" + Printable(task.type) +
                     "`, which is not in the cluster (" + Join(known, ", ") +
                     ")" + (meant ? ", did you mean `" + *meant + "`?" : ""));
  }
  return Wrong(".task.index",
               "is " + std::to_string(task.index) + ", but `" +
                   Printable(task.type) + "` has " +
                   Count(CountOf(cluster.members, task.type), "address"));
}

// Indices that the map leaves out.
void RemarkHoles(Claim& claim) {
  std::map<std::string, std::set<int>> indices;
  for (const Member& member : claim.cluster.members) {
    indices[member.task].insert(member.index);
  }
  for (const auto& [task, present] : indices) {
    if (*present.rbegin() + 1 == std::ssize(present)) {
      continue;
    }
    Finding remark = MakeFinding(
        Cause::kClusterSpecInvalid,
        "TF_CONFIG.cluster." + Printable(task) + " names " +
            Count(std::ssize(present), "task") + " up to index " +
            std::to_string(*present.rbegin()) +
            ": a sparse map shows a part of the cluster, and only that part is "
            "used",
        Confidence::kCertain);
    remark.severity = Severity::kWarning;
    claim.remarks.push_back(std::move(remark));
  }
}

const Json* FindCluster(const Json& json) {
  // A Kubernetes operator writes the second name for jobs that may grow.
  for (const char* key : {"cluster", "sparseCluster"}) {
    const auto found = json.find(key);
    if (found != json.end() && !found->is_null() &&
        !(found->is_object() && found->empty())) {
      return &*found;
    }
  }
  return nullptr;
}

Result<std::vector<Member>> ReadMembers(const Json& cluster) {
  if (!cluster.is_object()) {
    return Wrong(".cluster",
                 std::string("is no map of tasks but ") + cluster.type_name());
  }
  std::vector<Member> members;
  for (const auto& [task, addresses] : cluster.items()) {
    if (task.empty()) {
      return Wrong(".cluster", "has a task without a name");
    }
    MUSTER_TRY(ReadTask(task, addresses, members));
  }
  MUSTER_TRY(CheckTasks(members));
  AssignRanks(members);
  return members;
}

std::string Match(const Request&, const sys::Host& host) {
  if (!IsSet(host.env, "TF_CONFIG")) {
    return "TF_CONFIG is not set";
  }
  const auto json =
      ParseJson(*host.env.Get("TF_CONFIG"), Cause::kClusterSpecInvalid, "");
  const bool nothing = json && json->is_object() &&
                       FindCluster(*json) == nullptr &&
                       json->value("task", Json::object()).empty();
  return nothing ? "TF_CONFIG names neither a cluster nor a task" : "";
}

Result<Claim> Read(const Request& request, const sys::Host& host) {
  MUSTER_ASSIGN(const Json json,
                ParseJson(*host.env.Get("TF_CONFIG"),
                          Cause::kClusterSpecInvalid, "TF_CONFIG"));
  if (!json.is_object()) {
    return Wrong("", std::string("is no object but ") + json.type_name());
  }
  const Json* map = FindCluster(json);
  MUSTER_ASSIGN(const auto task, ReadOwnTask(json, map != nullptr));
  Claim claim{.source = "tf-config", .cluster = {}};
  Cluster& cluster = claim.cluster;
  if (map == nullptr) {
    const std::string source = std::string(kSourceText) + ", without a cluster";
    cluster = Unplaced({1, source});
    cluster.self = Sourced<int>{0, source};
    return claim;
  }
  MUSTER_ASSIGN(cluster.members, ReadMembers(*map));
  if (cluster.members.empty()) {
    return Wrong(".cluster", "names no address");
  }
  cluster.size = {static_cast<int>(cluster.members.size()), kSourceText};
  if (auto sound = CheckMembers(cluster); !sound) {
    return std::move(sound).error().While("while reading TF_CONFIG");
  }
  if (task) {
    MUSTER_ASSIGN(cluster.self, RankOf(*task, cluster));
  } else {
    auto self = FindSelf(cluster, request, host);
    if (!self) {
      return std::move(self).error().While(
          "TF_CONFIG has a cluster and no task");
    }
    cluster.self = *std::move(self);
  }
  ConcludeCoordinator(cluster);
  RemarkHoles(claim);
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "tf-config", .precedence = 400, .match = Match, .read = Read};

}  // namespace muster::resolve::tf_config
