// SPDX-License-Identifier: Apache-2.0
#include "sys/file/temp_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

#include "muster/deadline.h"
#include "sys/file/fs.h"
#include "sys/net/stream.h"
#include "sys/process/start_child.h"

namespace muster::sys {
namespace {

constexpr std::chrono::seconds kRemovalTimeout{1};

// Holds nothing that others wait to be closed.
[[noreturn]] void RemoveAtEndOf(int alive, const std::string& path) {
  setsid();
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    dup2(nowhere, fd);
  }
  fcntl(alive, F_SETFL, 0);  // to wait
  dup2(alive, STDERR_FILENO + 1);
  CloseFrom(STDERR_FILENO + 2);
  char byte = 0;
  while (read(STDERR_FILENO + 1, &byte, 1) < 0 && errno == EINTR) {
  }
  unlink(path.c_str());
  _exit(0);
}

}  // namespace

Result<TempFile> TempFile::Make(const std::string& path) {
  MUSTER_ASSIGN(PipeEnds ends, MakePipe());
  // It keeps them blocked: a signal for all of a group may come at once.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t pid = fork();
  const int why = errno;
  if (pid != 0) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  if (pid < 0) {
    return FromErrno("fork", "the cleanup process of `" + path + "`", why);
  }
  if (pid == 0) {
    ends.write.Close();
    RemoveAtEndOf(ends.read.get(), path);
  }
  return TempFile(pid, std::move(ends.write));
}

TempFile::~TempFile() {
  if (pid_ == 0) {
    return;
  }
  alive_.Close();
  const Deadline deadline = Deadline::After(kRemovalTimeout);
  while (waitpid(pid_, nullptr, WNOHANG) == 0 && !deadline.Expired()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace muster::sys
