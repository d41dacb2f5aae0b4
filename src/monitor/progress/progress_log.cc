// SPDX-License-Identifier: Apache-2.0
#include "monitor/progress/progress_log.h"

#include <algorithm>

#include "record/events.h"

namespace muster::monitor {
namespace {

constexpr auto kScalarPeriod = std::chrono::seconds(1);

WallTime Before(WallTime now, std::uint64_t later_ns, std::uint64_t when_ns) {
  const auto ago = static_cast<std::int64_t>(later_ns - when_ns);
  return now - std::chrono::duration_cast<std::chrono::microseconds>(
                   Duration(std::max<std::int64_t>(ago, 0)));
}

}  // namespace

void ProgressLog::Begin(int attempt) {
  attempt_ = attempt;
  training_.Begin();
  first_steps_.clear();
  // An attempt that goes on from a checkpoint writes its steps again.
  written_step_ = 0;
}

void ProgressLog::Observe(const wire::Progress& progress) {
  const auto now = host_.clock.Now();
  const auto wall = host_.clock.EventNow();
  for (const wire::RankSample& sample : progress.ranks) {
    training_.Observe(sample.rank, sample.progress, now);
    classes_ = std::max(classes_, sample.progress.classes);
    if (const auto first = sample.progress.first_step_ns; first != 0) {
      NoteFirstStep(
          sample.rank,
          Before(wall, static_cast<std::uint64_t>(progress.now_ns), first));
    }
  }
  WriteScalars(false);
}

void ProgressLog::Exited(const wire::RankExited& exited) {
  const wire::RankProgress& progress = exited.progress;
  training_.Observe(exited.rank, progress, host_.clock.Now());
  classes_ = std::max(classes_, progress.classes);
  // A rank that ended before it was sampled once: its last beat was about when
  // it ended.
  if (progress.first_step_ns != 0) {
    NoteFirstStep(exited.rank,
                  Before(exited.at, progress.beat_ns, progress.first_step_ns));
  }
}

void ProgressLog::NoteFirstStep(int rank, WallTime at) {
  const auto known = static_cast<int>(first_steps_.size());
  first_steps_.emplace(rank, at);
  if (known < world_size_ &&
      static_cast<int>(first_steps_.size()) == world_size_) {
    Fact fact;
    fact.name = record::kFirstStep;
    fact.subject = "attempt " + std::to_string(attempt_);
    fact.by = "coordinator";
    fact.fields["attempt"] = std::int64_t{attempt_};
    for (const auto& [of, when] : first_steps_) {
      fact.at = std::max(fact.at, when);
    }
    journal_.Record(std::move(fact));
  }
}

void ProgressLog::WriteScalars(bool at_once) {
  const auto view = training_.View();
  const auto now = host_.clock.Now();
  if (failed_ || view.steps == 0 || view.step == written_step_ ||
      (!at_once && now - written_at_ < kScalarPeriod)) {
    return;
  }
  written_step_ = view.step;
  written_at_ = now;
  const auto write = [&]() -> Status {
    if (!events_) {
      MUSTER_ASSIGN(
          events_,
          EventFile::Open(host_.fs, sys::JoinPath(journal_.folder(), "metrics"),
                          host_.env.Hostname(), host_.clock.EventNow()));
    }
    std::vector<Scalar> scalars{{"loss", view.loss},
                                {"input_wait", view.input_wait}};
    if (view.steps_per_s) {
      scalars.push_back({"steps_per_second", *view.steps_per_s});
      scalars.push_back({"samples_per_second", *view.samples_per_s});
    }
    return events_->Write(host_.clock.EventNow(),
                          static_cast<std::int64_t>(view.step), scalars);
  };
  if (auto written = write(); !written) {
    failed_ = true;
    failure_ = std::move(written).error().While("writing the event file");
  }
}

void ProgressLog::End() {
  WriteScalars(true);
  const auto view = training_.View();
  if (!view.flat_since) {
    return;
  }
  Fact fact;
  fact.name = record::kFlatLoss;
  fact.subject = "attempt " + std::to_string(attempt_);
  fact.by = "coordinator";
  fact.fields["attempt"] = std::int64_t{attempt_};
  fact.fields["since_step"] = static_cast<std::int64_t>(*view.flat_since);
  fact.fields["step"] = static_cast<std::int64_t>(view.step);
  fact.fields["loss"] = view.loss;
  fact.fields["classes"] = std::int64_t{classes_};
  journal_.Record(std::move(fact));
}

std::optional<Error> ProgressLog::TakeFailure() {
  return std::exchange(failure_, std::nullopt);
}

}  // namespace muster::monitor
