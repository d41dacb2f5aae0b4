// SPDX-License-Identifier: Apache-2.0
// What tests share that need the recorded facts of a run.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "muster/fact.h"
#include "record/events.h"
#include "record/report.h"
#include "wire/agent_messages.h"

namespace muster::record::testing {

// The facts of a run, written as the coordinator does, one second apart unless
// told otherwise.
class Story {
 public:
  Story& Tell(std::string_view name, int attempt = 1) {
    Fact fact;
    fact.name = name;
    fact.at = now_;
    fact.fields["attempt"] = std::int64_t{attempt};
    facts_.push_back(fact);
    now_ += std::chrono::seconds(1);
    return *this;
  }
  Story& With(const std::string& field, FactValue value) {
    facts_.back().fields[field] = std::move(value);
    return *this;
  }
  Story& Exits(int rank, const wire::RankProgress& progress, int attempt = 1) {
    Tell(kRankExited, attempt).With("rank", std::int64_t{rank});
    facts_.back().subject = "rank " + std::to_string(rank);
    AddProgress(facts_.back(), progress);
    now_ -= std::chrono::seconds(1);
    return *this;
  }
  Story& Begins() {
    return Tell(kRunStarted)
        .With("run", "r")
        .With("argv", R"(["python3","a b.py"])")
        .With("folder", "runs/r");
  }
  Story& Launches(int attempt = 1) {
    return Tell(kAttemptCalled, attempt)
        .Tell(kAttemptGathered, attempt)
        .Tell(kAttemptLaunched, attempt)
        .Tell(kFirstStep, attempt);
  }
  Story& Ends(int code) {
    return Tell(kAttemptStopped)
        .Tell(kRunEnded)
        .With("exit_code", std::int64_t{code})
        .With("origin", "program")
        .With("cause", code == 0 ? "" : "app-exception")
        .With("text", "all 2 ranks succeeded");
  }
  const std::vector<Fact>& facts() const { return facts_; }
  Json Report() const { return BuildReport(facts_); }

 private:
  WallTime now_{std::chrono::seconds(1'800'000'000)};
  std::vector<Fact> facts_;
};

inline wire::RankProgress Trained(std::uint64_t step, std::uint64_t steps) {
  return {.phase = wire::Phase::kFinished,
          .step = step,
          .checkpoint_step = step / 100 * 100,
          .steps = steps,
          .samples = 64 * steps,
          .step_sum_ns = steps * 10'000'000,
          .input_wait_sum_ns = steps * 1'000'000,
          .loss = 0.5};
}

inline Story Undisturbed() {
  return Story()
      .Begins()
      .Launches()
      .Exits(0, Trained(200, 200))
      .Exits(1, Trained(200, 200))
      .Ends(0);
}

}  // namespace muster::record::testing
