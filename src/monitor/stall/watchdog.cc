// SPDX-License-Identifier: Apache-2.0
#include "monitor/stall/watchdog.h"

#include <algorithm>
#include <utility>

namespace muster::monitor {
namespace {

// A longer gap between two samples says something about the agent, nothing
// about its ranks.
constexpr Duration kLongestGap = std::chrono::seconds(1);

// A program of libmuster tells long before that it is there.
constexpr Duration kBlindAfter = std::chrono::seconds(10);

// A program that stops itself for a moment (a shell's job control) goes on well
// before that.
constexpr Duration kStoppedFor = std::chrono::seconds(3);

// Ranks write the page: what none would wait for is no time of a step.
constexpr Duration kLongestStep = std::chrono::hours(24);
Duration StepOf(std::uint64_t ns) {
  constexpr auto kMost = static_cast<std::uint64_t>(kLongestStep.count());
  return Duration(static_cast<std::int64_t>(std::min(ns, kMost)));
}

bool Reports(const wire::RankSample& sample) {
  return sample.progress.phase != wire::Phase::kUnknown &&
         sample.progress.phase != wire::Phase::kFinished;
}

bool IsStopped(const wire::RankSample& sample) {
  return sample.state == 'T' || sample.state == 't';
}

Duration Gap(Duration gap) {
  return std::clamp(gap, Duration::zero(), kLongestGap);
}

bool Moved(const wire::RankProgress& before, const wire::RankProgress& now) {
  return before.phase != now.phase || before.step != now.step ||
         before.steps != now.steps || before.beat_ns != now.beat_ns ||
         before.phase_since_ns != now.phase_since_ns;
}

// Who waits for peers sleeps on a futex: the event of shared memory, or the
// condition variable on which Gloo's caller waits.
bool WaitsForPeers(const diagnose::Stall& stall) {
  return stall.state == 'S' &&
         stall.wait_channel.find("futex") != std::string::npos;
}

// Not every kernel tells where a process sleeps.
bool KnowsWhere(const diagnose::Stall& stall) {
  return stall.state == 'R' ||
         (!stall.wait_channel.empty() && stall.wait_channel != "0");
}

std::string Rank(const diagnose::Stall& stall) {
  return "rank " + std::to_string(stall.rank);
}

// Moves those that match to the front if they are some but not all; how many.
template <typename Match>
std::size_t Blame(std::vector<diagnose::Stall>& ranks, Match match) {
  const auto rest = std::stable_partition(ranks.begin(), ranks.end(), match);
  const auto matching = static_cast<std::size_t>(rest - ranks.begin());
  return matching == ranks.size() ? 0 : matching;
}

void FindCulprits(Standstill& found) {
  auto& ranks = found.ranks;
  const auto stopped = [](const diagnose::Stall& stall) {
    return stall.state == 'T' || stall.state == 't';
  };
  if (std::any_of(ranks.begin(), ranks.end(), stopped)) {
    found.culprits = static_cast<std::size_t>(
        std::stable_partition(ranks.begin(), ranks.end(), stopped) -
        ranks.begin());
    found.confidence = Confidence::kCertain;
    found.why = Rank(ranks[0]) + " is stopped by a signal (state T)";
    return;
  }
  found.culprits = Blame(ranks, [](const auto& stall) {
    return stall.phase != wire::Phase::kStep;
  });
  if (found.culprits > 0) {
    found.confidence = Confidence::kLikely;
    found.why = Rank(ranks[0]) + " stays in its phase " +
                std::string(ToString(ranks[0].phase)) +
                " while the others wait";
    return;
  }
  const auto [last, first] = std::minmax_element(
      ranks.begin(), ranks.end(),
      [](const auto& a, const auto& b) { return a.step < b.step; });
  // By value: Blame moves the ranks about.
  const auto behind = last->step;
  const auto ahead = first->step;
  found.culprits =
      Blame(ranks, [&](const auto& stall) { return stall.step == behind; });
  if (found.culprits > 0) {
    found.confidence = Confidence::kLikely;
    found.why = Rank(ranks[0]) + " is at step " + std::to_string(behind) +
                ", others at step " + std::to_string(ahead);
    return;
  }
  if (std::all_of(ranks.begin(), ranks.end(), KnowsWhere)) {
    found.culprits =
        Blame(ranks, [](const auto& stall) { return !WaitsForPeers(stall); });
  }
  if (found.culprits > 0) {
    found.confidence = Confidence::kLikely;
    found.why = Rank(ranks[0]) + " does not wait, but the others do";
    return;
  }
  found.culprits = ranks.size();
  found.confidence = Confidence::kPossible;
  found.why = ranks.size() == 1
                  ? Rank(ranks[0]) + " is the only rank without progress"
                  : "all ranks wait in the same way";
}

}  // namespace

void Watchdog::Observe(const wire::Progress& progress) {
  const bool held = std::any_of(
      progress.ranks.begin(), progress.ranks.end(),
      [](const wire::RankSample& sample) { return sample.output_held; });
  if (held) {  // whose ranks the others may wait for, on other hosts too
    for (auto& [rank, watched] : ranks_) {
      watched.idle = Duration::zero();
    }
  }
  for (const wire::RankSample& sample : progress.ranks) {
    largest_step_ =
        std::max(largest_step_, StepOf(sample.progress.largest_step_ns));
    const auto [at, is_new] = ranks_.try_emplace(sample.rank);
    Watched& watched = at->second;
    const Duration gap(progress.now_ns - watched.seen_ns);
    if (is_new || sample.finalizing ||
        Moved(watched.sample.progress, sample.progress)) {
      watched.idle = Duration::zero();
    } else {
      watched.idle += Gap(gap);
    }
    const bool was_stopped = IsStopped(watched.sample) && !is_new;
    watched.stopped = !IsStopped(sample) ? Duration::zero()
                      : was_stopped      ? watched.stopped + Gap(gap)
                                         : Duration::zero();
    watched.sample = sample;
    watched.seen_ns = progress.now_ns;
  }
}

std::optional<Duration> Watchdog::Limit(wire::Phase phase) const {
  switch (phase) {
    case wire::Phase::kStart:
      return limits_.start;
    case wire::Phase::kEvaluate:
      return limits_.evaluate;
    case wire::Phase::kCheckpoint:
      return limits_.checkpoint;
    case wire::Phase::kStep:
      if (!limits_.steps) {
        return std::nullopt;
      }
      return std::max(limits_.step_floor, limits_.step_factor * largest_step_);
    case wire::Phase::kUnknown:
    case wire::Phase::kFinished:
      break;
  }
  return std::nullopt;
}

bool Watchdog::IsBlind() const {
  return limits_.asked && !ranks_.empty() &&
         std::all_of(ranks_.begin(), ranks_.end(), [](const auto& one) {
           return one.second.sample.progress.phase == wire::Phase::kUnknown &&
                  one.second.idle >= kBlindAfter;
         });
}

std::vector<int> Watchdog::TakeStopped() {
  std::vector<int> stopped;
  for (auto& [rank, watched] : ranks_) {
    if (watched.stopped < kStoppedFor) {
      watched.stop_reported = false;
    } else if (!std::exchange(watched.stop_reported, true)) {
      stopped.push_back(rank);
    }
  }
  return stopped;
}

// A stopped rank does not use the time of its phase: it does nothing. One that
// has reported nothing yet is ended for that only where the user has asked for
// a limit: an unmodified program may be stopped on purpose.
std::optional<Duration> Watchdog::LimitOf(const Watched& watched) const {
  const wire::RankSample& sample = watched.sample;
  const auto steps = Limit(wire::Phase::kStep);
  if (!Reports(sample)) {
    const bool begins = sample.progress.phase == wire::Phase::kUnknown;
    return begins && limits_.asked && sample.state == 'T' ? steps
                                                          : std::nullopt;
  }
  const auto limit = Limit(sample.progress.phase);
  return IsStopped(sample) && limit && steps ? std::min(*limit, *steps) : limit;
}

bool Watchdog::Stuck(const Watched& watched) const {
  const auto limit = LimitOf(watched);
  return limit && watched.idle > *limit;
}

diagnose::Stall Watchdog::StallOf(const Watched& watched) const {
  const wire::RankSample& sample = watched.sample;
  return {.rank = sample.rank,
          .phase = sample.progress.phase,
          .step = sample.progress.step,
          .state = sample.state,
          .wait_channel = sample.wait_channel,
          .idle = watched.idle,
          .limit = LimitOf(watched).value_or(Duration::zero())};
}

std::optional<Standstill> Watchdog::Check() const {
  Standstill found;
  bool excused = false;
  bool stopped = false;
  for (const auto& [rank, watched] : ranks_) {
    const bool stuck = Stuck(watched);
    if (stuck) {
      found.ranks.push_back(StallOf(watched));
      stopped = stopped || IsStopped(watched.sample);
    }
    // Others may wait for a rank that is in a long phase and within its limit:
    // one writes the checkpoint, all wait.
    excused = excused || (!stuck && Reports(watched.sample) &&
                          !IsStopped(watched.sample) &&
                          watched.sample.progress.phase != wire::Phase::kStep);
  }
  if (found.ranks.empty() || (excused && !stopped)) {
    return std::nullopt;
  }
  // Waiting for the stopped one is not standing still for a reason of one's
  // own, and with one rank stopped no other is to blame.
  FindCulprits(found);
  return found;
}

}  // namespace muster::monitor
