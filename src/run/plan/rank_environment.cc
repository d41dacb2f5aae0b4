// SPDX-License-Identifier: Apache-2.0
#include "run/plan/rank_environment.h"

#include <algorithm>
#include <array>

#include "base/json.h"
#include "base/text.h"

namespace muster::run {
namespace {

using Variables = std::map<std::string, std::string>;

// An elastic agent of PyTorch keeps a store of its own and tells its ranks so;
// under muster rank 0 serves it, and a left-over would make every rank a client
// of nobody.
constexpr std::array<std::string_view, 1> kRemoved{
    "TORCHELASTIC_USE_AGENT_STORE"};

constexpr std::array<std::string_view, 3> kThreadVariables{
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"};

constexpr std::array kRankVariables =
    std::to_array<std::string_view>({"GROUP_RANK",
                                     "GROUP_WORLD_SIZE",
                                     "GRPC_FAIL_FAST",
                                     "JAX_COORDINATOR_ADDRESS",
                                     "JAX_LOCAL_DEVICE_IDS",
                                     "LOCAL_RANK",
                                     "LOCAL_WORLD_SIZE",
                                     "MASTER_ADDR",
                                     "MASTER_PORT",
                                     "MKL_NUM_THREADS",
                                     "MUSTER_ATTEMPT",
                                     "MUSTER_LOCAL_RANK",
                                     "MUSTER_LOCAL_SIZE",
                                     "MUSTER_RANK",
                                     "MUSTER_RUN_ID",
                                     "MUSTER_TASK",
                                     "MUSTER_TASK_INDEX",
                                     "MUSTER_WORLD_SIZE",
                                     "OMPI_COMM_WORLD_LOCAL_RANK",
                                     "OMPI_COMM_WORLD_RANK",
                                     "OMPI_COMM_WORLD_SIZE",
                                     "OMPI_MCA_orte_hnp_uri",
                                     "OMP_NUM_THREADS",
                                     "OPENBLAS_NUM_THREADS",
                                     "PYTHONFAULTHANDLER",
                                     "PYTHONUNBUFFERED",
                                     "RANK",
                                     "ROLE_RANK",
                                     "ROLE_WORLD_SIZE",
                                     "TF_CONFIG",
                                     "TORCHELASTIC_MAX_RESTARTS",
                                     "TORCHELASTIC_RESTART_COUNT",
                                     "TORCHELASTIC_RUN_ID",
                                     "TORCHELASTIC_USE_AGENT_STORE",
                                     "WORLD_SIZE"});

// Collects the changes of one rank under the three rules of precedence: --env,
// then what the plan must set, then what is inherited, then defaults.
class Builder {
 public:
  Builder(const Variables& inherited, const Variables& user)
      : inherited_(inherited), user_(user) {
    for (const auto& [name, value] : user) {
      environment_.set[name] = {value, "flag --env"};
    }
  }

  // Tells the rank who it is: replaces what is inherited.
  void Must(const std::string& name, const std::string& value,
            const std::string& source) {
    if (const auto user = user_.find(name); user != user_.end()) {
      if (user->second != value) {
        Note("--env sets " + name + "=" + user->second + ", but the plan has " +
             (name == "TF_CONFIG" ? "the members" : "`" + value + "`"));
      }
      return;
    }
    std::string why = source;
    const auto found = inherited_.find(name);
    if (found != inherited_.end() && found->second != value) {
      why += "; replaces `" + found->second + "` from the environment";
      replaced_.push_back(name + "=" + found->second);
    }
    environment_.set[name] = {value, why};
  }

  // Helps unless somebody has said otherwise.
  bool Default(const std::string& name, const std::string& value,
               const std::string& source) {
    if (IsGiven(name)) {
      return false;
    }
    environment_.set[name] = {value, source};
    return true;
  }

  void Remove(const std::string& name) {
    if (inherited_.contains(name) && !user_.contains(name)) {
      environment_.unset.push_back(name);
      replaced_.push_back(name + "=" + inherited_.at(name));
    }
  }

  // By --env or by what is inherited.
  bool IsGiven(const std::string& name) const {
    return user_.contains(name) || inherited_.contains(name);
  }

  const std::string* Inherited(const std::string& name) const {
    const auto found = inherited_.find(name);
    return found == inherited_.end() || user_.contains(name) ? nullptr
                                                             : &found->second;
  }

  void Note(std::string text) { environment_.notes.push_back(std::move(text)); }

  RankEnvironment Take() {
    if (!replaced_.empty()) {
      Note("replacing " + Join(replaced_, ", ") + " from the environment");
    }
    return std::move(environment_);
  }

 private:
  const Variables& inherited_;
  const Variables& user_;
  std::vector<std::string> replaced_;
  RankEnvironment environment_;
};

void AddMuster(const AttemptFacts& attempt, const RankPlace& place,
               Builder& builder) {
  const auto set = [&](const std::string& name, const std::string& value,
                       const std::string& source) {
    builder.Must("MUSTER_" + name, value, source);
  };
  const std::string size_source = "cluster: " + attempt.cluster.size.source;
  set("RUN_ID", attempt.run_id, "run");
  set("ATTEMPT", std::to_string(attempt.attempt), "run");
  set("RANK", std::to_string(place.member.rank), "cluster");
  set("WORLD_SIZE", std::to_string(attempt.world_size), size_source);
  set("LOCAL_RANK", std::to_string(place.local_rank), "agent");
  set("LOCAL_SIZE", std::to_string(place.local_size), "agent");
  set("TASK", place.member.task, "cluster");
  set("TASK_INDEX", std::to_string(place.member.index), "cluster");
}

void AddTorch(const AttemptFacts& attempt, const RankPlace& place,
              Builder& builder) {
  const std::string world = std::to_string(attempt.world_size);
  const std::string rank = std::to_string(place.member.rank);
  if (Trains(place.member)) {
    builder.Must("RANK", rank, "cluster");
    builder.Must("WORLD_SIZE", world,
                 "cluster: " + attempt.cluster.size.source);
    builder.Must("ROLE_RANK", rank, "cluster");
    builder.Must("ROLE_WORLD_SIZE", world, "cluster");
    builder.Must("LOCAL_RANK", std::to_string(place.local_rank), "agent");
    builder.Must("LOCAL_WORLD_SIZE", std::to_string(place.local_size), "agent");
    builder.Must("GROUP_RANK", std::to_string(place.agent), "agent");
    builder.Must("GROUP_WORLD_SIZE", std::to_string(attempt.agents), "agent");
  }
  builder.Must("MASTER_ADDR", attempt.master_host, "address of rank 0");
  builder.Must("MASTER_PORT", attempt.master_port,
               "offered by the agent of rank 0 for this attempt");
  builder.Must("TORCHELASTIC_RUN_ID", attempt.run_id, "run");
  builder.Must("TORCHELASTIC_RESTART_COUNT",
               std::to_string(attempt.attempt - 1), "run");
  builder.Must("TORCHELASTIC_MAX_RESTARTS",
               std::to_string(attempt.max_restarts), "setting max_restarts");
}

// Equal in what TensorFlow reads of it: an unchanged TF_CONFIG is left as the
// user wrote it, with whatever else is in it.
bool SaysTheSame(const std::string& inherited, const Json& ours) {
  auto theirs = ParseJson(inherited, Cause::kClusterSpecInvalid, "TF_CONFIG");
  if (!theirs || !theirs->is_object() || !theirs->contains("cluster") ||
      !theirs->contains("task")) {
    return false;
  }
  // Without the order of the keys.
  const auto sorted = [](const Json& json) {
    return nlohmann::json::parse(Dump(json));
  };
  return sorted((*theirs)["cluster"]) == sorted(ours["cluster"]) &&
         sorted((*theirs)["task"]) == sorted(ours["task"]);
}

void AddTensorFlow(const AttemptFacts& attempt, const RankPlace& place,
                   Builder& builder) {
  Json config;
  config["cluster"] = TaskAddresses(attempt);
  config["task"] = {{"type", place.member.task}, {"index", place.member.index}};
  const std::string* inherited = builder.Inherited("TF_CONFIG");
  if (inherited == nullptr || !SaysTheSame(*inherited, config)) {
    builder.Must("TF_CONFIG", Dump(config),
                 "members, with the ports of this attempt");
  }
  const auto& members = attempt.cluster.members;
  if (std::any_of(members.begin(), members.end(),
                  [](const Member& member) { return member.task == "ps"; })) {
    builder.Default("GRPC_FAIL_FAST", "use_caller",
                    "detects a lost parameter server immediately");
  }
}

// JAX has a variable for the coordinator only; count and id it takes from
// Open MPI's (jax/_src/distributed.py, clusters/ompi_cluster.py).
void AddJax(const AttemptFacts& attempt, const RankPlace& place,
            Builder& builder) {
  const std::string coordinator =
      HostPort(attempt.master_host, attempt.master_port);
  builder.Must("JAX_COORDINATOR_ADDRESS", coordinator,
               "rank 0, the port of MASTER_PORT");
  if (!attempt.for_jax || !Trains(place.member)) {
    return;
  }
  const std::string why = "--profile jax, which uses the variables of Open MPI";
  const bool is_v6 = coordinator.starts_with('[');
  builder.Must("OMPI_MCA_orte_hnp_uri",
               (is_v6 ? "0.0;tcp6://" : "0.0;tcp://") + coordinator, why);
  builder.Must("OMPI_COMM_WORLD_SIZE", std::to_string(attempt.world_size), why);
  builder.Must("OMPI_COMM_WORLD_RANK", std::to_string(place.member.rank), why);
  builder.Must("OMPI_COMM_WORLD_LOCAL_RANK", std::to_string(place.local_rank),
               why);
  if (place.local_size == 1 && !builder.IsGiven("JAX_LOCAL_DEVICE_IDS")) {
    builder.Note(
        "JAX uses one GPU per rank, selected by its local rank: to use more "
        "GPUs, start more ranks or set --env JAX_LOCAL_DEVICE_IDS=0,1");
  }
}

void AddThreads(const RankPlace& place, Builder& builder) {
  if (place.threads < 1) {
    return;
  }
  const std::string threads = std::to_string(place.threads);
  for (const std::string_view name : kThreadVariables) {
    builder.Default(std::string(name), threads, place.threads_why);
  }
}

}  // namespace

std::string HostPort(const std::string& host, const std::string& port) {
  const bool brackets = host.find(':') != std::string::npos;
  return (brackets ? "[" + host + "]" : host) + ":" + port;
}

std::span<const std::string_view> RankVariables() {
  return kRankVariables;
}

Json TaskAddresses(const AttemptFacts& attempt) {
  Json tasks = Json::object();
  for (const Member& member : attempt.cluster.members) {
    Json& addresses = tasks[member.task];
    while (addresses.size() <= static_cast<std::size_t>(member.index)) {
      addresses.push_back("");
    }
    addresses[static_cast<std::size_t>(member.index)] =
        attempt.addresses[static_cast<std::size_t>(member.rank)];
  }
  return tasks;
}

RankEnvironment MakeRankEnvironment(const AttemptFacts& attempt,
                                    const RankPlace& place,
                                    const Variables& inherited,
                                    const Variables& user) {
  Builder builder(inherited, user);
  AddMuster(attempt, place, builder);
  AddTorch(attempt, place, builder);
  AddTensorFlow(attempt, place, builder);
  AddJax(attempt, place, builder);
  builder.Default("PYTHONUNBUFFERED", "1", "prints output without buffering");
  builder.Default("PYTHONFAULTHANDLER", "1",
                  "prints a stack on a fatal signal");
  AddThreads(place, builder);
  for (const std::string_view name : kRemoved) {
    builder.Remove(std::string(name));
  }
  return builder.Take();
}

}  // namespace muster::run
