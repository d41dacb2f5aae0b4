// SPDX-License-Identifier: Apache-2.0
#include "monitor/progress/training_findings.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>

#include "base/text.h"
#include "record/run_record.h"

namespace muster::monitor {
namespace {

constexpr double kStarvedShare = 0.3;
// Fewer say nothing of the steady state: the first batches always wait.
constexpr std::int64_t kSteadySteps = 20;
constexpr std::int64_t kPlateauSteps = 200;

double WaitShare(const Fact& fact) {
  const double all = record::Decimal(fact, "step_s");
  return all > 0 ? record::Decimal(fact, "input_wait_s") / all : 0;
}

std::string Digits(double value, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::optional<Finding> InputStarved(const Fact& rank) {
  const std::int64_t steps = rank.Number("steps");
  if (steps < kSteadySteps || WaitShare(rank) <= kStarvedShare) {
    return std::nullopt;
  }
  const double all = record::Decimal(rank, "step_s");
  const double work = all - record::Decimal(rank, "input_wait_s");
  const auto rate = [&](double seconds) {
    const double per_second =
        seconds > 0 ? static_cast<double>(steps) / seconds : 0;
    return Digits(per_second, per_second < 10 ? 2 : 0);
  };
  std::string what =
      rank.subject + " waits for input for " +
      Digits(100 * WaitShare(rank), 0) + " % of its step time (limit " +
      Digits(100 * kStarvedShare, 0) + " %): " + rate(all) + " steps/s";
  // A step that does nothing but wait has no rate of its own.
  if (work > 0.001 * all) {
    what += ", or " + rate(work) + " steps/s";
  }
  auto finding = MakeFinding(Cause::kInputStarved, std::move(what),
                             Confidence::kCertain, std::span(&rank, 1));
  finding.subjects = {rank.subject};
  return finding;
}

std::optional<Finding> Plateau(const Fact& rank,
                               const std::optional<Fact>& flat_loss) {
  std::string what;
  if (const auto unchanged = rank.Number("unchanged_steps");
      unchanged >= kPlateauSteps) {
    what = "the weights of " + rank.subject + " have not changed for " +
           Count(unchanged, "step");
  } else if (flat_loss) {
    const auto flat =
        flat_loss->Number("step") - flat_loss->Number("since_step");
    if (flat < kPlateauSteps) {
      return std::nullopt;
    }
    what = "the loss has been " +
           Digits(record::Decimal(*flat_loss, "loss"), 3) + " for " +
           Count(flat, "step") + ": the value of random guessing among " +
           std::to_string(flat_loss->Number("classes")) + " classes";
  } else {
    return std::nullopt;
  }
  const Fact& evidence = flat_loss ? *flat_loss : rank;
  return MakeFinding(Cause::kTrainingPlateau, std::move(what),
                     Confidence::kPossible, std::span(&evidence, 1));
}

}  // namespace

std::vector<Finding> JudgeTraining(std::span<const Fact> facts) {
  const record::RunRecord run = record::ReadRecord(facts);
  const record::AttemptRecord* attempt = run.Trained();
  if (attempt == nullptr) {
    return {};
  }
  const auto ranks = attempt->Reporting();
  const Fact& hungriest = **std::max_element(
      ranks.begin(), ranks.end(), [](const Fact* a, const Fact* b) {
        return WaitShare(*a) < WaitShare(*b);
      });
  const Fact& stillest = **std::max_element(
      ranks.begin(), ranks.end(), [](const Fact* a, const Fact* b) {
        return a->Number("unchanged_steps") < b->Number("unchanged_steps");
      });
  std::vector<Finding> findings;
  if (auto starved = InputStarved(hungriest)) {
    findings.push_back(*std::move(starved));
  }
  if (auto plateau = Plateau(stillest, attempt->flat_loss)) {
    findings.push_back(*std::move(plateau));
  }
  return findings;
}

}  // namespace muster::monitor
