// SPDX-License-Identifier: Apache-2.0
#include "sys/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <map>

#include "base/text.h"
#include "sys/env.h"
#include "sys/fs.h"
#include "sys/stream.h"

namespace muster::sys {
namespace {

// How long after the deadline the end of what was killed is waited for.
constexpr std::chrono::milliseconds kReapBound{500};

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

// In a session of its own, so that all of it can be ended.
Result<int> Spawn(const Program& program, int output) {
  std::map<std::string, std::string> all = RealEnv().All();
  for (const auto& [name, value] : program.variables) {
    all[name] = value;
  }
  std::vector<std::string> environment;
  environment.reserve(all.size());
  for (const auto& [name, value] : all) {
    environment.push_back(std::string(name).append("=").append(value));
  }
  std::vector<std::string> argv = program.argv;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
  pid_t pid = 0;
  const int failed =
      posix_spawnp(&pid, argv.front().c_str(), &actions, &attributes,
                   Pointers(argv).data(), Pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == EAGAIN || failed == ENOMEM) {
    return FromErrno("posix_spawn", argv.front(), failed);
  }
  if (failed != 0) {
    return Error(Cause::kProgramNotFound,
                 "`" + Printable(argv.front()) +
                     "` cannot be started: " + ErrnoName(failed));
  }
  return pid;
}

// Reads to the end of the output; the error ends the program.
Status ReadAll(int fd, const Program& program, Deadline deadline,
               std::string& output) {
  const std::string name = "`" + Printable(program.argv.front()) + "`";
  while (true) {
    MUSTER_ASSIGN(const Arrived arrived, ReadNow(fd, output));
    if (arrived == Arrived::kEnd) {
      return Ok();
    }
    if (output.size() > program.most_bytes) {
      return Error(Cause::kFileCorrupt,
                   name + " says more than " + BytesText(program.most_bytes));
    }
    if (deadline.Expired()) {
      return Error(Cause::kDeadlineExceeded,
                   name + " did not end in the time that it has");
    }
    pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
    poll(&one, 1, deadline.PollTimeout());
  }
}

}  // namespace

std::string ProgramAnswer::Ending() const {
  return WIFSIGNALED(wait_status)
             ? "signal " + std::to_string(WTERMSIG(wait_status))
             : "status " + std::to_string(WEXITSTATUS(wait_status));
}

Error BecomeProgram(std::vector<std::string> argv) {
  // A program expects it as it was before a spawner was forked.
  signal(SIGPIPE, SIG_DFL);
  execvp(argv.front().c_str(), Pointers(argv).data());
  const int error = errno;
  return Error(Cause::kProgramNotFound, "`" + Printable(argv.front()) +
                                            "` cannot be started: " +
                                            ErrnoName(error));
}

Result<ProgramAnswer> RunProgram(const Program& program, Deadline deadline) {
  if (program.argv.empty() || program.argv.front().empty()) {
    return Error(Cause::kProgramNotFound, "no program is named");
  }
  MUSTER_ASSIGN(PipeEnds pipe, MakePipe());
  MUSTER_ASSIGN(const int pid, Spawn(program, pipe.write.get()));
  pipe.write.Close();
  ProgramAnswer answer;
  const Status read =
      ReadAll(pipe.read.get(), program, deadline, answer.output);
  if (!read) {
    kill(-pid, SIGKILL);
  }
  // One that has closed its output and stays has until the deadline, too. The
  // kernel may keep a killed one that waits for a disk: nobody waits with it.
  const Deadline killed = Deadline::At(deadline.when() + kReapBound);
  while (waitpid(pid, &answer.wait_status, WNOHANG) == 0) {
    if (deadline.Expired()) {
      kill(-pid, SIGKILL);
    }
    if (killed.Expired()) {
      return Error(Cause::kDeadlineExceeded,
                   "`" + Printable(program.argv.front()) +
                       "` was killed and has not ended");
    }
    poll(nullptr, 0, 5);
  }
  if (!read) {
    return Error(read.error());
  }
  return answer;
}

}  // namespace muster::sys
