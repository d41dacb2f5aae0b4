// SPDX-License-Identifier: Apache-2.0
// What is asked of the resolver besides its sources: grammars, maps of tasks,
// facts of TPUs, validations.
#include "queries.h"

#include "accelerator/local_devices.h"
#include "arguments.h"
#include "base/json.h"
#include "base/text.h"
#include "cloud/api/timestamp.h"
#include "cloud/auth/metadata.h"
#include "device_count.h"
#include "host_match.h"
#include "host_slots.h"
#include "request.h"
#include "resolve/formats/endpoint.h"
#include "resolve/formats/host_list.h"
#include "resolve/formats/key_values.h"
#include "resolve/formats/task_map.h"
#include "resolve/platform/cloud_tpu.h"
#include "resolve/source.h"
#include "roles.h"
#include "task_map_union.h"
#include "torch_url.h"
#include "tpu_nodes.h"
#include "tpu_topology.h"
#include "validate.h"

namespace muster::conformance {
namespace {

using namespace resolve;  // NOLINT(google-build-using-namespace): its tests

std::string TextField(const Json& args, const char* key) {
  return TextArg(args, key).value_or("");
}

template <typename T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

template <typename T>
Json ValueOrNull(const std::optional<Sourced<T>>& value) {
  return value ? Json(value->value) : Json();
}

Json Object(const char* key, Json value) {
  Json json = Json::object();
  json[key] = std::move(value);
  return json;
}

Result<Json> AskHostList(const Json& args, const sys::Host&) {
  MUSTER_ASSIGN(const auto hosts, ExpandHostList(TextField(args, "hostlist")));
  return Object("hosts", hosts);
}

Result<Json> AskTasksPerNode(const Json& args, const sys::Host&) {
  MUSTER_ASSIGN(const auto tasks,
                ExpandTasksPerNode(TextField(args, "tasks_per_node")));
  return Object("tasks", tasks);
}

Result<Json> AskEndpoint(const Json& args, const sys::Host&) {
  MUSTER_ASSIGN(const auto found,
                ParseEndpoint(TextField(args, "endpoint"),
                              IntArg(args, "default_port").value_or(0)));
  Json json = Object("host", found.host);
  json["port"] = OrNull(found.port);
  return json;
}

Result<Json> AskTpuEndpoints(const Json& args, const sys::Host&) {
  MUSTER_ASSIGN(const auto endpoints,
                ParseTpuEndpoints(TextField(args, "tpu")));
  return Object("endpoints", endpoints);
}

Result<Json> AskRdzvConf(const Json& args, const sys::Host&) {
  MUSTER_ASSIGN(const auto conf, ParseRdzvConf(TextField(args, "conf")));
  Json json = Object("conf", Json::object());
  for (const auto& [key, value] : conf) {
    json["conf"][key] = value;
  }
  return json;
}

Result<Json> AskTorchUrl(const Json& args, const sys::Host&) {
  MUSTER_ASSIGN(const auto url,
                ParseTorchUrl(TextField(args, "url"), IntArg(args, "rank"),
                              IntArg(args, "world_size")));
  Json json = Object("path", url.path);
  json["coordinator_host"] = url.host;
  json["coordinator_port"] = OrNull(url.port);
  json["process_id"] = OrNull(url.rank);
  json["num_processes"] = OrNull(url.world_size);
  return json;
}

Result<Json> AskHosts(const Json& args, const sys::Host&) {
  MUSTER_ASSIGN(const auto hosts, ParseHostSlots(TextField(args, "hosts")));
  MUSTER_ASSIGN(const auto placed,
                PlaceProcesses(hosts, IntArg(args, "num_processes").value_or(1),
                               IntArg(args, "max_processes")));
  Json json = Object("assignments", Json::array());
  for (const Placed& one : placed) {
    Json entry = Object("host", one.host);
    entry["rank"] = one.rank;
    entry["local_rank"] = one.local_rank;
    entry["cross_rank"] = one.cross_rank;
    entry["size"] = one.size;
    entry["local_size"] = one.local_size;
    entry["cross_size"] = one.cross_size;
    json["assignments"].push_back(std::move(entry));
  }
  return json;
}

Result<Json> AskHostFilter(const Json& args, const sys::Host&) {
  SlotLists hosts;
  for (const auto& [host, slots] : args.at("host_slots").items()) {
    hosts.emplace_back(host, slots.get<std::vector<int>>());
  }
  MUSTER_ASSIGN(const auto selected,
                FilterHosts(hosts, TextField(args, "include"),
                            TextField(args, "exclude")));
  Json json = Object("selected", Json::object());
  for (const auto& [host, slots] : selected) {
    json["selected"][host] = slots;
  }
  return json;
}

Result<Json> AskHostMatch(const Json& args, const sys::Host& host) {
  return Object("is_this_host", MatchesThisHost(TextField(args, "host"), host));
}

Result<Json> AskClusterSpec(const Json& args, const sys::Host&) {
  MUSTER_ASSIGN(const auto map,
                TaskMapFromJson(args.at("cluster_spec"), "cluster_spec"));
  Json json = Object("cluster_spec", resolve::ToJson(map));
  json["jobs"] = Json::array();
  for (const auto& [job, tasks] : map.jobs) {
    json["jobs"].push_back(job);
  }
  for (const char* query : {"num_tasks", "task_indices", "job_tasks"}) {
    if (!args.contains(query)) {
      continue;
    }
    MUSTER_ASSIGN(const auto* tasks, JobOf(map, TextField(args, query)));
    Json indices = Json::array();
    Json places = Json::array();
    for (int i = 0; i < TaskMap::Places(*tasks); ++i) {
      const auto task = tasks->find(i);
      places.push_back(task == tasks->end() ? Json() : Json(task->second));
      if (task != tasks->end()) {
        indices.push_back(i);
      }
    }
    json["num_tasks"] = indices.size();
    json["task_indices"] = indices;
    json["job_tasks"] = places;
  }
  if (args.contains("task_address")) {
    const Json& place = args["task_address"];
    MUSTER_ASSIGN(
        json["address"],
        AddressOf(map, place.at(0).get<std::string>(), place.at(1).get<int>()));
    json["task_address"] = json["address"];
  }
  if (args.contains("equal_to")) {
    MUSTER_ASSIGN(const auto other,
                  TaskMapFromJson(args["equal_to"], "equal_to"));
    json["equal"] = map == other;
    json["equal_to"] = map == other;
  }
  return json;
}

Result<Json> AskRole(const Json& args, const sys::Host&) {
  MUSTER_ASSIGN(const auto map,
                TaskMapFromJson(args.at("cluster_spec"), "cluster_spec"));
  MUSTER_ASSIGN(const auto role, RoleOf(map, TextField(args, "task_type"),
                                        IntArg(args, "task_id").value_or(0)));
  Json json = Object("is_chief", role.is_chief);
  json["id_in_cluster"] = OrNull(role.id_in_cluster);
  json["worker_count"] = OrNull(role.worker_count);
  json["coordination_leader"] = role.leader;
  return json;
}

Result<Json> AskUnion(const Json& args, const sys::Host&) {
  std::vector<WrittenMap> maps;
  Claim claim;
  bool first = true;
  for (const Json& one : args.at("resolvers")) {
    const Json spec = one.value("cluster_spec", Json::object());
    WrittenMap written;
    MUSTER_ASSIGN(written.map, TaskMapFromJson(spec, "cluster_spec"));
    for (const auto& [job, tasks] : spec.items()) {
      written.sparse[job] = tasks.is_object();
    }
    maps.push_back(std::move(written));
    if (first) {
      OverrideTask(one, claim);
      if (const auto environment = TextArg(one, "environment")) {
        claim.more["environment"] = *environment;
      }
      first = false;
    }
  }
  MUSTER_ASSIGN(claim.tasks, UniteTaskMaps(maps));
  OverrideTask(args, claim);
  claim.master = Sourced<std::string>{"", "no task is named"};
  if (const Json master = args.value("master", Json::object());
      master.contains("task_type") && master.contains("task_id")) {
    MUSTER_TRY(TakeMaster(args, claim));
  }
  return ToJson(claim);
}

Result<Json> AskLocalDevices(const Json&, const sys::Host& host) {
  return Object("tpu_chips", accelerator::FindLocalTpu(host).chips);
}

Result<Json> AskGceDetect(const Json&, const sys::Host& host) {
  return Object("on_gce", cloud::Metadata(host).Answers());
}

Result<Json> AskGceGroup(const Json& args, const sys::Host& host) {
  const Json groups =
      args.contains("groups") ? args["groups"] : Json::array({args});
  std::vector<WrittenMap> maps;
  std::vector<std::string> hosts;
  std::optional<Claim> first;
  for (const Json& group : groups) {
    Json merged = args;
    merged.update(group);
    MUSTER_ASSIGN(auto claim, AskSource("gce-group", merged, host));
    maps.push_back({.map = *claim.tasks});
    hosts.insert(hosts.end(), claim.hosts.begin(), claim.hosts.end());
    if (!first) {
      first = std::move(claim);
    }
  }
  if (maps.size() > 1) {
    MUSTER_ASSIGN(first->tasks, UniteTaskMaps(maps));
    first->hosts = hosts;
  }
  return ToJson(*first);
}

// SLURM_NTASKS alone: Slurm's environment, though no step of it. The shell that
// Slurm gives to a person is not meant.
bool IsAllocation(const sys::Env& env) {
  const std::string name = env.Get("SLURM_JOB_NAME").value_or("");
  return IsSet(env, "SLURM_NTASKS") && !IsSet(env, "SLURM_JOB_ID") &&
         name != "bash" && name != "interactive";
}

// The first source that speaks for a whole environment, by the name by which
// frameworks know it.
Result<Json> AskAuto(const Json& args, const sys::Host& host) {
  static const std::map<std::string_view, const char*> names{
      {"torch", "torchrun"},       {"lsf", "lsf"},
      {"openmpi", "openmpi"},      {"slurm", "slurm"},
      {"gke-tpu", "gke-tpu"},      {"k8s-job", "k8s-job"},
      {"gce-tpu-vm", "gce-tpu-vm"}};
  const Request request = ToRequest(args);
  for (const Source* source : AllSources()) {
    const auto known = names.find(source->name);
    if (known != names.end() &&
        (source->match(request, host).speaks ||
         (source->name == "slurm" && IsAllocation(host.env)))) {
      return Object("detected", known->second);
    }
  }
  return Object("detected", Json());
}

Asked AskedOf(const Json& args) {
  const Json& asked = args.at("validate");
  return {.num_devices = IntArg(asked, "num_devices"),
          .num_nodes = IntArg(asked, "num_nodes")};
}

Result<Json> AskSlurmValidate(const Json& args, const sys::Host& host) {
  MUSTER_TRY(ValidateSlurm(AskedOf(args), host.env));
  return Object("ok", true);
}

Result<Json> AskTorchrunValidate(const Json& args, const sys::Host& host) {
  MUSTER_TRY(ValidateTorchrun(AskedOf(args), host.env));
  return Object("ok", true);
}

Result<Json> AskClusterValidate(const Json& args, const sys::Host&) {
  std::vector<HostFacts> hosts;
  for (const Json& one : args.at("hosts")) {
    hosts.push_back({.address = TextField(one, "ip"),
                     .machine_type = TextField(one, "machine_type"),
                     .zone = TextField(one, "zone")});
  }
  std::vector<WorkerFacts> workers;
  for (const Json& one : args.at("tpu_workers")) {
    workers.push_back({.address = TextField(one, "ip"),
                       .accelerator_type = TextField(one, "accelerator_type"),
                       .zone = TextField(one, "zone"),
                       .runtime_version = TextField(one, "runtime_version")});
  }
  MUSTER_TRY(ValidateTpuHosts(hosts, workers,
                              args.value("check_host_machine_type", true)));
  return Object("ok", true);
}

Result<Json> AskDeviceCount(const Json& args, const sys::Host& host) {
  Json json = Json::object();
  if (args.contains("host_cores")) {
    const auto cores = args["host_cores"].get<std::map<std::string, Json>>();
    std::map<std::string, int> counts;
    for (const auto& [name, list] : cores) {
      counts[name] = static_cast<int>(list.size());
    }
    MUSTER_ASSIGN(json["cores_per_host"], SameCoreCount(counts));
    return json;
  }
  DeviceFilter filter{.task_type = TextArg(args, "task_type"),
                      .task_id = IntArg(args, "task_id"),
                      .kind = TextField(args, "kind")};
  if (!filter.task_type && host.env.Get("TF_CONFIG")) {
    MUSTER_ASSIGN(const auto claim,
                  AskSource("tf-config", Json::object(), host));
    if (claim.task_type && claim.task_id) {
      filter.task_type = claim.task_type->value;
      filter.task_id = claim.task_id->value;
    }
  }
  const auto names =
      args.value("devices", Json::array()).get<std::vector<std::string>>();
  const auto devices = ParseDevices(names);
  const auto hosts = TpuCoresOfHosts(devices);
  int total = 0;
  json["host_cores"] = Json::object();
  std::map<std::string, int> counts;
  for (const auto& [name, cores] : hosts) {
    json["host_cores"][name] = cores;
    counts[name] = static_cast<int>(cores.size());
    total += counts[name];
  }
  json["total_cores"] = total;
  json["num_accelerators"] = Json::object();
  if (args.value("per_host", false)) {
    MUSTER_ASSIGN(const int cores, SameCoreCount(counts));
    json["cores_per_host"] = cores;
    json["num_accelerators"]["TPU"] = cores;
    return json;
  }
  for (const auto& [kind, count] : CountDevices(devices, filter)) {
    json["num_accelerators"][kind] = count;
  }
  return json;
}

Result<TpuNode> NodeOf(const Json& args, const sys::Host& host) {
  const Request request = ToRequest(args);
  MUSTER_ASSIGN(const auto target, FindTpuTarget(request, host));
  MUSTER_ASSIGN(const auto place, PlaceTpu(target, request, host));
  return GetTpuNode(place, host);
}

Result<Json> AskTpuHealth(const Json& args, const sys::Host& host) {
  MUSTER_ASSIGN(const auto node, NodeOf(args, host));
  const auto now = cloud::ParseTimestamp(TextField(args, "now"));
  return Object("recoverable",
                IsRecoverable(node, now.value_or(host.clock.WallNow())));
}

Result<Json> AskTpuNodeInfo(const Json& args, const sys::Host& host) {
  const Request request = ToRequest(args);
  MUSTER_ASSIGN(const auto info, DescribeTpu(request, host));
  Json json = Object("use_api", info.use_api);
  const auto put = [&](const char* key, const std::string& text) {
    json[key] = text.empty() ? Json() : Json(text);
  };
  put("project", info.node.place.project);
  put("zone", info.node.place.zone);
  put("node", info.use_api ? info.node.place.Node() : "");
  put("state", info.node.state);
  put("health", info.node.health);
  put("accelerator_type", info.node.accelerator_type);
  put("runtime_version", info.node.runtime_version);
  return json;
}

Result<Json> AskTpuRequireHealthy(const Json& args, const sys::Host& host) {
  Json names = Json::array();
  if (args.contains("tpus")) {
    names = args["tpus"];
  } else {
    names.push_back(args.value("tpu", Json("")));
  }
  for (const Json& name : names) {
    Json one = args;
    one["tpu"] = name;
    MUSTER_ASSIGN(const auto claim, AskSource("tpu", one, host));
    const auto health = std::get<std::string>(claim.more.at("health"));
    if (health != "HEALTHY") {
      return Error(Cause::kTpuUnhealthy,
                   "the TPU " + name.dump() + " is not HEALTHY: " + health);
    }
  }
  return Object("ok", true);
}

Result<Json> AskTpuWait(const Json& args, const sys::Host&) {
  const Json& timeline = args.at("health_by_second");
  const auto health = [&](int at) {
    std::string last;
    for (const Json& part : timeline) {
      last = part.at(0).is_string() ? part.at(0).get<std::string>() : "";
      at -= part.at(1).get<int>();
      if (at < 0) {
        break;
      }
    }
    return last;
  };
  MUSTER_ASSIGN(
      const auto waited,
      WaitUntilHealthy(TextField(args, "tpu"),
                       {.timeout_s = IntArg(args, "timeout_s").value_or(1200),
                        .interval_s = IntArg(args, "interval_s").value_or(30)},
                       health));
  Json json = Object("healthy_at_s", waited.seconds);
  json["sleeps"] = waited.sleeps;
  return json;
}

Result<Json> AskTpuIdentity(const Json&, const sys::Host& host) {
  const TpuIdentity identity = IdentifyTpu(host);
  Json json =
      Object("accelerator_type", ValueOrNull(identity.accelerator_type));
  json["generation"] =
      identity.generation.empty() ? Json() : Json(identity.generation);
  json["worker_id"] = ValueOrNull(identity.worker_id);
  json["tpu_name"] = ValueOrNull(identity.name);
  return json;
}

Result<Json> AskTpuTopology(const Json& args, const sys::Host& host) {
  TopologyRequest request{.profile = TextField(args, "profile"),
                          .accelerator_type = TextArg(args, "accelerator_type"),
                          .local_chips = IntArg(args, "local_chips"),
                          .local_rank = IntArg(args, "local_rank"),
                          .local_world_size = IntArg(args, "local_world_size")};
  if (args.contains("visible_chips")) {
    request.has_visible_chips = true;
    for (const Json& chip : args["visible_chips"]) {
      request.visible_chips.push_back(chip.is_string() ? chip.get<std::string>()
                                                       : chip.dump());
    }
  }
  MUSTER_ASSIGN(const auto topology, ReadTopology(request, host));
  Json json =
      Object("accelerator_type", ValueOrNull(topology.accelerator_type));
  json["version"] = OrNull(topology.version);
  json["worker_id"] = ValueOrNull(topology.worker_id);
  json["process_bounds"] = ValueOrNull(topology.process_bounds);
  json["chips_per_process_bounds"] =
      ValueOrNull(topology.chips_per_process_bounds);
  json["process_bounds_size"] = OrNull(topology.process_bounds_size);
  json["local_processes"] = OrNull(topology.local_processes);
  json["local_devices"] = OrNull(topology.local_devices);
  json["task_id"] = OrNull(topology.task_id);
  json["num_hosts"] = OrNull(topology.num_hosts);
  json["process_env"] = OrNull(topology.process_env);
  return json;
}

}  // namespace

const std::map<std::string, Query>& Queries() {
  static const std::map<std::string, Query> queries{
      {"auto", AskAuto},
      {"cluster-roles", AskRole},
      {"cluster-spec", AskClusterSpec},
      {"cluster-validate", AskClusterValidate},
      {"device-count", AskDeviceCount},
      {"endpoint", AskEndpoint},
      {"gce-detect", AskGceDetect},
      {"gce-group", AskGceGroup},
      {"host-filter", AskHostFilter},
      {"host-match", AskHostMatch},
      {"hostlist", AskHostList},
      {"hosts", AskHosts},
      {"local-devices", AskLocalDevices},
      {"rdzv-conf", AskRdzvConf},
      {"slurm-validate", AskSlurmValidate},
      {"tasks-per-node", AskTasksPerNode},
      {"torch-url", AskTorchUrl},
      {"torchrun-validate", AskTorchrunValidate},
      {"tpu-endpoints", AskTpuEndpoints},
      {"tpu-health", AskTpuHealth},
      {"tpu-identity", AskTpuIdentity},
      {"tpu-node-info", AskTpuNodeInfo},
      {"tpu-require-healthy", AskTpuRequireHealthy},
      {"tpu-topology", AskTpuTopology},
      {"tpu-wait-healthy", AskTpuWait},
      {"union", AskUnion}};
  return queries;
}

}  // namespace muster::conformance
