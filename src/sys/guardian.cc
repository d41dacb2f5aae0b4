// SPDX-License-Identifier: Apache-2.0
#include "sys/guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <set>
#include <vector>

#include "sys/clock.h"
#include "sys/guardian_wire.h"
#include "sys/net.h"
#include "sys/process_tree.h"
#include "sys/start_child.h"
#include "sys/stream.h"

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
  Guardian(Fd socket, const sigset_t& mask, Duration exec_within)
      : socket_(std::move(socket)),
        rank_mask_(mask),
        exec_within_(exec_within),
        pid_(getpid()) {}

  void Run() {
    while (!owner_gone_ || kill_) {
      AwaitWork();
      Receive();
      while (auto frame = TakeFrame(buffer_)) {
        Handle(*frame);
      }
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
  // in only here) or the next round of a kill is due.
  void AwaitWork() const {
    sigset_t wake;
    sigfillset(&wake);
    sigdelset(&wake, SIGCHLD);
    pollfd poll_fd{owner_gone_ ? -1 : socket_.get(), POLLIN, 0};
    timespec pause{};
    if (kill_) {
      pause.tv_nsec = std::chrono::nanoseconds(kill_->pause).count();
    }
    ppoll(&poll_fd, 1, kill_ ? &pause : nullptr, &wake);
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

  void Handle(const GuardianFrame& frame) {
    if (frame.op == GuardianOp::kStart) {
      Start(UnpackStart(frame.body));
    } else if (frame.op == GuardianOp::kSignal) {
      const auto request = UnpackSignal(frame.body);
      // A child's number is its own until it is reaped, which only we do.
      if (ranks_.contains(static_cast<int>(request.pid))) {
        kill(static_cast<int>(request.pid), static_cast<int>(request.signal));
      }
    } else if (frame.op == GuardianOp::kKillAll) {
      BeginKill();
      kill_->ids.push_back(UnpackKillAll(frame.body));
    }
  }

  void Start(const StartRequest& request) {
    std::vector<Fd> given(std::make_move_iterator(descriptors_.begin()),
                          std::make_move_iterator(descriptors_.begin() +
                                                  std::ssize(request.targets)));
    descriptors_.erase(descriptors_.begin(),
                       descriptors_.begin() + std::ssize(request.targets));
    const auto started =
        StartChild(request, given, rank_mask_, Deadline::After(exec_within_));
    if (started.failure) {
      // One that was given up is no rank: Reap buries it without a word.
      Send(Pack(*started.failure), {});
      return;
    }
    ranks_.insert(started.pid);
    const Fd pidfd(OpenPidfd(started.pid));
    const int beside[] = {pidfd.get()};
    Send(Pack(StartReply{.id = request.id,
                         .pid = started.pid,
                         .pidfd = pidfd ? 1 : 0,
                         .affinity_errno = started.affinity_errno}),
         pidfd ? std::span<const int>(beside) : std::span<const int>());
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
      if (ranks_.erase(pid) == 0) {
        continue;
      }
      Send(Pack(Exit{.pid = pid,
                     .wait_status = status,
                     .at = RealClock().WallNow(),
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
      left = kill_->sweep.Step();
      if (!kill_->give_up.Expired()) {
        kill_->pause = std::min(kill_->pause * 2, milliseconds(50));
        return;
      }
    }
    for (const auto id : kill_->ids) {
      Send(Pack(KillReply{
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
  sigset_t rank_mask_;
  Duration exec_within_;
  pid_t pid_;
  std::string buffer_;
  std::vector<Fd> descriptors_;
  std::set<int> ranks_;
  std::optional<Kill> kill_;
  bool has_children_ = false;
  bool owner_gone_ = false;
};

// Nothing of the owner's is kept open but the socket: a pipe behind our stdout
// would not end while we live. Gives the socket's new number.
Fd LeaveEverythingElse(Fd socket) {
  constexpr int kKept = 3;
  // The old number is closed by what follows, whichever it was.
  const int number = socket.Release();
  if (number != kKept) {
    dup3(number, kKept, O_CLOEXEC);
  }
  CloseFrom(kKept + 1);
  for (int fd = 0; fd < kKept; ++fd) {
    close(fd);
    open("/dev/null", O_RDWR);  // gets this very number, the lowest free
  }
  return Fd(kKept);
}

void OnChild(int /*signal*/) {}

}  // namespace

void RunGuardian(Fd socket, const sigset_t& mask, Duration exec_within) {
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
  prctl(PR_SET_NAME, "muster-guardian");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  Guardian(LeaveEverythingElse(std::move(socket)), mask, exec_within).Run();
}

}  // namespace muster::sys
