// SPDX-License-Identifier: Apache-2.0
// Our side of the guardian's socket.
#include "sys/process/spawner.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <set>
#include <thread>

#include "base/log.h"
#include "base/signal_name.h"
#include "base/text.h"
#include "sys/cgroup/own_cgroup.h"
#include "sys/file/fs.h"
#include "sys/net/net.h"
#include "sys/net/stream.h"
#include "sys/process/guardian.h"
#include "sys/process/process_tree.h"
#include "sys/process/start_error.h"
#include "sys/time/clock.h"
#include "wire/guardian_frame.h"

namespace muster::sys {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kReplyWithin = seconds(30);
constexpr auto kEndWithin = seconds(6);  // the guardian itself gives up at 4
constexpr const char* kSilent = "the guardian process does not respond";
// A guardian that is stopped or frozen ends nobody. One that is at work is seen
// in state R or S; it gives up after 4 s itself.
constexpr auto kSuspectAfter = seconds(1);
constexpr auto kGiveUpAfter = milliseconds(4500);
constexpr auto kSweepEvery = milliseconds(5);
constexpr auto kSweepFor = seconds(4);
// The warden has so long to end what a guardian has left.
constexpr auto kWardenFor = milliseconds(4500);
// Scans in a row that show nobody: what forks again and again may be missing in
// one.
constexpr int kEmptyScans = 20;

wire::StartRequest ToRequest(const ProcessSpec& spec, std::int64_t id) {
  wire::StartRequest request{.id = id,
                             .argv = spec.argv,
                             .environment = {},
                             .programs = ProgramsOf(spec),
                             .directory = spec.directory,
                             .targets = {},
                             .cores = {spec.cores.begin(), spec.cores.end()}};
  for (const auto& [name, value] : spec.environment) {
    std::string& variable = request.environment.emplace_back(name);
    variable += '=';
    variable += value;
  }
  for (const auto& [target, fd] : spec.descriptors) {
    request.targets.push_back(target);
  }
  return request;
}

// A program that replaced a shell by exec may have children from before. Asked
// first, since the walk through /proc takes milliseconds.
bool HasChildren() {
  siginfo_t info{};
  return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

// Of the request that it answers; nullopt: it answers none for a process.
std::optional<std::int64_t> IdOfStart(const wire::GuardianFrame& frame) {
  switch (frame.op) {
    case wire::GuardianOp::kStarted:
      return wire::UnpackStarted(frame.body).id;
    case wire::GuardianOp::kNotStarted:
      return wire::UnpackNotStarted(frame.body).id;
    default:
      return std::nullopt;
  }
}

}  // namespace

struct GuardianSpawner::Inner {
  struct Process {
    OnExit on_exit;
    Fd pidfd;  // none where the kernel has none
  };
  struct Asked {
    ProcessSpec spec;
    OnStarted on_started;
    OnExit on_exit;
    Loop::Handle limit;
  };
  struct Arrival {
    wire::GuardianFrame frame;
    Fd pidfd;  // that came beside it
  };

  Fd socket;
  int warden = 0;  // our child, and parent of the guardian
  sigset_t mask{};
  GuardianOptions options;
  std::optional<OwnCgroup> cgroup;  // of this guardian
  std::string no_cgroup;            // why there is none
  std::set<ProcessId> spared;       // were below us before we began
  Loop* loop = nullptr;
  Loop::Handle readable;
  Loop::Handle later;  // what came while Start waited for its own
  std::string buffer;
  std::vector<Fd> descriptors;
  std::deque<Arrival> pending;
  std::map<std::int64_t, Asked> asked;  // by Begin, not answered yet
  std::map<int, Process> processes;
  std::map<std::int64_t, std::function<void(int)>> kills;
  std::int64_t next_id = 1;
  Loop::Handle overdue;  // the answer to a KillAll
  Deadline kill_asked = Deadline::After(Duration::zero());  // up to when
  bool lost = true;  // there is no guardian (any more)
  // After the guardian's loss.
  int guardian_signal = 0;
  Deadline warden_until = Deadline::After(Duration::zero());
  std::optional<Sweep> sweep;
  Deadline sweep_until = Deadline::After(Duration::zero());
  int empty_scans = 0;
  Loop::Handle sweeping;

  void Receive();
  void TakeFrames();
  void HandlePending();
  void HandleLater();
  void Handle(Arrival arrival);
  void HandleStart(Arrival reply);
  void HandleExit(const wire::Exit& exit);
  void HandleKilled(const wire::KillReply& reply);
  Result<std::int64_t> Ask(const ProcessSpec& spec);
  Result<Arrival> AwaitReply(std::int64_t id);
  Result<int> FinishStart(Arrival reply, const ProcessSpec& spec,
                          OnExit on_exit);
  void Refuse(std::int64_t id, Error why);
  void MakeCgroup();
  Status Fork();
  void Watch();
  void Suspect();
  void GiveUp() const;
  Error Lost() const;
  void Lose();
  std::optional<bool> TakeWarden();
  void SweepStep();
  void BuryOwn();
  void RemoveCgroup();
  void EndSweep(int left);
};

void GuardianSpawner::Inner::Receive() {
  while (!lost) {
    const auto arrived = ReceiveNow(socket.get(), buffer, &descriptors);
    TakeFrames();
    if (arrived && *arrived == Arrived::kNothing) {
      break;
    }
    if (!arrived || *arrived == Arrived::kEnd) {
      HandlePending();
      Lose();
      return;
    }
  }
  HandlePending();
}

void GuardianSpawner::Inner::TakeFrames() {
  while (auto frame = wire::TakeFrame(buffer)) {
    Fd pidfd;
    if (frame->op == wire::GuardianOp::kStarted &&
        wire::UnpackStarted(frame->body).pidfd == 1 && !descriptors.empty()) {
      pidfd = std::move(descriptors.front());
      descriptors.erase(descriptors.begin());
    }
    pending.push_back({*std::move(frame), std::move(pidfd)});
  }
}

void GuardianSpawner::Inner::HandlePending() {
  while (!pending.empty()) {
    Arrival arrival = std::move(pending.front());
    pending.pop_front();
    Handle(std::move(arrival));
  }
}

void GuardianSpawner::Inner::HandleLater() {
  if (!pending.empty() && !later.active()) {
    later = loop->After(Duration::zero(), [this] { HandlePending(); });
  }
}

void GuardianSpawner::Inner::Handle(Arrival arrival) {
  const wire::GuardianFrame& frame = arrival.frame;
  if (IdOfStart(frame)) {
    HandleStart(std::move(arrival));
  } else if (frame.op == wire::GuardianOp::kExited) {
    HandleExit(wire::UnpackExited(frame.body));
  } else if (frame.op == wire::GuardianOp::kKilled) {
    HandleKilled(wire::UnpackKilled(frame.body));
  }
}

void GuardianSpawner::Inner::HandleStart(Arrival reply) {
  auto found = asked.extract(*IdOfStart(reply.frame));
  if (found) {
    Asked& one = found.mapped();
    one.on_started(
        FinishStart(std::move(reply), one.spec, std::move(one.on_exit)));
  } else if (reply.pidfd) {
    // Given up since: nobody wants its process.
    SendByPidfd(reply.pidfd.get(), SIGKILL);
  }
}

void GuardianSpawner::Inner::Refuse(std::int64_t id, Error why) {
  if (auto found = asked.extract(id)) {
    found.mapped().on_started(std::move(why));
  }
}

void GuardianSpawner::Inner::HandleKilled(const wire::KillReply& reply) {
  if (reply.remaining > 0) {
    MUSTER_LOG(kWarn, "processes of ranks do not exit, even after SIGKILL",
               {{"count", reply.remaining}});
  }
  auto done = kills.extract(reply.id);
  if (kills.empty()) {
    overdue.Cancel();
  }
  if (done) {
    done.mapped()(static_cast<int>(reply.killed));
  }
}

void GuardianSpawner::Inner::HandleExit(const wire::Exit& exit) {
  if (auto process = processes.extract(exit.pid)) {
    process.mapped().on_exit(exit);
  }
}

// The reply to what was just asked. What comes beside it is kept.
Result<GuardianSpawner::Inner::Arrival> GuardianSpawner::Inner::AwaitReply(
    std::int64_t id) {
  const Deadline deadline = Deadline::After(kReplyWithin);
  while (true) {
    TakeFrames();
    const auto reply = std::find_if(
        pending.begin(), pending.end(),
        [id](const Arrival& one) { return IdOfStart(one.frame) == id; });
    if (reply != pending.end()) {
      Arrival found = std::move(*reply);
      pending.erase(reply);
      return found;
    }
    MUSTER_TRY(ReceiveSome(socket.get(), buffer, &descriptors, deadline));
  }
}

// The number of the request.
Result<std::int64_t> GuardianSpawner::Inner::Ask(const ProcessSpec& spec) {
  MUSTER_CHECK(loop != nullptr);
  if (spec.argv.empty() || spec.argv.front().empty()) {
    return NothingToStart(spec);
  }
  if (lost && sweeping.active()) {
    return Lost();
  }
  if (lost) {
    MUSTER_TRY(Fork());
    Watch();
  }
  std::vector<int> beside;
  for (const auto& [target, fd] : spec.descriptors) {
    beside.push_back(fd);
  }
  const std::int64_t id = next_id++;
  auto sent = SendAll(socket.get(), wire::Pack(ToRequest(spec, id)), beside,
                      Deadline::After(kReplyWithin));
  if (!sent) {
    return std::move(sent).error().While("asking the guardian for a process");
  }
  return id;
}

Result<int> GuardianSpawner::Inner::FinishStart(Arrival reply,
                                                const ProcessSpec& spec,
                                                OnExit on_exit) {
  const std::string& body = reply.frame.body;
  if (reply.frame.op == wire::GuardianOp::kNotStarted) {
    return NotStarted(spec, wire::UnpackNotStarted(body), warden);
  }
  const auto started = wire::UnpackStarted(body);
  if (!reply.pidfd) {
    MUSTER_LOG(kDebug, "no pidfd support: the guardian sends signals by PID");
  }
  if (started.affinity_errno != 0) {
    MUSTER_LOG(
        kWarn, "the cores of a rank could not be set; it runs on any",
        {{"pid", started.pid},
         {"errno", ErrnoName(static_cast<int>(started.affinity_errno))}});
  }
  if (started.cgroup_errno != 0) {
    no_cgroup = FromErrno("write", JoinPath(cgroup->path(), "cgroup.procs"),
                          static_cast<int>(started.cgroup_errno))
                    .message();
    MUSTER_LOG(kWarn, "a rank could not enter its cgroup",
               {{"pid", started.pid}, {"error", no_cgroup}});
  }
  const int pid = static_cast<int>(started.pid);
  processes.insert_or_assign(
      pid, Process{std::move(on_exit), std::move(reply.pidfd)});
  return pid;
}

// Of each guardian its own: its warden removes it.
void GuardianSpawner::Inner::MakeCgroup() {
  cgroup.reset();
  no_cgroup = options.no_cgroup;
  if (!no_cgroup.empty()) {
    return;
  }
  if (auto made = OwnCgroup::Make()) {
    cgroup = *std::move(made);
  } else {
    no_cgroup = made.error().message();
  }
}

// A warden and its guardian. Safe with other threads about: the child runs
// nothing of theirs but malloc, which glibc keeps usable across a fork.
Status GuardianSpawner::Inner::Fork() {
  MUSTER_ASSIGN(auto ends, SocketPair());
  MakeCgroup();
  warden = fork();
  if (warden == 0) {
    ends.first.Close();
    RunGuardian(std::move(ends.second), cgroup, mask, options.exec_within);
    _exit(0);
  }
  if (warden < 0) {
    const int why = errno;
    return FromErrno("fork", "the guardian process", why);
  }
  socket = std::move(ends.first);
  buffer.clear();
  descriptors.clear();
  lost = false;
  return Ok();
}

void GuardianSpawner::Inner::Watch() {
  readable = loop->OnReadable(socket.get(), [this] { Receive(); });
}

// It should have answered by now.
void GuardianSpawner::Inner::Suspect() {
  if (lost || kills.empty()) {
    return;
  }
  const bool stopped =
      std::ranges::any_of(Descendants(warden), [this](const Descendant& one) {
        return one.parent == warden && (one.state == 'T' || one.state == 't');
      });
  if (stopped || kill_asked.Expired()) {
    MUSTER_LOG(kWarn, "the guardian process does not respond; killing it",
               {{"stopped", stopped}});
    GiveUp();
    Lose();
  } else {
    overdue = loop->After(kSuspectAfter, [this] { Suspect(); });
  }
}

// The warden goes on, and ends what it had.
void GuardianSpawner::Inner::GiveUp() const {
  for (const auto& one : Descendants(warden)) {
    if (one.parent == warden) {
      KillProcess(one.id);
    }
  }
}

Error GuardianSpawner::Inner::Lost() const {
  return Error(Cause::kPeerDied,
               "the guardian process was killed, and no process starts until "
               "what it had started has ended");
}

void GuardianSpawner::Inner::Lose() {
  lost = true;
  readable.Cancel();
  overdue.Cancel();
  socket.Close();
  warden_until = Deadline::After(kWardenFor);
  // The warden ends what is left. Rare, so a timer does.
  sweeping = loop->Every(kSweepEvery, [this] { SweepStep(); });
  while (!asked.empty()) {
    Refuse(asked.begin()->first, Lost());
  }
}

// nullopt: it is at work. True: it has ended all that its guardian has left.
std::optional<bool> GuardianSpawner::Inner::TakeWarden() {
  int status = 0;
  const bool gone = waitpid(warden, &status, WNOHANG) == warden;
  if (!gone && !warden_until.Expired()) {
    return std::nullopt;
  }
  const bool well = gone && WIFEXITED(status);
  guardian_signal =
      well && WEXITSTATUS(status) != 0 ? WEXITSTATUS(status) : SIGKILL;
  MUSTER_LOG(kWarn, "the guardian process was killed; its ranks end with it",
             {{"signal", SignalName(guardian_signal)}});
  if (!gone) {
    kill(warden, SIGKILL);
  }
  return well;
}

void GuardianSpawner::Inner::SweepStep() {
  if (!sweep) {
    const auto ended = TakeWarden();
    if (!ended) {
      return;
    }
    if (*ended) {
      EndSweep(0);
      return;
    }
    // What a warden that was killed too has left falls to us: a subreaper.
    sweep.emplace(getpid(), spared);
    sweep_until = Deadline::After(kSweepFor);
    empty_scans = 0;
  }
  const int left = sweep->Step();
  if (cgroup) {
    cgroup->Kill();
  }
  BuryOwn();
  empty_scans = left > 0 ? 0 : empty_scans + 1;
  if (empty_scans >= kEmptyScans || !HasChildren() || sweep_until.Expired()) {
    EndSweep(left);
  }
}

// Takes the status of every process that fell to us and has ended.
void GuardianSpawner::Inner::BuryOwn() {
  const int self = getpid();
  for (const auto& one : Descendants(self)) {
    if (!one.zombie() || one.parent != self || spared.contains(one.id)) {
      continue;
    }
    int status = 0;
    rusage usage{};
    if (wait4(one.id.pid, &status, WNOHANG, &usage) == one.id.pid) {
      HandleExit(
          wire::Exit{.pid = one.id.pid,
                     .wait_status = status,
                     .at = RealClock().EventNow(),
                     .max_rss_bytes = std::int64_t{usage.ru_maxrss} * 1024,
                     .guardian_signal = guardian_signal});
    }
  }
}

// Whoever watched over it has ended.
void GuardianSpawner::Inner::RemoveCgroup() {
  if (cgroup) {
    cgroup->Kill();
    cgroup->Remove();
    cgroup.reset();
  }
}

void GuardianSpawner::Inner::EndSweep(int left) {
  if (left > 0) {
    MUSTER_LOG(kWarn, "processes of ranks do not exit, even after SIGKILL",
               {{"count", left}});
  }
  sweeping.Cancel();
  // The guardian took these statuses with it.
  while (!processes.empty()) {
    HandleExit(wire::Exit{.pid = processes.begin()->first,
                          .wait_status = SIGKILL,
                          .at = RealClock().EventNow(),
                          .guardian_signal = guardian_signal});
  }
  RemoveCgroup();
  const int killed = sweep ? sweep->killed() : 0;
  sweep.reset();
  while (!kills.empty()) {
    auto done = kills.extract(kills.begin());
    done.mapped()(killed);
  }
}

GuardianSpawner::GuardianSpawner(std::unique_ptr<Inner> inner)
    : inner_(std::move(inner)) {}

Result<std::unique_ptr<GuardianSpawner>> GuardianSpawner::Fork(
    GuardianOptions options) {
  // A descriptor of ours must never be somebody's stdout.
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) {
      const int why = errno;
      return FromErrno("open", "/dev/null", why);
    }
  }
  auto inner = std::make_unique<Inner>();
  pthread_sigmask(SIG_SETMASK, nullptr, &inner->mask);
  inner->options = std::move(options);
  if (HasChildren()) {
    for (const auto& one : Descendants(getpid())) {
      inner->spared.insert(one.id);
    }
  }
  RealClock().EventNow();  // the times of the guardian are ours
  MUSTER_TRY(inner->Fork());
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGPIPE, SIG_IGN);
  return std::unique_ptr<GuardianSpawner>(
      new GuardianSpawner(std::move(inner)));
}

// The guardian reads the end of the socket, ends everything and then itself;
// then so does the warden.
GuardianSpawner::~GuardianSpawner() {
  Inner& inner = *inner_;
  if (inner.lost) {
    return;
  }
  inner.readable.Cancel();
  ShutDownSending(inner.socket.get());
  const Deadline deadline = Deadline::After(kEndWithin);
  while (ReceiveSome(inner.socket.get(), inner.buffer, nullptr, deadline)) {
    inner.buffer.clear();
  }
  inner.socket.Close();
  while (waitpid(inner.warden, nullptr, WNOHANG) == 0) {
    if (deadline.Expired()) {
      inner.GiveUp();
      kill(inner.warden, SIGKILL);
      Sweep(getpid(), inner.spared).Step();
      break;
    }
    std::this_thread::sleep_for(milliseconds(1));
  }
  inner.RemoveCgroup();
}

Containment GuardianSpawner::containment() const {
  return {.cgroup = inner_->no_cgroup.empty() && inner_->cgroup
                        ? inner_->cgroup->path()
                        : "",
          .why_not = inner_->no_cgroup};
}

Status GuardianSpawner::Attach(Loop& loop) {
  inner_->loop = &loop;
  inner_->Watch();
  return Ok();
}

void GuardianSpawner::Begin(const ProcessSpec& spec, OnStarted on_started,
                            OnExit on_exit) {
  Inner* inner = inner_.get();
  const auto id = inner->Ask(spec);
  if (!id) {
    on_started(id.error());
    return;
  }
  inner->asked.emplace(
      *id, Inner::Asked{
               .spec = spec,
               .on_started = std::move(on_started),
               .on_exit = std::move(on_exit),
               .limit = inner->loop->After(kReplyWithin, [inner, id = *id] {
                 inner->Refuse(id, Error(Cause::kDeadlineExceeded, kSilent));
               })});
}

Result<int> GuardianSpawner::Start(const ProcessSpec& spec, OnExit on_exit) {
  MUSTER_ASSIGN(const std::int64_t id, inner_->Ask(spec));
  auto reply = inner_->AwaitReply(id);
  inner_->HandleLater();
  if (!reply) {
    return std::move(reply).error().While("starting `" +
                                          Printable(spec.argv.front()) + "`");
  }
  return inner_->FinishStart(*std::move(reply), spec, std::move(on_exit));
}

Status GuardianSpawner::Signal(int pid, int signal) {
  const auto found = inner_->processes.find(pid);
  if (found == inner_->processes.end()) {
    return Ok();  // has ended and was told
  }
  if (found->second.pidfd) {
    const int why = SendByPidfd(found->second.pidfd.get(), signal);
    return why == 0 || why == ESRCH
               ? Ok()
               : Status(
                     FromErrno("pidfd_send_signal", std::to_string(pid), why));
  }
  if (inner_->lost) {
    return Ok();  // it is being ended
  }
  return SendAll(inner_->socket.get(),
                 wire::Pack(wire::SignalRequest{.pid = pid, .signal = signal}),
                 {}, Deadline::After(kReplyWithin));
}

void GuardianSpawner::KillAll(std::function<void(int killed)> done) {
  Inner& inner = *inner_;
  const std::int64_t id = inner.next_id++;
  inner.kills[id] = std::move(done);
  if (inner.lost) {
    if (!inner.sweeping.active()) {
      inner.later =
          inner.loop->After(Duration::zero(), [&inner] { inner.EndSweep(0); });
    }
    return;
  }
  // Not sent means that the guardian is gone: the loop will see that, sweep and
  // call `done`.
  auto sent = SendAll(inner.socket.get(), wire::PackKillAll(id), {},
                      Deadline::After(kSuspectAfter));
  if (!sent) {
    MUSTER_LOG(kDebug, "the guardian is not reachable",
               {{"error", sent.error().ToString()}});
  }
  inner.kill_asked = Deadline::After(kGiveUpAfter);
  inner.overdue =
      inner.loop->After(kSuspectAfter, [&inner] { inner.Suspect(); });
}

}  // namespace muster::sys
