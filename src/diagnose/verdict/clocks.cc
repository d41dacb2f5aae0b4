// SPDX-License-Identifier: Apache-2.0
#include "diagnose/verdict/clocks.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/text.h"

namespace muster::diagnose {
namespace {

// Members leave a barrier or a step within this time of each other.
constexpr auto kTogether = std::chrono::seconds(2);

using Events = std::map<std::string, WallTime>;  // by key, the first of each

// Whose clock wrote the time: the host where the line tells it, else the file.
std::string MemberOf(const Fact& fact) {
  return fact.Has("host") ? fact.Text("host") : fact.Text("source");
}

// The folder of an attempt in the path ("runs/r1/a2/rank0.out"): its steps
// begin anew.
std::string AttemptOf(const std::string& source) {
  std::string attempt;
  for (const std::string& part : Split(source, '/')) {
    if (part.starts_with('a') && ParseInt(part.substr(1)).value_or(-1) >= 0) {
      attempt = part;
    }
  }
  return attempt;
}

struct Member {
  Events events;
  std::set<std::string> attempts;
  std::set<std::int64_t> ranks;
};

std::map<std::string, Member> MembersOf(const std::vector<Fact>& facts) {
  std::map<std::string, Member> members;
  for (const Fact& fact : facts) {
    if (fact.name == "shared.event" && fact.at != WallTime{}) {
      Member& member = members[MemberOf(fact)];
      member.events.emplace(fact.Text("key"), fact.at);
      member.attempts.insert(AttemptOf(fact.Text("source")));
      member.ranks.insert(fact.Number("rank", -1));
    }
  }
  return members;
}

// Two logs of one rank are of two runs: they share no moment.
bool AreOfOneRun(const Member& one, const Member& other) {
  return one.attempts == other.attempts &&
         (one.ranks != other.ranks || one.ranks.contains(-1));
}

// How far `other` is ahead; nullopt when they share less than two events, or
// when what they share does not agree with itself.
std::optional<WallTime::duration> Ahead(const Events& reference,
                                        const Events& other) {
  std::vector<WallTime::duration> gaps;
  for (const auto& [key, at] : other) {
    if (const auto same = reference.find(key); same != reference.end()) {
      gaps.push_back(at - same->second);
    }
  }
  if (gaps.size() < 2) {
    return std::nullopt;  // a number of a step may be chance
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
                        ", by common events; its timestamps are shifted";
  return fact;
}

}  // namespace

void AlignClocks(std::vector<Fact>& facts) {
  const auto members = MembersOf(facts);
  if (members.size() < 2) {
    return;
  }
  const auto& [reference, first] = *members.begin();
  for (auto it = std::next(members.begin()); it != members.end(); ++it) {
    const auto ahead = AreOfOneRun(first, it->second)
                           ? Ahead(first.events, it->second.events)
                           : std::nullopt;
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

}  // namespace muster::diagnose
