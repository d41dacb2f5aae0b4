// SPDX-License-Identifier: Apache-2.0
#include "accelerator/tpu_type.h"

#include <algorithm>

#include "accelerator/table.h"
#include "base/text.h"

namespace muster::accelerator {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// A generation that the table lacks is like most.
const Specs& SpecsFor(const TpuType& type) {
  static constexpr Specs kUnknown{.tpu = TpuSpecs{}};
  const Specs* known = FindSpecs(type.generation);
  return known != nullptr && known->tpu ? *known : kUnknown;
}

}  // namespace

std::optional<TpuType> ParseTpuType(std::string_view text) {
  text = Trim(text);
  std::string_view rest = text;
  if (rest.starts_with("tpu")) {
    rest.remove_prefix(3);
  } else if (rest.starts_with("v")) {
    rest.remove_prefix(1);
  } else {
    return std::nullopt;
  }
  const auto digits = std::find_if_not(rest.begin(), rest.end(), IsDigit);
  const auto letters = std::find_if_not(digits, rest.end(), IsLetter);
  if (digits == rest.begin() || letters == rest.end() || *letters != '-') {
    return std::nullopt;
  }
  const auto dash =
      text.size() - static_cast<std::size_t>(rest.end() - letters);
  const auto version =
      ParseInt(rest.substr(0, static_cast<std::size_t>(digits - rest.begin())));
  const auto tail = text.substr(dash + 1);
  const auto count =
      tail.empty() || !IsDigit(tail[0]) ? std::nullopt : ParseInt(tail);
  if (!version || !count || *version > 99 || *count < 1 || *count > 1'000'000) {
    return std::nullopt;
  }
  return TpuType{.text = std::string(text),
                 .generation = std::string(text.substr(0, dash)),
                 .version = static_cast<int>(*version),
                 .count = static_cast<int>(*count)};
}

int CoresPerChip(const TpuType& type) {
  return SpecsFor(type).tpu->cores_per_chip;
}

int DevicesPerChip(const TpuType& type) {
  return SpecsFor(type).devices_per_chip;
}

int HostsOf(const TpuType& type, int chips_per_host) {
  const int per_host = std::max(chips_per_host, 1) * CoresPerChip(type);
  return (type.count + per_host - 1) / per_host;
}

std::vector<int> PossibleHosts(const TpuType& type) {
  const TpuSpecs& tpu = *SpecsFor(type).tpu;
  std::vector<int> hosts{HostsOf(type, tpu.chips_per_host)};
  if (tpu.max_chips_per_host > tpu.chips_per_host) {
    hosts.push_back(HostsOf(type, tpu.max_chips_per_host));
  }
  return hosts;
}

Result<std::vector<std::string>> ParseWorkerEndpoints(std::string_view text) {
  std::vector<std::string> hosts;
  for (const std::string& entry : Split(Trim(text), ',')) {
    const auto fields = Split(Trim(entry), ':');
    const bool triple = fields.size() == 3 && !fields[2].empty();
    const bool plain = fields.size() == 1 && !fields[0].empty();
    if (!triple && !plain) {
      return Error(Cause::kClusterSpecInvalid,
                   "worker-network-endpoints, entry " +
                       std::to_string(hosts.size() + 1) + ", is `" +
                       Printable(entry) +
                       "`, which is neither NAME nor NAME:ID:ADDRESS");
    }
    hosts.push_back(triple ? fields[2] : fields[0]);
  }
  if (hosts.empty()) {
    return Error(Cause::kClusterSpecInvalid,
                 "worker-network-endpoints lists no workers");
  }
  return hosts;
}

}  // namespace muster::accelerator
