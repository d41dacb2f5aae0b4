// SPDX-License-Identifier: Apache-2.0
#include "monitor/progress/live_line.h"

#include <cstdio>

#include "base/text.h"

namespace muster::monitor {
namespace {

std::string Decimal(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string Rate(double per_second) {
  return Decimal(per_second, per_second < 10 ? 2 : 0);
}

}  // namespace

std::string LiveText(const TrainingView& view, const LiveFacts& facts) {
  std::string text;
  const auto add = [&](const std::string& part) {
    text += (text.empty() ? "" : "  ") + part;
  };
  if (view.ranks == 0) {
    add("running, no steps reported");
  } else {
    add("step " + std::to_string(view.step));
    if (view.phase != wire::Phase::kStep) {
      add("(" + std::string(ToText(view.phase)) + ")");
    }
    if (view.steps_per_s) {
      add(Rate(*view.steps_per_s) + " steps/s");
    }
    if (view.steps > 0) {
      add("loss " + Decimal(view.loss, 4));
      add("input wait " + Decimal(100 * view.input_wait, 0) + " %");
    }
  }
  add(Count(facts.running, "rank"));
  if (facts.attempt > 1) {
    add("attempt " + std::to_string(facts.attempt));
  }
  add(ToText(facts.elapsed));
  return text;
}

bool LivePace::Due(sys::Clock::Steady now) {
  if (now - last_ < period_) {
    return false;
  }
  last_ = now;
  return true;
}

}  // namespace muster::monitor
