// SPDX-License-Identifier: Apache-2.0
#include "sys/cpu_topology.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

#include "base/text.h"

namespace muster::sys {
namespace {

// "0-3,8": the first number of each range with its last.
std::vector<std::pair<int, int>> RangesOf(std::string_view list) {
  std::vector<std::pair<int, int>> ranges;
  for (const std::string& part : Split(Trim(list), ',')) {
    const auto dash = part.find('-');
    const auto first = ParseInt(part.substr(0, dash));
    const auto last =
        dash == part.npos ? first : ParseInt(part.substr(dash + 1));
    if (first && last) {
      ranges.emplace_back(static_cast<int>(*first), static_cast<int>(*last));
    }
  }
  return ranges;
}

std::map<int, int> NodesOfCores(const Fs& fs) {
  constexpr const char* kNodes = "/sys/devices/system/node";
  std::map<int, int> nodes;
  const auto names = fs.List(kNodes);
  if (!names) {
    return nodes;
  }
  for (const std::string& name : *names) {
    const auto number =
        name.starts_with("node") ? ParseInt(name.substr(4)) : std::nullopt;
    const auto list =
        fs.Read(JoinPath(JoinPath(kNodes, name), "cpulist"), 1U << 16);
    if (!number || !list) {
      continue;
    }
    for (const auto& [first, last] : RangesOf(*list)) {
      for (int id = first; id <= last; ++id) {
        nodes[id] = static_cast<int>(*number);
      }
    }
  }
  return nodes;
}

// The lowest core that shares a physical core with this one.
int PhysicalCore(const Fs& fs, int id) {
  const auto list = fs.Read("/sys/devices/system/cpu/cpu" + std::to_string(id) +
                                "/topology/thread_siblings_list",
                            1U << 12);
  const auto ranges = RangesOf(list ? *list : std::string());
  return ranges.empty() ? id : ranges.front().first;
}

}  // namespace

std::vector<Core> InTopologyOrder(const Fs& fs, const std::vector<int>& ids) {
  const auto nodes = NodesOfCores(fs);
  std::vector<std::tuple<int, int, int>> order;
  for (const int id : ids) {
    const auto node = nodes.find(id);
    order.emplace_back(node == nodes.end() ? 0 : node->second,
                       PhysicalCore(fs, id), id);
  }
  std::ranges::sort(order);
  std::vector<Core> cores;
  cores.reserve(order.size());
  for (const auto& [node, physical, id] : order) {
    cores.push_back({.id = id, .node = node});
  }
  return cores;
}

}  // namespace muster::sys
