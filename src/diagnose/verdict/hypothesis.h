// SPDX-License-Identifier: Apache-2.0
// One event of an attempt that may be its root, weighed by its evidence.
#pragma once

#include <string>
#include <vector>

#include "diagnose/verdict/verdict.h"

namespace muster::diagnose {

// What kind of evidence speaks, strongest first.
enum class Weight {
  kMemory,     // the kernel killed it for memory
  kReported,   // it told a cause of its own, or could not be started
  kKilled,     // a signal from outside that we did not send
  kLost,       // its agent is gone
  kFailed,     // an exit status or a crash, without a word about peers
  kStalled,    // it stood still
  kLateDeath,  // an own failure in a rank that we had asked to end
  kWaited,     // it told that a wait expired
  kCascade,    // it says no more than that a peer is gone
  kStopped,    // it ended because we asked it to
};

struct Suspect {
  Weight weight = Weight::kStopped;
  RootKind kind = RootKind::kProgram;
  Cause cause = Cause::kPeerDied;
  int rank = -1;
  WallTime when{};  // when it began, as far as is known
  int wait_status = 0;
  std::uint64_t step = 0;
  std::string name;   // "rank 1 (10.0.0.7:8476)"
  std::string did;    // "was killed by SIGKILL at step 120"
  std::string where;  // " at step 120"
  std::string key;    // equal for those that failed in the same way
  Confidence confidence = Confidence::kCertain;
  std::vector<Evidence> evidence;
  std::vector<Fact> facts;  // fields for the catalog's fixes
};

// nullopt: it ended well.
std::optional<Suspect> SuspectOf(const RankEnd& end, const AttemptEnd& attempt);
Suspect SuspectOf(const AgentLoss& loss);
Suspect SuspectOf(const Stall& stall, const AttemptEnd& attempt);

// True for weights that can be the beginning of something.
bool IsOwn(Weight weight);

}  // namespace muster::diagnose
