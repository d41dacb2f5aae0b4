// SPDX-License-Identifier: Apache-2.0
#include "run/agent/agent_attempt.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "record/events.h"
#include "sys/process/process.h"

namespace muster::run {

AgentAttempt::AgentAttempt(const AgentContext& context, wire::LaunchPlan plan)
    : context_(context),
      plan_(std::move(plan)),
      shares_{.oom = OomWatch(context.host.fs)},
      use_(context.loop, context.host.clock, context.options.accelerators,
           [&context](Fact fact) { context.tell(std::move(fact)); }) {}

AgentAttempt::~AgentAttempt() {
  if (!EndedAll()) {
    context_.spawner.KillAll([](int) {});
  }
}

// The progress page and the segment of this host, as ranks get them.
Status AgentAttempt::MakePages() {
  MUSTER_ASSIGN(
      const int progress_page,
      sys::MakeSharedMemory("muster-board", sizeof(wire::ProgressPage)));
  progress_page_fd_ = sys::Fd(progress_page);
  MUSTER_ASSIGN(const int segment, sys::MakeSharedMemory("muster-segment", 0));
  segment_fd_ = sys::Fd(segment);
  MUSTER_ASSIGN(pages_,
                sys::Mapping::Map(progress_page, sizeof(wire::ProgressPage)));
  shares_.progress_page = new (pages_.data()) wire::ProgressPage;
  shares_.progress_page_fd = progress_page;
  shares_.segment_fd = segment;
  return Ok();
}

// Empty when there are to be no files, or the directory cannot be made.
std::string AgentAttempt::MakeLogDirectory() {
  const auto& options = context_.options;
  std::string path =
      options.log_directory ? options.log_directory(plan_) : std::string();
  if (path.empty()) {
    return path;
  }
  const auto made = context_.host.fs.MakeDirectories(path, options.log_access);
  if (!made) {
    MUSTER_LOG(kWarn, "log files are not available for this attempt",
               {{"error", made.error().ToString()}});
    context_.tell(
        {.name = "log.failed",
         .fields = {{"attempt", std::int64_t{plan_.attempt}},
                    {"cause", std::string(Label(made.error().cause()))},
                    {"text", made.error().message()}},
         .subject = path});
    path.clear();
  }
  return path;
}

void AgentAttempt::Launch(std::function<void()> on_over) {
  on_over_ = std::move(on_over);
  possible_ = MakePages();
  MakeRanks(MakeLogDirectory());
  progress_ = context_.loop.Every(context_.options.progress_period,
                                  [this] { TellProgress(); });
  if (!ranks_.empty()) {
    const auto first =
        std::find_if(plan_.ranks.begin(), plan_.ranks.end(),
                     [&](const wire::RankPlan& plan) {
                       return plan.rank == ranks_.front()->rank();
                     });
    use_.Begin(EnvironmentOf(*first, context_.host.env.All()),
               context_.options.identity.host, plan_.attempt);
  }
  StartNext();
}

void AgentAttempt::MakeRanks(const std::string& log_directory) {
  const auto& own = context_.options.identity.ranks;
  for (const wire::RankPlan& plan : plan_.ranks) {
    if (std::find(own.begin(), own.end(), plan.rank) == own.end()) {
      continue;
    }
    AgentRank::Placement placement{
        .plan = plan,
        .attempt = plan_.attempt,
        .prefix = plan_.world_size > 1
                      ? "[rank " + std::to_string(plan.rank) + "] "
                      : "",
        .log_directory = log_directory};
    ranks_.push_back(
        std::make_shared<AgentRank>(context_, std::move(placement), shares_));
  }
}

void AgentAttempt::StartNext() {
  while (!possible_ && next_ < ranks_.size()) {
    ranks_[next_++]->RefuseToStart(possible_.error());
  }
  if (next_ < ranks_.size()) {
    AgentRank* rank = ranks_[next_++].get();
    rank->Start(
        [weak = weak_from_this(), rank](const Status& started) {
          if (auto self = weak.lock()) {
            self->OnStarted(*rank, started);
          }
        },
        [weak = weak_from_this()] {
          if (auto self = weak.lock()) {
            self->OnExit();
          }
        });
  } else if (EndedAll()) {
    none_started_ = context_.loop.After(Duration::zero(), [this] { Kill(); });
  }
}

void AgentAttempt::TellContainment() const {
  const sys::Containment held = context_.spawner.containment();
  Fact fact{.name = std::string(record::kContainment),
            .fields = {{"attempt", std::int64_t{plan_.attempt}}},
            .subject = context_.options.identity.host};
  if (held.cgroup.empty()) {
    fact.fields["by"] = "process tree";
    fact.fields["why_not"] = held.why_not;
  } else {
    fact.fields["by"] = "cgroup";
    fact.fields["cgroup"] = held.cgroup;
  }
  context_.tell(std::move(fact));
}

void AgentAttempt::OnStarted(AgentRank& rank, const Status& started) {
  if (started && !std::exchange(containment_sent_, true)) {
    TellContainment();
  }
  if (state_ == State::kRunning) {
    possible_ = started;
    StartNext();
  } else if (state_ == State::kAsked) {
    started ? rank.AskToStop(stop_cause_, Grace()) : OnExit();
  } else if (started || started.error().cause() == Cause::kCancelled) {
    ++killed_ranks_;  // it was on its way when everything was to end
  }
}

std::chrono::milliseconds AgentAttempt::Grace() const {
  return std::chrono::milliseconds(plan_.grace_ms);
}

int AgentAttempt::Running() const {
  return static_cast<int>(
      std::count_if(ranks_.begin(), ranks_.end(),
                    [](const auto& rank) { return rank->running(); }));
}

bool AgentAttempt::EndedAll() const {
  return std::all_of(ranks_.begin(), ranks_.end(),
                     [](const auto& rank) { return rank->ended(); });
}

void AgentAttempt::OnExit() {
  if (EndedAll() || (state_ == State::kAsked && Running() == 0)) {
    Kill();
  }
}

void AgentAttempt::Stop(Cause cause, bool now) {
  use_.End();
  if (state_ == State::kRunning) {
    WriteStop(cause);
    while (next_ < ranks_.size()) {
      ranks_[next_++]->EndBeforeStart();
    }
  }
  if (now) {
    Kill();
    return;
  }
  if (state_ != State::kRunning) {
    return;
  }
  state_ = State::kAsked;
  stop_cause_ = cause;
  for (const auto& rank : ranks_) {
    if (rank->running()) {
      rank->AskToStop(cause, Grace());
    }
  }
  grace_ = context_.loop.After(Grace(), [this] { Kill(); });
  OnExit();
}

// Ends what ranks wait for: the reason first, then the event.
void AgentAttempt::WriteStop(Cause cause) const {
  if (shares_.progress_page == nullptr) {
    return;
  }
  wire::ProgressPage& progress_page = *shares_.progress_page;
  progress_page.stop.store(1 + static_cast<std::uint32_t>(cause));
  progress_page.event.fetch_add(1);
  sys::FutexWakeAll(progress_page.event);
}

// What ranks leave behind is killed too, so this comes in every case.
void AgentAttempt::Kill() {
  if (state_ == State::kKilling || state_ == State::kOver) {
    return;
  }
  state_ = State::kKilling;
  use_.End();
  grace_.Cancel();
  for (const auto& rank : ranks_) {
    if (!rank->ended()) {
      rank->MarkKilled();
      killed_ranks_ += rank->running() ? 1 : 0;
    }
  }
  context_.spawner.KillAll([weak = weak_from_this()](int killed) {
    if (auto self = weak.lock()) {
      self->OnKilled(killed);
    }
  });
}

void AgentAttempt::OnKilled(int killed) {
  wire::Stopped stopped{.attempt = plan_.attempt,
                        .leftovers = std::max(0, killed - killed_ranks_)};
  for (const auto& rank : ranks_) {
    if (!rank->ended()) {
      rank->GiveUp();
    }
    rank->FinishOutput();
    std::ranges::move(rank->ReadLogs(), std::back_inserter(stopped.logs));
  }
  state_ = State::kOver;
  progress_.Cancel();
  context_.send(Encode(stopped));
  // Taken out first: it may destroy this attempt.
  auto on_over = std::move(on_over_);
  on_over();
}

bool AgentAttempt::Answer(const wire::StoreReply& reply) {
  const auto found =
      std::find_if(ranks_.begin(), ranks_.end(), [&](const auto& rank) {
        return rank->rank() == reply.rank && rank->running();
      });
  std::string frame = reply.frame;
  const auto message = wire::TakeMessage(frame);
  if (reply.attempt != plan_.attempt || !message || !message->has_value()) {
    return false;
  }
  if (found != ranks_.end()) {  // else it has ended meanwhile
    (*found)->Answer(**message);
  }
  return true;
}

void AgentAttempt::TellProgress() {
  wire::Progress progress{
      .attempt = plan_.attempt,
      .now_ns = context_.host.clock.Now().time_since_epoch().count()};
  for (const auto& rank : ranks_) {
    if (rank->running()) {
      progress.ranks.push_back(rank->Sample());
    }
  }
  if (!progress.ranks.empty()) {
    context_.send(Encode(progress));
  }
}

}  // namespace muster::run
