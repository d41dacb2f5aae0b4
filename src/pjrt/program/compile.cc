// SPDX-License-Identifier: Apache-2.0
#include "pjrt/program/compile.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "pjrt/plugin/child.h"
#include "pjrt/plugin/options.h"

namespace muster::pjrt {
namespace {

// Without the first, libtpu asks the metadata server of Google Cloud for
// minutes; without the second it locks the chips of this host.
sys::ChildSurroundings Surroundings() {
  return {.variables = {{"TPU_SKIP_MDS_QUERY", "1"},
                        {"ALLOW_MULTIPLE_LIBTPU_LOAD", "1"},
                        {"TPU_ACCELERATOR_TYPE", "v5litepod-8"},
                        {"TPU_WORKER_HOSTNAMES", "localhost"},
                        {"TPU_WORKER_ID", "0"},
                        {"TPU_STDERR_LOG_LEVEL", "3"},
                        {"TPU_MIN_LOG_LEVEL", "3"},
                        {"TF_CPP_MIN_LOG_LEVEL", "3"}},
          .silent = true};
}

// "1.24.0" of a list of three numbers.
std::string VersionText(const Values& attributes, const std::string& name) {
  const auto found = attributes.find(name);
  const auto* list =
      found == attributes.end()
          ? nullptr
          : std::get_if<std::vector<std::int64_t>>(&found->second);
  std::vector<std::string> parts;
  for (const std::int64_t number :
       list == nullptr ? std::vector<std::int64_t>() : *list) {
    parts.push_back(std::to_string(number));
  }
  return Join(parts, ".");
}

Result<Json> Describe(const Topology& topology) {
  MUSTER_ASSIGN(const auto devices, topology.Devices());
  Json json{{"devices", devices.size()}};
  if (devices.empty()) {
    return json;
  }
  json["kind"] = devices.front().kind;
  const auto limit =
      devices.front().attributes.find("device_memory_bytes_limit");
  if (limit != devices.front().attributes.end()) {
    if (const auto* bytes = std::get_if<std::int64_t>(&limit->second)) {
      json["memory"] = *bytes;
    }
  }
  return json;
}

std::string TimesText(std::int64_t replicas, std::int64_t partitions) {
  return Count(replicas, "replica") + " x " + Count(partitions, "partition");
}

Result<CompileOptions> OptionsFor(const CompileRequest& request, int devices) {
  const CompileOptions options{.replicas = request.replicas,
                               .partitions = request.partitions.value_or(
                                   std::max(1, devices / request.replicas)),
                               .shardy = request.shardy};
  const std::int64_t needed =
      std::int64_t{options.replicas} * options.partitions;
  if (needed > devices) {
    return Error(Cause::kRankWorldMismatch,
                 TimesText(options.replicas, options.partitions) + " need " +
                     Count(needed, "device") + ", but `" + request.topology +
                     "` has " + std::to_string(devices));
  }
  return options;
}

// A property that is not known is absent or below zero.
void AddProperty(const Values& cost, const std::string& name, Json& json) {
  const auto found = cost.find(name);
  const auto* number =
      found == cost.end() ? nullptr : std::get_if<float>(&found->second);
  if (number != nullptr && *number >= 0) {
    json[name] = *number;
  }
}

Result<Holdings> HoldingsOf(const Executable& executable) {
  MUSTER_ASSIGN(const std::string hlo, executable.OptimizedProgram());
  return ReadHoldings(hlo);
}

Json ToJson(const Holdings& holdings) {
  Json largest = Json::array();
  for (const Array& one : holdings.largest) {
    largest.push_back({{"role", static_cast<int>(one.role)},
                       {"name", one.name},
                       {"shape", one.shape},
                       {"place", one.place},
                       {"bytes", one.bytes},
                       {"padding", one.padding},
                       {"count", one.count}});
  }
  return {{"largest", std::move(largest)},
          {"bytes", holdings.bytes},
          {"padding", holdings.padding}};
}

Result<Json> Compile(const CompileRequest& request, const Topology& topology,
                     int devices) {
  MUSTER_ASSIGN(const CompileOptions options, OptionsFor(request, devices));
  MUSTER_ASSIGN(const Executable executable,
                topology.Compile(request.code, Serialize(options)));
  MUSTER_ASSIGN(const Memory memory, executable.MemoryOfADevice());
  MUSTER_ASSIGN(const std::size_t replicas, executable.Replicas());
  MUSTER_ASSIGN(const std::size_t partitions, executable.Partitions());
  Json json{{"replicas", replicas},
            {"partitions", partitions},
            {"code", memory.code},
            {"arguments", memory.arguments},
            {"outputs", memory.outputs},
            {"alias", memory.alias},
            {"temporaries", memory.temporaries}};
  if (memory.peak) {
    json["peak"] = *memory.peak;
  }
  if (const auto cost = executable.Cost()) {
    AddProperty(*cost, "flops", json);
    AddProperty(*cost, "bytes accessed", json);
  }
  const auto holdings = HoldingsOf(executable);
  json["holdings"] = holdings ? ToJson(*holdings)
                              : Json{{"failed", ErrorToJson(holdings.error())}};
  return json;
}

// usage-invalid names who does not know what.
Error NoTopology(const CompileRequest& request, Error why) {
  if (why.cause() != Cause::kUsageInvalid) {
    return why;
  }
  return Error(Cause::kUsageInvalid, "`" + Printable(request.plugin) +
                                         "` cannot create the topology `" +
                                         Printable(request.topology) +
                                         "`: " + why.message());
}

// All that the child does; what is wrong with the program is `refused`.
Result<Json> CompileInChild(const CompileRequest& request) {
  MUSTER_ASSIGN(const Plugin plugin, Plugin::Load(request.plugin));
  Json answer{{"minor", plugin.version().minor}};
  if (const auto attributes = plugin.Attributes()) {
    answer["stablehlo"] = VersionText(*attributes, "stablehlo_current_version");
  }
  const auto topology = plugin.MakeTopology(request.topology);
  if (!topology) {
    return NoTopology(request, topology.error());
  }
  MUSTER_ASSIGN(answer["topology"], Describe(*topology));
  const auto compiled =
      Compile(request, *topology, answer["topology"].value("devices", 0));
  if (compiled) {
    answer["compiled"] = *compiled;
  } else {
    answer["refused"] = ErrorToJson(compiled.error());
  }
  return answer;
}

template <typename Number>
std::optional<Number> Optional(const Json& json, const char* name) {
  const auto found = json.find(name);
  return found != json.end() && found->is_number()
             ? std::optional(found->get<Number>())
             : std::nullopt;
}

Result<Holdings> HoldingsOf(const Json& json) {
  if (json.contains("failed")) {
    return ErrorFromJson(json["failed"]);
  }
  Holdings holdings{.bytes = json.value("bytes", std::int64_t{0}),
                    .padding = json.value("padding", std::int64_t{0})};
  for (const Json& one : json.value("largest", Json::array())) {
    const int role = one.value("role", 0);
    holdings.largest.push_back(
        {.role = role == 0   ? Role::kArgument
                 : role == 1 ? Role::kOutput
                             : Role::kInside,
         .name = one.value("name", std::string()),
         .shape = one.value("shape", std::string()),
         .place = one.value("place", std::string()),
         .bytes = one.value("bytes", std::int64_t{0}),
         .padding = one.value("padding", std::int64_t{0}),
         .count = one.value("count", 1)});
  }
  return holdings;
}

Compiled CompiledOf(const Json& json) {
  return {.replicas = json.value("replicas", 1),
          .partitions = json.value("partitions", 1),
          .memory = {.code = json.value("code", std::int64_t{0}),
                     .arguments = json.value("arguments", std::int64_t{0}),
                     .outputs = json.value("outputs", std::int64_t{0}),
                     .alias = json.value("alias", std::int64_t{0}),
                     .temporaries = json.value("temporaries", std::int64_t{0}),
                     .peak = Optional<std::int64_t>(json, "peak")},
          .flops = Optional<double>(json, "flops"),
          .bytes_accessed = Optional<double>(json, "bytes accessed"),
          .holdings = HoldingsOf(json.value("holdings", Json::object()))};
}

}  // namespace

Result<CompileAnswer> CompileInChild(const CompileRequest& request,
                                     Deadline deadline) {
  MUSTER_ASSIGN(
      const Json json,
      AskInChild({.plugin = request.plugin,
                  .ask = [&](const auto&) { return CompileInChild(request); },
                  .surroundings = Surroundings()},
                 deadline));
  const Json topology = json.value("topology", Json::object());
  return CompileAnswer{
      .api_minor = json.value("minor", 0),
      .stablehlo = json.value("stablehlo", std::string()),
      .accelerator = {.kind = topology.value("kind", std::string()),
                      .devices = topology.value("devices", 0),
                      .memory = Optional<std::int64_t>(topology, "memory")},
      .result = json.contains("compiled")
                    ? Result<Compiled>(CompiledOf(json["compiled"]))
                    : Result<Compiled>(ErrorFromJson(
                          json.value("refused", Json::object())))};
}

}  // namespace muster::pjrt
