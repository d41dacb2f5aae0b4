// SPDX-License-Identifier: Apache-2.0
#include "identify/target.h"

#include <thread>

#include "base/json.h"
#include "base/text.h"
#include "base/words/suggest.h"

namespace muster::identify {
namespace {

constexpr std::string_view kTcp = "tcp";

Error Usage(const std::string& message) {
  return Error(Cause::kUsageInvalid, message);
}

// The protocol's name for a scheme.
Result<std::string> ProtocolOf(const std::string& scheme) {
  if (scheme == "https") {
    return std::string("tls");
  }
  if (scheme == kTcp || FindProtocol(scheme) != nullptr) {
    return scheme;
  }
  std::vector<std::string> known{"https", std::string(kTcp)};
  for (const Protocol* one : AllProtocols()) {
    known.emplace_back(one->name);
  }
  const auto meant = DidYouMean(scheme, known);
  return Usage("unknown target scheme `" + Printable(scheme) + "`" +
               (meant ? ", did you mean `" + *meant + "`?"
                      : ": expected one of " + Join(known, ", ")));
}

Result<Target> ParseTarget(const std::string& text, std::string& scheme) {
  const auto colon = text.find("://");
  if (colon != std::string::npos) {
    scheme = text.substr(0, colon);
  }
  Target target{.text = text};
  if (!scheme.empty()) {
    MUSTER_ASSIGN(target.protocol, ProtocolOf(scheme));
  }
  std::string_view place(text);
  place.remove_prefix(colon == std::string::npos ? 0 : colon + 3);
  place = place.substr(0, place.find('/'));
  const Protocol* protocol = FindProtocol(target.protocol);
  auto address =
      Address::Parse(place, protocol == nullptr ? 0 : protocol->port);
  if (!address || address->host.empty() || address->port == 0) {
    return Usage("target `" + Printable(text) + "` is " +
                 (address ? "without a host or a port"
                          : "not an address: " + address.error().message()) +
                 ", expected HOST:PORT, such as grpc://10.0.0.2:8470");
  }
  target.address = *std::move(address);
  return target;
}

Target Expect(const Sourced<Address>& address, std::string protocol) {
  return {.text = ToString(address.value),
          .address = address.value,
          .protocol = std::move(protocol)};
}

Json ToJson(const ServedTask& task) {
  return {{"job", task.job},
          {"index", task.index},
          {"state", std::string(ToString(task.state))}};
}

TargetReply Ask(const Target& target,
                const TcpProbeConnection::Options& options) {
  const auto began = Deadline::Clock::now();
  TargetReply seen{.target = target};
  auto wire = TcpProbeConnection::Connect(target.address, options);
  seen.took = Deadline::Clock::now() - began;
  if (wire) {
    seen.number = ToString((*wire)->number());
    seen.server = Recognize(**wire, target.protocol);
  } else {
    seen.missed = std::move(wire).error();
  }
  return seen;
}

}  // namespace

Result<std::vector<Target>> ParseTargets(std::string_view list) {
  std::vector<Target> targets;
  std::string scheme;
  for (const std::string& one : Split(list, ',')) {
    MUSTER_ASSIGN(auto target, ParseTarget(std::string(Trim(one)), scheme));
    targets.push_back(std::move(target));
  }
  if (targets.empty() || targets.size() > kMaxTargets) {
    return Usage(targets.empty() ? "a target is empty, expected HOST:PORT"
                                 : std::to_string(targets.size()) +
                                       " targets are given, but at most " +
                                       std::to_string(kMaxTargets) +
                                       " can be probed at once");
  }
  return targets;
}

Result<std::vector<Target>> TargetsOfFramework(const Cluster& cluster,
                                               const std::string& framework) {
  std::vector<Target> targets;
  if (framework != "tf") {
    if (cluster.coordinator && cluster.coordinator->value.port != 0) {
      targets.push_back(Expect(*cluster.coordinator,
                               framework == "jax" ? "jax" : "tcpstore"));
    }
  } else {
    for (const Member& member : cluster.members) {
      if (member.address && member.address->value.port != 0) {
        targets.push_back(Expect(*member.address, "tf"));
        targets.back().task =
            ServedTask{.job = member.task, .index = member.index};
      }
    }
  }
  if (targets.empty() || targets.size() > kMaxTargets) {
    const std::string nowhere =
        framework == "tf"
            ? "no TensorFlow address configured: set TPU_NAME, --tpu or "
              "--target"
            : "no coordinator address configured: set --hosts or --target";
    return Error(Cause::kLaunchEnvMissing,
                 targets.empty()
                     ? nowhere
                     : "the cluster has " + std::to_string(targets.size()) +
                           " addresses, but at most " +
                           std::to_string(kMaxTargets) +
                           " can be probed at once");
  }
  return targets;
}

bool IsExpected(const Target& target, const ServerIdentity& server) {
  if (target.protocol == kTcp) {
    return true;
  }
  if (target.protocol.empty()) {
    return FindProtocol(server.protocol) != nullptr && !server.mute;
  }
  if (target.protocol == "grpc") {
    return server.grpc && !server.mute;
  }
  return server.protocol == target.protocol;
}

std::vector<TargetReply> AskTargets(
    const std::vector<Target>& targets,
    const TcpProbeConnection::Options& options) {
  MUSTER_CHECK(targets.size() <= kMaxTargets);
  std::vector<TargetReply> seen(targets.size());
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    threads.emplace_back([&, i] { seen[i] = Ask(targets[i], options); });
  }
  threads.clear();
  return seen;
}

Json ToJson(const TargetReply& seen) {
  Json json{{"target", seen.target.text},
            {"address", ToString(seen.target.address)},
            {"expected", seen.target.protocol},
            {"connect_ms",
             std::chrono::duration<double, std::milli>(seen.took).count()}};
  if (seen.target.task) {
    json["place"] = ToJson(*seen.target.task);
  }
  if (seen.missed) {
    json["missed"] = {{"cause", std::string(Label(seen.missed->cause()))},
                      {"message", seen.missed->message()}};
    return json;
  }
  json["number"] = seen.number;
  json["protocol"] = seen.server.protocol;
  json["who"] = seen.server.text;
  json["devices"] = Json::array();
  for (const ServedDevice& device : seen.server.devices) {
    json["devices"].push_back({{"name", device.name},
                               {"type", device.type},
                               {"memory", device.memory},
                               {"incarnation", device.incarnation}});
  }
  if (seen.server.self) {
    json["task"] = ToJson(*seen.server.self);
  }
  json["tasks"] = Json::array();
  for (const ServedTask& task : seen.server.tasks) {
    json["tasks"].push_back(ToJson(task));
  }
  return json;
}

}  // namespace muster::identify
