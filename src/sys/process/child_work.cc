// SPDX-License-Identifier: Apache-2.0
#include "sys/process/child_work.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <thread>
#include <vector>

#include "base/text.h"
#include "sys/file/fs.h"
#include "sys/net/stream.h"

namespace muster::sys {
namespace {

// How long the end of a killed child is waited for, which the kernel may keep.
constexpr std::chrono::milliseconds kKilled{200};
// And that of one which has said all: it only needs a core.
constexpr std::chrono::seconds kLeaving{10};
// Begins a line that is not what the work returns.
constexpr char kSaid = '\x1e';

void WriteAll(int fd, std::string_view left) {
  while (!left.empty()) {
    const ssize_t written = write(fd, left.data(), left.size());
    if (written <= 0) {
      _exit(1);
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
}

// A wish: a container may forbid it.
void BeFirstToGo() {
  const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (score >= 0) {
    constexpr std::string_view kMaxCount = "1000";
    [[maybe_unused]] const ssize_t written =
        write(score, kMaxCount.data(), kMaxCount.size());
    close(score);
  }
}

void Surround(const ChildSurroundings& surroundings) {
  for (const auto& [name, value] : surroundings.variables) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): a child has one thread.
    setenv(name.c_str(), value.c_str(), 1);
  }
  if (surroundings.expendable) {
    BeFirstToGo();
  }
  if (surroundings.silent) {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
  }
}

[[noreturn]] void Work(
    int fd, const std::function<std::string(const ChildWork::Say&)>& work,
    const ChildSurroundings& surroundings) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Surround(surroundings);
  // The frames above are the parent's: none of them may be left.
  try {
    WriteAll(fd, work([fd](const std::string& how_far) {
               WriteAll(fd, kSaid + how_far + "\n");
             }));
  } catch (const std::exception& error) {
    WriteAll(fd, error.what());
    _exit(1);
  } catch (...) {
    _exit(1);
  }
  _exit(0);
}

std::string HowItEnded(int status) {
  if (WIFSIGNALED(status)) {
    return "by signal " + std::to_string(WTERMSIG(status));
  }
  return "with status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Result<ChildWork> ChildWork::Start(const std::function<std::string()>& work,
                                   const ChildSurroundings& surroundings) {
  return Fork([&work](const Say&) { return work(); }, surroundings);
}

Result<ChildWork> ChildWork::Start(
    const std::function<std::string(const Say& say)>& work,
    const ChildSurroundings& surroundings) {
  return Fork(work, surroundings);
}

Result<ChildWork> ChildWork::Fork(
    const std::function<std::string(const Say& say)>& work,
    const ChildSurroundings& surroundings) {
  MUSTER_ASSIGN(PipeEnds ends, MakePipe());
  const pid_t pid = fork();
  if (pid < 0) {
    const int why = errno;
    return FromErrno("fork", "the child process of a check", why);
  }
  if (pid == 0) {
    ends.read.Close();
    Work(ends.write.get(), work, surroundings);
  }
  return ChildWork(pid, std::move(ends.read));
}

ChildWork::ChildWork(ChildWork&& other) noexcept
    : pid_(std::exchange(other.pid_, 0)),
      pipe_(std::move(other.pipe_)),
      text_(std::move(other.text_)),
      said_(std::move(other.said_)) {}

ChildWork::~ChildWork() {
  if (pid_ > 0) {
    kill(pid_, SIGKILL);
    Reap(kKilled);
  }
}

std::optional<int> ChildWork::Reap(Duration limit) {
  const Deadline deadline = Deadline::After(limit);
  const pid_t pid = std::exchange(pid_, 0);
  while (true) {
    int status = 0;
    const pid_t got = waitpid(pid, &status, WNOHANG);
    if (got == pid) {
      return status;
    }
    if ((got < 0 && errno != EINTR) || deadline.Expired()) {
      return std::nullopt;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void ChildWork::TakeWhatWasSaid() {
  while (text_.starts_with(kSaid)) {
    const auto end = text_.find('\n');
    if (end == std::string::npos) {
      return;
    }
    said_ = text_.substr(1, end - 1);
    text_.erase(0, end + 1);
  }
}

std::optional<Result<std::string>> ChildWork::Take() {
  while (true) {
    auto arrived = ReadNow(pipe_.get(), text_);
    if (!arrived) {
      return std::move(arrived).error();
    }
    TakeWhatWasSaid();
    if (*arrived == Arrived::kNothing) {
      return std::nullopt;
    }
    if (*arrived == Arrived::kEnd) {
      break;
    }
  }
  const auto status = Reap(kLeaving);
  if (!status || *status != 0) {
    return Error(Cause::kPeerDied,
                 "the child process of the check ended " +
                     (status ? HowItEnded(*status) : "in an unknown way") +
                     (text_.empty() ? "" : ": " + Printable(text_)));
  }
  return std::move(text_);
}

Result<std::string> ChildWork::Await(Duration limit) {
  const ChildWork* const one[] = {this};
  const Deadline deadline = Deadline::After(limit);
  auto said = Take();
  while (!said && !deadline.Expired()) {
    AwaitAny(one, deadline);
    said = Take();
  }
  return said ? *std::move(said)
              : Error(Cause::kDeadlineExceeded,
                      "no result within " + ToString(limit));
}

void AwaitAny(std::span<const ChildWork* const> works, Deadline deadline) {
  std::vector<pollfd> polled;
  for (const ChildWork* work : works) {
    polled.push_back({.fd = work->fd(), .events = POLLIN, .revents = 0});
  }
  poll(polled.data(), polled.size(), deadline.PollTimeout());
}

}  // namespace muster::sys
