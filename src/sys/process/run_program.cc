// SPDX-License-Identifier: Apache-2.0
#include "sys/process/run_program.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "base/text.h"
#include "sys/file/fs.h"
#include "sys/net/stream.h"

namespace muster::sys {
namespace {

// How long after the deadline the end of what was killed is waited for.
constexpr std::chrono::milliseconds kReapBound{500};

std::vector<char*> MutablePointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

// In a session of its own, so that all of it can be ended. Says over `refusal`
// why it is no program; exec closes that.
[[noreturn]] void Become(const Program& program, std::vector<char*>& argv,
                         int output, int refusal) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setsid();
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(nowhere, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  if (program.silent) {
    dup2(nowhere, STDERR_FILENO);
  }
  for (const auto& [name, value] : program.variables) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): a child has one thread.
    setenv(name.c_str(), value.c_str(), 1);
  }
  signal(SIGPIPE, SIG_DFL);  // as a program expects it
  execvp(argv[0], argv.data());
  const int why = errno;
  [[maybe_unused]] auto said = write(refusal, &why, sizeof why);
  _exit(127);
}

struct Spawned {
  int pid = 0;
  Fd refusal;  // says an errno where exec failed
};

Result<Spawned> Spawn(const Program& program, int output) {
  std::vector<std::string> words = program.argv;
  std::vector<char*> argv = MutablePointers(words);
  MUSTER_ASSIGN(PipeEnds refusal, MakePipe());
  const pid_t pid = fork();
  if (pid < 0) {
    return FromErrno("fork", program.argv.front(), errno);
  }
  if (pid == 0) {
    Become(program, argv, output, refusal.write.get());
  }
  return Spawned{.pid = pid, .refusal = std::move(refusal.read)};
}

Error NotStarted(const std::string& name, int why) {
  return Error(
      Cause::kProgramNotFound,
      "`" + Printable(name) + "` cannot be started: " + ErrnoName(why));
}

// Of a program that has ended: why it was none.
Status Started(const Program& program, const Spawned& spawned) {
  std::string said;
  MUSTER_TRY(ReadNow(spawned.refusal.get(), said));
  int why = 0;
  if (said.size() < sizeof why) {
    return Ok();
  }
  said.copy(reinterpret_cast<char*>(&why), sizeof why);
  return NotStarted(program.argv.front(), why);
}

// Reads to the end of the output; the error ends the program.
Status ReadAll(int fd, const Program& program, Deadline deadline,
               ProgramAnswer& answer) {
  const std::string name = "`" + Printable(program.argv.front()) + "`";
  while (true) {
    MUSTER_ASSIGN(const Arrived arrived, ReadNow(fd, answer.output));
    if (arrived == Arrived::kEnd) {
      return Ok();
    }
    if (answer.output.size() > program.most_bytes) {
      if (program.too_much == Program::TooMuch::kCut) {
        answer.output.resize(program.most_bytes);
        answer.cut = true;
        return Ok();
      }
      return Error(Cause::kFileCorrupt, name + " printed more than " +
                                            BytesText(program.most_bytes));
    }
    if (deadline.Expired()) {
      return Error(Cause::kDeadlineExceeded, name + " did not exit in time");
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
  signal(SIGPIPE, SIG_DFL);  // as a program expects it
  execvp(argv.front().c_str(), MutablePointers(argv).data());
  return NotStarted(argv.front(), errno);
}

Result<ProgramAnswer> RunProgram(const Program& program, Deadline deadline) {
  if (program.argv.empty() || program.argv.front().empty()) {
    return Error(Cause::kProgramNotFound, "no program is given");
  }
  MUSTER_ASSIGN(PipeEnds pipe, MakePipe());
  MUSTER_ASSIGN(const Spawned spawned, Spawn(program, pipe.write.get()));
  pipe.write.Close();
  ProgramAnswer answer;
  const Status read = ReadAll(pipe.read.get(), program, deadline, answer);
  const bool enough = !read || answer.cut;
  // One that has closed its output and stays has until the deadline, too. The
  // kernel may keep a killed one that waits for a disk: nobody waits with it.
  const Deadline killed = Deadline::At(deadline.when() + kReapBound);
  while (true) {
    if (enough || deadline.Expired()) {
      kill(-spawned.pid, SIGKILL);
      kill(spawned.pid, SIGKILL);  // before it has its session
    }
    const pid_t ended = waitpid(spawned.pid, &answer.wait_status, WNOHANG);
    if (ended < 0 && errno != EINTR) {
      return FromErrno("waitpid", program.argv.front(), errno);
    }
    if (ended > 0) {
      break;
    }
    if (killed.Expired()) {
      return Error(Cause::kDeadlineExceeded,
                   "`" + Printable(program.argv.front()) +
                       "` was killed but has not exited");
    }
    poll(nullptr, 0, 5);
  }
  if (!read) {
    return Error(read.error());
  }
  MUSTER_TRY(Started(program, spawned));
  return answer;
}

}  // namespace muster::sys
