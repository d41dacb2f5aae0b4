// SPDX-License-Identifier: Apache-2.0
#include "explain/suspect.h"

#include <algorithm>
#include <chrono>
#include <csignal>

#include "base/text.h"
#include "explain/last_lines.h"

namespace muster::explain {
namespace {

// The layout of waitpid(2)'s status on Linux.
int SignalOf(int wait_status) {
  return wait_status & 0x7F;
}
int CodeOf(int wait_status) {
  return (wait_status >> 8) & 0xFF;
}

// Shells and wrappers report a child's signal as 128 + signal.
int SignalOfCode(int code) {
  const int signal = code - 128;
  return signal == SIGKILL || signal == SIGSEGV || signal == SIGABRT ||
                 signal == SIGBUS || signal == SIGTERM
             ? signal
             : 0;
}

// Signals that a program brings upon itself.
bool IsCrash(int signal) {
  return signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS ||
         signal == SIGFPE || signal == SIGILL || signal == SIGSYS ||
         signal == SIGTRAP;
}

std::string Where(Phase phase, std::uint64_t step) {
  switch (phase) {
    case Phase::kStart:
      return " before its first step";
    case Phase::kStep:
      return " at step " + std::to_string(step);
    case Phase::kEvaluate:
    case Phase::kCheckpoint:
      return " in phase " + std::string(ToText(phase)) + " after step " +
             std::to_string(step);
    case Phase::kFinished:
      return " after its training loop";
    case Phase::kUnknown:
      break;
  }
  return "";
}

std::string NameOf(const std::string& name, int rank) {
  return name.empty() ? "rank " + std::to_string(rank) : name;
}

const Fact* FindFact(const RankEnd& end, std::string_view name) {
  const auto found =
      std::find_if(end.facts.begin(), end.facts.end(),
                   [&](const Fact& fact) { return fact.name == name; });
  return found == end.facts.end() ? nullptr : &*found;
}

// How it ended, without judgement: "was killed by SIGKILL".
std::string Did(const RankEnd& end) {
  const int signal = SignalOf(end.wait_status);
  if (end.could_not_start) {
    return "could not be started";
  }
  if (signal == 0) {
    return "ended with exit status " + std::to_string(CodeOf(end.wait_status));
  }
  return (IsCrash(signal) ? "crashed with " : "was killed by ") +
         SignalName(signal);
}

// One judgement of a rank's end.
struct Judgement {
  Weight weight;
  Cause cause;
  Confidence confidence = Confidence::kCertain;
};

std::optional<Cause> ToldCause(const RankEnd& end) {
  return end.error_cause.empty() ? std::nullopt
                                 : CauseFromLabel(end.error_cause);
}

// True when the program ended as we asked it to, whatever it made of that.
bool EndedAsAsked(const RankEnd& end) {
  const int signal = SignalOf(end.wait_status);
  return end.sent_signal != 0 &&
         (signal == 0 || signal == end.sent_signal || signal == SIGTERM);
}

Judgement JudgeTold(Cause told, const RankEnd& end, const AttemptEnd& attempt) {
  switch (told) {
    case Cause::kPeerDied:
    case Cause::kHeartbeatMissed:
    case Cause::kCancelled:
      return {Weight::kCascade, told, Confidence::kPossible};
    case Cause::kDeadlineExceeded:
    case Cause::kRendezvousTimeout:
      return {Weight::kWaited, told, Confidence::kLikely};
    default:
      break;
  }
  // The cause for which we stopped the attempt, told back to us.
  if (end.sent_signal != 0 && end.error_cause == attempt.stop_cause) {
    return {Weight::kCascade, told, Confidence::kPossible};
  }
  return {Weight::kTold, told};
}

// A rank alone has no peers, whatever its last lines say.
bool LostAPeer(const RankEnd& end, const AttemptEnd& attempt) {
  return attempt.world_size > 1 && BlamesAPeer(end.last_lines);
}

Judgement JudgeSignal(int signal, const RankEnd& end,
                      const AttemptEnd& attempt) {
  if (signal == SIGKILL && FindFact(end, kOomFact) != nullptr) {
    return {Weight::kMemory, Cause::kOomHost};
  }
  if (!IsCrash(signal) && signal != SIGPIPE) {
    return {Weight::kKilled, Cause::kPeerDied};
  }
  // A crash after our request may be the way in which the program ends.
  if (end.sent_signal != 0) {
    return {Weight::kLateDeath, Cause::kPeerDied, Confidence::kPossible};
  }
  if (signal == SIGPIPE || LostAPeer(end, attempt)) {
    return {Weight::kCascade, Cause::kPeerDied, Confidence::kPossible};
  }
  return {Weight::kFailed, Cause::kPeerDied};
}

Judgement JudgeExit(int code, const RankEnd& end, const AttemptEnd& attempt) {
  if (code == 126 || code == 127) {
    return {Weight::kTold, Cause::kProgramNotFound,
            end.could_not_start ? Confidence::kCertain : Confidence::kLikely};
  }
  if (LostAPeer(end, attempt)) {
    return {Weight::kCascade, Cause::kPeerDied, Confidence::kPossible};
  }
  if (const int signal = SignalOfCode(code); signal != 0) {
    Judgement child = JudgeSignal(signal, end, attempt);
    child.confidence = std::min(child.confidence, Confidence::kLikely);
    return child;
  }
  return {Weight::kFailed, Cause::kAppException};
}

Judgement JudgeEnd(const RankEnd& end, const AttemptEnd& attempt) {
  const int signal = SignalOf(end.wait_status);
  if (end.could_not_start) {
    return {Weight::kTold, Cause::kProgramNotFound};
  }
  if (signal == SIGKILL && signal != end.sent_signal) {
    return JudgeSignal(signal, end, attempt);
  }
  if (const auto told = ToldCause(end)) {
    return JudgeTold(*told, end, attempt);
  }
  if (EndedAsAsked(end)) {
    // It may have failed before our request came: a program that unwinds has
    // closed its connections already, and its peers are seen to end first.
    return HasOwnException(end.last_lines)
               ? Judgement{Weight::kLateDeath, Cause::kAppException,
                           Confidence::kLikely}
               : Judgement{Weight::kStopped, Cause::kCancelled};
  }
  return signal != 0 ? JudgeSignal(signal, end, attempt)
                     : JudgeExit(CodeOf(end.wait_status), end, attempt);
}

void AddEvidence(const RankEnd& end, Suspect& suspect) {
  const std::string rank = "rank " + std::to_string(end.rank);
  if (!end.error_message.empty()) {
    suspect.evidence.push_back({end.error_message, rank, end.at});
  }
  for (const Fact& fact : end.facts) {
    suspect.evidence.push_back(FromFact(fact));
  }
  std::string how = Did(end);
  if (SignalOf(end.wait_status) != 0 && suspect.weight != Weight::kStopped) {
    how += end.sent_signal == 0
               ? ", and muster had sent it no signal"
               : ", and muster had sent it " + SignalName(end.sent_signal);
  }
  suspect.evidence.push_back({how, "agent of " + rank, end.at});
  const std::string line = DecisiveLine(end.last_lines);
  if (!line.empty() && suspect.weight != Weight::kStopped) {
    suspect.evidence.push_back({line, rank + ", stderr", end.at});
  }
}

std::string DidAndWhy(const RankEnd& end, const Suspect& suspect) {
  if (suspect.weight == Weight::kMemory) {
    return "was killed by the kernel for memory" + Where(end.phase, end.step);
  }
  std::string text = Did(end) + Where(end.phase, end.step);
  if (suspect.wait_status != end.wait_status) {
    text = "failed" + Where(end.phase, end.step) + " before it was stopped";
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
  suspect.name = NameOf(end.name, end.rank);
  suspect.did = DidAndWhy(end, suspect);
  suspect.key = std::string(Label(suspect.cause));
  if (suspect.weight != Weight::kMemory && suspect.weight != Weight::kTold) {
    suspect.key += " " + std::to_string(end.wait_status) + " " +
                   DecisiveLine(end.last_lines);
  }
  AddEvidence(end, suspect);
  suspect.facts = end.facts;
  return suspect;
}

Suspect SuspectOf(const AgentLoss& loss) {
  std::vector<std::string> ranks;
  for (int rank : loss.ranks) {
    ranks.push_back(std::to_string(rank));
  }
  Suspect suspect;
  suspect.weight = Weight::kLost;
  suspect.kind = RootKind::kOutside;
  suspect.cause = loss.cause;
  suspect.rank = loss.ranks.empty() ? -1 : loss.ranks.front();
  // Silence is noticed only after its limit.
  suspect.when = loss.cause == Cause::kHeartbeatMissed
                     ? loss.at - std::chrono::seconds(3)
                     : loss.at;
  suspect.name = (ranks.size() == 1 ? "rank " : "ranks ") + Join(ranks, ", ");
  suspect.did =
      "went away with the agent at " + loss.host +
      (loss.cause == Cause::kHeartbeatMissed ? ", which fell silent"
                                             : ", whose connection was closed");
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
  suspect.did = "made no progress for " + ToText(stall.idle) + " (limit " +
                ToText(stall.limit) + ")" + Where(stall.phase, stall.step);
  suspect.key = "no-progress";
  suspect.confidence = attempt.stall_confidence;
  std::string state = std::string("its process is in state ") + stall.state;
  state += stall.state == 'T'   ? " (stopped by a signal)"
           : stall.state == 'D' ? " (waits for a device or a disk)"
           : stall.state == 'R' ? " (computes)"
                                : "";
  if (!stall.wait_channel.empty() && stall.wait_channel != "0") {
    state += ", waits in " + stall.wait_channel;
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

}  // namespace muster::explain
