// SPDX-License-Identifier: Apache-2.0
#include "diagnose/verdict/hypothesis.h"

#include <chrono>

#include "base/signal_name.h"
#include "base/text.h"
#include "diagnose/verdict/judgement.h"
#include "diagnose/verdict/last_lines.h"

namespace muster::diagnose {
namespace {

std::string Where(wire::Phase phase, std::uint64_t step) {
  switch (phase) {
    case wire::Phase::kStart:
      return " before its first step";
    case wire::Phase::kStep:
      return " at step " + std::to_string(step);
    case wire::Phase::kEvaluate:
    case wire::Phase::kCheckpoint:
      return " in phase " + std::string(ToString(phase)) + " after step " +
             std::to_string(step);
    case wire::Phase::kFinished:
      return " after its training loop";
    case wire::Phase::kUnknown:
      break;
  }
  return "";
}

std::string NameOf(const std::string& name, int rank) {
  return name.empty() ? "rank " + std::to_string(rank) : name;
}

// How it ended, without judgement: "was killed by SIGKILL".
std::string Did(const RankEnd& end) {
  const int signal = SignalOf(end.wait_status);
  if (end.could_not_start) {
    return "could not be started";
  }
  if (FindFact(end, kGuardianFact) != nullptr) {
    return "ended with its guardian process, which was killed";
  }
  if (signal == 0) {
    return "exited with status " + std::to_string(CodeOf(end.wait_status));
  }
  return (IsCrash(signal) ? "crashed with " : "was killed by ") +
         SignalName(signal);
}

Evidence FromOomFact(const Fact& fact) {
  std::string what = "the OOM-kill counter of its cgroup increased by " +
                     std::to_string(fact.Number("kills", 1));
  if (const auto rss = fact.Number("max_rss_bytes"); rss > 0) {
    what +=
        "; its peak memory was " + BytesText(static_cast<std::uint64_t>(rss));
  }
  return {what, fact.by, fact.at};
}

Evidence FromGuardianFact(const Fact& fact) {
  return {
      "the guardian process, parent of the ranks of this host, was killed "
      "by " +
          fact.Text("signal_name") + ", which muster did not send",
      fact.by, fact.at};
}

void AddEvidence(const RankEnd& end, Suspect& suspect) {
  const std::string rank = "rank " + std::to_string(end.rank);
  if (!end.error_message.empty()) {
    suspect.evidence.push_back({end.error_message, rank, end.at});
  }
  for (const Fact& fact : end.facts) {
    if (fact.name == kOomFact || fact.name == kOomCounterFact) {
      suspect.evidence.push_back(FromOomFact(fact));
    } else if (fact.name == kGuardianFact) {
      suspect.evidence.push_back(FromGuardianFact(fact));
    } else if (fact.name != "rank.usage") {
      suspect.evidence.push_back(FromFact(fact));
    }
  }
  std::string how = Did(end);
  if (SignalOf(end.wait_status) != 0 && suspect.weight != Weight::kStopped &&
      FindFact(end, kGuardianFact) == nullptr) {
    how += end.sent_signal == 0
               ? ", which muster did not send"
               : ", after muster sent " + SignalName(end.sent_signal);
  }
  suspect.evidence.push_back({how, "agent of " + rank, end.at});
  const std::string line = DecisiveLine(end.last_lines);
  if (!line.empty() && suspect.weight != Weight::kStopped) {
    suspect.evidence.push_back({line, rank + ", stderr", end.at});
  }
}

std::string DidAndWhy(const RankEnd& end, const Suspect& suspect) {
  if (suspect.weight == Weight::kMemory &&
      suspect.confidence != Confidence::kCertain) {
    return Did(end) + Where(end.phase, end.step) +
           " after the OOM killer killed one of its processes";
  }
  if (suspect.weight == Weight::kMemory) {
    return "was killed by the kernel's OOM killer" + Where(end.phase, end.step);
  }
  std::string text = Did(end) + Where(end.phase, end.step);
  if (suspect.wait_status != end.wait_status) {
    text = "failed" + Where(end.phase, end.step) + " before muster stopped it";
  }
  if (!end.error_message.empty()) {
    return text + ": " + end.error_message;
  }
  if (suspect.cause == Cause::kProgramNotFound) {
    const Fact* failed = FindFact(end, "spawn.failed");
    return failed == nullptr ? text : text + ": " + FromFact(*failed).what;
  }
  const std::string line = DecisiveLine(end.last_lines);
  return suspect.kind == RootKind::kProgram && !line.empty()
             ? text + ": " + line
             : text;
}

}  // namespace

std::optional<Suspect> SuspectOf(const RankEnd& end,
                                 const AttemptEnd& attempt) {
  if (end.wait_status == 0 && !end.could_not_start) {
    return std::nullopt;
  }
  const Judgement judgement = JudgeEnd(end, attempt);
  Suspect suspect;
  suspect.weight = judgement.weight;
  suspect.cause = judgement.cause;
  suspect.confidence = judgement.confidence;
  suspect.rank = end.rank;
  suspect.when = end.at;
  suspect.wait_status = end.wait_status;
  if (suspect.weight == Weight::kLateDeath && EndedAsAsked(end)) {
    // It never came to its own exit status; that of an exception is 1.
    suspect.wait_status = CodeOf(end.wait_status) != 0 ? end.wait_status : 256;
  }
  suspect.kind = SignalOf(suspect.wait_status) != 0 ? RootKind::kSignal
                                                    : RootKind::kProgram;
  suspect.step = end.step;
  suspect.where = Where(end.phase, end.step);
  suspect.name = NameOf(end.name, end.rank);
  suspect.did = DidAndWhy(end, suspect);
  suspect.key = std::string(Label(suspect.cause));
  if (suspect.weight != Weight::kMemory &&
      suspect.weight != Weight::kReported) {
    suspect.key += " " + std::to_string(end.wait_status) + " " +
                   DecisiveLine(end.last_lines);
  }
  AddEvidence(end, suspect);
  suspect.facts = end.facts;
  return suspect;
}

Suspect SuspectOf(const AgentLoss& loss) {
  Suspect suspect;
  suspect.weight = Weight::kLost;
  suspect.kind = RootKind::kUnmanaged;
  suspect.cause = loss.cause;
  suspect.rank = loss.ranks.empty() ? -1 : loss.ranks.front();
  // Silence is noticed only after its limit.
  suspect.when = loss.cause == Cause::kHeartbeatMissed
                     ? loss.at - std::chrono::seconds(3)
                     : loss.at;
  suspect.name = RanksText(loss.ranks);
  suspect.did =
      "was lost with the agent at " + loss.host +
      (loss.cause == Cause::kHeartbeatMissed ? ", which stopped responding"
                                             : ", whose connection closed");
  suspect.key = loss.host;
  suspect.evidence.push_back({loss.message, "coordinator", loss.at});
  return suspect;
}

Suspect SuspectOf(const Stall& stall, const AttemptEnd& attempt) {
  Suspect suspect;
  suspect.weight = Weight::kStalled;
  suspect.kind = RootKind::kStall;
  suspect.cause = Cause::kNoProgress;
  suspect.rank = stall.rank;
  suspect.when =
      stall.at -
      std::chrono::duration_cast<std::chrono::microseconds>(stall.idle);
  suspect.step = stall.step;
  suspect.name = NameOf(stall.name, stall.rank);
  suspect.did = "made no progress for " + muster::ToString(stall.idle) +
                " (limit " + muster::ToString(stall.limit) + ")" +
                Where(stall.phase, stall.step);
  suspect.key = "no-progress";
  suspect.confidence = attempt.stall_confidence;
  std::string state = std::string("its process is in state ") + stall.state;
  state += stall.state == 'T'   ? " (stopped by a signal)"
           : stall.state == 'D' ? " (waiting for a device or a disk)"
           : stall.state == 'R' ? " (computes)"
                                : "";
  if (!stall.wait_channel.empty() && stall.wait_channel != "0") {
    state += ", waiting in " + stall.wait_channel;
  }
  suspect.evidence.push_back(
      {state, "agent of rank " + std::to_string(stall.rank), stall.at});
  if (!attempt.stall_reason.empty()) {
    suspect.evidence.push_back({attempt.stall_reason, "watchdog", stall.at});
  }
  return suspect;
}

bool IsOwn(Weight weight) {
  return weight <= Weight::kStalled;
}

}  // namespace muster::diagnose
