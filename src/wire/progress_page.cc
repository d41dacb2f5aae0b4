// SPDX-License-Identifier: Apache-2.0
#include "wire/progress_page.h"

#include <span>
#include <string>

namespace muster::wire {

std::string_view ToString(Phase phase) {
  switch (phase) {
    case Phase::kUnknown:
      return "unknown";
    case Phase::kStart:
      return "start";
    case Phase::kStep:
      return "step";
    case Phase::kEvaluate:
      return "evaluate";
    case Phase::kCheckpoint:
      return "checkpoint";
    case Phase::kFinished:
      return "finished";
  }
  return "unknown";
}

std::optional<Error> StopReason(const ProgressPage& progress_page) {
  const auto word = progress_page.stop.load();
  if (word == 0) {
    return std::nullopt;
  }
  // The page is shared with other processes: an unknown value is no cause.
  const std::span<const Cause> causes = AllCauses();
  if (word > causes.size()) {
    return Error(Cause::kCancelled, "the agent stopped the attempt: " +
                                        std::string("unknown cause (") +
                                        std::to_string(word - 1) + ")");
  }
  const auto cause = static_cast<Cause>(word - 1);
  return Error(cause,
               "the agent stopped the attempt: " + std::string(Title(cause)));
}

RankProgress ReadSlot(const ProgressSlot& slot) {
  const auto read = [](const auto& field) {
    return field.load(std::memory_order_relaxed);
  };
  const auto phase = read(slot.phase);
  return RankProgress{
      .phase = phase <= static_cast<std::uint32_t>(Phase::kFinished)
                   ? static_cast<Phase>(phase)
                   : Phase::kUnknown,
      .classes = read(slot.classes),
      .phase_since_ns = read(slot.phase_since_ns),
      .beat_ns = read(slot.beat_ns),
      .first_step_ns = read(slot.first_step_ns),
      .step = read(slot.step),
      .resumed_step = read(slot.resumed_step),
      .checkpoint_step = read(slot.checkpoint_step),
      .steps = read(slot.steps),
      .samples = read(slot.samples),
      .step_sum_ns = read(slot.step_sum_ns),
      .input_wait_sum_ns = read(slot.input_wait_sum_ns),
      .checkpoint_sum_ns = read(slot.checkpoint_sum_ns),
      .evaluate_sum_ns = read(slot.evaluate_sum_ns),
      .largest_step_ns = read(slot.largest_step_ns),
      .loss = read(slot.loss),
      .unchanged_steps = read(slot.unchanged_steps),
  };
}

}  // namespace muster::wire
