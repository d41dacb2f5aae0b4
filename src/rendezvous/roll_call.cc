// SPDX-License-Identifier: Apache-2.0
#include "rendezvous/roll_call.h"

#include <algorithm>
#include <functional>

#include "base/redact/redact.h"
#include "base/text.h"
#include "channel/evidence.h"
#include "cluster/members.h"

namespace muster::rendezvous {
namespace {

constexpr std::size_t kNamesInAMessage = 8;
constexpr const char* kObserver = "coordinator, roll call";

// Upstream first: a wrong description explains more than a silent address.
int Order(Cause cause) {
  constexpr Cause kOrder[] = {
      Cause::kDuplicateIdentity,  Cause::kVerPeerMismatch,
      Cause::kRankWorldMismatch,  Cause::kNetNameResolution,
      Cause::kNetWrongEndpoint,   Cause::kNetPortInUse,
      Cause::kNetTimeoutFiltered, Cause::kPeerDied,
      Cause::kHeartbeatMissed};
  return static_cast<int>(
      std::find(std::begin(kOrder), std::end(kOrder), cause) -
      std::begin(kOrder));
}

// What an agent said of itself, as evidence.
Fact Claim(const wire::Hello& hello, const std::string& subject, WallTime at) {
  return Fact{.name = "hello.claims",
              .fields = {{"who", Who(hello)},
                         {"version", hello.version},
                         {"protocol", hello.protocol},
                         {"cluster_key", hello.cluster_key}},
              .subject = subject,
              .by = kObserver,
              .at = at};
}

std::optional<Error> OtherMembers(const wire::Hello& ours,
                                  const wire::Hello& theirs) {
  if (ours.cluster_key == theirs.cluster_key) {
    return std::nullopt;
  }
  std::string difference = "a different member list";
  if (ours.members.size() != theirs.members.size()) {
    difference = Count(static_cast<int>(theirs.members.size()), "member") +
                 ", but this run has " + std::to_string(ours.members.size());
  } else {
    const auto [here, there] = std::mismatch(
        ours.members.begin(), ours.members.end(), theirs.members.begin());
    if (here != ours.members.end()) {
      difference += ": its rank " +
                    std::to_string(here - ours.members.begin()) + " is " +
                    Printable(*there) + ", but here it is " + *here;
    }
  }
  return Error(Cause::kRankWorldMismatch,
               Who(theirs) + " was started for " + difference);
}

std::optional<Error> OtherProgram(const wire::Hello& ours,
                                  const wire::Hello& theirs) {
  if (ours.program_digest.empty() || theirs.program_digest.empty() ||
      ours.program_digest == theirs.program_digest) {
    return std::nullopt;
  }
  const std::string program = Printable(Redacted(ours.program));
  std::string what = Who(theirs) + " runs `" +
                     Printable(Redacted(theirs.program)) + "`, " + Who(ours) +
                     " runs `" + program + "`";
  if (ours.program == theirs.program) {
    what = Who(theirs) + " and " + Who(ours) + " run the same command `" +
           program + "`, but the program file differs (digest " +
           Printable(theirs.program_digest) + " and " + ours.program_digest +
           ")";
  }
  return Error(Cause::kVerPeerMismatch, std::move(what));
}

}  // namespace

std::string ToString(std::span<const Missing> missing, int expected) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const Missing& member : missing) {
    auto group = std::find_if(
        groups.begin(), groups.end(),
        [&](const auto& seen) { return seen.first == member.observed; });
    if (group == groups.end()) {
      group = groups.insert(groups.end(), {member.observed, {}});
    }
    group->second.push_back(member.name);
  }
  std::vector<std::string> parts;
  parts.reserve(groups.size());
  for (const auto& [observed, names] : groups) {
    parts.push_back(JoinSome(names, kNamesInAMessage) + ": " + observed);
  }
  int members = 0;
  for (const Missing& member : missing) {
    members += member.members;
  }
  return "waiting for " + std::to_string(members) + " of " +
         Count(expected, "member") + ": " + Join(parts, "; ");
}

RollCall::RollCall(Cluster cluster, wire::Hello ours)
    : cluster_(std::move(cluster)), ours_(std::move(ours)) {
  std::map<int, int> nodes;
  for (const Member& member : cluster_.members) {
    first_.push_back(
        member.node < 0
            ? member.rank
            : nodes.emplace(member.node, member.rank).first->second);
  }
}

int RollCall::FirstOf(int rank) const {
  const auto at = static_cast<std::size_t>(rank);
  return at < first_.size() ? first_[at] : rank;
}

void RollCall::Begin(int attempt, sys::Clock::Steady deadline, Duration limit) {
  attempt_ = attempt;
  deadline_ = deadline;
  limit_ = limit;
  calling_ = true;
  seen_.clear();
  fatal_.clear();
  unanswered_ = cluster_.members.size();
  for (auto& [link, attendee] : attendees_) {
    attendee.answered = false;
  }
}

std::vector<int> RollCall::RanksWith(const Member& member) const {
  std::vector<int> ranks;
  for (const Member& other : cluster_.members) {
    if (member.node < 0 ? other.rank == member.rank
                        : other.node == member.node) {
      ranks.push_back(other.rank);
    }
  }
  return ranks;
}

std::string RollCall::NameOf(const Member& first) const {
  const auto ranks = RanksWith(first);
  if (ranks.size() == 1) {
    return Name(first);
  }
  return "ranks " + std::to_string(ranks.front()) + " to " +
         std::to_string(ranks.back()) +
         (first.address ? " (" + ToString(first.address->value) + ")" : "");
}

std::optional<int> RollCall::Holder(int rank) const {
  const auto at = holders_.find(rank);
  return at == holders_.end() ? std::nullopt : std::optional(at->second);
}

void RollCall::Forget(int link) {
  const auto at = attendees_.find(link);
  for (const int rank : at->second.hello.ranks) {
    holders_.erase(rank);
  }
  if (at->second.answered) {
    unanswered_ += at->second.hello.ranks.size();
  }
  attendees_.erase(at);
}

// Why an agent cannot take part, whoever else attends.
std::optional<Error> RollCall::Unfit(const wire::Hello& theirs) const {
  if (auto other = wire::Incompatible(ours_, theirs)) {
    return other;
  }
  if (auto other = OtherMembers(ours_, theirs)) {
    return other;
  }
  const auto size = static_cast<int>(cluster_.members.size());
  for (const int rank : theirs.ranks) {
    if (rank < 0 || rank >= size) {
      return Error(Cause::kRankWorldMismatch,
                   Who(theirs) + " is not a rank of " + Count(size, "member"));
    }
  }
  if (theirs.ranks.empty() ||
      std::adjacent_find(theirs.ranks.begin(), theirs.ranks.end(),
                         std::greater_equal<>()) != theirs.ranks.end()) {
    return Error(
        Cause::kRankWorldMismatch,
        Who(theirs) +
            " does not list its ranks once each and in ascending order");
  }
  const Member& first =
      cluster_.members[static_cast<std::size_t>(theirs.ranks.front())];
  if (first.node >= 0 && theirs.ranks != RanksWith(first)) {
    return Error(Cause::kRankWorldMismatch, Who(theirs) + " does not start " +
                                                NameOf(first) +
                                                ", as this run has it");
  }
  return OtherProgram(ours_, theirs);
}

RollCall::Answer RollCall::Attends(int link, const wire::Hello& identity,
                                   WallTime at) {
  Answer answer;
  bool settled = false;
  std::optional<Error> refusal = Unfit(identity);
  for (const int rank : identity.ranks) {
    const auto holder = Holder(rank);
    if (!holder || *holder == link) {
      continue;
    }
    const Attendee& other = attendees_.at(*holder);
    if (other.hello.host == identity.host && other.hello.pid == identity.pid) {
      answer.replaces = *holder;
      continue;
    }
    settled = settled || other.settled;
    if (!refusal) {
      const std::string subject = "rank " + std::to_string(rank);
      refusal = Error(Cause::kDuplicateIdentity, "two agents claim " + subject +
                                                     ": " + Who(other.hello) +
                                                     " and " + Who(identity))
                    .With(Claim(other.hello, subject, at));
    }
  }
  if (refusal) {
    const Fact claim = Claim(identity, Who(identity), at);
    answer.refusal = channel::WithFacts(*std::move(refusal), {&claim, 1});
    if (!settled && calling_) {
      fatal_.push_back(*answer.refusal);
    }
    answer.replaces = std::nullopt;
    return answer;
  }
  Attendee attendee{.hello = identity};
  if (answer.replaces) {
    attendee.settled = attendees_.at(*answer.replaces).settled;
    Forget(*answer.replaces);
  }
  for (const int rank : identity.ranks) {
    holders_[rank] = link;
  }
  attendees_[link] = std::move(attendee);
  return answer;
}

void RollCall::Answers(int link, const wire::Hello& hello) {
  const auto at = attendees_.find(link);
  if (at == attendees_.end() || hello.attempt != attempt_) {
    return;
  }
  // Who it is was judged when it introduced itself and cannot change.
  wire::Hello& known = at->second.hello;
  wire::Hello said = hello;
  said.ranks = known.ranks;
  said.host = known.host;
  said.pid = known.pid;
  known = std::move(said);
  if (!at->second.answered) {
    at->second.answered = true;
    unanswered_ -= known.ranks.size();
  }
}

void RollCall::Left(int link, const Error& why) {
  const auto at = attendees_.find(link);
  if (at == attendees_.end()) {
    return;
  }
  for (const int rank : at->second.hello.ranks) {
    seen_[FirstOf(rank)].left = why;
    seen_[FirstOf(rank)].sighting = std::nullopt;
  }
  Forget(link);
}

void RollCall::Sees(int rank, const channel::ProbeResult& sighting,
                    WallTime at) {
  Seen& seen = seen_[rank];
  // A stranger that went away, or just goes, tells more than the place where it
  // was.
  const bool gone = seen.sighting &&
                    seen.sighting->what == channel::ProbeOutcome::kStranger &&
                    sighting.what != channel::ProbeOutcome::kStranger &&
                    sighting.what != channel::ProbeOutcome::kAgent;
  if (!gone) {
    seen.sighting = sighting;
  }
  seen.at = at;
  ++seen.probes;
}

void RollCall::Reports(const Fact& fact) {
  if (fact.name == "port.taken") {
    seen_[FirstOf(static_cast<int>(fact.Number("rank", -1)))].told = fact;
  }
}

std::vector<const Member*> RollCall::Absent() const {
  std::set<int> answered;
  for (const auto& [link, attendee] : attendees_) {
    if (attendee.answered) {
      answered.insert(attendee.hello.ranks.begin(), attendee.hello.ranks.end());
    }
  }
  std::vector<const Member*> absent;
  for (const Member& member : cluster_.members) {
    if (FirstOf(member.rank) == member.rank &&
        !answered.contains(member.rank)) {
      absent.push_back(&member);
    }
  }
  return absent;
}

std::vector<int> RollCall::Unseen() const {
  std::vector<int> ranks;
  for (const Member* member : Absent()) {
    const bool own = std::find(ours_.ranks.begin(), ours_.ranks.end(),
                               member->rank) != ours_.ranks.end();
    if (member->address && !own && !Holder(member->rank)) {
      ranks.push_back(member->rank);
    }
  }
  return ranks;
}

std::vector<Missing> RollCall::MissingMembers() const {
  std::vector<Missing> missing;
  for (const Member* member : Absent()) {
    missing.push_back({.rank = member->rank,
                       .members = static_cast<int>(RanksWith(*member).size()),
                       .name = NameOf(*member),
                       .observed = WhyMissing(*member).observed});
  }
  return missing;
}

RollCall::Reason RollCall::WhyMissing(const Member& member) const {
  const auto at = seen_.find(member.rank);
  const Seen seen = at == seen_.end() ? Seen{} : at->second;
  if (Holder(member.rank)) {
    if (seen.told) {
      const auto holder = seen.told->Text("holder");
      return {Cause::kNetPortInUse,
              "its agent waits until port " + seen.told->Text("port") +
                  " is free" +
                  (holder.empty() ? "" : ", in use by " + Printable(holder)),
              {*seen.told}};
    }
    return {Cause::kRendezvousTimeout,
            "its agent has joined but not replied yet",
            {}};
  }
  Reason reason = WhyUnseen(member, seen);
  if (seen.left) {
    const auto& lost = seen.left->evidence();
    reason.facts.insert(reason.facts.begin(), lost.begin(), lost.end());
    reason.cause = seen.left->cause();
    reason.observed = "its agent disconnected (" + seen.left->message() + ")" +
                      (seen.sighting ? "; now " + reason.observed : "");
  }
  return reason;
}

// Nobody attends for the member: what its address shows.
RollCall::Reason RollCall::WhyUnseen(const Member& member,
                                     const Seen& seen) const {
  if (!seen.sighting) {
    return {Cause::kRendezvousTimeout,
            member.address ? "has not joined yet"
                           : "has not joined yet (no source contains its "
                             "address, so it cannot be probed)",
            {}};
  }
  if (seen.sighting->what == channel::ProbeOutcome::kAgent) {
    return WhyNotThisAgent(member, seen);
  }
  return {channel::CauseOf(*seen.sighting),
          Observed(*seen.sighting, member.address->value),
          seen.sighting->error->evidence()};
}

// An agent answers at the address of a member, and still the member is missing.
RollCall::Reason RollCall::WhyNotThisAgent(const Member& member,
                                           const Seen& seen) const {
  const wire::Hello& there = *seen.sighting->agent;
  Reason reason{channel::CauseOf(*seen.sighting),
                Observed(*seen.sighting, member.address->value),
                {Claim(there, Name(member), seen.at)}};
  if (auto other = wire::Incompatible(ours_, there)) {
    reason.cause = other->cause();
    reason.observed = other->message();
  } else if (auto list = OtherMembers(ours_, there)) {
    reason.cause = list->cause();
    reason.observed = list->message();
  } else if (std::find(there.ranks.begin(), there.ranks.end(), member.rank) !=
             there.ranks.end()) {
    reason.cause = Cause::kRendezvousTimeout;
    reason.observed =
        "its agent is running but has not connected to the coordinator yet";
  }
  return reason;
}

std::vector<int> RollCall::AnsweredLinks() const {
  std::vector<int> links;
  for (const auto& [link, attendee] : attendees_) {
    if (attendee.answered) {
      links.push_back(link);
    }
  }
  std::sort(links.begin(), links.end(), [&](int a, int b) {
    return attendees_.at(a).hello.ranks < attendees_.at(b).hello.ranks;
  });
  return links;
}

RollCall::Decision RollCall::Decide(sys::Clock::Steady now) {
  Decision decision;
  if (!fatal_.empty()) {
    decision.state = State::kFailed;
    decision.errors = fatal_;
  } else if (unanswered_ == 0) {
    decision.state = State::kComplete;
    decision.warnings = Warnings();
    for (auto& [link, attendee] : attendees_) {
      attendee.settled = true;
    }
  } else if (now >= deadline_) {
    decision.state = State::kFailed;
    decision.errors = ErrorsAtTheDeadline();
  } else {
    return decision;
  }
  decision.links = AnsweredLinks();
  calling_ = false;
  return decision;
}

std::vector<Error> RollCall::ErrorsAtTheDeadline() const {
  std::vector<Reason> reasons;
  std::vector<std::vector<const Member*>> members;
  for (const Member* member : Absent()) {
    Reason reason = WhyMissing(*member);
    std::size_t i = 0;
    while (i < reasons.size() && (reasons[i].cause != reason.cause ||
                                  reasons[i].observed != reason.observed)) {
      ++i;
    }
    if (i == reasons.size()) {
      reasons.push_back(std::move(reason));
      members.emplace_back();
    } else {
      reasons[i].facts.insert(reasons[i].facts.end(), reason.facts.begin(),
                              reason.facts.end());
    }
    members[i].push_back(member);
  }
  std::vector<Error> errors;
  for (std::size_t i = 0; i < reasons.size(); ++i) {
    errors.push_back(Late(reasons[i], members[i]));
  }
  std::stable_sort(errors.begin(), errors.end(),
                   [](const Error& a, const Error& b) {
                     return Order(a.cause()) < Order(b.cause());
                   });
  return errors;
}

// The error of members that are missing for one reason.
Error RollCall::Late(const Reason& reason,
                     const std::vector<const Member*>& members) const {
  std::vector<std::string> names;
  int probes = 0;
  for (const Member* member : members) {
    names.push_back(NameOf(*member));
    const auto seen = seen_.find(member->rank);
    probes += seen == seen_.end() ? 0 : seen->second.probes;
  }
  std::string text = JoinSome(names, kNamesInAMessage) +
                     " did not join within " + muster::ToString(limit_) + ": " +
                     reason.observed;
  if (probes > 0) {
    text += " (probed " + Count(probes, "time") + ")";
  }
  return channel::WithFacts(Error(reason.cause, std::move(text)), reason.facts);
}

// What does not keep the run from starting, but may explain it later.
std::vector<Finding> RollCall::Warnings() const {
  std::vector<std::string> others;
  for (const auto& [link, attendee] : attendees_) {
    if (!attendee.hello.environment_digest.empty() &&
        !ours_.environment_digest.empty() &&
        attendee.hello.environment_digest != ours_.environment_digest) {
      others.push_back(Who(attendee.hello));
    }
  }
  if (others.empty()) {
    return {};
  }
  Finding finding{.cause = Cause::kVerPeerMismatch};
  finding.severity = Severity::kWarning;
  finding.confidence = Confidence::kCertain;
  finding.what = "the environment of " + JoinSome(others, kNamesInAMessage) +
                 " differs from that "
                 "of " +
                 Who(ours_) + " in relevant variables";
  finding.subjects = others;
  finding.fixes.push_back(
      {.text = "start all members with the same environment",
       .command = "",
       .safety = Safety::kSafe});
  return {std::move(finding)};
}

const wire::Hello* RollCall::HelloOf(int link) const {
  const auto at = attendees_.find(link);
  return at == attendees_.end() ? nullptr : &at->second.hello;
}

}  // namespace muster::rendezvous
