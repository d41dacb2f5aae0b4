// SPDX-License-Identifier: Apache-2.0
#include "identify/target_findings.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"

namespace muster::identify {
namespace {

using SeenPtr = const TargetReply*;

constexpr std::size_t kMaxLines = 64;

// The name that a TPU worker gives to the job which its clients call worker.
std::string JobOf(const std::string& job) {
  return job == "tpu_worker" ? "worker" : job;
}

std::string PlaceOf(const TargetReply& seen) {
  return seen.target.text +
         (seen.target.task ? " (" + seen.target.task->Text() + ")" : "");
}

std::string TitleOf(const std::string& protocol) {
  const Protocol* known = FindProtocol(protocol);
  return known == nullptr ? protocol : std::string(known->title);
}

Fact SeenFact(const TargetReply& seen, std::string what, WallTime at) {
  return {.name = "target.answered",
          .fields = {{"text", std::move(what)},
                     {"peer", ToString(seen.target.address)}},
          .subject = ToString(seen.target.address),
          .by = "protocol probe",
          .at = at};
}

std::string AndOthers(std::size_t count) {
  return count < 2 ? "" : " and " + Count(static_cast<int>(count) - 1, "other");
}

Finding Make(Cause cause, std::string what, const std::vector<Fact>& facts) {
  return MakeFinding(cause, std::move(what), Confidence::kCertain, facts);
}

struct Case {
  std::span<const TargetReply> seen;
  WallTime at;
  std::vector<Finding> findings;

  Fact Say(SeenPtr one, const std::string& what) const {
    return SeenFact(*one, one->target.text + ": " + what, at);
  }
};

void JudgeMissed(Case& one) {
  std::map<Cause, std::vector<SeenPtr>> missed;
  for (const TargetReply& seen : one.seen) {
    if (seen.missed) {
      missed[seen.missed->cause()].push_back(&seen);
    }
  }
  for (const auto& [cause, all] : missed) {
    std::vector<Fact> facts;
    for (const SeenPtr each : all) {
      facts.push_back(SeenFact(*each, each->missed->message(), one.at));
    }
    const TargetReply& first = *all.front();
    one.findings.push_back(
        Make(cause,
             all.size() == 1
                 ? (first.target.task ? first.target.task->Text() + ": " : "") +
                       first.missed->message()
                 : PlaceOf(first) + AndOthers(all.size()) +
                       " cannot be reached: " + first.missed->message(),
             facts));
  }
}

// Who speaks gRPC where that is expected, and does not say who it is.
bool IsUnreported(const TargetReply& seen) {
  const Protocol* expected = FindProtocol(seen.target.protocol);
  return !seen.missed && (seen.server.mute || seen.server.unasked) &&
         !IsExpected(seen.target, seen.server) &&
         (seen.target.protocol.empty() ||
          (expected != nullptr && expected->speaks == Speaks::kInCalls));
}

// It may be who is expected, and stand still. What only this program cannot ask
// is no error.
void JudgeUnreported(Case& one, bool mute) {
  std::vector<Fact> facts;
  SeenPtr first = nullptr;
  bool any_expected = false;
  for (const TargetReply& seen : one.seen) {
    if (IsUnreported(seen) && seen.server.mute == mute) {
      first = first == nullptr ? &seen : first;
      any_expected = any_expected || !seen.target.protocol.empty();
      facts.push_back(one.Say(&seen, seen.server.text));
    }
  }
  if (first == nullptr) {
    return;
  }
  Finding finding =
      MakeFinding(mute ? Cause::kHeartbeatMissed : Cause::kNetWrongEndpoint,
                  PlaceOf(*first) + AndOthers(facts.size()) +
                      (facts.size() == 1 ? " is" : " are") + " served by " +
                      first->server.text,
                  mute ? Confidence::kLikely : Confidence::kPossible, facts);
  if (!mute || !any_expected) {
    finding.severity = Severity::kWarning;
  }
  one.findings.push_back(std::move(finding));
}

void JudgeStrangers(Case& one) {
  std::vector<SeenPtr> wrong;
  for (const TargetReply& seen : one.seen) {
    if (!seen.missed && !IsExpected(seen.target, seen.server) &&
        !IsUnreported(seen)) {
      wrong.push_back(&seen);
    }
  }
  if (wrong.empty()) {
    return;
  }
  std::vector<Fact> facts;
  bool any_expected = false;
  for (const SeenPtr each : wrong) {
    any_expected = any_expected || !each->target.protocol.empty();
    facts.push_back(one.Say(each, each->server.text + " responds there"));
  }
  const TargetReply& first = *wrong.front();
  Finding finding =
      Make(Cause::kNetWrongEndpoint,
           PlaceOf(first) + AndOthers(wrong.size()) +
               (wrong.size() == 1 ? " is" : " are") + " served by " +
               first.server.text +
               (first.target.protocol.empty()
                    ? ""
                    : ", not by " + TitleOf(first.target.protocol)),
           facts);
  if (!any_expected) {
    // Nobody said what it should be: it may be right as it is.
    finding.severity = Severity::kWarning;
    finding.confidence = Confidence::kPossible;
  }
  one.findings.push_back(std::move(finding));
}

// What of several servers was seen alike.
struct Told {
  SeenPtr first = nullptr;
  std::vector<Fact> facts;

  std::string Workers() const {
    return "the worker at " + PlaceOf(*first) + AndOthers(facts.size());
  }
};

Told WhoTold(Case& one, std::string ServerIdentity::*what) {
  Told told;
  for (const TargetReply& seen : one.seen) {
    if (const std::string& text = seen.server.*what; !text.empty()) {
      told.first = told.first == nullptr ? &seen : told.first;
      told.facts.push_back(one.Say(&seen, text));
    }
  }
  return told;
}

void JudgeRestarts(Case& one) {
  const Told told = WhoTold(one, &ServerIdentity::restarted);
  if (told.first != nullptr) {
    one.findings.push_back(
        Make(Cause::kPeerDied,
             told.Workers() + " ended or was restarted between two calls: " +
                 told.first->server.restarted,
             told.facts));
  }
}

// It has answered once: a worker that is busy or stopped, or whose network is.
void JudgeLate(Case& one) {
  const Told told = WhoTold(one, &ServerIdentity::late);
  if (told.first != nullptr) {
    Finding finding = MakeFinding(
        Cause::kHeartbeatMissed,
        told.Workers() +
            " responded once and then stopped: " + told.first->server.late,
        Confidence::kLikely, told.facts);
    finding.severity = Severity::kWarning;
    one.findings.push_back(std::move(finding));
  }
}

// Which task answers, where a list has a place for one.
std::map<std::pair<std::string, int>, std::vector<SeenPtr>> Claims(
    std::span<const TargetReply> all) {
  std::map<std::pair<std::string, int>, std::vector<SeenPtr>> claims;
  for (const TargetReply& seen : all) {
    if (seen.target.task && seen.server.self) {
      const ServedTask& self = *seen.server.self;
      claims[{JobOf(self.job), self.index}].push_back(&seen);
    }
  }
  return claims;
}

bool IsInPlace(const TargetReply& seen) {
  return JobOf(seen.target.task->job) == JobOf(seen.server.self->job) &&
         seen.target.task->index == seen.server.self->index;
}

void JudgeTwins(Case& one, std::set<SeenPtr>& told) {
  for (const auto& [task, all] : Claims(one.seen)) {
    if (all.size() < 2) {
      continue;
    }
    std::vector<Fact> facts;
    std::set<std::uint64_t> incarnations;
    for (const SeenPtr each : all) {
      told.insert(each);
      facts.push_back(one.Say(each, each->server.text));
      incarnations.insert(each->server.devices.front().incarnation);
    }
    one.findings.push_back(Make(
        Cause::kDuplicateIdentity,
        all.front()->server.self->Text() + " responds at " +
            std::to_string(all.size()) + " listed addresses: " +
            (incarnations.size() == 1 ? "they reach the same process"
                                      : std::to_string(incarnations.size()) +
                                            " processes have that task"),
        facts));
  }
}

void JudgePlaces(Case& one, const std::set<SeenPtr>& told) {
  std::vector<Fact> facts;
  SeenPtr first = nullptr;
  for (const TargetReply& seen : one.seen) {
    if (seen.target.task && seen.server.self && !IsInPlace(seen) &&
        !told.contains(&seen)) {
      first = first == nullptr ? &seen : first;
      facts.push_back(one.Say(&seen, "the list has " +
                                         seen.target.task->Text() +
                                         " at this address, but it reports " +
                                         seen.server.self->Text()));
    }
  }
  if (first != nullptr) {
    one.findings.push_back(Make(
        Cause::kNetWrongEndpoint,
        first->server.self->Text() + " responds at the address of " +
            first->target.task->Text() + " (" +
            ToString(first->target.address) + ")" +
            (facts.size() > 1
                 ? ": the order of the list differs from that of the workers"
                 : ""),
        facts));
  }
}

bool MakesReplicas(const TargetReply& seen) {
  const auto& self = seen.server.self;
  return seen.server.protocol == "tf" &&
         (!self || (self->job != "ps" && self->job != "evaluator"));
}

void JudgeUneven(Case& one) {
  std::vector<SeenPtr> workers;
  int most = 0;
  bool tpu = false;
  for (const TargetReply& seen : one.seen) {
    if (MakesReplicas(seen)) {
      workers.push_back(&seen);
      most = std::max(most, Accelerators(seen.server.devices));
      tpu = tpu || std::any_of(
                       seen.server.devices.begin(), seen.server.devices.end(),
                       [](const auto& device) { return device.type == "TPU"; });
    }
  }
  std::vector<Fact> facts;
  SeenPtr first = nullptr;
  for (const SeenPtr each : workers) {
    if (Accelerators(each->server.devices) < most) {
      first = first == nullptr ? each : first;
      facts.push_back(one.Say(each, each->server.text));
    }
  }
  if (first == nullptr) {
    return;
  }
  const std::string noun = tpu ? "TPU core" : "GPU";
  Finding finding =
      Make(Cause::kDeviceMissing,
           "the worker at " + PlaceOf(*first) + AndOthers(facts.size()) +
               " reports " + Count(Accelerators(first->server.devices), noun) +
               ", but others " + std::to_string(most),
           facts);
  if (!tpu) {
    finding.severity = Severity::kWarning;
  }
  one.findings.push_back(std::move(finding));
}

// A leader that waits although nothing else is wrong: the task may be on its
// way, or it has another leader's address.
void JudgeWaiting(Case& one) {
  for (const TargetReply& seen : one.seen) {
    for (const ServedTask& task : seen.server.tasks) {
      if (task.state != TaskState::kConnected) {
        Finding finding = Make(Cause::kRendezvousTimeout,
                               "the leader at " + PlaceOf(seen) +
                                   " waits for " + task.Text() + ", which is " +
                                   std::string(ToString(task.state)),
                               {one.Say(&seen, seen.server.text)});
        finding.severity = Severity::kWarning;
        one.findings.push_back(std::move(finding));
        return;
      }
    }
  }
}

void JudgeReplicas(Case& one, int expected) {
  const int found = ReplicasOf(one.seen);
  if (found == expected) {
    return;
  }
  std::vector<Fact> facts;
  for (const TargetReply& seen : one.seen) {
    if (!seen.missed) {
      facts.push_back(one.Say(&seen, seen.server.text));
    }
  }
  one.findings.push_back(Make(Cause::kRankWorldMismatch,
                              TextOfReplicas(one.seen) + ", but " +
                                  std::to_string(expected) + " are expected",
                              facts));
}

}  // namespace

int ReplicasOf(std::span<const TargetReply> seen) {
  int accelerators = 0;
  int workers = 0;
  for (const TargetReply& one : seen) {
    if (MakesReplicas(one)) {
      ++workers;
      accelerators += Accelerators(one.server.devices);
    }
  }
  return accelerators > 0 ? accelerators : workers;
}

std::string TextOfReplicas(std::span<const TargetReply> seen) {
  int workers = 0;
  std::set<int> each;
  for (const TargetReply& one : seen) {
    if (MakesReplicas(one)) {
      ++workers;
      each.insert(Accelerators(one.server.devices));
    }
  }
  std::string text =
      Count(ReplicasOf(seen), "replica") + ": " + Count(workers, "worker");
  if (each.size() == 1 && *each.begin() > 0) {
    text += ", " + Count(*each.begin(), "accelerator") + " each";
  } else if (each.size() == 1) {
    text += " without an accelerator";
  }
  return text;
}

std::vector<Finding> JudgeReach(std::span<const TargetReply> seen,
                                WallTime at) {
  Case one{.seen = seen, .at = at};
  JudgeMissed(one);
  JudgeStrangers(one);
  JudgeUnreported(one, true);
  JudgeUnreported(one, false);
  JudgeRestarts(one);
  JudgeLate(one);
  return std::move(one.findings);
}

std::vector<Finding> JudgeTasks(std::span<const TargetReply> seen,
                                WallTime at) {
  Case one{.seen = seen, .at = at};
  std::set<SeenPtr> told;
  JudgeTwins(one, told);
  JudgePlaces(one, told);
  return std::move(one.findings);
}

std::vector<Finding> JudgeInventory(std::span<const TargetReply> seen,
                                    std::optional<int> replicas, WallTime at) {
  Case one{.seen = seen, .at = at};
  JudgeUneven(one);
  if (replicas && one.findings.empty()) {
    JudgeReplicas(one, *replicas);
  }
  return std::move(one.findings);
}

std::vector<Finding> JudgeTargets(std::span<const TargetReply> seen,
                                  std::optional<int> replicas, WallTime at) {
  Case one{.seen = seen, .at = at};
  one.findings = JudgeReach(seen, at);
  const auto add = [&](std::vector<Finding> more) {
    one.findings.insert(one.findings.end(), more.begin(), more.end());
  };
  add(JudgeTasks(seen, at));
  // Who is not there has no chips: that would be told twice.
  add(JudgeInventory(seen, one.findings.empty() ? replicas : std::nullopt, at));
  if (one.findings.empty()) {
    JudgeWaiting(one);
  }
  return std::move(one.findings);
}

std::vector<std::string> LinesOf(std::span<const TargetReply> seen) {
  std::size_t width = 0;
  for (const TargetReply& one : seen) {
    width = std::max(width, std::min<std::size_t>(one.target.text.size(), 40));
  }
  std::vector<std::string> lines;
  for (const TargetReply& one : seen) {
    if (lines.size() == kMaxLines) {
      lines.push_back("and " + std::to_string(seen.size() - kMaxLines) +
                      " more: --output json lists all");
      break;
    }
    std::string line = one.target.text;
    line.append(width > line.size() ? width - line.size() + 2 : 2, ' ');
    lines.push_back(line +
                    (one.missed ? one.missed->message() : one.server.text));
  }
  return lines;
}

}  // namespace muster::identify
