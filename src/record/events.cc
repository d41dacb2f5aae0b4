// SPDX-License-Identifier: Apache-2.0
#include "record/events.h"

#include <cmath>
#include <limits>

#include "base/json.h"
#include "base/signal_name.h"
#include "sys/process/spawner.h"

namespace muster::record {
namespace {

Fact RankFact(std::string_view name, int rank, int attempt, WallTime at) {
  Fact fact;
  fact.name = name;
  fact.subject = "rank " + std::to_string(rank);
  fact.by = kByCoordinator;
  fact.at = at;
  fact.fields["rank"] = std::int64_t{rank};
  fact.fields["attempt"] = std::int64_t{attempt};
  return fact;
}

void AddSignal(Fact& fact, int signal) {
  fact.fields["signal"] = std::int64_t{signal};
  fact.fields["signal_name"] = SignalName(signal);
}

FactValue Whole(std::uint64_t value) {
  constexpr auto kMaxCount = std::numeric_limits<std::int64_t>::max();
  return std::in_range<std::int64_t>(value) ? static_cast<std::int64_t>(value)
                                            : kMaxCount;
}

std::string_view KindName(Failure::Kind kind) {
  switch (kind) {
    case Failure::Kind::kExit:
      return "exit";
    case Failure::Kind::kSignal:
      return "signal";
    case Failure::Kind::kNotStarted:
      return "not-started";
    case Failure::Kind::kHostLost:
      return "host-lost";
    case Failure::Kind::kStandstill:
      return "standstill";
    case Failure::Kind::kSetUp:
      return "set-up";
    case Failure::Kind::kInterrupted:
      break;
  }
  return "interrupted";
}

}  // namespace

void AddProgress(Fact& fact, const wire::RankProgress& progress) {
  if (progress.phase == wire::Phase::kUnknown) {
    return;
  }
  const auto seconds = [](std::uint64_t ns) {
    return static_cast<double>(ns) / 1e9;
  };
  auto& fields = fact.fields;
  fields["phase"] = std::string(ToString(progress.phase));
  fields["classes"] = std::int64_t{progress.classes};
  fields["step"] = Whole(progress.step);
  fields["resumed_step"] = Whole(progress.resumed_step);
  fields["checkpoint_step"] = Whole(progress.checkpoint_step);
  fields["steps"] = Whole(progress.steps);
  fields["samples"] = Whole(progress.samples);
  // JSON has no number for it.
  fields["loss"] = std::isfinite(progress.loss) ? FactValue(progress.loss)
                                                : FactValue("not finite");
  fields["unchanged_steps"] = Whole(progress.unchanged_steps);
  fields["step_s"] = seconds(progress.step_sum_ns);
  fields["input_wait_s"] = seconds(progress.input_wait_sum_ns);
  fields["checkpoint_s"] = seconds(progress.checkpoint_sum_ns);
  fields["evaluate_s"] = seconds(progress.evaluate_sum_ns);
  fields["largest_step_s"] = seconds(progress.largest_step_ns);
}

Fact StartedFact(const wire::RankStarted& started) {
  Fact fact = RankFact(kRankStarted, started.rank, started.attempt, started.at);
  fact.fields["pid"] = std::int64_t{started.pid};
  return fact;
}

Fact ExitedFact(const wire::RankExited& exited) {
  Fact fact = RankFact(kRankExited, exited.rank, exited.attempt, exited.at);
  fact.fields["pid"] = std::int64_t{exited.pid};
  wire::Exit end;
  end.wait_status = exited.wait_status;
  if (const auto signal = end.signal()) {
    AddSignal(fact, *signal);
  } else {
    fact.fields["code"] = std::int64_t{end.code()};
  }
  if (exited.sent_signal != 0) {
    fact.fields["sent_signal"] = std::int64_t{exited.sent_signal};
  }
  if (exited.could_not_start) {
    fact.fields["could_not_start"] = true;
  }
  if (!exited.error_cause.empty()) {
    fact.fields["cause"] = exited.error_cause;
  }
  if (!exited.error_message.empty()) {
    fact.fields["message"] = exited.error_message;
  }
  AddProgress(fact, exited.progress);
  return fact;
}

Fact FindingFact(const Finding& finding, int attempt, WallTime at) {
  Fact fact;
  fact.name = kFinding;
  fact.subject = finding.subjects.empty() ? "run" : finding.subjects.front();
  fact.by = kByCoordinator;
  fact.at = at;
  fact.fields["attempt"] = std::int64_t{attempt};
  fact.fields["cause"] = std::string(Label(finding.cause));
  fact.fields["text"] = finding.what;
  fact.fields["finding"] = Dump(ToJson(finding));
  return fact;
}

Fact FailedFact(const Failure& failure, int attempt, WallTime at) {
  Fact fact = RankFact(kAttemptFailed, failure.rank, attempt, at);
  if (failure.rank < 0) {
    fact.subject = "attempt " + std::to_string(attempt);
    fact.fields.erase("rank");
  }
  fact.fields["cause"] = std::string(Label(failure.cause));
  fact.fields["kind"] = std::string(KindName(failure.kind));
  fact.fields["step"] = Whole(failure.step);
  if (failure.kind == Failure::Kind::kSignal) {
    AddSignal(fact, failure.status);
  } else if (failure.kind == Failure::Kind::kExit ||
             failure.kind == Failure::Kind::kNotStarted) {
    fact.fields["code"] = std::int64_t{failure.status};
  }
  return fact;
}

}  // namespace muster::record
