// SPDX-License-Identifier: Apache-2.0
// The report of a run, made from its recorded facts alone, so that the same
// folder gives the same answer a year later. Pure; any thread.
#pragma once

#include <span>
#include <string>

#include "base/json_fwd.h"
#include "muster/fact.h"

namespace muster::record {

// The document muster.report/1:
//
//   {"schema", "run", "version", "command": […], "directory", "host",
//    "started", "ended", "duration_s",
//    "exit": {"code", "origin", "cause" or null, "text"},
//    "cluster": {muster.cluster/1} or null,
//    "notes": […],
//    "containment": [{"host", "by", "cgroup" or "why_not"}],
//    "attempts": [{"attempt", "started", "ended", "failure" or null,
//                  "decision" or null, "ranks": [{…}]}],
//    "time": {"total_s", "wait_for_members_s", "start_s", "step_s",
//             "input_wait_s", "evaluate_s", "checkpoint_s",
//             "lost_by_failures_s", "other_s"},
//    "training": {"step", "steps_per_s", "samples_per_s", "final_loss"} or
//    null,
//    "findings": [{muster.finding/1}],
//    "next": {"text", "command"}}
//
// Of a rank: rank, pid, how it ended, and its progress. Of a failure: cause,
// rank, signal or code, step, resumed_from (the step from which the next
// attempt went on) and lost_steps, null where no step was told. Times are
// means over the ranks; a restart's roll call and start count as lost.
Json BuildReport(std::span<const Fact> facts);

// The report for people, Markdown. Rendered from the document.
std::string RenderReport(const Json& report);

}  // namespace muster::record
