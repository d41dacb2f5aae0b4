// SPDX-License-Identifier: Apache-2.0
#include "sys/program_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>

#include "sys/fs.h"
#include "sys/stream.h"

namespace muster::sys {
namespace {

constexpr int kNotFound = 127;

// How long the end of a program is waited for that was killed or has closed its
// output.
constexpr std::chrono::milliseconds kReapBound{500};

[[noreturn]] void Become(std::vector<char*>& argv, int output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setsid();
  const int nowhere = open("/dev/null", O_RDWR);
  dup2(nowhere, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  execvp(argv[0], argv.data());
  _exit(errno == ENOENT ? kNotFound : 126);
}

std::optional<int> Reap(pid_t pid) {
  const Deadline deadline = Deadline::After(kReapBound);
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

// True: it has closed its output, or said enough.
Result<bool> ReadUntil(int fd, std::size_t limit, Deadline deadline,
                       std::string& text) {
  while (text.size() < limit) {
    MUSTER_ASSIGN(const Arrived arrived, ReadNow(fd, text));
    if (arrived == Arrived::kEnd) {
      return true;
    }
    if (arrived == Arrived::kNothing) {
      pollfd ready{fd, POLLIN, 0};
      poll(&ready, 1, deadline.PollTimeout());
      if (deadline.Expired()) {
        return false;
      }
    }
  }
  text.resize(limit);
  return true;
}

}  // namespace

Result<std::string> OutputOf(const std::vector<std::string>& argv,
                             std::size_t limit, Deadline deadline) {
  std::vector<std::string> words = argv;
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  MUSTER_ASSIGN(PipeEnds ends, MakePipe());
  const pid_t pid = fork();
  if (pid < 0) {
    return FromErrno("fork", argv[0], errno);
  }
  if (pid == 0) {
    Become(pointers, ends.write.get());
  }
  ends.write.Close();
  std::string text;
  const auto read = ReadUntil(ends.read.get(), limit, deadline, text);
  const bool ended = read && *read && text.size() < limit;
  if (!ended) {
    kill(-pid, SIGKILL);
    kill(pid, SIGKILL);
  }
  const auto status = Reap(pid);
  if (!read) {
    return Error(read.error());
  }
  if (!*read) {
    return Error(Cause::kDeadlineExceeded,
                 "`" + argv[0] + "` did not answer in time");
  }
  if (ended && status && *status != 0) {
    return WIFEXITED(*status) && WEXITSTATUS(*status) == kNotFound
               ? Error(Cause::kProgramNotFound,
                       "`" + argv[0] + "` is not on the PATH")
               : Error(Cause::kAppException,
                       "`" + argv[0] + "` ended with an error");
  }
  return text;
}

}  // namespace muster::sys
