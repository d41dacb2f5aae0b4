// SPDX-License-Identifier: Apache-2.0
#include "resolve/formats/host_file.h"

#include <algorithm>

#include "base/text.h"

namespace muster::resolve {
namespace {

constexpr std::size_t kLongestText = 8U << 20;
constexpr std::size_t kLongestList = 1U << 20;
constexpr int kMaxSlots = 65536;
constexpr std::size_t kMaxHosts = 65536;

std::vector<std::string> Words(std::string_view line) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : line) {
    if (c == ' ' || c == '\t' || c == '\r') {
      if (!word.empty()) {
        words.push_back(std::move(word));
      }
      word.clear();
    } else {
      word += c;
    }
  }
  if (!word.empty()) {
    words.push_back(std::move(word));
  }
  return words;
}

std::optional<int> SlotNumber(std::string_view text) {
  const auto number = ParseInt(text);
  return number && *number >= 0 && *number <= kMaxSlots
             ? std::optional(static_cast<int>(*number))
             : std::nullopt;
}

// "slots=4" for the key "slots".
std::optional<int> ValueOf(std::string_view word, std::string_view key) {
  return word.starts_with(key) && word.substr(key.size()).starts_with("=")
             ? SlotNumber(word.substr(key.size() + 1))
             : std::nullopt;
}

std::optional<HostSlots> ParseLine(const std::vector<std::string>& words,
                                   const HostFileRules& rules) {
  HostSlots one{.host = words[0], .slots = -1};
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (const auto slots = ValueOf(words[i], "slots"); slots && one.slots < 0) {
      one.slots = *slots;
      continue;
    }
    auto most = ValueOf(words[i], "max_slots");
    if (!most) {
      most = ValueOf(words[i], "max-slots");
    }
    if (!most) {
      return std::nullopt;
    }
    one.max_slots = most;
  }
  if (one.slots < 0) {
    if (!rules.default_slots) {
      return std::nullopt;
    }
    one.slots = *rules.default_slots;
  }
  return one;
}

Error Wrong(const std::string& what, std::size_t line,
            const std::string& problem) {
  return Error(Cause::kClusterSpecInvalid,
               what + ", line " + std::to_string(line) + ": " + problem);
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

Result<std::vector<HostSlots>> ParseHostFile(std::string_view text,
                                             const std::string& what,
                                             const HostFileRules& rules) {
  if (text.size() > kLongestText) {
    return Error(Cause::kClusterSpecInvalid,
                 what + " has " + BytesText(text.size()) + ", the limit is " +
                     BytesText(kLongestText));
  }
  std::vector<HostSlots> hosts;
  std::map<std::string, std::size_t> places;
  std::size_t number = 0;
  for (const std::string& line : Split(text, '\n')) {
    ++number;
    const auto words = Words(std::string_view(line).substr(0, line.find('#')));
    if (words.empty()) {
      continue;
    }
    auto one = ParseLine(words, rules);
    if (!one) {
      return Wrong(what, number,
                   "`" + Printable(Trim(line)) + "` is not: host slots=N");
    }
    const auto [place, added] = places.emplace(one->host, hosts.size());
    if (hosts.size() >= kMaxHosts) {
      return Wrong(what, number,
                   "more than " + std::to_string(kMaxHosts) + " hosts");
    }
    if (added) {
      hosts.push_back(*std::move(one));
    } else if (rules.add_repeated) {
      int& slots = hosts[place->second].slots;
      slots = std::min(slots + one->slots, kMaxSlots);
    } else {
      return Wrong(what, number,
                   "the host `" + Printable(one->host) + "` occurs twice");
    }
  }
  if (hosts.empty()) {
    return Error(Cause::kClusterSpecInvalid, what + " lists no host");
  }
  return hosts;
}

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

}  // namespace muster::resolve
