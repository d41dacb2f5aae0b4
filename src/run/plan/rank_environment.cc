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
    std::to_array<std::string_view>({"CLOUD_TPU_TASK_ID",
                                     "CUDA_VISIBLE_DEVICES",
                                     "GROUP_RANK",
                                     "GROUP_WORLD_SIZE",
                                     "GRPC_FAIL_FAST",
                                     "HIP_VISIBLE_DEVICES",
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
                                     "ROCR_VISIBLE_DEVICES",
                                     "ROLE_RANK",
                                     "ROLE_WORLD_SIZE",
                                     "TF_CONFIG",
                                     "TORCHELASTIC_MAX_RESTARTS",
                                     "TORCHELASTIC_RESTART_COUNT",
                                     "TORCHELASTIC_RUN_ID",
                                     "TORCHELASTIC_USE_AGENT_STORE",
                                     "TPU_CHIPS_PER_PROCESS_BOUNDS",
                                     "TPU_PROCESS_ADDRESSES",
                                     "TPU_PROCESS_BOUNDS",
                                     "TPU_PROCESS_PORT",
                                     "TPU_VISIBLE_CHIPS",
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
  set("LOCAL_RANK", std::to_string(place.local_rank), place.local_source);
  set("LOCAL_SIZE", std::to_string(place.local_size), place.local_source);
  set("TASK", place.member.task, "cluster");
  set("TASK_INDEX", std::to_string(place.member.index), "cluster");
}

// Such that set_device(LOCAL_RANK) takes the rank's own device: where it sees
// no other, that is device 0 (docs/adr/0012).
Sourced<int> VisibleRank(const RankPlace& place) {
  const RankDevices& devices = place.devices;
  if (devices.bind && !devices.mine.empty()) {
    return {0, "--bind-devices: the rank sees its own devices alone"};
  }
  if (devices.own) {
    return {place.slot, devices.variable + " shows each task its own devices"};
  }
  return {place.local_rank, place.local_source};
}

// The bounds of TPU processes on one host, by chips of the host and of each
// process: multihost tests of Orbax, torch_xla's tpu.py.
struct ChipBounds {
  int chips, each;
  std::string_view processes, chips_per_process;
};
constexpr ChipBounds kChipBounds[] = {
    {1, 1, "1,1,1", "1,1,1"}, {4, 1, "2,2,1", "1,1,1"},
    {4, 2, "2,1,1", "1,2,1"}, {8, 1, "4,2,1", "1,1,1"},
    {8, 2, "2,2,1", "1,2,1"}, {8, 4, "1,2,1", "2,2,1"}};

void AddTpu(const RankPlace& place, const std::string& why, Builder& builder) {
  constexpr int kFirstPort = 8476;  // torch_xla's, the next for each process
  const RankDevices& devices = place.devices;
  for (const ChipBounds& bounds : kChipBounds) {
    if (bounds.chips != devices.count ||
        bounds.each != std::ssize(devices.mine)) {
      continue;
    }
    builder.Must("TPU_PROCESS_BOUNDS", std::string(bounds.processes), why);
    builder.Must("TPU_CHIPS_PER_PROCESS_BOUNDS",
                 std::string(bounds.chips_per_process), why);
  }
  std::vector<std::string> addresses;
  addresses.reserve(static_cast<std::size_t>(place.local_size));
  for (int i = 0; i < place.local_size; ++i) {
    addresses.push_back("localhost:" + std::to_string(kFirstPort + i));
  }
  builder.Must("TPU_PROCESS_ADDRESSES", Join(addresses, ","), why);
  builder.Must("TPU_PROCESS_PORT",
               std::to_string(kFirstPort + place.local_rank), why);
  builder.Must("CLOUD_TPU_TASK_ID", std::to_string(place.local_rank), why);
}

void AddDevices(const RankPlace& place, Builder& builder) {
  const RankDevices& devices = place.devices;
  if (!devices.bind || devices.mine.empty()) {
    return;
  }
  const std::string why = "--bind-devices: " + std::to_string(devices.count) +
                          " for " + Count(place.local_size, "rank");
  builder.Must(devices.variable, Join(devices.mine, ","), why);
  if (devices.variable == kTpuChips && place.local_size > 1) {
    AddTpu(place, why, builder);
  }
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
    const auto local = VisibleRank(place);
    builder.Must("LOCAL_RANK", std::to_string(local.value), local.source);
    builder.Must("LOCAL_WORLD_SIZE", std::to_string(place.local_size),
                 place.local_source);
    builder.Must("GROUP_RANK", std::to_string(place.machine),
                 "machines of the agents");
    builder.Must("GROUP_WORLD_SIZE", std::to_string(attempt.machines),
                 "machines of the agents");
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
  const int local = VisibleRank(place).value;
  builder.Must("OMPI_COMM_WORLD_LOCAL_RANK", std::to_string(local), why);
  // With a count JAX takes the one device of the local rank.
  const int share = static_cast<int>(place.devices.mine.size());
  if (share > 1) {
    std::vector<std::string> ids;
    ids.reserve(place.devices.mine.size());
    for (int i = 0; i < share; ++i) {
      ids.push_back(std::to_string(local * share + i));
    }
    builder.Default("JAX_LOCAL_DEVICE_IDS", Join(ids, ","),
                    std::to_string(place.devices.count) + " devices for " +
                        Count(place.local_size, "rank") + " of the host");
  } else if (share == 0 && place.local_size == 1 &&
             !builder.IsGiven("JAX_LOCAL_DEVICE_IDS")) {
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

bool AreTpuBounds(int chips, int each) {
  return std::ranges::any_of(kChipBounds, [&](const ChipBounds& bounds) {
    return bounds.chips == chips && bounds.each == each;
  });
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
  AddDevices(place, builder);
  AddThreads(place, builder);
  for (const std::string_view name : kRemoved) {
    builder.Remove(std::string(name));
  }
  return builder.Take();
}

}  // namespace muster::run
