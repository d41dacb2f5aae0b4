// SPDX-License-Identifier: Apache-2.0
// Our side of the guardian's socket.
#include "sys/spawner.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <deque>
#include <set>

#include "base/log.h"
#include "base/text.h"
#include "sys/clock.h"
#include "sys/fs.h"
#include "sys/guardian.h"
#include "sys/guardian_wire.h"
#include "sys/net.h"
#include "sys/process_tree.h"
#include "sys/stream.h"

namespace muster::sys {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr auto kReplyWithin = seconds(30);
constexpr auto kEndWithin = seconds(6);  // the guardian itself gives up at 4
constexpr auto kSweepEvery = milliseconds(5);
constexpr auto kSweepFor = seconds(4);

// Where exec is to look for a program, as the shell would.
std::vector<std::string> Programs(const ProcessSpec& spec) {
  const std::string& name = spec.argv.front();
  if (name.empty() || name.find('/') != std::string::npos) {
    return {name};
  }
  const auto path = spec.environment.find("PATH");
  std::vector<std::string> programs;
  for (const auto& directory :
       Split(path == spec.environment.end() ? "/usr/local/bin:/usr/bin:/bin"
                                            : path->second,
             ':')) {
    // An empty piece is the working directory.
    programs.push_back(JoinPath(directory.empty() ? "." : directory, name));
  }
  return programs;
}

struct Refusal {
  Cause cause = Cause::kProgramNotFound;
  int code = 126;
  std::string message;
};

Refusal Explain(const ProcessSpec& spec, const StartFailure& failure,
                const std::string& program) {
  const int why = static_cast<int>(failure.error_number);
  const std::string name = "`" + Printable(spec.argv.front()) + "`";
  const std::string said = ": " + ErrnoName(why);
  if (failure.stage == StartStage::kDirectory) {
    return {CauseOfErrno(why), 126,
            "the directory `" + Printable(spec.directory) +
                "` cannot be entered" + said};
  }
  if (failure.stage == StartStage::kInterpreter) {
    return {.message = "the interpreter that the first line of `" +
                       Printable(program) + "` names does not exist"};
  }
  if (why == ETIMEDOUT) {
    return {Cause::kDeadlineExceeded, 126,
            name +
                " could not be started: the file system of the program, of a "
                "folder on the PATH or of the working directory does not "
                "answer" +
                said};
  }
  if (failure.stage != StartStage::kExec || why == E2BIG || why == ENOMEM) {
    return {CauseOfErrno(why), 126, name + " could not be started" + said};
  }
  if (why == ENOENT) {
    const bool searched = spec.argv.front().find('/') == std::string::npos;
    return {.code = 127,
            .message =
                name + (searched ? " is not on the PATH" : " does not exist")};
  }
  if (why == ENOEXEC) {
    return {.message = "`" + Printable(program) +
                       "` is no program: a script needs a first line that "
                       "begins with #!"};
  }
  return {.message = "`" + Printable(program) + "` may not be executed" + said};
}

Error FromFailure(const ProcessSpec& spec, const StartFailure& failure,
                  const std::vector<std::string>& programs) {
  static constexpr std::string_view kSteps[] = {
      "fork", "descriptors", "directory", "exec", "interpreter"};
  const auto index = static_cast<std::size_t>(failure.program);
  const std::string program = index < programs.size() ? programs[index] : "";
  Refusal refusal = Explain(spec, failure, program);
  return Error(refusal.cause, refusal.message)
      .With(Fact{
          .name = "spawn.failed",
          .fields =
              {{"code", std::int64_t{refusal.code}},
               {"errno", ErrnoName(static_cast<int>(failure.error_number))},
               {"step",
                std::string(kSteps[static_cast<std::size_t>(failure.stage)])},
               {"program", spec.argv.front()}},
          .subject = spec.argv.front(),
          .by = "exec",
          .at = RealClock().WallNow()});
}

StartRequest ToRequest(const ProcessSpec& spec, std::int64_t id) {
  StartRequest request{.id = id,
                       .argv = spec.argv,
                       .environment = {},
                       .programs = Programs(spec),
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

// Code of exec's failure for a program that could not even be asked for.
Error Unusable(const ProcessSpec& spec, std::string_view what) {
  return Error(Cause::kProgramNotFound, std::string(what))
      .With(Fact{
          .name = "spawn.failed",
          .fields = {{"code", std::int64_t{127}},
                     {"errno", "EINVAL"},
                     {"step", "request"},
                     {"program", spec.argv.empty() ? "" : spec.argv.front()}},
          .subject = spec.argv.empty() ? "" : spec.argv.front(),
          .by = "muster",
          .at = RealClock().WallNow()});
}

}  // namespace

bool Exit::exited() const {
  return WIFEXITED(wait_status);
}
int Exit::code() const {
  return WEXITSTATUS(wait_status);
}
std::optional<int> Exit::signal() const {
  return WIFSIGNALED(wait_status) ? std::optional(WTERMSIG(wait_status))
                                  : std::nullopt;
}

struct GuardianSpawner::Inner {
  struct Process {
    OnExit on_exit;
    Fd pidfd;  // none where the kernel has none
  };

  Fd socket;
  int guardian = 0;
  std::set<ProcessId> spared;  // were below us before we began
  Loop* loop = nullptr;
  Loop::Handle readable;
  Loop::Handle later;  // frames that came while Start waited for its own
  std::string buffer;
  std::vector<Fd> descriptors;
  std::deque<GuardianFrame> pending;
  std::map<int, Process> processes;
  std::map<std::int64_t, std::function<void(int)>> kills;
  std::int64_t next_id = 1;
  bool lost = false;
  std::function<void()> on_lost;
  // After the guardian's loss.
  std::optional<Sweep> sweep;
  Deadline sweep_until = Deadline::After(Duration::zero());
  Loop::Handle sweeping;

  void Receive();
  void TakeFrames();
  void HandlePending();
  void HandleLater();
  void Handle(const GuardianFrame& frame);
  void HandleExit(const Exit& exit);
  void HandleKilled(const KillReply& reply);
  Result<GuardianFrame> AwaitReply(std::int64_t id);
  std::optional<GuardianFrame> FindReply(std::int64_t id);
  void Discard(const GuardianFrame& reply);
  Result<int> FinishStart(const GuardianFrame& reply, const ProcessSpec& spec,
                          OnExit on_exit);
  void Lose();
  void SweepStep();
  void BuryOwn();
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
  while (auto frame = TakeFrame(buffer)) {
    pending.push_back(std::move(*frame));
  }
}

void GuardianSpawner::Inner::HandlePending() {
  while (!pending.empty()) {
    const GuardianFrame frame = std::move(pending.front());
    pending.pop_front();
    Handle(frame);
  }
}

void GuardianSpawner::Inner::HandleLater() {
  if (!pending.empty() && !later.active()) {
    later = loop->After(Duration::zero(), [this] { HandlePending(); });
  }
}

void GuardianSpawner::Inner::Handle(const GuardianFrame& frame) {
  if (frame.op == GuardianOp::kExited) {
    HandleExit(UnpackExited(frame.body));
  } else if (frame.op == GuardianOp::kKilled) {
    HandleKilled(UnpackKilled(frame.body));
  }
}

void GuardianSpawner::Inner::HandleKilled(const KillReply& reply) {
  if (reply.remaining > 0) {
    MUSTER_LOG(kWarn, "processes of ranks do not end, even by KILL",
               {{"count", reply.remaining}});
  }
  if (auto done = kills.extract(reply.id)) {
    done.mapped()(static_cast<int>(reply.killed));
  }
}

void GuardianSpawner::Inner::HandleExit(const Exit& exit) {
  if (auto process = processes.extract(exit.pid)) {
    process.mapped().on_exit(exit);
  }
}

// A reply to an earlier request, which was given up: nobody wants its process.
void GuardianSpawner::Inner::Discard(const GuardianFrame& reply) {
  if (reply.op != GuardianOp::kStarted) {
    return;
  }
  const auto started = UnpackStarted(reply.body);
  if (started.pidfd == 1 && !descriptors.empty()) {
    SendByPidfd(descriptors.front().get(), SIGKILL);
    descriptors.erase(descriptors.begin());
  }
}

std::optional<GuardianFrame> GuardianSpawner::Inner::FindReply(
    std::int64_t id) {
  for (auto frame = pending.begin(); frame != pending.end();) {
    std::int64_t of = 0;
    if (frame->op == GuardianOp::kStarted) {
      of = UnpackStarted(frame->body).id;
    } else if (frame->op == GuardianOp::kNotStarted) {
      of = UnpackNotStarted(frame->body).id;
    } else {
      ++frame;
      continue;
    }
    GuardianFrame reply = std::move(*frame);
    frame = pending.erase(frame);
    if (of == id) {
      return reply;
    }
    Discard(reply);
  }
  return std::nullopt;
}

// The reply to what was just asked. Exits that come before it are kept.
Result<GuardianFrame> GuardianSpawner::Inner::AwaitReply(std::int64_t id) {
  const Deadline deadline = Deadline::After(kReplyWithin);
  while (true) {
    TakeFrames();
    if (auto reply = FindReply(id)) {
      return std::move(*reply);
    }
    MUSTER_TRY(ReceiveSome(socket.get(), buffer, &descriptors, deadline));
  }
}

Result<int> GuardianSpawner::Inner::FinishStart(const GuardianFrame& reply,
                                                const ProcessSpec& spec,
                                                OnExit on_exit) {
  if (reply.op == GuardianOp::kNotStarted) {
    return FromFailure(spec, UnpackNotStarted(reply.body), Programs(spec));
  }
  const auto started = UnpackStarted(reply.body);
  Process process{std::move(on_exit), {}};
  if (started.pidfd == 1 && !descriptors.empty()) {
    process.pidfd = std::move(descriptors.front());
    descriptors.erase(descriptors.begin());
  } else {
    MUSTER_LOG(kDebug, "no pidfd here: signals go by number, by the guardian");
  }
  if (started.affinity_errno != 0) {
    MUSTER_LOG(
        kWarn, "the cores of a rank could not be set; it runs on any",
        {{"pid", started.pid},
         {"errno", ErrnoName(static_cast<int>(started.affinity_errno))}});
  }
  const int pid = static_cast<int>(started.pid);
  processes.insert_or_assign(pid, std::move(process));
  return pid;
}

void GuardianSpawner::Inner::Lose() {
  lost = true;
  readable.Cancel();
  waitpid(guardian, nullptr, 0);
  MUSTER_LOG(kWarn, "the guardian process is gone; ending the ranks",
             {{"pid", guardian}});
  sweep.emplace(getpid(), spared);
  sweep_until = Deadline::After(kSweepFor);
  // What was below the guardian falls to us: a subreaper. Rare, so a timer
  // does.
  sweeping = loop->Every(kSweepEvery, [this] { SweepStep(); });
  if (on_lost) {
    on_lost();
  }
}

void GuardianSpawner::Inner::SweepStep() {
  const int left = sweep->Step();
  BuryOwn();
  if (left == 0 || sweep_until.Expired()) {
    EndSweep(left);
  }
}

// Takes the status of every process that fell to us and has ended.
void GuardianSpawner::Inner::BuryOwn() {
  const int self = getpid();
  for (const auto& one : Descendants(self)) {
    if (!one.zombie || one.parent != self || spared.contains(one.id)) {
      continue;
    }
    int status = 0;
    rusage usage{};
    if (wait4(one.id.pid, &status, WNOHANG, &usage) == one.id.pid) {
      HandleExit(Exit{.pid = one.id.pid,
                      .wait_status = status,
                      .at = RealClock().WallNow(),
                      .max_rss_bytes = std::int64_t{usage.ru_maxrss} * 1024});
    }
  }
}

void GuardianSpawner::Inner::EndSweep(int left) {
  if (left > 0) {
    MUSTER_LOG(kWarn, "processes of ranks do not end, even by KILL",
               {{"count", left}});
  }
  sweeping.Cancel();
  // The guardian took these statuses with it.
  while (!processes.empty()) {
    HandleExit(Exit{.pid = processes.begin()->first,
                    .wait_status = SIGKILL,
                    .at = RealClock().WallNow()});
  }
  const int killed = sweep->killed();
  while (!kills.empty()) {
    auto done = kills.extract(kills.begin());
    done.mapped()(killed);
  }
}

GuardianSpawner::GuardianSpawner(std::unique_ptr<Inner> inner)
    : inner_(std::move(inner)) {}

Result<std::unique_ptr<GuardianSpawner>> GuardianSpawner::Fork(
    Duration exec_within) {
  // A descriptor of ours must never be somebody's stdout.
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0) {
      const int why = errno;
      return FromErrno("open", "/dev/null", why);
    }
  }
  auto inner = std::make_unique<Inner>();
  MUSTER_ASSIGN(auto ends, SocketPair());
  sigset_t mask;
  pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  if (HasChildren()) {
    for (const auto& one : Descendants(getpid())) {
      inner->spared.insert(one.id);
    }
  }
  inner->guardian = fork();
  if (inner->guardian == 0) {
    ends.first.Close();
    RunGuardian(std::move(ends.second), mask, exec_within);
    _exit(0);
  }
  if (inner->guardian < 0) {
    const int why = errno;
    return FromErrno("fork", "the guardian process", why);
  }
  inner->socket = std::move(ends.first);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGPIPE, SIG_IGN);
  return std::unique_ptr<GuardianSpawner>(
      new GuardianSpawner(std::move(inner)));
}

// The guardian reads the end of the socket, ends everything and then itself.
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
  waitpid(inner.guardian, nullptr, deadline.Expired() ? WNOHANG : 0);
}

Status GuardianSpawner::Attach(Loop& loop) {
  inner_->loop = &loop;
  inner_->readable = loop.OnReadable(
      inner_->socket.get(), [inner = inner_.get()] { inner->Receive(); });
  return Ok();
}

Result<int> GuardianSpawner::Start(const ProcessSpec& spec, OnExit on_exit) {
  MUSTER_CHECK(inner_->loop != nullptr);
  if (spec.argv.empty() || spec.argv.front().empty()) {
    return Unusable(spec, "there is no program to start");
  }
  if (inner_->lost) {
    return Error(Cause::kInternalError,
                 "the guardian process " + std::to_string(inner_->guardian) +
                     " was ended, so nothing can be started");
  }
  std::vector<int> beside;
  for (const auto& [target, fd] : spec.descriptors) {
    beside.push_back(fd);
  }
  const std::int64_t id = inner_->next_id++;
  auto sent = SendAll(inner_->socket.get(), Pack(ToRequest(spec, id)), beside,
                      Deadline::After(kReplyWithin));
  if (!sent) {
    return std::move(sent).error().While("asking the guardian for a process");
  }
  auto reply = inner_->AwaitReply(id);
  inner_->HandleLater();
  if (!reply) {
    return std::move(reply).error().While("starting `" +
                                          Printable(spec.argv.front()) + "`");
  }
  return inner_->FinishStart(*reply, spec, std::move(on_exit));
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
                 Pack(SignalRequest{.pid = pid, .signal = signal}), {},
                 Deadline::After(kReplyWithin));
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
  auto sent = SendAll(inner.socket.get(), PackKillAll(id), {},
                      Deadline::After(kReplyWithin));
  if (!sent) {
    MUSTER_LOG(kDebug, "the guardian was not reached",
               {{"error", sent.error().ToText()}});
  }
}

void GuardianSpawner::OnGuardianLost(std::function<void()> lost) {
  inner_->on_lost = std::move(lost);
}

}  // namespace muster::sys
