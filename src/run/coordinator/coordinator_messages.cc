// SPDX-License-Identifier: Apache-2.0
// What agents say to the coordinator, and what it says to people.
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "monitor/resource/accelerator_use.h"
#include "record/events.h"
#include "run/coordinator/coordinator.h"

namespace muster::run {
namespace {

// The label that ranks find on their boards when a peer has failed.
std::string PeerDied() {
  return std::string(Label(Cause::kPeerDied));
}

constexpr std::size_t kNamesWaitedFor = 4;

}  // namespace

Status Coordinator::OnMessage(int agent, wire::ToCoordinator message) {
  const auto of_the_roll_call = []() -> Status {
    return Error(Cause::kInternalError, "a message of the roll call");
  };
  return wire::Dispatch(
      std::move(message),
      [&](const wire::Identity&) { return of_the_roll_call(); },
      [&](const wire::HelloReply&) { return of_the_roll_call(); },
      [&](auto received) -> Status { return On(agent, std::move(received)); });
}

bool Coordinator::IsCurrent(int attempt) const {
  const bool live = state_ == State::kRunning || state_ == State::kStopping;
  return live && attempt == number_;
}

Status Coordinator::On(int agent, wire::Stopped stopped) {
  if (IsCurrent(stopped.attempt)) {
    attempt_->Stopped(agent, std::move(stopped));
    if (attempt_->Unstopped().empty()) {
      OnAttemptOver();
    }
  }
  return Ok();
}

Status Coordinator::On(int agent, const wire::PeerCheckResult& result) {
  MUSTER_ASSIGN(auto row, RowOf(result));
  if (peer_check_ && result.attempt == number_ &&
      peer_check_->Tells(agent, std::move(row))) {
    EndPeerCheck();
  }
  return Ok();
}

Status Coordinator::On(int agent, wire::Progress progress) {
  if (!IsCurrent(progress.attempt)) {
    return Ok();
  }
  std::erase_if(progress.ranks, [&](const wire::RankSample& sample) {
    return !IsOwn(agent, sample.rank, wire::Progress::kKind);
  });
  OnProgress(progress);
  return Ok();
}

Status Coordinator::On(int agent, wire::RankStarted started) {
  if (IsCurrent(started.attempt) &&
      IsOwn(agent, started.rank, wire::RankStarted::kKind)) {
    journal_.Record(record::StartedFact(started));
  }
  return Ok();
}

Status Coordinator::On(int agent, wire::RankExited exited) {
  if (IsCurrent(exited.attempt) &&
      IsOwn(agent, exited.rank, wire::RankExited::kKind)) {
    OnExited(std::move(exited));
  }
  return Ok();
}

Status Coordinator::On(int agent, wire::StoreRequest request) {
  if (!IsCurrent(request.attempt) ||
      !IsOwn(agent, request.rank, wire::StoreRequest::kKind)) {
    return Ok();
  }
  MUSTER_ASSIGN(const auto frame, wire::TakeMessage(request.frame));
  if (!frame) {
    return Error(Cause::kVerPeerMismatch,
                 "a store request without a whole "
                 "frame");
  }
  store_->Handle(request.rank, *frame,
                 [this, agent, rank = request.rank,
                  attempt = request.attempt](const wire::RankMessage& reply) {
                   Send(agent,
                        Encode(wire::StoreReply{.rank = rank,
                                                .attempt = attempt,
                                                .frame = wire::Encode(reply)}));
                 });
  return Ok();
}

Status Coordinator::On(int /*agent*/, wire::AgentFact message) {
  Fact& fact = message.fact;
  const bool interrupted = fact.name == "agent.interrupted";
  const std::string by = fact.by;
  if (fact.name == monitor::kAcceleratorsUnused) {
    TellUnused(fact);
  }
  if (fact.name == record::kContainment) {
    journal_.Record(std::move(fact));
  } else {
    journal_.Note(std::move(fact));
  }
  if (interrupted && !interrupted_by_) {
    Interrupt("a request to " + by, false);
  }
  return Ok();
}

bool Coordinator::IsOwn(int agent, int rank, std::string_view kind) {
  if (attempt_->Runs(agent, rank)) {
    return true;
  }
  if (refused_.emplace(agent, kind).second) {
    MUSTER_LOG(kWarn,
               "an agent sent a message about a rank that it does not run",
               {{"agent", agent}, {"kind", kind}, {"rank", rank}});
    Record("coordinator.refused", {{"agent", std::int64_t{agent}},
                                   {"kind", std::string(kind)},
                                   {"rank", std::int64_t{rank}}});
  }
  return false;
}

void Coordinator::OnExited(wire::RankExited exited) {
  journal_.Record(record::ExitedFact(exited));
  for (const Fact& fact : exited.facts) {
    journal_.Note(fact);
  }
  watchdog_.Ended(exited.rank);
  progress_->Exited(exited);
  const bool failed = Attempt::Failed(exited);
  attempt_->Exited(std::move(exited));
  if (state_ != State::kRunning) {
    return;
  }
  if (failed) {
    EndRanks(PeerDied(), false);
  } else if (attempt_->Done() && !attempt_->EndedAll()) {
    // Only those that serve the others are left.
    EndRanks(std::string(Label(Cause::kCancelled)), false);
  } else {
    // Workers that their chief has left have as long as any rank that is to
    // end; others may have something to do that is theirs alone.
    waiting_ =
        loop_.After(options_.grace * (attempt_->ChiefLeftItsWorkers() ? 1 : 6),
                    [this] { TellWaiting(); });
  }
}

void Coordinator::OnProgress(const wire::Progress& progress) {
  progress_->Observe(progress);
  watchdog_.Observe(progress);
  if (state_ != State::kRunning) {
    return;
  }
  if (pace_->Due(host_.clock.Now())) {
    const std::string line = monitor::LiveText(
        progress_->View(), {.running = attempt_->Running(),
                            .attempt = number_,
                            .elapsed = host_.clock.Now() - started_});
    if (console_.terminal()) {
      console_.SetLive(line);
    } else {
      Say(line);
    }
  }
  TellFailures();
  for (const int rank : watchdog_.TakeStopped()) {
    Record("rank.stopped", {{"rank", std::int64_t{rank}}});
    Say("rank " + std::to_string(rank) +
        " is stopped by a signal (state T); SIGCONT to its process resumes it");
  }
  constexpr std::string_view kBlind =
      "the program reports no steps, so hangs are not detected: "
      "--progress-timeout applies to programs that use libmuster";
  if (watchdog_.IsBlind() && warned_.emplace(kBlind).second) {
    Say(std::string(kBlind));
  }
  if (auto standstill = watchdog_.Check()) {
    Record("run.standstill",
           {{"text", standstill->why},
            {"rank", std::int64_t{standstill->ranks.front().rank}},
            {"state", std::string(1, standstill->ranks.front().state)}});
    Say("no progress: " + standstill->why);
    attempt_->StandsStill(*std::move(standstill), host_.clock.EventNow());
    EndRanks(std::string(Label(Cause::kNoProgress)), false);
  }
}

void Coordinator::OnLost(int agent, const Error& why) {
  if (peer_check_) {
    peer_check_.reset();
    peer_check_end_.Cancel();
    FailSetUp(std::vector{why});
    return;
  }
  if (state_ != State::kRunning && state_ != State::kStopping) {
    return;
  }
  Record("agent.lost", {{"agent", std::int64_t{agent}},
                        {"cause", std::string(Label(why.cause()))},
                        {"text", why.message()}});
  const bool lost = attempt_->Lost(agent, why, host_.clock.EventNow());
  if (state_ == State::kRunning && lost && !attempt_->Done()) {
    EndRanks(PeerDied(), false);
  }
  if (attempt_->Unstopped().empty()) {
    OnAttemptOver();
  }
}

void Coordinator::Send(int agent, wire::Envelope message) {
  if (channel::Link* link = rendezvous_->link(agent)) {
    link->Send(std::move(message));
  }
}

void Coordinator::Record(std::string_view name,
                         std::map<std::string, FactValue> fields) {
  Fact fact;
  fact.name = name;
  fact.fields = std::move(fields);
  if (number_ > 0) {
    fact.fields["attempt"] = std::int64_t{number_};
  }
  fact.subject = "run " + options_.run_id;
  fact.by = record::kByCoordinator;
  journal_.Record(std::move(fact));
}

void Coordinator::Tell(std::span<const Finding> findings) {
  for (const Finding& finding : findings) {
    journal_.Record(
        record::FindingFact(finding, number_, host_.clock.EventNow()));
  }
  if (!findings.empty()) {
    console_.Write(sys::Console::Stream::kErr,
                   RenderText(findings, {.color = options_.color}));
  }
}

void Coordinator::TellUnused(const Fact& fact) {
  if (std::exchange(warned_unused_, true)) {
    return;
  }
  const Finding finding = monitor::UnusedFinding(fact);
  Fact warning = record::FindingFact(finding, number_, host_.clock.EventNow());
  warning.fields["beside"] = true;
  journal_.Record(std::move(warning));
  console_.Write(sys::Console::Stream::kErr,
                 RenderText(std::span(&finding, 1), {.color = options_.color}));
}

void Coordinator::TellWaiting() {
  const auto left = attempt_ ? attempt_->Awaited() : std::vector<std::string>();
  if (state_ != State::kRunning || left.empty()) {
    return;
  }
  const std::string text =
      attempt_->ChiefLeftItsWorkers()
          ? "the chief succeeded, and the run waits for " +
                JoinSome(left, kNamesWaitedFor) +
                ": a worker of ParameterServerStrategy serves until it is "
                "killed"
          : "the other ranks succeeded, and the run waits for " +
                JoinSome(left, kNamesWaitedFor);
  Say(text);
  Record(record::kRunNote, {{"text", text}});
}

void Coordinator::Say(const std::string& text) {
  if (LogEnabled(LogLevel::kInfo)) {
    console_.Write(sys::Console::Stream::kErr,
                   "muster: " + Printable(text) + "\n");
  }
}

// Files that cannot be written do not end a run, but are not kept secret.
void Coordinator::TellFailures() {
  for (const auto& failure :
       {journal_.TakeFailure(), progress_->TakeFailure()}) {
    if (failure) {
      Finding finding = FromError(*failure);
      finding.severity = Severity::kWarning;
      Tell(std::span(&finding, 1));
    }
  }
}

std::string Coordinator::Where() const {
  if (!attempt_) {
    return "";
  }
  if (const auto step = attempt_->Reach().step; step > 0) {
    return " at step " + std::to_string(step);
  }
  const std::string started = attempt_->BeingStarted();
  return started.empty() ? "" : " while " + started + " was starting";
}

}  // namespace muster::run
