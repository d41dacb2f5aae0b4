// SPDX-License-Identifier: Apache-2.0
#include "explain/clocks.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>

#include "base/text.h"

namespace muster::explain {
namespace {

// Members leave a barrier or a step within this time of each other.
constexpr auto kTogether = std::chrono::seconds(2);

using Events = std::map<std::string, WallTime>;  // by key, the first of each

// Whose clock wrote the time: the host where the line tells it, else the file.
std::string MemberOf(const Fact& fact) {
  return fact.Has("host") ? fact.Text("host") : fact.Text("source");
}

std::map<std::string, Events> EventsOfMembers(const std::vector<Fact>& facts) {
  std::map<std::string, Events> members;
  for (const Fact& fact : facts) {
    if (fact.name == "shared.event" && fact.at != WallTime{}) {
      members[MemberOf(fact)].emplace(fact.Text("key"), fact.at);
    }
  }
  return members;
}

// How far `other` is ahead; nullopt when they share nothing, or when what they
// share does not agree with itself.
std::optional<WallTime::duration> Ahead(const Events& reference,
                                        const Events& other) {
  std::vector<WallTime::duration> gaps;
  for (const auto& [key, at] : other) {
    if (const auto same = reference.find(key); same != reference.end()) {
      gaps.push_back(at - same->second);
    }
  }
  if (gaps.empty()) {
    return std::nullopt;
  }
  std::sort(gaps.begin(), gaps.end());
  const bool agree = gaps.back() - gaps.front() <= kTogether;
  return agree ? std::optional(gaps[gaps.size() / 2]) : std::nullopt;
}

Fact OffsetFact(const std::string& member, const std::string& reference,
                WallTime::duration ahead) {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(ahead).count();
  Fact fact;
  fact.name = "clock.offset";
  fact.by = member;
  fact.fields["seconds"] = std::int64_t{seconds};
  fact.fields["text"] = "the clock of " + member + " is " +
                        std::to_string(seconds < 0 ? -seconds : seconds) +
                        " s " + (seconds < 0 ? "behind" : "ahead of") + " " +
                        reference +
                        ", by events that both saw; its times are "
                        "moved";
  return fact;
}

}  // namespace

void AlignClocks(std::vector<Fact>& facts) {
  const auto members = EventsOfMembers(facts);
  if (members.size() < 2) {
    return;
  }
  const auto& [reference, events] = *members.begin();
  for (auto it = std::next(members.begin()); it != members.end(); ++it) {
    const auto ahead = Ahead(events, it->second);
    if (!ahead || (*ahead <= kTogether && *ahead >= -kTogether)) {
      continue;
    }
    for (Fact& fact : facts) {
      if (fact.at != WallTime{} && MemberOf(fact) == it->first) {
        fact.at -= *ahead;
      }
    }
    facts.push_back(OffsetFact(it->first, reference, *ahead));
  }
}

}  // namespace muster::explain
