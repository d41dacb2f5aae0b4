// SPDX-License-Identifier: Apache-2.0
#include "diagnose/verdict/judgement.h"

#include <algorithm>
#include <csignal>

#include "diagnose/verdict/last_lines.h"

namespace muster::diagnose {
namespace {

// Shells and wrappers report a child's signal as 128 + signal.
int SignalOfCode(int code) {
  const int signal = code - 128;
  return signal == SIGKILL || signal == SIGSEGV || signal == SIGABRT ||
                 signal == SIGBUS || signal == SIGTERM
             ? signal
             : 0;
}

std::optional<Cause> ToldCause(const RankEnd& end) {
  return end.error_cause.empty() ? std::nullopt
                                 : CauseFromLabel(end.error_cause);
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

// The kernel killed for memory, no rank died of that, and this one failed: it
// was a process that the rank had started.
bool LostAProcessForMemory(const RankEnd& end, const AttemptEnd& attempt) {
  return FindFact(end, kOomCounterFact) != nullptr &&
         std::none_of(attempt.ends.begin(), attempt.ends.end(),
                      [](const RankEnd& other) {
                        return FindFact(other, kOomFact) != nullptr;
                      });
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
  if (LostAProcessForMemory(end, attempt)) {
    return {Weight::kMemory, Cause::kOomHost, Confidence::kLikely};
  }
  if (const int signal = SignalOfCode(code); signal != 0) {
    Judgement child = JudgeSignal(signal, end, attempt);
    child.confidence = std::min(child.confidence, Confidence::kLikely);
    return child;
  }
  return {Weight::kFailed, Cause::kAppException};
}

}  // namespace

bool IsCrash(int signal) {
  return signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS ||
         signal == SIGFPE || signal == SIGILL || signal == SIGSYS ||
         signal == SIGTRAP;
}

const Fact* FindFact(const RankEnd& end, std::string_view name) {
  const auto found =
      std::find_if(end.facts.begin(), end.facts.end(),
                   [&](const Fact& fact) { return fact.name == name; });
  return found == end.facts.end() ? nullptr : &*found;
}

bool EndedAsAsked(const RankEnd& end) {
  const int signal = SignalOf(end.wait_status);
  return end.sent_signal != 0 &&
         (signal == 0 || signal == end.sent_signal || signal == SIGTERM);
}

Judgement JudgeEnd(const RankEnd& end, const AttemptEnd& attempt) {
  const int signal = SignalOf(end.wait_status);
  if (end.could_not_start) {
    return {Weight::kTold, ToldCause(end).value_or(Cause::kProgramNotFound)};
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

}  // namespace muster::diagnose
