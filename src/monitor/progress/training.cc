// SPDX-License-Identifier: Apache-2.0
#include "monitor/progress/training.h"

#include <algorithm>
#include <cmath>

namespace muster::monitor {
namespace {

constexpr auto kWindow = std::chrono::seconds(5);
// A shorter one would show the beat of the sampling, not of the training.
constexpr auto kShortest = std::chrono::milliseconds(500);

bool Reports(const wire::RankProgress& progress) {
  return progress.phase != wire::Phase::kUnknown;
}

}  // namespace

bool IsChance(double loss, std::uint32_t classes) {
  constexpr double kTolerance = 0.02;
  if (classes < 2) {
    return false;
  }
  const double chance = std::log(static_cast<double>(classes));
  return std::abs(loss - chance) <= kTolerance * chance;
}

void Training::Begin() {
  ranks_.clear();
  points_.clear();
  flat_since_.reset();
}

void Training::Observe(int rank, const wire::RankProgress& progress,
                       sys::Clock::Steady now) {
  if (!Reports(progress)) {
    return;
  }
  ranks_[rank] = progress;
  NotePace(now);
  NoteLoss();
}

// One point for all samples of one moment, so that ranks are compared alike.
void Training::NotePace(sys::Clock::Steady now) {
  Point point{.at = now, .steps = ~std::uint64_t{0}};
  for (const auto& [rank, progress] : ranks_) {
    point.steps = std::min(point.steps, progress.steps);
    point.samples += progress.samples;
    if (progress.input_wait_sum_ns >= point.wait_ns) {
      point.wait_ns = progress.input_wait_sum_ns;
      point.step_ns = progress.step_sum_ns;
    }
  }
  if (!points_.empty() && points_.back().at == now) {
    points_.back() = point;
  } else {
    points_.push_back(point);
  }
  while (points_.size() > 2 && now - points_[1].at >= kWindow) {
    points_.pop_front();
  }
}

void Training::NoteLoss() {
  const auto view = View();
  const auto& first = ranks_.begin()->second;
  if (view.steps == 0 || !IsChance(view.loss, first.classes)) {
    flat_since_.reset();
  } else if (!flat_since_) {
    flat_since_ = view.step;
  }
}

double Training::MeanLoss() const {
  double sum = 0;
  int count = 0;
  for (const auto& [rank, progress] : ranks_) {
    if (progress.steps > 0) {
      sum += progress.loss;
      ++count;
    }
  }
  return count > 0 ? sum / count : 0;
}

TrainingView Training::View() const {
  TrainingView view;
  view.ranks = static_cast<int>(ranks_.size());
  view.flat_since = flat_since_;
  if (ranks_.empty()) {
    return view;
  }
  const auto least = std::min_element(ranks_.begin(), ranks_.end(),
                                      [](const auto& a, const auto& b) {
                                        return a.second.step < b.second.step;
                                      });
  view.step = least->second.step;
  view.phase = least->second.phase;
  view.loss = MeanLoss();
  const Point& from = points_.front();
  const Point& to = points_.back();
  view.steps = to.steps;
  const double seconds = std::chrono::duration<double>(to.at - from.at).count();
  if (to.at - from.at >= kShortest && to.steps >= from.steps) {
    view.steps_per_s = static_cast<double>(to.steps - from.steps) / seconds;
    view.samples_per_s =
        static_cast<double>(to.samples - from.samples) / seconds;
  }
  if (to.step_ns > from.step_ns && to.wait_ns >= from.wait_ns) {
    view.input_wait = static_cast<double>(to.wait_ns - from.wait_ns) /
                      static_cast<double>(to.step_ns - from.step_ns);
  }
  return view;
}

}  // namespace muster::monitor
