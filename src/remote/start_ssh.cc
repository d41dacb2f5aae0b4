// SPDX-License-Identifier: Apache-2.0
#include "remote/start_ssh.h"

#include <algorithm>
#include <csignal>
#include <optional>
#include <set>
#include <utility>

#include "base/json.h"
#include "base/json_fields.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "channel/security/run_key.h"
#include "channel/security/sha256.h"
#include "finding/exit_code.h"
#include "muster/retry.h"
#include "record/journal.h"
#include "remote/pack_folder.h"
#include "remote/ssh_host.h"
#include "remote/tpu_recreate.h"
#include "remote/tpu_workers.h"
#include "sys/net/curl_http.h"
#include "sys/signal/signals.h"
#include "sys/terminal/results.h"

namespace muster::remote {
namespace {

using sys::Console;

constexpr std::size_t kLargestProgram = 1U << 30;
// After the agent of rank 0 has ended, for the others to end.
constexpr auto kForTheOthers = std::chrono::seconds(10);
// Before a host that was lost is started again, twice as long each time. Hosts
// that end because the run does, end within less.
constexpr auto kPause = std::chrono::seconds(2);
constexpr auto kLongestPause = std::chrono::seconds(16);
// For a TPU that was made anew to know the keys that may log in.
constexpr auto kForItsKeys = std::chrono::minutes(5);
constexpr auto kBetweenLogins = std::chrono::seconds(5);
constexpr int kNotSetUp = 125;
constexpr int kEndedFromOutside = 75;

// Where agents of TPU workers meet: below are the ports of libtpu, JAX's
// coordinator and TensorFlow's servers.
constexpr std::uint16_t kAgentPort = 8490;

// Whom to start, by rank.
struct Start {
  struct One {
    SshLogin login;
    std::string label;    // before what it says on stderr
    std::string address;  // as the others know it
  };
  std::vector<One> hosts;
  SshPlace where;
  SharedBytes archive;
  // Asked when a host was lost; not set: nobody can tell.
  std::function<std::optional<Finding>()> why_gone;
};

// The exit code of a run that its report tells.
std::optional<int> CodeOf(const Json& report) {
  const auto exit = report.find("exit");
  const auto code =
      exit != report.end() ? NumberOf(*exit, "code") : std::nullopt;
  return code && *code >= 0 && *code <= 255 ? code : std::nullopt;
}

// How one run over ssh ended.
struct Ended {
  int code = 0;
  bool set_up = false;  // agents were on all hosts
  bool interrupted = false;
  std::optional<Finding> lost;  // why its hosts are gone, where that is known
  std::string document;         // of the first host, on stdout
};

// All hosts of a run.
class Starter {
 public:
  Starter(const settings::RunFlags& flags, const sys::Host& host,
          sys::Loop& loop, sys::Spawner& spawner, Console& console)
      : flags_(flags),
        host_(host),
        loop_(loop),
        console_(console),
        shared_{.place = {.loop = loop,
                          .spawner = spawner,
                          .env = host.env,
                          .limit = flags.settings.gather_timeout.value,
                          .console = console},
                .digest = {},
                .program = {},
                .where = {},
                .archive = {},
                .on_change = [this] { Change(); }} {}

  Result<Ended> Run(const Start& start);
  void Interrupt(const std::string& by, bool now);

 private:
  void Say(const std::string& text) {
    console_.Write(Console::Stream::kErr, "muster: " + Printable(text) + "\n");
  }
  void Show(const Finding& finding) {
    console_.Write(Console::Stream::kErr,
                   RenderText(finding, sys::TerminalOptions(host_.env, 2)));
  }
  Status Begin(const Start& start);
  void Change() {
    loop_.Post([this] { Look(); });
  }
  void Look();
  void Pass(const Start::One& from, int rank, Console::Stream stream,
            std::string_view line);
  void GiveUpSetUp();
  void LookAt(std::size_t number);
  void StartAgain(std::size_t number);
  void Keep(std::string_view piece);
  void Warn(Finding finding);
  void EndAll();
  bool AllEnded() const;
  bool IsGone(const SshSession& session) const;
  bool AnyGone() const;

  const settings::RunFlags& flags_;
  const sys::Host& host_;
  sys::Loop& loop_;
  Console& console_;
  SshHost::Shared shared_;
  std::vector<std::unique_ptr<SshHost>> hosts_;
  // Of a host that was lost while the run goes on.
  struct Again {
    int times = 0;
    bool started = false;    // and not ready yet
    sys::Loop::Handle next;  // to start it, then to give it up
  };
  std::vector<Again> again_;
  bool any_gone_ = false;  // of those that were started again
  std::set<std::string> warned_;
  std::string report_mark_;
  std::string report_, document_;
  std::optional<int> reported_;  // the code, which may be that of ssh as well
  bool all_ready_ = false;
  bool interrupted_ = false;
  std::optional<int> code_;
  sys::Loop::Handle late_, beat_, last_;
};

Status Starter::Begin(const Start& start) {
  MUSTER_ASSIGN(std::string program,
                host_.fs.Read("/proc/self/exe", kLargestProgram));
  shared_.digest = channel::Sha256Hex(program);
  shared_.program = Share(std::move(program));
  shared_.where = start.where;
  shared_.archive = start.archive;
  MUSTER_ASSIGN(const auto token, channel::RunKey::Random());
  report_mark_ = ReportMark(token.ToHex());
  std::vector<std::string> addresses;
  for (const Start::One& one : start.hosts) {
    addresses.push_back(one.address);
  }
  for (const Start::One& one : start.hosts) {
    const int rank = static_cast<int>(hosts_.size());
    AgentBootstrap handed{.args = {"run", "--node-rank", std::to_string(rank),
                                   "--hosts", Join(addresses, ",")},
                          .token = token.ToHex()};
    if (!flags_.processes.empty()) {
      handed.args.insert(handed.args.end(), {"-n", flags_.processes});
    }
    handed.args.insert(handed.args.end(), flags_.agent_arguments.begin(),
                       flags_.agent_arguments.end());
    hosts_.push_back(std::make_unique<SshHost>(
        shared_, one.login, rank, std::move(handed),
        [this, &one](int from, Console::Stream stream, std::string_view line) {
          Pass(one, from, stream, line);
        }));
  }
  again_.resize(hosts_.size());
  for (const auto& one : hosts_) {
    MUSTER_TRY(one->Start());
  }
  return Ok();
}

Result<Ended> Starter::Run(const Start& start) {
  MUSTER_TRY(Begin(start));
  late_ = loop_.After(shared_.place.limit, [this] {
    for (const auto& one : hosts_) {
      one->session().GiveUp(shared_.place.limit);
    }
  });
  beat_ = loop_.Every(kBeat, [this] {
    for (const auto& one : hosts_) {
      one->Tell("");
    }
  });
  loop_.Run();
  Ended ended{.code = *code_,
              .set_up = all_ready_,
              .interrupted = interrupted_,
              .lost = std::nullopt,
              .document = std::move(document_)};
  if (start.why_gone && *code_ != 0 && AnyGone()) {
    ended.lost = start.why_gone();
  }
  return ended;
}

void Starter::Pass(const Start::One& from, int rank, Console::Stream stream,
                   std::string_view line) {
  const bool out = stream == Console::Stream::kOut;
  if (out && rank == 0 && line.starts_with(report_mark_)) {
    Keep(line.substr(report_mark_.size()));
    return;
  }
  // One document: that of the coordinator.
  if (out && flags_.settings.output.value == settings::Output::kJson) {
    document_ += rank == 0 ? std::string(line) + "\n" : "";
    return;
  }
  const std::string who =
      out || rank == 0 ? "" : "[" + Printable(from.label) + "] ";
  console_.WriteOutput(stream, who + std::string(line) + "\n");
}

void Starter::Look() {
  const bool decided =
      std::all_of(hosts_.begin(), hosts_.end(),
                  [](const auto& one) { return one->session().decided(); });
  if (decided && !all_ready_ && !code_) {
    late_.Cancel();
    all_ready_ = std::all_of(hosts_.begin(), hosts_.end(), [](const auto& one) {
      return one->session().ready();
    });
    if (!all_ready_) {
      GiveUpSetUp();
      return;
    }
    // Not before: no agent waits for one that cannot come.
    for (const auto& one : hosts_) {
      one->Begin();
    }
  }
  for (std::size_t i = 1; all_ready_ && !code_ && i < hosts_.size(); ++i) {
    LookAt(i);
  }
  const SshSession& first = hosts_.front()->session();
  if (all_ready_ && !code_ && first.ended()) {
    code_ = first.code();
    if (IsGone(first)) {
      Say((first.lost() ? "the connection to " : "the agent of ") +
          Printable(first.login().Name()) + ", which runs the coordinator, " +
          (first.lost() ? "was lost" : "is gone"));
      code_ = kEndedFromOutside;
    }
    for (Again& one : again_) {
      one.next.Cancel();
    }
    last_ = loop_.After(kForTheOthers, [this] { EndAll(); });
  }
  if (code_ && AllEnded()) {
    loop_.Quit();
  }
}

// While the coordinator goes on, a host that is gone is started again: it is
// the coordinator that decides whether, and how often, the run waits for it.
void Starter::LookAt(std::size_t number) {
  const SshSession& session = hosts_[number]->session();
  Again& again = again_[number];
  if (session.ready() && !hosts_[number]->begun()) {
    again.next.Cancel();
    hosts_[number]->Begin();
    return;
  }
  const bool waits = again.next.active() && !again.started;
  if (!session.ended() || waits) {
    return;
  }
  any_gone_ = any_gone_ || IsGone(session);
  if (session.failed()) {
    Warn(*session.failed());
  }
  again.started = false;
  again.next =
      loop_.After(std::min<Duration>(kLongestPause,
                                     kPause * (1 << std::min(again.times, 4))),
                  [this, number] { StartAgain(number); });
  ++again.times;
}

void Starter::StartAgain(std::size_t number) {
  auto replacement = hosts_[number]->Replacement();
  Say("the agent of " + Printable(replacement->session().login().Name()) +
      " exited, restarting it");
  if (const auto started = replacement->Start(); !started) {
    Warn(FromError(started.error()));
    Change();
    return;
  }
  hosts_[number] = std::move(replacement);
  again_[number].started = true;
  again_[number].next = loop_.After(shared_.place.limit, [this, number] {
    hosts_[number]->session().GiveUp(shared_.place.limit);
  });
}

// The same of one host is told once.
void Starter::Warn(Finding finding) {
  finding.severity = Severity::kWarning;
  if (warned_.insert(finding.what).second) {
    Show(finding);
  }
}

// A piece of the report of the first host; an empty one ends it.
void Starter::Keep(std::string_view piece) {
  if (!piece.empty()) {
    report_ += piece;
    return;
  }
  const auto report =
      ParseJson(std::exchange(report_, ""), Cause::kNetWrongEndpoint,
                "the report of the first host");
  reported_ = report ? CodeOf(*report) : std::nullopt;
  const auto kept =
      report ? record::KeepReport(host_.fs, flags_.settings.runs_dir.value,
                                  *report, flags_.access())
             : Status(report.error());
  if (!kept) {
    Warn(FromError(kept.error()));
  }
}

void Starter::GiveUpSetUp() {
  code_ = kNotSetUp;
  int failed = 0;
  for (const auto& one : hosts_) {
    if (one->session().failed()) {
      ++failed;
      Show(*one->session().failed());
    }
  }
  Say("no agent on " + std::to_string(failed) + " of " +
      Count(std::ssize(hosts_), "host") +
      ": the run was not set up, exit code 125 (muster)");
  EndAll();
}

// The agents read the end of their input; ssh that stays is ended.
void Starter::EndAll() {
  for (const auto& one : hosts_) {
    one->Close();
  }
  last_ = loop_.After(kForTheOthers, [this] {
    for (const auto& one : hosts_) {
      one->session().Kill();
    }
  });
}

bool Starter::AllEnded() const {
  return std::all_of(hosts_.begin(), hosts_.end(),
                     [](const auto& one) { return one->session().ended(); });
}

// The agent or the connection to it is. ssh says nothing of an agent that was
// killed, as one is whose machine goes down.
bool Starter::IsGone(const SshSession& session) const {
  return session.ready() && session.ended() &&
         session.code() == SshSession::kLost &&
         (session.lost() || reported_ != SshSession::kLost);
}

bool Starter::AnyGone() const {
  return any_gone_ ||
         std::any_of(hosts_.begin(), hosts_.end(), [this](const auto& one) {
           return IsGone(one->session());
         });
}

void Starter::Interrupt(const std::string& by, bool now) {
  interrupted_ = true;
  if (!all_ready_) {
    Say(by + " while agents were being started, exit code 130 (muster)");
    code_ = kExitInterrupted;
    for (const auto& one : hosts_) {
      one->session().Kill();
    }
    Change();
    return;
  }
  // The coordinator ends the others; when it is to be at once, all do it.
  for (const auto& one : hosts_) {
    if (now || one == hosts_.front()) {
      one->Tell((now ? "kill " : "stop ") + by);
    }
  }
}

Result<Start> OfHosts(const settings::RunFlags& flags, const sys::Host& host) {
  // This host need not be one of them.
  resolve::Request request = flags.cluster;
  request.node_rank = 0;
  MUSTER_ASSIGN(const auto resolved, resolve::Resolve(request, host));
  Start start;
  start.where.directory = host.env.WorkingDirectory();
  const auto addresses = Split(*flags.cluster.hosts, ',');
  for (const Member& member : resolved.cluster.members) {
    if (member.node >= 0 && member.node < std::ssize(start.hosts)) {
      continue;  // another rank of the agent before
    }
    const std::string& name = member.address->value.host;
    start.hosts.push_back({.login = {.host = name},
                           .label = name,
                           .address = addresses[start.hosts.size()]});
  }
  return start;
}

Result<Start> OfTpu(const settings::RunFlags& flags, const ReachedTpu& tpu,
                    const sys::Host& host) {
  sys::PrintAside(tpu.how + "\n");
  if (const auto partial = PartOfSlice(tpu)) {
    sys::PrintAside(RenderText(*partial, sys::TerminalOptions(host.env, 2)));
  }
  Start start;
  for (const ReachedWorker& one : tpu.workers) {
    start.hosts.push_back({.login = one.login,
                           .label = one.label,
                           .address = ToString(Address{.host = one.internal,
                                                       .port = kAgentPort})});
  }
  if (!flags.reach.copy.empty()) {
    MUSTER_ASSIGN(Archive archive, PackFolder(flags.reach.copy, host));
    sys::PrintAside("muster: copies " + archive.what + " to " +
                    Count(std::ssize(start.hosts), "worker") + ", to ~/" +
                    archive.folder +
                    (flags.reach.keep_copy ? ", and keeps it there\n"
                                           : ", and removes it at the end\n"));
    start.where = {.directory = {},
                   .copy = archive.folder,
                   .archive_bytes = archive.bytes.size(),
                   .keep = flags.reach.keep_copy};
    start.archive = Share(std::move(archive.bytes));
  }
  start.why_gone = [place = tpu.node.place, &host] {
    return WhyTpuGone(place, host);
  };
  return start;
}

void SayAside(const std::string& text) {
  sys::PrintAside("muster: " + text + "\n");
}

Result<Ended> RunOnce(const settings::RunFlags& flags, const Start& start,
                      const sys::Host& host, sys::GuardianSpawner& spawner) {
  MUSTER_ASSIGN(const auto loop, sys::Loop::Make());
  MUSTER_TRY(spawner.Attach(*loop));
  Console console(*loop, {.raw = flags.raw});
  Starter starter(flags, host, *loop, spawner, console);
  MUSTER_ASSIGN(const auto signals,
                sys::SignalWatch::Make(
                    *loop, {SIGINT, SIGTERM, SIGHUP},
                    [&starter, count = 0](int signal) mutable {
                      starter.Interrupt(SignalName(signal), ++count > 1);
                    }));
  MUSTER_ASSIGN(auto ended, starter.Run(start));
  console.Drain(ended.interrupted ? sys::kDrainInterrupted : Duration::max());
  if (const auto& lost = console.lost(); lost.bytes > 0) {
    SayAside(sys::LostText(lost));
    ended.code = sys::CodeAfter(lost, ended.code);
  }
  return ended;
}

int Finish(const Ended& ended) {
  sys::PrintResult(Printable(ended.document, TextForm::kJson));
  return ended.code;
}

// The code of a run whose TPU is lost, and is not made anew.
int FinishLost(const Ended& ended, const Status& replaced,
               const sys::Host& host) {
  Ended told = ended;
  told.code = kEndedFromOutside;
  if (!replaced) {
    const Finding finding = FromError(replaced.error());
    sys::PrintAside(
        RenderText(std::span(&finding, 1), sys::TerminalOptions(host.env, 2)));
    if (replaced.error().cause() == Cause::kCancelled) {
      told.code = kExitInterrupted;
    }
  }
  SayAside("`" + std::string(Label(ended.lost->cause)) +
           "` is the reason for the lost connection, exit code " +
           std::to_string(told.code) + " (muster)");
  return Finish(told);
}

// A TPU that is new may soon know the keys that may log in.
bool MayLetUsIn(const Ended& ended, const std::optional<Deadline>& lets_in) {
  return !ended.set_up && !ended.interrupted && lets_in &&
         lets_in->Remaining() > kBetweenLogins;
}

// How a run ends whose TPU is lost, or was before it began (`before`); nullopt:
// it was made anew.
std::optional<Result<int>> AfterLoss(Recreator& recreator,
                                     const resolve::TpuNode& node,
                                     const std::optional<Error>& before,
                                     const Ended& ended,
                                     const sys::Host& host) {
  const auto replaced =
      ended.interrupted ? Result<bool>(false) : recreator.Replace(node);
  if (replaced && *replaced) {
    return std::nullopt;
  }
  const Status why = replaced ? Ok() : Status(replaced.error());
  if (before) {
    return Result<int>(why ? *before : why.error());
  }
  return Result<int>(FinishLost(ended, why, host));
}

// A run on a TPU, and on those that are made anew in its place.
Result<int> RunOnTpu(const settings::RunFlags& flags, const sys::Host& host,
                     sys::GuardianSpawner& spawner) {
  // What was answered before a TPU was made anew is no answer after it.
  const auto http = sys::MakeCurlHttp();
  sys::Host now = host;
  Recreator recreator(flags, host);
  std::optional<Deadline> lets_in;  // when one that is new has to
  while (true) {
    MUSTER_ASSIGN(const auto node, FindTpu(flags.cluster, now));
    const auto tpu = ReachTpu(node, flags.reach, now);
    if (!tpu && tpu.error().cause() != Cause::kPreempted) {
      return tpu.error();
    }
    Ended ended;
    if (tpu) {
      MUSTER_ASSIGN(const Start start, OfTpu(flags, *tpu, host));
      MUSTER_ASSIGN(ended, RunOnce(flags, start, host, spawner));
      if (MayLetUsIn(ended, lets_in)) {
        SayAside("the new TPU does not accept the login yet, retrying in " +
                 ToString(Duration(kBetweenLogins)));
        internal::WaitUntil(Deadline::After(kBetweenLogins), std::stop_token());
        continue;
      }
      if (!ended.lost) {
        return Finish(ended);
      }
      sys::PrintAside(RenderText(std::span(&*ended.lost, 1),
                                 sys::TerminalOptions(host.env, 2)));
    }
    const auto over =
        AfterLoss(recreator, node,
                  tpu ? std::nullopt : std::optional(tpu.error()), ended, host);
    if (over) {
      return *over;
    }
    SayAside(
        "restarting the run there; a program whose checkpoints are outside the "
        "TPU resumes from the newest one");
    now.http = http.get();
    lets_in = Deadline::After(kForItsKeys);
  }
}

}  // namespace

Result<int> StartOverSsh(const settings::RunFlags& flags, const sys::Host& host,
                         std::unique_ptr<sys::GuardianSpawner> spawner) {
  if (flags.cluster.hosts) {
    MUSTER_ASSIGN(const Start start, OfHosts(flags, host));
    MUSTER_ASSIGN(const Ended ended, RunOnce(flags, start, host, *spawner));
    return Finish(ended);
  }
  if (!flags.cluster.cloud.tpu) {
    return Error(Cause::kUsageInvalid,
                 flags.settings.start.source +
                     " is `ssh`, which requires the hosts: use --hosts a,b,c, "
                     "or --tpu NAME");
  }
  return RunOnTpu(flags, host, *spawner);
}

}  // namespace muster::remote
