// SPDX-License-Identifier: Apache-2.0
#include "resolve/formats/host_file.h"

#include <algorithm>
#include <map>

#include "base/text.h"

namespace muster::resolve {
namespace {

constexpr std::size_t kMaxHostFile = 8U << 20;
constexpr int kMaxSlots = 65536;
constexpr std::size_t kMaxFileHosts = 65536;

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

}  // namespace

Result<std::vector<HostSlots>> ParseHostFile(std::string_view text,
                                             const std::string& what,
                                             const HostFileRules& rules) {
  if (text.size() > kMaxHostFile) {
    return Error(Cause::kClusterSpecInvalid,
                 what + " has " + BytesText(text.size()) + ", the limit is " +
                     BytesText(kMaxHostFile));
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
      return Wrong(
          what, number,
          "`" + Printable(Trim(line)) + "` does not match: host slots=N");
    }
    const auto [place, added] = places.emplace(one->host, hosts.size());
    if (hosts.size() >= kMaxFileHosts) {
      return Wrong(what, number,
                   "more than " + std::to_string(kMaxFileHosts) + " hosts");
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
    return Error(Cause::kClusterSpecInvalid, what + " contains no host");
  }
  return hosts;
}

}  // namespace muster::resolve
