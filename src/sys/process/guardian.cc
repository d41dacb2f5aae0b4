// SPDX-License-Identifier: Apache-2.0
#include "sys/process/guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <optional>
#include <set>
#include <vector>

#include "sys/net/net.h"
#include "sys/net/stream.h"
#include "sys/process/process_tree.h"
#include "sys/process/start_child.h"
#include "sys/time/clock.h"
#include "wire/guardian_frame.h"

namespace muster::sys {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// How long processes are sent KILL before those that remain are given up: they
// wait in the kernel, or belong to another user.
constexpr auto kKillFor = seconds(4);

// Our process does nothing but serve this socket; when it does not take a
// message for so long it is gone for our purposes, but not dead.
constexpr auto kSendFor = std::chrono::hours(1);

double SecondsOf(const timeval& time) {
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_usec) / 1e6;
}

class Guardian {
 public:
  Guardian(Fd socket, const OwnCgroup* cgroup, const sigset_t& mask,
           Duration exec_within)
      : socket_(std::move(socket)),
        cgroup_(cgroup),
        rank_mask_(mask),
        exec_within_(exec_within),
        pid_(getpid()) {}

  void Run() {
    while (!owner_gone_ || kill_) {
      AwaitWork();
      Receive();
      while (auto frame = wire::TakeFrame(buffer_)) {
        Handle(*frame);
      }
      TellStarts();
      Reap();
      KillStep();
    }
  }

 private:
  // Everything asked for by KillAll, or by the end of the owner.
  struct Kill {
    Sweep sweep;
    std::vector<std::int64_t> ids;
    Deadline give_up;
    milliseconds pause{1};
  };

  // Sleeps until there is something to read, a child has ended (SIGCHLD is let
  // in only here), the next round of a kill is due or a start is given up.
  void AwaitWork() const {
    sigset_t wake;
    sigfillset(&wake);
    sigdelset(&wake, SIGCHLD);
    std::vector<pollfd> polled{{owner_gone_ ? -1 : socket_.get(), POLLIN, 0}};
    std::optional<Duration> pause;
    if (kill_) {
      pause = kill_->pause;
    }
    for (const StartingChild& child : starting_) {
      polled.push_back({child.said.get(), POLLIN, 0});
      const Duration left = child.give_up.Remaining();
      pause = std::min(pause.value_or(left), left);
    }
    timespec limit{};
    if (pause) {
      const auto whole = std::chrono::floor<seconds>(*pause);
      limit = {.tv_sec = whole.count(), .tv_nsec = (*pause - whole).count()};
    }
    ppoll(polled.data(), polled.size(), pause ? &limit : nullptr, &wake);
  }

  void Receive() {
    while (!owner_gone_) {
      const auto arrived = ReceiveNow(socket_.get(), buffer_, &descriptors_);
      if (arrived && *arrived == Arrived::kNothing) {
        return;
      }
      if (!arrived || *arrived == Arrived::kEnd) {
        owner_gone_ = true;
        BeginKill();
      }
    }
  }

  void Handle(const wire::GuardianFrame& frame) {
    if (frame.op == wire::GuardianOp::kStart) {
      Start(wire::UnpackStart(frame.body));
    } else if (frame.op == wire::GuardianOp::kSignal) {
      const auto request = wire::UnpackSignal(frame.body);
      // A child's number is its own until it is reaped, which only we do.
      if (ranks_.contains(static_cast<int>(request.pid))) {
        kill(static_cast<int>(request.pid), static_cast<int>(request.signal));
      }
    } else if (frame.op == wire::GuardianOp::kKillAll) {
      BeginKill();
      kill_->ids.push_back(wire::UnpackKillAll(frame.body));
    }
  }

  void Start(const wire::StartRequest& request) {
    if (descriptors_.size() < request.targets.size()) {
      descriptors_.clear();  // there was no room for them here
      Send(
          wire::Pack(wire::StartFailure{.id = request.id,
                                        .stage = wire::StartStage::kDescriptors,
                                        .error_number = EMFILE}),
          {});
      return;
    }
    std::vector<Fd> given(std::make_move_iterator(descriptors_.begin()),
                          std::make_move_iterator(descriptors_.begin() +
                                                  std::ssize(request.targets)));
    descriptors_.erase(descriptors_.begin(),
                       descriptors_.begin() + std::ssize(request.targets));
    starting_.push_back(ForkChild(request, given,
                                  cgroup_ == nullptr ? -1 : cgroup_->entrance(),
                                  rank_mask_, Deadline::After(exec_within_)));
  }

  // Before a kill: what that ends would be taken for a program that ran.
  void TellStarts() {
    std::erase_if(starting_, [this](StartingChild& child) {
      if (!Hear(child)) {
        if (!kill_ && !child.give_up.Expired()) {
          return false;
        }
        if (!kill_) {  // which counts whom it ends
          kill(child.pid, SIGKILL);
        }
        GiveUp(child, kill_ ? ECANCELED : ETIMEDOUT);
      }
      Tell(child, Fd(child.failure ? -1 : OpenPidfd(child.pid)));
      return true;
    });
  }

  void Tell(const StartingChild& child, const Fd& pidfd) {
    if (child.failure) {
      // One that was given up is no rank: Reap buries it without a word.
      Send(wire::Pack(*child.failure), {});
      return;
    }
    ranks_.insert(child.pid);
    const int beside[] = {pidfd.get()};
    Send(wire::Pack(wire::StartReply{.id = child.id,
                                     .pid = child.pid,
                                     .pidfd = pidfd ? 1 : 0,
                                     .affinity_errno = child.affinity_errno,
                                     .cgroup_errno = child.cgroup_errno}),
         pidfd ? std::span<const int>(beside) : std::span<const int>());
  }

  // It has ended: all that it said is there. Its number may be another's now.
  void TellStartOf(int pid) {
    const auto child = std::find_if(
        starting_.begin(), starting_.end(),
        [pid](const StartingChild& one) { return one.pid == pid; });
    if (child != starting_.end()) {
      Hear(*child);
      Tell(*child, Fd());
      starting_.erase(child);
    }
  }

  // Takes the status of every child that has ended: ranks are told, orphans
  // that fell to us are only buried.
  void Reap() {
    while (true) {
      int status = 0;
      rusage usage{};
      const pid_t pid = wait4(-1, &status, WNOHANG, &usage);
      const int why = errno;
      has_children_ = pid >= 0 || why != ECHILD;
      if (pid <= 0) {
        return;
      }
      TellStartOf(pid);
      if (ranks_.erase(pid) == 0) {
        continue;
      }
      Send(wire::Pack(wire::Exit{
               .pid = pid,
               .wait_status = status,
               .at = RealClock().EventNow(),
               .user_s = SecondsOf(usage.ru_utime),
               .system_s = SecondsOf(usage.ru_stime),
               .max_rss_bytes = std::int64_t{usage.ru_maxrss} * 1024}),
           {});
    }
  }

  void BeginKill() {
    if (!kill_) {
      kill_.emplace(Kill{.sweep = Sweep(pid_),
                         .ids = {},
                         .give_up = Deadline::After(kKillFor)});
    }
  }

  // No children means no descendants: every orphan below falls to us.
  void KillStep() {
    if (!kill_) {
      return;
    }
    int left = 0;
    if (has_children_) {
      // At least one, also where there is no /proc that lists them.
      left = std::max(1, kill_->sweep.Step());
      if (cgroup_ != nullptr) {
        cgroup_->Kill();  // also what has been forked since
      }
      if (!kill_->give_up.Expired()) {
        kill_->pause = std::min(kill_->pause * 2, milliseconds(50));
        return;
      }
    }
    for (const auto id : kill_->ids) {
      Send(wire::Pack(wire::KillReply{
               .id = id, .killed = kill_->sweep.killed(), .remaining = left}),
           {});
    }
    kill_.reset();
  }

  void Send(const std::string& bytes, std::span<const int> descriptors) {
    if (!owner_gone_ && !SendAll(socket_.get(), bytes, descriptors,
                                 Deadline::After(kSendFor))) {
      owner_gone_ = true;
      BeginKill();
    }
  }

  Fd socket_;
  const OwnCgroup* cgroup_;  // nullptr: there is none
  sigset_t rank_mask_;
  Duration exec_within_;
  pid_t pid_;
  std::string buffer_;
  std::vector<Fd> descriptors_;
  std::vector<StartingChild> starting_;
  std::set<int> ranks_;
  std::optional<Kill> kill_;
  bool has_children_ = false;
  bool owner_gone_ = false;
};

// Nothing of the owner's is kept open: a pipe behind our stdout would not end
// while we live.
void CloseStandardStreams() {
  for (int fd = 0; fd <= 2; ++fd) {
    close(fd);
    open("/dev/null", O_RDWR);  // gets this very number, the lowest free
  }
}

std::vector<int> DescriptorsOf(const OwnCgroup* cgroup) {
  return cgroup == nullptr ? std::vector<int>() : cgroup->Descriptors();
}

bool IsStopped(pid_t child) {
  siginfo_t seen{};
  return waitid(P_PID, static_cast<id_t>(child), &seen,
                WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
         seen.si_pid == child;
}

// SIGCHLD, which is blocked, comes for both: the guardian's end, and the
// owner's. After that a guardian has until its own limit, and a little; one
// that is stopped has none, for it would never end. Gives the guardian's wait
// status.
int AwaitGuardian(pid_t guardian) {
  const pid_t owner = getppid();
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  prctl(PR_SET_PDEATHSIG, SIGCHLD);
  bool owner_lives = getppid() == owner;
  int status = 0;
  while (waitpid(guardian, &status, WNOHANG) == 0) {
    constexpr timespec kLast{.tv_sec = kKillFor.count() + 1, .tv_nsec = 0};
    if (owner_lives) {
      sigwaitinfo(&child, nullptr);
      owner_lives = getppid() == owner;
    } else if (IsStopped(guardian) ||
               (sigtimedwait(&child, nullptr, &kLast) < 0 && errno == EAGAIN)) {
      kill(guardian, SIGKILL);
      sigtimedwait(&child, nullptr, &kLast);
    }
  }
  return status;
}

// The warden, between the owner and the guardian: a subreaper that does nothing
// until the guardian has ended, and then ends what that has left. So nothing is
// left even where guardian and owner are killed at once. Its exit status is the
// signal that has ended the guardian.
[[noreturn]] void RunWarden(pid_t guardian, const OwnCgroup* cgroup) {
  CloseStandardStreams();
  CloseFrom(3, DescriptorsOf(cgroup));
  prctl(PR_SET_NAME, "muster-warden");
  const int status = AwaitGuardian(guardian);
  Sweep sweep(getpid());
  const Deadline give_up = Deadline::After(kKillFor);
  for (milliseconds pause{1}; !give_up.Expired();
       pause = std::min(pause * 2, milliseconds(50))) {
    pid_t ended = 0;
    while ((ended = waitpid(-1, nullptr, WNOHANG)) > 0) {
    }
    if (ended < 0 && errno == ECHILD) {
      break;  // no children means no descendants
    }
    sweep.Step();
    if (cgroup != nullptr) {
      cgroup->Kill();
    }
    const timespec nap{.tv_sec = 0, .tv_nsec = pause.count() * 1'000'000};
    nanosleep(&nap, nullptr);
  }
  if (cgroup != nullptr) {
    cgroup->Remove();
  }
  _exit(WIFSIGNALED(status) ? WTERMSIG(status) : 0);
}

void OnChild(int /*signal*/) {}

}  // namespace

void RunGuardian(Fd socket, const std::optional<OwnCgroup>& cgroup,
                 const sigset_t& mask, Duration exec_within) {
  const OwnCgroup* const group = cgroup ? &*cgroup : nullptr;
  // Blocked, not ignored: dispositions are inherited by ranks, and a rank gets
  // those with which the user started us (nohup).
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, nullptr);
  struct sigaction on_child {};
  on_child.sa_handler = OnChild;
  on_child.sa_flags = SA_NOCLDSTOP;
  sigaction(SIGCHLD, &on_child, nullptr);
  setsid();  // a terminal's Ctrl-C is for our owner, who decides
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const pid_t guardian = fork();
  if (guardian > 0) {
    RunWarden(guardian, group);
  }
  // Without a warden where there is no room for a process.
  prctl(PR_SET_NAME, "muster-guardian");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  CloseStandardStreams();
  std::vector<int> kept = DescriptorsOf(group);
  kept.push_back(socket.get());
  CloseFrom(3, std::move(kept));
  Guardian(std::move(socket), group, mask, exec_within).Run();
}

}  // namespace muster::sys
