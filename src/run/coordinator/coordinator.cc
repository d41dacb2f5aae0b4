// SPDX-License-Identifier: Apache-2.0
#include "run/coordinator/coordinator.h"

#include <csignal>
#include <utility>

#include "base/command_text.h"
#include "base/json.h"
#include "base/log.h"
#include "base/redact/redact.h"
#include "base/text.h"
#include "cluster/cluster_json.h"
#include "diagnose/verdict/refine.h"
#include "diagnose/verdict/verdict.h"
#include "monitor/progress/training_findings.h"
#include "record/events.h"
#include "run/coordinator/host_findings.h"
#include "run/plan/plan.h"
#include "sys/process/spawner.h"

namespace muster::run {
namespace {

// Who asks muster to end may have asked the ranks as well (scancel does), while
// they end they lose each other, and some end by an exception or an abort.
bool FollowsFromRequest(const diagnose::Verdict& verdict) {
  wire::Exit exit;
  exit.wait_status = verdict.wait_status;
  return verdict.cascade || verdict.late ||
         (verdict.kind == diagnose::RootKind::kSignal &&
          (exit.signal() == SIGTERM || exit.signal() == SIGINT));
}

}  // namespace

Coordinator::Coordinator(sys::Loop& loop, const sys::Host& host,
                         sys::Console& console, record::Journal& journal,
                         RunOptions options)
    : loop_(loop),
      host_(host),
      console_(console),
      journal_(journal),
      options_(std::move(options)),
      watchdog_(options_.limits) {}

Coordinator::~Coordinator() = default;

void Coordinator::Start(channel::Transport* transport, Cluster cluster,
                        wire::Hello identity,
                        std::function<void(const RunEnd&)> on_end) {
  cluster_ = std::move(cluster);
  on_end_ = std::move(on_end);
  started_ = host_.clock.Now();
  pace_.emplace(console_.terminal(), started_);
  progress_ = std::make_unique<monitor::ProgressLog>(host_, journal_,
                                                     cluster_.WorldSize());
  const std::vector<std::string> shown = RedactedCommand(options_.argv);
  Record(record::kRunStarted,
         {{"run", options_.run_id},
          {"command", CommandLine(shown)},
          {"argv", Dump(Json(shown))},
          {"version", identity.version},
          {"host", host_.env.Hostname()},
          {"directory", host_.env.WorkingDirectory()},
          {"folder", journal_.folder()},
          {"world_size", std::int64_t{cluster_.WorldSize()}},
          {"max_restarts", std::int64_t{options_.max_restarts}},
          {"cluster", Dump(ToJson(cluster_))}});
  rendezvous_ = rendezvous::RendezvousServer::Make(
      loop_, host_.clock, transport, cluster_,
      {.identity = std::move(identity),
       .on_message =
           [this](int agent, wire::ToCoordinator message) {
             return OnMessage(agent, std::move(message));
           },
       .on_lost = [this](int agent, const Error& why) { OnLost(agent, why); }});
  BeginAttempt();
}

void Coordinator::BeginAttempt() {
  ++number_;
  state_ = State::kRendezvousServer;
  attempt_.reset();
  Record(record::kAttemptCalled);
  rendezvous_->Call(
      number_, Deadline::After(options_.gather_timeout),
      [this](const std::vector<rendezvous::Missing>& missing) {
        OnMissing(missing);
      },
      [this](rendezvous::RendezvousResult gathered) {
        OnRendezvous(std::move(gathered));
      });
}

void Coordinator::OnMissing(std::span<const rendezvous::Missing> missing) {
  const auto members = static_cast<int>(cluster_.members.size());
  const std::string text = ToString(missing, members);
  Say(text);
  Fact fact;
  fact.name = "attempt.waiting";
  fact.subject = "attempt " + std::to_string(number_);
  fact.by = record::kByCoordinator;
  fact.fields["attempt"] = std::int64_t{number_};
  fact.fields["text"] = text;
  journal_.Note(std::move(fact));
}

void Coordinator::OnRendezvous(rendezvous::RendezvousResult gathered) {
  Tell(gathered.warnings);
  if (!gathered.complete()) {
    FailSetUp(gathered.errors);
    return;
  }
  Record(record::kAttemptGathered,
         {{"agents", static_cast<std::int64_t>(gathered.agents.size())}});
  hellos_.clear();
  for (const rendezvous::Attendance& agent : gathered.agents) {
    hellos_.push_back(agent.hello);
  }
  gathered_ = std::move(gathered);
  if (!MayStart(FoundOnHosts(hellos_))) {
    return;
  }
  const auto ports = PortsOfRanks(cluster_, hellos_);
  if (options_.peer_check && ports &&
      hellos_.size() == cluster_.members.size()) {
    BeginPeerCheck(*ports);
  } else {
    Plan();
  }
}

void Coordinator::BeginPeerCheck(const Cluster& ports) {
  peer_check_.emplace(ports, static_cast<int>(hellos_.size()));
  for (const rendezvous::Attendance& agent : gathered_.agents) {
    Send(agent.agent,
         Encode(wire::PeerCheckRequest{.attempt = number_, .ports = ports}));
  }
  peer_check_end_ = loop_.After(kPeerCheckLimit, [this] { EndPeerCheck(); });
}

void Coordinator::EndPeerCheck() {
  peer_check_end_.Cancel();
  const auto findings = peer_check_->Judge(host_.clock.EventNow());
  peer_check_.reset();
  if (MayStart(findings)) {
    Plan();
  }
}

void Coordinator::Plan() {
  auto planned = MakePlan(cluster_, hellos_,
                          {.run_id = options_.run_id,
                           .attempt = number_,
                           .max_restarts = options_.max_restarts,
                           .argv = options_.argv,
                           .user_environment = options_.environment,
                           .for_jax = options_.for_jax,
                           .bind_devices = options_.bind_devices,
                           .grace = options_.grace});
  if (!planned) {
    FailSetUp(std::vector{planned.error()});
    return;
  }
  Launch(gathered_, *planned);
}

// Tells what was found before ranks start: a warning on one line and once, an
// error as a finding, which ends the run.
bool Coordinator::MayStart(std::span<const Finding> findings) {
  const Finding* root = nullptr;
  for (const Finding& finding : findings) {
    if (finding.severity == Severity::kError) {
      root = root == nullptr ? &finding : root;
      Tell(std::span(&finding, 1));
    } else if (const std::string line = OneLine(finding);
               finding.severity != Severity::kNote &&
               warned_.insert(line).second) {
      Fact fact = record::FindingFact(finding, number_, host_.clock.EventNow());
      fact.fields["beside"] = true;
      journal_.Record(std::move(fact));
      Say(line);
    }
  }
  if (root != nullptr) {
    Conclude({.kind = record::Failure::Kind::kSetUp, .cause = root->cause});
  }
  return root == nullptr;
}

void Coordinator::Launch(const rendezvous::RendezvousResult& gathered,
                         const Planned& planned) {
  std::vector<Attempt::Agent> agents;
  for (const rendezvous::Attendance& agent : gathered.agents) {
    agents.push_back({.number = agent.agent,
                      .host = agent.hello.host,
                      .ranks = agent.hello.ranks});
  }
  if (number_ == 1) {
    for (const std::string& note : planned.notes) {
      Say(note);
      Record(record::kRunNote, {{"text", note}});
    }
  }
  attempt_ = std::make_unique<Attempt>(cluster_, number_, std::move(agents));
  std::vector<bool> trains;
  trains.reserve(cluster_.members.size());
  for (const Member& member : cluster_.members) {
    trains.push_back(Trains(member));
  }
  store_ = std::make_unique<Store>(loop_, std::move(trains));
  watchdog_.Begin();
  progress_->Begin(number_);
  state_ = State::kRunning;
  Record(record::kAttemptLaunched, {{"digest", planned.plan.digest}});
  for (const rendezvous::Attendance& agent : gathered.agents) {
    Send(agent.agent, Encode(PartOf(planned.plan, agent.hello.ranks)));
  }
  Say("run " + options_.run_id + (number_ > 1 ? ", attempt " : "") +
      (number_ > 1 ? std::to_string(number_) : "") + ": " +
      Count(std::ssize(cluster_.members), "rank") + " on " +
      Count(planned.machines, "host") + ", logs in " + journal_.folder());
}

void Coordinator::EndRanks(const std::string& cause, bool now) {
  if (state_ == State::kRunning) {
    state_ = State::kStopping;
    attempt_->StopsFor(cause);
    store_->Close(Error(CauseFromLabel(cause).value_or(Cause::kCancelled),
                        "the attempt is being stopped"));
    console_.SetLive("");
  }
  for (const int agent : attempt_->Unstopped()) {
    Send(agent, Encode(wire::StopRanks{
                    .attempt = number_, .cause = cause, .now = now}));
  }
}

void Coordinator::OnAttemptOver() {
  state_ = State::kPausing;
  console_.SetLive("");
  progress_->End();
  TellFailures();
  Record(record::kAttemptStopped,
         {{"leftovers", std::int64_t{attempt_->leftovers()}}});
  if (attempt_->Done()) {
    EndRun(
        {.exit_code = 0,
         .origin = Origin::kProgram,
         .text = (cluster_.members.size() == 1
                      ? "the rank"
                      : "all " + Count(std::ssize(cluster_.members), "rank")) +
                 " succeeded"});
    return;
  }
  auto verdict = diagnose::Judge(attempt_->End());
  diagnose::Refine(verdict, attempt_->logs());
  const bool asked = attempt_->stop_cause() == Label(Cause::kCancelled);
  if (!interrupted_by_ || !asked || !FollowsFromRequest(verdict)) {
    Tell(verdict.findings);
  }
  Conclude(interrupted_by_
               ? record::Failure{.kind = record::Failure::Kind::kInterrupted,
                                 .cause = Cause::kCancelled,
                                 .step = attempt_->Reach().step}
               : attempt_->RootOf(verdict));
}

void Coordinator::FailSetUp(std::span<const Error> errors) {
  std::vector<Finding> findings;
  for (const Error& error : errors) {
    findings.push_back(FromError(error));
  }
  Tell(findings);
  record::Failure failure{
      .kind = number_ == 1 ? record::Failure::Kind::kSetUp
                           : record::Failure::Kind::kHostLost,
      .cause = errors.empty() ? Cause::kInternalError : errors.front().cause()};
  // Who does not come back was lost; who comes back as another is a mistake.
  if (RetryOf(failure.cause) == Retry::kBug) {
    failure.kind = record::Failure::Kind::kSetUp;
  }
  Conclude(failure);
}

void Coordinator::Conclude(const record::Failure& failure) {
  Fact failed = record::FailedFact(failure, number_, host_.clock.EventNow());
  std::string text(Title(failure.cause));
  if (failure.kind == record::Failure::Kind::kInterrupted) {
    text = "canceled by " + *interrupted_by_;
    const Finding finding =
        MakeFinding(Cause::kCancelled, text + Where(), Confidence::kCertain);
    Tell(std::span(&finding, 1));
  } else if (failure.rank >= 0) {
    text = failed.subject + ": " + text;
    if (failure.kind == record::Failure::Kind::kSignal) {
      text = failed.subject + " was killed by " + failed.Text("signal_name");
    }
  }
  journal_.Record(std::move(failed));
  const auto decision = Decide(host_.clock.Now(), decided_, failure,
                               attempt_ ? attempt_->Reach() : AttemptReach{},
                               {.max_restarts = options_.max_restarts});
  decided_ = decision.state;
  Record(record::kDecided,
         {{"restart", decision.restart}, {"text", decision.reason}});
  Say(decision.reason);
  if (!decision.restart) {
    EndRun({.exit_code = decision.exit_code,
            .origin = decision.origin,
            .cause = std::string(Label(failure.cause)),
            .text = text});
    return;
  }
  state_ = State::kPausing;
  pause_ = loop_.After(decision.not_before - host_.clock.Now(),
                       [this] { BeginAttempt(); });
}

void Coordinator::EndRun(RunEnd end) {
  state_ = State::kEnded;
  Tell(monitor::JudgeTraining(journal_.facts()));
  Record(record::kRunEnded, {{"exit_code", std::int64_t{end.exit_code}},
                             {"origin", std::string(OriginName(end.origin))},
                             {"cause", end.cause},
                             {"text", end.text}});
  TellFailures();
  rendezvous_->SendAll(
      Encode(wire::Goodbye{.exit_code = end.exit_code,
                           .origin = std::string(OriginName(end.origin)),
                           .summary = end.text}));
  loop_.Post([on_end = std::exchange(on_end_, nullptr), end = std::move(end)] {
    on_end(end);
  });
}

void Coordinator::Interrupt(const std::string& by, bool now) {
  if (state_ == State::kEnded) {
    return;
  }
  Record(record::kInterrupted, {{"text", by}, {"now", now}});
  interrupted_by_ = interrupted_by_.value_or(by);
  if (state_ == State::kRunning || state_ == State::kStopping) {
    Say(now ? by + ": killing the ranks now"
            : by + ": stopping the ranks, grace period " +
                  ToString(options_.grace) + "; repeat to kill them now");
    EndRanks(std::string(Label(Cause::kCancelled)), now);
    return;
  }
  rendezvous_->CancelCall();
  peer_check_.reset();
  peer_check_end_.Cancel();
  pause_.Cancel();
  Conclude({.kind = record::Failure::Kind::kInterrupted,
            .cause = Cause::kCancelled});
}

}  // namespace muster::run
