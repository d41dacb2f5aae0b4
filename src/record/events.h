// SPDX-License-Identifier: Apache-2.0
// The facts of a run: what events.jsonl holds and the report is made from. One
// name and one function per fact, so that writer and reader agree. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "finding/finding.h"
#include "muster/cluster.h"
#include "muster/fact.h"
#include "record/failure.h"
#include "wire/agent_messages.h"

namespace muster::record {

// Fact::by of all facts that the coordinator makes itself.
inline constexpr std::string_view kByCoordinator = "coordinator";

// Subject "run ID". Fields: run, command (one line), argv (JSON), version,
// host, directory, folder, world_size, max_restarts, cluster (JSON,
// muster.cluster/1).
inline constexpr std::string_view kRunStarted = "run.started";
// Field text: what was decided or replaced.
inline constexpr std::string_view kRunNote = "run.note";
// Fields: attempt.
inline constexpr std::string_view kAttemptCalled = "attempt.called";
// Fields: attempt, agents.
inline constexpr std::string_view kAttemptGathered = "attempt.gathered";
// Fields: attempt, digest (of the plan).
inline constexpr std::string_view kAttemptLaunched = "attempt.launched";
// All ranks have done their first step. Fields: attempt.
inline constexpr std::string_view kFirstStep = "attempt.first_step";
// At the end of an attempt whose loss was that of guessing: since which step.
// Fields: attempt, since_step, step, loss, classes.
inline constexpr std::string_view kFlatLoss = "attempt.flat_loss";
// What holds the ranks of a host together, subject: the host. Fields: attempt,
// by ("cgroup" or "process tree"), cgroup (its path) or why_not.
inline constexpr std::string_view kContainment = "containment";
// Subject "rank R". Fields: rank, attempt, pid.
inline constexpr std::string_view kRankStarted = "rank.started";
// Subject "rank R". Fields: rank, attempt, pid; code, or signal and
// signal_name; sent_signal and could_not_start when they are so; cause and
// message where there are some; the progress fields below.
inline constexpr std::string_view kRankExited = "rank.exited";
// Subject: who failed first. Fields: attempt, cause, kind, rank, step; code, or
// signal and signal_name.
inline constexpr std::string_view kAttemptFailed = "attempt.failed";
// No process of the attempt is left, but for a rank.unkillable. Fields:
// attempt, leftovers (processes that ranks had left behind and that had to be
// killed).
inline constexpr std::string_view kAttemptStopped = "attempt.stopped";
// Fields: attempt, restart, text (the reason).
inline constexpr std::string_view kDecided = "run.decided";
// Somebody asked for the end. Fields: text (who), now.
inline constexpr std::string_view kInterrupted = "run.interrupted";
// Subject: of the finding. Fields: cause, text, finding (JSON,
// muster.finding/1); attempt; beside where it is a warning that ends nothing.
inline constexpr std::string_view kFinding = "finding";
// Fields: exit_code, origin, cause (empty when good), text (the last line).
inline constexpr std::string_view kRunEnded = "run.ended";

// Adds phase, classes, step, resumed_step, checkpoint_step, steps, samples,
// loss, unchanged_steps, step_s, input_wait_s, checkpoint_s, evaluate_s,
// largest_step_s. Nothing for a rank that reported nothing.
void AddProgress(Fact& fact, const wire::RankProgress& progress);

Fact StartedFact(const wire::RankStarted& started);
Fact ExitedFact(const wire::RankExited& exited);
Fact FindingFact(const Finding& finding, int attempt, WallTime at);
Fact FailedFact(const Failure& failure, int attempt, WallTime at);

}  // namespace muster::record
