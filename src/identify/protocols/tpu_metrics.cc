// SPDX-License-Identifier: Apache-2.0
// The metrics that libtpu serves on port 8431 while a process holds the chips.
// Facts: reference/tpu.md c.5.
#include <set>

#include "base/text.h"
#include "identify/service_probe.h"
#include "wire/proto_fields.h"

namespace muster::identify::tpu_metrics {
namespace {

constexpr std::string_view kMemory = "tpu.runtime.hbm.memory.total.bytes";
constexpr std::size_t kMaxMetrics = 10'000;

std::string Method(std::string_view name) {
  return "/tpu.monitoring.runtime.RuntimeMetricService/" + std::string(name);
}

// The field of a nested message; empty: there is none.
std::string_view In(std::string_view message, std::uint32_t number) {
  for (wire::FieldReader at(message); at.Next();) {
    if (at.number() == number && at.has_bytes()) {
      return at.bytes();
    }
  }
  return {};
}

std::uint64_t NumberIn(std::string_view message, std::uint32_t number) {
  for (wire::FieldReader at(message); at.Next();) {
    if (at.number() == number) {
      return at.value();
    }
  }
  return 0;
}

std::optional<int> CountMetrics(ProbeConnection& wire) {
  const auto reply = wire.Call(Method("ListSupportedMetrics"), "");
  if (!reply || reply->code != channel::kCallOk) {
    return std::nullopt;
  }
  int count = 0;
  for (wire::FieldReader at(reply->body); at.Next();) {
    count += at.number() == 1 && !In(at.bytes(), 1).empty() ? 1 : 0;
  }
  return count;
}

// A metric: 1 attribute (1 key, 2 value: 3 the device), 3 gauge (2 a number).
std::vector<ServedDevice> DevicesOf(ProbeConnection& wire) {
  std::vector<ServedDevice> devices;
  const auto reply =
      wire.Call(Method("GetRuntimeMetric"), wire::BytesField(1, kMemory));
  if (!reply || reply->code != channel::kCallOk) {
    return devices;
  }
  std::set<std::uint64_t> seen;
  for (wire::FieldReader at(In(reply->body, 1)); at.Next();) {
    if (at.number() != 3 || !at.has_bytes() || devices.size() >= kMaxMetrics) {
      continue;
    }
    const std::uint64_t id = NumberIn(In(In(at.bytes(), 1), 2), 3);
    if (seen.insert(id).second) {
      devices.push_back({.name = "TPU:" + std::to_string(id),
                         .type = "TPU",
                         .memory = static_cast<std::int64_t>(
                             NumberIn(In(at.bytes(), 3), 2))});
    }
  }
  return devices;
}

std::optional<ServerIdentity> Ask(ProbeConnection& wire, ProbeReply&) {
  const auto metrics = CountMetrics(wire);
  ServerIdentity server{.protocol = "tpu-metrics", .devices = DevicesOf(wire)};
  if (metrics.value_or(0) == 0 && server.devices.empty()) {
    return std::nullopt;
  }
  server.text = "the metrics server of a TPU runtime (" +
                Count(static_cast<int>(server.devices.size()), "device");
  if (!server.devices.empty() && server.devices.front().memory > 0) {
    server.text +=
        " of " +
        BytesText(static_cast<std::uint64_t>(server.devices.front().memory));
  }
  server.text += metrics ? ", " + Count(*metrics, "metric") + ")" : ")";
  return server;
}

}  // namespace

extern const Protocol kProtocol;
constinit const Protocol kProtocol{
    .name = "tpu-metrics",
    .title = "the metrics server of a TPU runtime",
    .port = 8431,
    .speaks = Speaks::kInCalls,
    .order = 30,
    .ask = Ask};

}  // namespace muster::identify::tpu_metrics
