// SPDX-License-Identifier: Apache-2.0
#include "host_slots.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace muster::conformance {
namespace {

constexpr std::size_t kLongestList = 1U << 20;
constexpr int kMaxSlots = 65536;

std::optional<int> SlotNumber(std::string_view text) {
  const auto number = ParseInt(text);
  return number && *number >= 0 && *number <= kMaxSlots
             ? std::optional(static_cast<int>(*number))
             : std::nullopt;
}

// Parts of a text between separators, each with its place.
struct Part {
  std::string_view text;
  std::size_t at = 0;
};
std::vector<Part> Parts(Part whole, char separator) {
  std::vector<Part> parts;
  std::size_t at = 0;
  while (at <= whole.text.size()) {
    const auto end =
        std::min(whole.text.find(separator, at), whole.text.size());
    parts.push_back({whole.text.substr(at, end - at), whole.at + at});
    at = end + 1;
  }
  return parts;
}

Error BadFilter(const Part& part, const std::string& problem) {
  return Error(Cause::kClusterSpecInvalid,
               problem + " at position " + std::to_string(part.at + 1));
}

// The slots of a known host that "HOST:SLOT,SLOT" names, all without a colon.
Status NameSlots(const Part& part, const SlotLists& hosts,
                 std::map<std::string, std::vector<int>>& named) {
  const auto colon = part.text.find(':');
  const std::string host(Trim(part.text.substr(0, colon)));
  const auto known =
      std::find_if(hosts.begin(), hosts.end(),
                   [&](const auto& one) { return one.first == host; });
  if (known == hosts.end()) {
    return BadFilter(part,
                     "the host `" + Printable(host) + "` is not in the list");
  }
  auto& slots = named[host];
  if (colon == std::string_view::npos) {
    slots.insert(slots.end(), known->second.begin(), known->second.end());
    return Ok();
  }
  for (const Part& one :
       Parts({part.text.substr(colon + 1), part.at + colon + 1}, ',')) {
    const auto slot = SlotNumber(Trim(one.text));
    const auto& all = known->second;
    if (!slot || std::find(all.begin(), all.end(), *slot) == all.end()) {
      return BadFilter(one, "the host `" + Printable(host) + "` has no slot `" +
                                Printable(one.text) + "`");
    }
    slots.push_back(*slot);
  }
  return Ok();
}

}  // namespace

Result<std::vector<HostSlots>> ParseHostSlots(std::string_view text) {
  std::vector<HostSlots> hosts;
  if (text.size() > kLongestList) {
    return Error(Cause::kClusterSpecInvalid,
                 "a list of " + BytesText(text.size()) + ", the limit is " +
                     BytesText(kLongestList));
  }
  for (const Part& entry : Parts({text}, ',')) {
    const auto colon = entry.text.rfind(':');
    const auto host = Trim(entry.text.substr(0, colon));
    const auto slots = colon == std::string_view::npos
                           ? std::nullopt
                           : SlotNumber(Trim(entry.text.substr(colon + 1)));
    if (!slots || host.empty()) {
      return Error(Cause::kClusterSpecInvalid,
                   "entry " + std::to_string(hosts.size() + 1) + ", `" +
                       Printable(entry.text.substr(0, 200)) +
                       "`, is not HOST:SLOTS at position " +
                       std::to_string(entry.at + 1));
    }
    hosts.push_back({.host = std::string(host), .slots = *slots});
  }
  if (hosts.empty()) {
    return Error(Cause::kClusterSpecInvalid, "the list names no host");
  }
  return hosts;
}

Result<std::vector<Placed>> PlaceProcesses(const std::vector<HostSlots>& hosts,
                                           int least, std::optional<int> most) {
  std::vector<Placed> placed;
  std::map<int, int> cross_sizes;
  for (const HostSlots& one : hosts) {
    const auto first = placed.size();
    for (int local = 0; local < one.slots; ++local) {
      const int rank = static_cast<int>(placed.size());
      if ((most && rank >= *most) || rank >= kMaxSlots) {
        break;
      }
      placed.push_back({.host = one.host,
                        .rank = rank,
                        .local_rank = local,
                        .cross_rank = cross_sizes[local]++});
    }
    for (auto i = first; i < placed.size(); ++i) {
      placed[i].local_size = static_cast<int>(placed.size() - first);
    }
  }
  if (static_cast<int>(placed.size()) < least) {
    return Error(Cause::kClusterSpecInvalid,
                 std::to_string(least) +
                     " processes are asked for, the hosts "
                     "have " +
                     Count(std::ssize(placed), "slot"));
  }
  for (Placed& one : placed) {
    one.size = static_cast<int>(placed.size());
    one.cross_size = cross_sizes[one.local_rank];
  }
  return placed;
}

Result<SlotLists> FilterHosts(const SlotLists& hosts, std::string_view include,
                              std::string_view exclude) {
  if (!include.empty() && !exclude.empty()) {
    return Error(Cause::kClusterSpecInvalid,
                 "include and exclude are both given: they exclude each other");
  }
  if (include.empty() && exclude.empty()) {
    return hosts;
  }
  std::map<std::string, std::vector<int>> named;
  for (const Part& part : Parts({include.empty() ? exclude : include}, '@')) {
    MUSTER_TRY(NameSlots(part, hosts, named));
  }
  SlotLists selected;
  for (const auto& [host, slots] : hosts) {
    const auto& chosen = named[host];
    std::vector<int> kept;
    for (const int slot : slots) {
      const bool is_named =
          std::find(chosen.begin(), chosen.end(), slot) != chosen.end();
      if (is_named == exclude.empty()) {
        kept.push_back(slot);
      }
    }
    if (!kept.empty()) {
      selected.emplace_back(host, std::move(kept));
    }
  }
  return selected;
}

}  // namespace muster::conformance
