// SPDX-License-Identifier: Apache-2.0
#include "tpu_topology.h"

#include <algorithm>
#include <array>

#include "accelerator/local_devices.h"
#include "accelerator/tpu_type.h"
#include "base/text.h"
#include "cloud/auth/metadata.h"
#include "resolve/formats/endpoint.h"
#include "resolve/formats/key_values.h"
#include "resolve/variables.h"

namespace muster::conformance {
namespace {

using namespace resolve;  // NOLINT(google-build-using-namespace): its tests

// "2,2,1".
using Bounds = std::array<int, 3>;

Result<Bounds> ParseBounds(std::string_view text, const std::string& what) {
  const auto wrong = [&](std::size_t at) {
    return Error(Cause::kClusterSpecInvalid,
                 what + " is `" + Printable(text.substr(0, 200)) +
                     "`, expected three numbers from 1 to 1024 as in 2,2,1: "
                     "not so at position " +
                     std::to_string(at + 1));
  };
  Bounds bounds{};
  std::size_t at = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const auto comma = std::min(text.find(',', at), text.size());
    const auto number = ParseInt(Trim(text.substr(at, comma - at)));
    const bool last = i + 1 == bounds.size();
    if (!number || *number < 1 || *number > 1024) {
      return wrong(at);
    }
    if (last != (comma == text.size())) {
      return wrong(comma);
    }
    bounds[i] = static_cast<int>(*number);
    at = comma + 1;
  }
  return bounds;
}

std::string ToString(const Bounds& bounds) {
  return std::to_string(bounds[0]) + "," + std::to_string(bounds[1]) + "," +
         std::to_string(bounds[2]);
}

Bounds Product(const Bounds& a, const Bounds& b) {
  return {a[0] * b[0], a[1] * b[1], a[2] * b[2]};
}

int SizeOf(const Bounds& bounds) {
  return bounds[0] * bounds[1] * bounds[2];
}

// Hosts of a v2 or v3 slice as bounds, which no metadata tell.
std::optional<Bounds> HostBoundsOf(std::string_view type) {
  static const std::map<std::string_view, Bounds> table{
      {"v2-8", {1, 1, 1}},     {"v2-32", {2, 2, 1}},  {"v2-128", {4, 4, 1}},
      {"v2-256", {4, 8, 1}},   {"v2-512", {8, 8, 1}}, {"v3-8", {1, 1, 1}},
      {"v3-32", {2, 2, 1}},    {"v3-64", {2, 4, 1}},  {"v3-128", {4, 4, 1}},
      {"v3-256", {4, 8, 1}},   {"v3-512", {8, 8, 1}}, {"v3-1024", {8, 16, 1}},
      {"v3-2048", {16, 16, 1}}};
  const auto found = table.find(type);
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

constexpr int kFirstPort = 8476;

Text FromMetadata(const cloud::Metadata& metadata, const std::string& name) {
  if (!metadata.SwitchedOff().empty()) {
    return std::nullopt;
  }
  const auto value = metadata.Attribute(name);
  return value && *value && !(*value)->empty()
             ? Text(Sourced<std::string>{**value,
                                         cloud::Metadata::SourceOf(name)})
             : Text();
}

Number ToNumber(const Text& text) {
  const auto number = text ? ParseInt(Trim(text->value)) : std::nullopt;
  return number && *number >= 0 && *number <= 65536
             ? Number(Sourced<int>{static_cast<int>(*number), text->source})
             : Number();
}

// Variables of the process, else what tpu-env says.
class TpuValues {
 public:
  explicit TpuValues(const sys::Host& host) : host_(host) {
    const cloud::Metadata metadata(host);
    if (metadata.SwitchedOff().empty()) {
      const auto text = metadata.Attribute("tpu-env");
      if (text) {
        tpu_env_ = ParseTpuEnv(text->value_or("")).values;
      }
    }
  }

  // The first variable that is set, else the first key of tpu-env.
  Text First(const std::vector<std::string>& variables,
             const std::vector<std::string>& keys) const {
    if (auto text = FirstText(host_.env, variables)) {
      return text;
    }
    for (const std::string& key : keys) {
      const auto found = tpu_env_.find(key);
      if (found != tpu_env_.end() && !found->second.empty()) {
        return Sourced<std::string>{found->second,
                                    "metadata attribute tpu-env, " + key};
      }
    }
    return std::nullopt;
  }

 private:
  const sys::Host& host_;
  std::map<std::string, std::string> tpu_env_;
};

std::vector<std::string> WorkerHosts(const sys::Host& host) {
  const Text names = TextVariable(host.env, "TPU_WORKER_HOSTNAMES");
  if (names) {
    return Split(names->value, ',');
  }
  const Text endpoints =
      FromMetadata(cloud::Metadata(host), "worker-network-endpoints");
  auto hosts = endpoints ? accelerator::ParseWorkerEndpoints(endpoints->value)
                         : std::vector<std::string>{"localhost"};
  return hosts ? *std::move(hosts) : std::vector<std::string>{"localhost"};
}

// One process for each chip, as torch_xla starts them.
Status FillProcessEnv(const TopologyRequest& request, const sys::Host& host,
                      TpuTopology& topology) {
  std::optional<Bounds> hosts;
  Bounds chips{2, 2, 1};
  const std::string type =
      topology.accelerator_type ? topology.accelerator_type->value : "";
  if (topology.version.value_or(0) <= 3) {
    hosts = HostBoundsOf(type);
  }
  if (!hosts && topology.process_bounds) {
    MUSTER_ASSIGN(hosts, ParseBounds(topology.process_bounds->value,
                                     topology.process_bounds->source));
    if (topology.chips_per_process_bounds) {
      MUSTER_ASSIGN(chips,
                    ParseBounds(topology.chips_per_process_bounds->value,
                                topology.chips_per_process_bounds->source));
    }
  }
  if (!hosts) {
    return Error(Cause::kLaunchEnvMissing,
                 "the bounds of the hosts of TPU `" + Printable(type) +
                     "` are unknown: TPU_PROCESS_BOUNDS is not set");
  }
  const int rank = request.local_rank.value_or(0);
  const int size = request.local_world_size.value_or(1);
  auto workers = WorkerHosts(host);
  if (workers.size() == 1) {
    workers = {"localhost"};
  }
  std::vector<std::string> addresses;
  for (const std::string& worker : workers) {
    for (int local = 0; local < size; ++local) {
      addresses.push_back(JoinHostPort(worker, kFirstPort + local));
    }
  }
  const int worker = topology.worker_id ? topology.worker_id->value : 0;
  topology.process_env = std::map<std::string, std::string>{
      {"TPU_CHIPS_PER_PROCESS_BOUNDS", "1,1,1"},
      {"TPU_PROCESS_BOUNDS", ToString(Product(*hosts, chips))},
      {"CLOUD_TPU_TASK_ID", std::to_string(worker * size + rank)},
      {"TPU_PROCESS_PORT", std::to_string(kFirstPort + rank)},
      {"TPU_PROCESS_ADDRESSES", Join(addresses, ",")},
      {"TPU_VISIBLE_CHIPS", std::to_string(rank)}};
  return Ok();
}

// A part of a host's chips for one process, as Ray gives them.
std::map<std::string, std::string> PartOfHost(const TopologyRequest& request,
                                              int chips) {
  std::map<std::string, std::string> env;
  const auto visible = request.visible_chips.size();
  if (static_cast<int>(visible) == chips) {
    return env;
  }
  env["TPU_VISIBLE_CHIPS"] = Join(request.visible_chips, ",");
  if (visible == 1 || visible == 2) {
    env["TPU_CHIPS_PER_HOST_BOUNDS"] = visible == 1 ? "1,1,1" : "1,2,1";
    env["TPU_HOST_BOUNDS"] = "1,1,1";
  }
  return env;
}

Status FillCounts(const TopologyRequest& request, TpuTopology& topology) {
  const auto type =
      topology.accelerator_type
          ? accelerator::ParseTpuType(topology.accelerator_type->value)
          : std::nullopt;
  if (topology.process_bounds) {
    MUSTER_ASSIGN(const Bounds bounds,
                  ParseBounds(topology.process_bounds->value,
                              topology.process_bounds->source));
    topology.process_bounds_size = SizeOf(bounds);
  }
  if (request.local_chips) {
    const int chips = *request.local_chips;
    topology.local_processes =
        std::min(chips, topology.process_bounds_size.value_or(chips));
    if (type) {
      topology.local_devices = chips * accelerator::DevicesPerChip(*type);
    }
  }
  if (type) {
    topology.version = type->version;
    topology.num_hosts =
        accelerator::HostsOf(*type, request.local_chips.value_or(4));
  }
  return Ok();
}

}  // namespace

TpuIdentity IdentifyTpu(const sys::Host& host) {
  const cloud::Metadata metadata(host);
  TpuIdentity identity;
  identity.accelerator_type = TextVariable(host.env, "TPU_ACCELERATOR_TYPE");
  if (!identity.accelerator_type) {
    identity.accelerator_type = FromMetadata(metadata, "accelerator-type");
  }
  const auto type =
      identity.accelerator_type
          ? accelerator::ParseTpuType(identity.accelerator_type->value)
          : std::nullopt;
  if (type) {
    identity.generation = type->generation;
  } else {
    identity.accelerator_type.reset();
  }
  Text worker = TextVariable(host.env, "TPU_WORKER_ID");
  if (!worker) {
    worker = FromMetadata(metadata, "agent-worker-number");
  }
  identity.worker_id = ToNumber(worker);
  identity.name = TextVariable(host.env, "TPU_NAME");
  if (!identity.name) {
    identity.name = FromMetadata(metadata, "instance-id");
  }
  return identity;
}

Result<TpuTopology> ReadTopology(const TopologyRequest& request,
                                 const sys::Host& host) {
  const TpuValues values(host);
  TpuTopology topology;
  topology.accelerator_type =
      request.accelerator_type
          ? Text(Sourced<std::string>{*request.accelerator_type, "argument"})
          : values.First({"TPU_ACCELERATOR_TYPE"}, {"ACCELERATOR_TYPE"});
  topology.process_bounds =
      values.First({"TPU_PROCESS_BOUNDS", "TPU_HOST_BOUNDS"},
                   {"TPU_PROCESS_BOUNDS", "HOST_BOUNDS"});
  topology.chips_per_process_bounds = values.First(
      {"TPU_CHIPS_PER_PROCESS_BOUNDS", "TPU_CHIPS_PER_HOST_BOUNDS"},
      {"TPU_CHIPS_PER_PROCESS_BOUNDS", "CHIPS_PER_HOST_BOUNDS"});
  MUSTER_ASSIGN(const auto task, NumberVariable(host.env, "CLOUD_TPU_TASK_ID"));
  if (task) {
    topology.task_id = task->value;
  }
  Text worker =
      values.First({"CLOUD_TPU_TASK_ID", "TPU_WORKER_ID"}, {"WORKER_ID"});
  if (!worker) {
    worker = FromMetadata(cloud::Metadata(host), "agent-worker-number");
  }
  topology.worker_id = ToNumber(worker);
  MUSTER_TRY(FillCounts(request, topology));
  if (request.has_visible_chips) {
    topology.process_env = PartOfHost(
        request,
        request.local_chips.value_or(accelerator::FindLocalTpu(host).chips));
  } else if (request.local_rank || request.local_world_size) {
    MUSTER_TRY(FillProcessEnv(request, host, topology));
  }
  return topology;
}

}  // namespace muster::conformance
