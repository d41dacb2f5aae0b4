// SPDX-License-Identifier: Apache-2.0
#include "pjrt/plugin/open.h"

#include <span>

#include "base/json.h"
#include "base/text.h"
#include "pjrt/plugin/child.h"
#include "pjrt/plugin/client.h"

namespace muster::pjrt {
namespace {

sys::ChildSurroundings SurroundingsOf(const OpenRequest& request) {
  sys::ChildSurroundings surroundings{
      .variables = {{"TPU_STDERR_LOG_LEVEL", "3"},
                    {"TPU_MIN_LOG_LEVEL", "3"},
                    {"TF_CPP_MIN_LOG_LEVEL", "3"}},
      .silent = true};
  for (const auto& variable : request.variables) {
    surroundings.variables.push_back(variable);
  }
  return surroundings;
}

// Only a CPU takes a number of devices, and only the plug-in tells that it is
// one.
Result<Client> Open(const Plugin& plugin, const OpenRequest& request) {
  MUSTER_ASSIGN(Client client, Client::Make(plugin, {}));
  if (!request.cpu_devices ||
      client.devices() == static_cast<std::size_t>(*request.cpu_devices)) {
    return client;
  }
  MUSTER_ASSIGN(const std::string platform, client.Platform());
  if (platform != "cpu") {
    return client;
  }
  return Client::Make(
      plugin, {{"cpu_device_count", std::int64_t{*request.cpu_devices}}});
}

// Device i has i + 1.
Status AddOverAll(const Client& client, Deadline deadline) {
  const auto devices = static_cast<int>(client.devices());
  MUSTER_ASSIGN(const Loaded loaded,
                client.Compile(AllReduceProgram(devices),
                               {.replicas = devices, .partitions = 1}));
  const TensorSpec spec{
      .name = "number", .dtype = DType::kFloat32, .shape = {1}};
  std::vector<Buffer> numbers;
  std::vector<std::vector<abi::Buffer*>> arguments;
  for (abi::Device* device : loaded.devices()) {
    const auto number = static_cast<float>(numbers.size() + 1);
    MUSTER_ASSIGN(
        Buffer buffer,
        client.Put(device, {spec, std::as_bytes(std::span(&number, 1))}));
    numbers.push_back(std::move(buffer));
    arguments.push_back({numbers.back().get()});
  }
  MUSTER_ASSIGN(const auto results, loaded.Execute(arguments));
  const auto count = static_cast<float>(numbers.size());
  const float expected = count * (count + 1) / 2;
  for (std::size_t i = 0; i < results.size(); ++i) {
    MUSTER_ASSIGN(const float sum,
                  client.GetNumber(results[i].front(), deadline));
    if (sum != expected) {
      return Error(Cause::kReplicaDivergence,
                   "the sum over " + Count(devices, "device") + " is " +
                       std::to_string(expected) + ", but device " +
                       std::to_string(i) + " has " + std::to_string(sum));
    }
  }
  return Ok();
}

Result<Json> OpenInChild(const OpenRequest& request, Deadline deadline,
                         const sys::ChildWork::Say& say) {
  say("loading it");
  MUSTER_ASSIGN(const Plugin plugin, Plugin::Load(request.plugin));
  say("opening the devices");
  Json answer{{"minor", plugin.version().minor}};
  {
    MUSTER_ASSIGN(const Client client, Open(plugin, request));
    if (client.devices() == 0) {
      return Error(Cause::kDeviceMissing,
                   "the plug-in opened but has no device");
    }
    MUSTER_ASSIGN(answer["platform"], client.Platform());
    MUSTER_ASSIGN(answer["version"], client.Version());
    MUSTER_ASSIGN(answer["kinds"], client.Kinds());
    say("adding over " +
        Count(static_cast<std::int64_t>(client.devices()), "device"));
    MUSTER_TRY(AddOverAll(client, deadline));
    say("closing the devices");
  }
  return answer;
}

}  // namespace

std::string AllReduceProgram(int devices) {
  std::vector<std::string> ids;
  ids.reserve(static_cast<std::size_t>(devices));
  for (int i = 0; i < devices; ++i) {
    ids.push_back(std::to_string(i));
  }
  const std::string count = std::to_string(devices);
  return "module @muster_all_reduce attributes {mhlo.num_partitions = 1 : i32, "
         "mhlo.num_replicas = " +
         count +
         " : i32} {\n"
         "  func.func public @main(%number: tensor<1xf32>) -> (tensor<1xf32>) "
         "{\n"
         "    %sum = \"stablehlo.all_reduce\"(%number) ({\n"
         "    ^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
         "      %z = stablehlo.add %x, %y : tensor<f32>\n"
         "      stablehlo.return %z : tensor<f32>\n"
         "    }) {replica_groups = dense<[[" +
         Join(ids, ", ") + "]]> : tensor<1x" + count +
         "xi64>} : (tensor<1xf32>) -> tensor<1xf32>\n"
         "    return %sum : tensor<1xf32>\n"
         "  }\n"
         "}\n";
}

Result<Opened> OpenInChild(const OpenRequest& request, Deadline deadline) {
  MUSTER_ASSIGN(const Json json,
                AskInChild({.plugin = request.plugin,
                            .ask =
                                [&](const sys::ChildWork::Say& say) {
                                  return OpenInChild(request, deadline, say);
                                },
                            .hear = request.hear,
                            .surroundings = SurroundingsOf(request)},
                           deadline));
  return Opened{.api_minor = json.value("minor", 0),
                .platform = json.value("platform", std::string()),
                .version = json.value("version", std::string()),
                .kinds = json.value("kinds", std::vector<std::string>())};
}

}  // namespace muster::pjrt
