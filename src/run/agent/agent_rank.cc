// SPDX-License-Identifier: Apache-2.0
#include "run/agent/agent_rank.h"

#include <csignal>

#include "base/json.h"
#include "base/log.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "diagnose/verdict/verdict.h"
#include "run/agent/log_evidence.h"
#include "run/coordinator/store.h"
#include "run/coordinator/store_core.h"
#include "sys/net/net.h"
#include "sys/net/stream.h"
#include "sys/process/process.h"

namespace muster::run {
namespace {

// Descriptors of a rank's process.
constexpr int kOutFd = 1;
constexpr int kErrFd = 2;
constexpr int kAgentFd = 3;

// Bytes of a fact or an error: text may grow six times on its way as JSON.
constexpr std::size_t kMaxReported = 1U << 20;

// "wait_status" of a process that ended with this exit code.
int StatusOf(int code) {
  return code << 8;
}

}  // namespace

std::map<std::string, std::string> EnvironmentOf(
    const wire::RankPlan& plan,
    std::map<std::string, std::string> environment) {
  for (const auto& name : plan.unset) {
    environment.erase(name);
  }
  for (const auto& [name, value] : plan.environment) {
    environment[name] = value.value;
  }
  environment[wire::kRankSocketVariable] = std::to_string(kAgentFd);
  return environment;
}

OomWatch::OomWatch(const sys::Fs& fs)
    : fs_(fs), told_(sys::OomKills(fs, 0).value_or(0)) {}

std::uint64_t OomWatch::Peek() const {
  const auto now = sys::OomKills(fs_, 0).value_or(0);
  return now > told_ ? now - told_ : 0;
}

std::uint64_t OomWatch::Take() {
  const auto kills = Peek();
  told_ += kills;
  return kills;
}

AgentRank::AgentRank(const AgentContext& context, Placement placement,
                     RankShares& shares)
    : context_(context),
      plan_(std::move(placement.plan)),
      attempt_(placement.attempt),
      prefix_(std::move(placement.prefix)),
      log_directory_(std::move(placement.log_directory)),
      shares_(shares) {}

Fact AgentRank::About(std::string_view name) const {
  return Fact{.name = std::string(name),
              .fields = {{"rank", std::int64_t{plan_.rank}},
                         {"attempt", std::int64_t{attempt_}}},
              .subject = "rank " + std::to_string(plan_.rank),
              .by = context_.options.name,
              .at = context_.host.clock.EventNow()};
}

// The reading end is ours, the other is given to the child.
Result<sys::Fd> AgentRank::OpenOutput(sys::Console::Stream stream) {
  MUSTER_ASSIGN(auto pipe, sys::MakePipe());
  const bool is_out = stream == sys::Console::Stream::kOut;
  RankOutput::Options options{.console = context_.options.console,
                              .stream = stream,
                              .prefix = prefix_,
                              .file = nullptr,
                              .on_file_error = {}};
  options.on_file_error = [this](const Error& why) { TellLogFailure(why); };
  if (!log_directory_.empty()) {
    auto file = context_.host.fs.OpenAppender(sys::JoinPath(
        log_directory_,
        "rank" + std::to_string(plan_.rank) + (is_out ? ".out" : ".err")));
    if (file) {
      options.file = std::move(*file);
    } else {
      TellLogFailure(file.error());
    }
  }
  auto& output = is_out ? out_ : err_;
  output =
      std::make_unique<RankOutput>(context_.loop, context_.host.clock,
                                   std::move(pipe.read), std::move(options));
  return std::move(pipe.write);
}

Status AgentRank::Prepare(sys::ProcessSpec& spec,
                          std::vector<sys::Fd>& for_child) {
  if (!HasSlot()) {
    return Error(Cause::kOsLimit, "a host supports at most " +
                                      std::to_string(wire::kProgressSlots) +
                                      " ranks");
  }
  MUSTER_ASSIGN(auto out, OpenOutput(sys::Console::Stream::kOut));
  MUSTER_ASSIGN(auto err, OpenOutput(sys::Console::Stream::kErr));
  MUSTER_ASSIGN(auto ends, sys::SocketPair());
  link_ = std::make_unique<RankLink>(
      context_.loop, std::move(ends.first),
      RankLink::Handlers{
          .on_message = [this](const wire::RankMessage& m) { OnMessage(m); },
          .on_end =
              [this](const std::optional<Error>& why) { OnLinkEnd(why); }});
  spec.argv = plan_.argv;
  spec.environment = EnvironmentOf(plan_, context_.host.env.All());
  spec.directory = plan_.directory;
  spec.cores = plan_.cores;
  spec.descriptors = {
      {kOutFd, out.get()}, {kErrFd, err.get()}, {kAgentFd, ends.second.get()}};
  for_child.push_back(std::move(out));
  for_child.push_back(std::move(err));
  for_child.push_back(std::move(ends.second));
  return Ok();
}

void AgentRank::Start(std::function<void(const Status&)> on_started,
                      std::function<void()> on_exit) {
  on_started_ = std::move(on_started);
  on_exit_ = std::move(on_exit);
  state_ = State::kStarting;
  if (const auto asked = Spawn(); !asked) {
    OnStarted(asked.error(), {});
  }
}

Status AgentRank::Spawn() {
  sys::ProcessSpec spec;
  std::vector<sys::Fd> for_child;  // closed here once the child has them
  MUSTER_TRY(Prepare(spec, for_child));
  const auto weak = weak_from_this();
  context_.spawner.Begin(
      spec,
      // Not the time of the answer: a short program has ended by then.
      [weak, began = context_.host.clock.EventNow()](const Result<int>& pid) {
        if (auto self = weak.lock()) {
          self->OnStarted(pid, began);
        }
      },
      [weak](const wire::Exit& exit) {
        if (auto self = weak.lock()) {
          self->OnExit(exit);
        }
      });
  return Ok();
}

void AgentRank::OnStarted(const Result<int>& pid, WallTime began) {
  if (state_ != State::kStarting) {
    return;  // was given up
  }
  if (pid) {
    pid_ = *pid;
    state_ = State::kRunning;
    context_.send(Encode(wire::RankStarted{
        .rank = plan_.rank, .pid = pid_, .attempt = attempt_, .at = began}));
    on_started_(Ok());
    return;
  }
  if (pid.error().cause() == Cause::kPeerDied) {
    EndWithGuardian(SIGKILL);
    TellExit({.wait_status = SIGKILL, .at = context_.host.clock.EventNow()});
    on_started_(Error(Cause::kCancelled, pid.error().message()));
    return;
  }
  // Only an end of the attempt cancels a start.
  pid.error().cause() == Cause::kCancelled ? EndBeforeStart()
                                           : RefuseToStart(pid.error());
  on_started_(pid.error());
}

void AgentRank::RefuseToStart(const Error& why) {
  constexpr int kCannotExecute = 126;
  state_ = State::kEnded;
  std::int64_t code = kCannotExecute;
  for (const Fact& fact : why.evidence()) {
    code = fact.Number("code", code);
    facts_.push_back(fact);
  }
  error_cause_ = Label(why.cause());
  error_message_ = why.message();
  TellExit({.wait_status = StatusOf(static_cast<int>(code)),
            .could_not_start = true,
            .at = context_.host.clock.EventNow()});
}

void AgentRank::EndBeforeStart() {
  state_ = State::kEnded;
  error_message_ = "its program has not started yet";
  MarkKilled();
  TellExit({.wait_status = SIGKILL,
            .sent_signal = sent_signal_,
            .at = context_.host.clock.EventNow()});
}

void AgentRank::OnExit(const wire::Exit& exit) {
  // The exit may be known before its last words were read.
  const auto kept = shared_from_this();
  link_->Drain();
  out_->Drain();
  err_->Drain();
  state_ = State::kEnded;
  wait_status_ = exit.wait_status;
  AddOom(exit);
  AddUsage(exit);
  if (exit.guardian_signal != 0) {
    EndWithGuardian(exit.guardian_signal);
  }
  TellExit(
      {.pid = exit.pid,
       .wait_status = exit.wait_status,
       .sent_signal = sent_signal_,
       .at = exit.at == WallTime{} ? context_.host.clock.EventNow() : exit.at});
  on_exit_();
}

void AgentRank::EndWithGuardian(int signal) {
  state_ = State::kEnded;
  Fact fact = About(diagnose::kGuardianFact);
  fact.fields["signal"] = std::int64_t{signal};
  fact.fields["signal_name"] = SignalName(signal);
  facts_.push_back(std::move(fact));
}

void AgentRank::AddUsage(const wire::Exit& exit) {
  Fact fact = About("rank.usage");
  fact.fields["user_s"] = exit.user_s;
  fact.fields["system_s"] = exit.system_s;
  fact.fields["max_rss_bytes"] = exit.max_rss_bytes;
  facts_.push_back(std::move(fact));
}

// A kill for memory belongs to a rank that died by KILL which we did not send.
// With another end it may have been a process of the rank, or another rank
// whose exit comes next: told as a counter only.
void AgentRank::AddOom(const wire::Exit& exit) {
  if (exit.wait_status == 0) {
    return;
  }
  const bool killed = exit.signal() == SIGKILL && sent_signal_ != SIGKILL;
  const auto kills = killed ? shares_.oom.Take() : shares_.oom.Peek();
  if (kills == 0) {
    return;
  }
  Fact fact = About(killed ? diagnose::kOomFact : "oom.counter");
  fact.fields["kills"] = static_cast<std::int64_t>(kills);
  fact.fields["max_rss_bytes"] = exit.max_rss_bytes;
  facts_.push_back(std::move(fact));
}

bool AgentRank::HasSlot() const {
  return plan_.slot >= 0 &&
         static_cast<std::size_t>(plan_.slot) < wire::kProgressSlots;
}

// Adds to the bare exit what is known of the rank, and tells it once.
void AgentRank::TellExit(wire::RankExited exited) {
  if (std::exchange(told_, true)) {
    return;
  }
  exited.rank = plan_.rank;
  exited.attempt = attempt_;
  if (shares_.progress_page != nullptr && HasSlot()) {
    exited.progress = wire::ReadSlot(
        shares_.progress_page->slots.at(static_cast<std::size_t>(plan_.slot)));
  }
  exited.facts = facts_;
  exited.error_cause = error_cause_;
  exited.error_message = error_message_;
  if (err_) {
    exited.last_lines = err_->LastLines();
  }
  context_.send(Encode(exited));
}

wire::RankSample AgentRank::Sample() const {
  wire::RankSample sample{.rank = plan_.rank};
  sample.progress = wire::ReadSlot(
      shares_.progress_page->slots.at(static_cast<std::size_t>(plan_.slot)));
  if (const auto process = sys::ReadProcess(pid_)) {
    sample.state = process->state;
    sample.wait_channel = process->wait_channel;
  }
  sample.finalizing = registered_ && !link_->open();
  sample.output_held = out_->paused() || err_->paused();
  return sample;
}

void AgentRank::AskToStop(Cause cause, std::chrono::milliseconds grace) {
  link_->Send({.op = wire::RankOp::kStop,
               .number = grace.count(),
               .key = std::string(Label(cause))});
  sent_signal_ = SIGTERM;
  Signal(SIGTERM);
  Signal(SIGCONT);  // a stopped one cannot obey
}

void AgentRank::Signal(int signal) const {
  if (const auto sent = context_.spawner.Signal(pid_, signal); !sent) {
    MUSTER_LOG(kDebug, "a rank could not be signaled",
               {{"rank", plan_.rank}, {"error", sent.error().ToString()}});
  }
}

void AgentRank::MarkKilled() {
  sent_signal_ = SIGKILL;
}

void AgentRank::GiveUp() {
  state_ = State::kEnded;
  facts_.push_back(About("rank.unkillable"));
  TellExit({.pid = pid_,
            .wait_status = SIGKILL,
            .sent_signal = sent_signal_,
            .at = context_.host.clock.EventNow()});
}

void AgentRank::Answer(const wire::RankMessage& message) {
  link_->Send(message);
}

void AgentRank::FinishOutput() {
  for (const auto& output : {out_.get(), err_.get()}) {
    if (output != nullptr) {
      output->Finish();
    }
  }
}

std::vector<Fact> AgentRank::ReadLogs() const {
  const bool read = !log_directory_.empty() && IsWorthReading(wait_status_);
  return read ? ReadRankLogs(log_directory_, plan_.rank, wait_status_)
              : std::vector<Fact>();
}

void AgentRank::OnMessage(const wire::RankMessage& message) {
  // The library takes more than the link to the coordinator does.
  const std::size_t size = message.key.size() + message.value.size();
  const std::size_t limit =
      IsStoreOp(message.op) ? wire::kMaxStoreValue : kMaxReported;
  if (size > limit && message.op != wire::RankOp::kFailed) {
    const Error error(Cause::kOsLimit, "a message of " + BytesText(size) +
                                           " exceeds the limit of " +
                                           BytesText(limit) + " for its kind");
    IsStoreOp(message.op) ? link_->Send(Refusal(message, error))
                          : TellRefused(error);
    return;
  }
  if (IsStoreOp(message.op)) {
    context_.send(Encode(wire::StoreRequest{.rank = plan_.rank,
                                            .attempt = attempt_,
                                            .frame = wire::Encode(message)}));
    return;
  }
  switch (message.op) {
    case wire::RankOp::kRegister: {
      if (message.number != wire::kRankProtocol) {
        link_->Send(
            Refusal(message, Error(Cause::kVerPeerMismatch,
                                   "the program uses protocol " +
                                       std::to_string(message.number) +
                                       " of libmuster, but its agent uses " +
                                       std::to_string(wire::kRankProtocol))));
        return;
      }
      registered_ = true;
      const int pages[] = {shares_.progress_page_fd, shares_.segment_fd};
      link_->Send({.op = wire::RankOp::kRegistered,
                   .id = message.id,
                   .value = plan_.registered},
                  pages);
      return;
    }
    case wire::RankOp::kFact:
      OnFact(message);
      return;
    case wire::RankOp::kFailed:
      OnFailed(message);
      return;
    default:
      TellRefused(Error(Cause::kUsageInvalid,
                        "op " + std::to_string(static_cast<int>(message.op)) +
                            " is not valid from a rank"));
  }
}

void AgentRank::OnFact(const wire::RankMessage& message) {
  auto json = ParseJson(message.value, Cause::kFileCorrupt, "a rank's fact");
  auto fact =
      json ? FactFromJson(*json) : Result<Fact>(std::move(json).error());
  if (!fact) {
    TellRefused(fact.error());
    return;
  }
  const std::string own = "rank " + std::to_string(plan_.rank);
  fact->by = fact->by.empty() ? own : fact->by;
  fact->subject = fact->subject.empty() ? own : fact->subject;
  fact->fields.emplace("attempt", std::int64_t{attempt_});
  context_.tell(std::move(*fact));
}

void AgentRank::OnFailed(const wire::RankMessage& message) {
  // The first counts: what follows is a consequence.
  if (!error_cause_.empty()) {
    return;
  }
  if (!CauseFromLabel(message.key)) {
    TellRefused(Error(Cause::kUsageInvalid,
                      "`" + Printable(message.key) + "` is not a cause"));
    return;
  }
  error_cause_ = message.key;
  const auto json =
      ParseJson(message.value, Cause::kFileCorrupt, "a rank's error");
  if (!json || !json->is_object() || message.value.size() > kMaxReported) {
    error_message_ = PlainText(message.value, RankOutput::kKeptBytes);
    return;
  }
  const auto text = json->find("message");
  if (text != json->end() && text->is_string()) {
    error_message_ = text->get<std::string>();
  }
  const auto evidence = json->find("evidence");
  if (evidence == json->end() || !evidence->is_array()) {
    return;
  }
  for (const Json& one : *evidence) {
    if (auto fact = FactFromJson(one)) {
      facts_.push_back(std::move(*fact));
    }
  }
}

void AgentRank::OnLinkEnd(const std::optional<Error>& why) {
  if (why) {
    TellRefused(*why);
  }
}

void AgentRank::TellRefused(const Error& why) {
  MUSTER_LOG(kWarn, "received an invalid message from a rank",
             {{"rank", plan_.rank}, {"error", why.ToString()}});
  Fact fact = About("rank.refused");
  fact.fields["cause"] = std::string(Label(why.cause()));
  fact.fields["text"] = why.message();
  context_.tell(std::move(fact));
}

// One word for all files of the host: they fail for one reason.
void AgentRank::TellLogFailure(const Error& why) {
  if (std::exchange(shares_.log_failure_told, true)) {
    return;
  }
  MUSTER_LOG(kWarn, "log files cannot be written; output is only shown",
             {{"error", why.ToString()}});
  Fact fact = About("log.failed");
  fact.fields["cause"] = std::string(Label(why.cause()));
  fact.fields["text"] = why.message();
  context_.tell(std::move(fact));
}

}  // namespace muster::run
