// SPDX-License-Identifier: Apache-2.0
#include "run/agent_attempt.h"

#include <algorithm>
#include <iterator>
#include <new>

#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "sys/process.h"

namespace muster::run {

AgentAttempt::AgentAttempt(const AgentContext& context, LaunchPlan plan)
    : context_(context),
      plan_(std::move(plan)),
      shares_{.oom = OomWatch(context.host.fs)},
      use_(context.loop, context.host.clock, context.options.accelerators,
           [&context](Fact fact) { context.tell(std::move(fact)); }) {}

AgentAttempt::~AgentAttempt() {
  if (Running() > 0) {
    context_.spawner.KillAll([](int) {});
  }
}

// The board and the segment of this host, as ranks get them.
Status AgentAttempt::MakePages() {
  MUSTER_ASSIGN(const int board,
                sys::MakeSharedMemory("muster-board", sizeof(Board)));
  board_fd_ = sys::Fd(board);
  MUSTER_ASSIGN(const int segment, sys::MakeSharedMemory("muster-segment", 0));
  segment_fd_ = sys::Fd(segment);
  MUSTER_ASSIGN(pages_, sys::Mapping::Map(board, sizeof(Board)));
  shares_.board = new (pages_.data()) Board;
  shares_.board_fd = board;
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
  const auto made = context_.host.fs.MakeDirectories(path);
  if (!made) {
    MUSTER_LOG(kWarn, "there will be no log files of this attempt",
               {{"error", made.error().ToText()}});
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
  // What keeps one rank from starting keeps the next from it, too, after
  // another wait maybe.
  Status possible = MakePages();
  const std::string directory = MakeLogDirectory();
  const auto& own = context_.options.identity.ranks;
  for (const RankPlan& plan : plan_.ranks) {
    if (std::find(own.begin(), own.end(), plan.rank) != own.end()) {
      possible = LaunchRank(plan, possible, directory);
    }
  }
  progress_ = context_.loop.Every(context_.options.progress_period,
                                  [this] { TellProgress(); });
  if (Running() == 0) {
    none_started_ = context_.loop.After(Duration::zero(), [this] { Kill(); });
  } else {
    const auto first = std::find_if(
        plan_.ranks.begin(), plan_.ranks.end(), [&](const RankPlan& plan) {
          return plan.rank == ranks_.front()->rank();
        });
    use_.Begin(EnvironmentOf(*first, context_.host.env.All()),
               context_.options.identity.host, plan_.attempt);
  }
}

Status AgentAttempt::LaunchRank(const RankPlan& plan, const Status& possible,
                                const std::string& log_directory) {
  AgentRank::Placement placement{
      .plan = plan,
      .attempt = plan_.attempt,
      .prefix = plan_.world_size > 1
                    ? "[rank " + std::to_string(plan.rank) + "] "
                    : "",
      .log_directory = log_directory};
  auto rank =
      std::make_shared<AgentRank>(context_, std::move(placement), shares_);
  ranks_.push_back(rank);
  const bool has_slot = plan.local_rank >= 0 &&
                        static_cast<std::size_t>(plan.local_rank) < kBoardSlots;
  if (possible && has_slot) {
    return rank->Start([weak = weak_from_this()] {
      if (auto self = weak.lock()) {
        self->OnExit();
      }
    });
  }
  const Error why = possible ? Error(Cause::kOsLimit,
                                     "one host takes at most " +
                                         std::to_string(kBoardSlots) + " ranks")
                             : possible.error();
  rank->RefuseToStart(why);
  return why;
}

int AgentAttempt::Running() const {
  return static_cast<int>(
      std::count_if(ranks_.begin(), ranks_.end(),
                    [](const auto& rank) { return rank->running(); }));
}

void AgentAttempt::OnExit() {
  if (Running() == 0) {
    Kill();
  }
}

void AgentAttempt::Stop(Cause cause, bool now) {
  use_.End();
  if (state_ == State::kRunning) {
    WriteStop(cause);
  }
  if (now) {
    Kill();
    return;
  }
  if (state_ != State::kRunning) {
    return;
  }
  state_ = State::kAsked;
  const std::chrono::milliseconds grace(plan_.grace_ms);
  for (const auto& rank : ranks_) {
    if (rank->running()) {
      rank->AskToStop(grace);
    }
  }
  grace_ = context_.loop.After(grace, [this] { Kill(); });
}

// Ends what ranks wait for: the reason first, then the bell.
void AgentAttempt::WriteStop(Cause cause) const {
  if (shares_.board == nullptr) {
    return;
  }
  Board& board = *shares_.board;
  board.stop.store(1 + static_cast<std::uint32_t>(cause));
  board.bell.fetch_add(1);
  sys::FutexWakeAll(board.bell);
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
    if (rank->running()) {
      rank->MarkKilled();
      ++killed_ranks_;
    }
  }
  context_.spawner.KillAll([weak = weak_from_this()](int killed) {
    if (auto self = weak.lock()) {
      self->OnKilled(killed);
    }
  });
}

void AgentAttempt::OnKilled(int killed) {
  Stopped stopped{.attempt = plan_.attempt,
                  .leftovers = std::max(0, killed - killed_ranks_)};
  for (const auto& rank : ranks_) {
    if (rank->running()) {
      rank->GiveUp();
    }
    rank->FinishOutput();
    std::ranges::move(rank->ReadLogs(), std::back_inserter(stopped.logs));
  }
  state_ = State::kOver;
  progress_.Cancel();
  context_.send("stopped", ToJson(stopped));
  // Taken out first: it may destroy this attempt.
  auto on_over = std::move(on_over_);
  on_over();
}

bool AgentAttempt::Answer(const StoreRequest& reply) {
  const auto found =
      std::find_if(ranks_.begin(), ranks_.end(), [&](const auto& rank) {
        return rank->rank() == reply.rank && rank->running();
      });
  std::string frame = reply.frame;
  const auto message = TakeMessage(frame);
  if (reply.attempt != plan_.attempt || !message || !message->has_value()) {
    return false;
  }
  if (found != ranks_.end()) {  // else it has ended meanwhile
    (*found)->Answer(**message);
  }
  return true;
}

void AgentAttempt::TellProgress() {
  Progress progress{
      .attempt = plan_.attempt,
      .now_ns = context_.host.clock.Now().time_since_epoch().count()};
  for (const auto& rank : ranks_) {
    if (rank->running()) {
      progress.ranks.push_back(rank->Sample());
    }
  }
  if (!progress.ranks.empty()) {
    context_.send("progress", ToJson(progress));
  }
}

}  // namespace muster::run
