// SPDX-License-Identifier: Apache-2.0
// Starting and ending the processes of ranks so that nothing is left behind.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "muster/error.h"
#include "muster/fact.h"
#include "sys/file/fd.h"
#include "sys/time/loop.h"
#include "wire/guardian_frame.h"

namespace muster::sys {

// One process to start. argv never passes a shell.
struct ProcessSpec {
  std::vector<std::string> argv;
  std::map<std::string, std::string> environment;  // the whole of it
  std::string directory;                           // empty: inherited
  // Descriptors the child gets, by its number there (0, 1, 2, 3, …). Numbers
  // not named here are closed; 0, 1 and 2 are /dev/null then.
  std::map<int, int> descriptors;
  // Cores to run on; empty: inherited.
  std::vector<int> cores;
};

// What holds all that is started together, so that nothing is left.
struct Containment {
  std::string cgroup;   // its directory; empty: the tree of processes alone
  std::string why_not;  // without a cgroup
};

// Starts processes, each in a session of its own, and reports their ends on
// the loop. The real one keeps a guardian: a small process, forked before any
// thread exists, that is the parent of all ranks and a child subreaper, so
// every descendant (double-forked, setsid'ed) stays below it. When this process
// dies in any way, the guardian ends all of them: TERM is not sent, KILL is,
// repeated until none is left. When the guardian is killed, its warden does the
// same: its parent, and a subreaper too. All calls from the loop's thread.
class Spawner {
 public:
  using OnStarted = std::function<void(Result<int> pid)>;
  using OnExit = std::function<void(const wire::Exit&)>;

  virtual ~Spawner() = default;

  // Tells on_started, once, the pid of a process that runs its program now, or
  // why none does: program-not-found when argv[0] cannot be found on the PATH
  // of `environment` (code 127) or executed (code 126); the cause of errno
  // where the directory or a limit is at fault (code 126); deadline-exceeded
  // (code 126) where a file system does not answer; cancelled (code 126) where
  // KillAll came first. These have the fact "spawn.failed" with fields code,
  // errno, step, program; an error of the guardian has none. From the loop, or
  // inside of this call where nothing could be asked for. on_exit is called
  // once, on the loop, after on_started.
  virtual void Begin(const ProcessSpec& spec, OnStarted on_started,
                     OnExit on_exit) = 0;
  // The same, and waits for it: not where the loop keeps links alive.
  virtual Result<int> Start(const ProcessSpec& spec, OnExit on_exit) = 0;
  // Signals one process we started, by pidfd; no error when it is gone.
  virtual Status Signal(int pid, int signal) = 0;
  // Sends KILL to every descendant of every process started here, repeatedly,
  // until none is left (or what is left has not ended for 4 s: another user's,
  // or waiting in the kernel; that is logged); then calls done, never inside of
  // this call, with how many there were.
  virtual void KillAll(std::function<void(int killed)> done) = 0;
  // As of the last start.
  virtual Containment containment() const = 0;
};

// Well below the time that a guardian has to answer.
inline constexpr Duration kExecWithin = std::chrono::seconds(10);

struct GuardianOptions {
  // How long a program may take to be executed.
  Duration exec_within = kExecWithin;
  // Why no cgroup is to be made; empty: one is, where that can be done.
  std::string no_cgroup = {};
};

// Forks the guardian; call it first thing in main, before any thread. When that
// is killed, or stopped when all is to end, what it has started ends with it,
// which their exits say (guardian_signal), and the next start forks another.
// The result is usable once a loop exists (Attach). Also makes this process
// ignore SIGPIPE (ranks get what it was before) and adopt orphans (a
// subreaper). Only one spawner per process. Destroying it ends all that was
// started, within 5 s.
class GuardianSpawner : public Spawner {
 public:
  static Result<std::unique_ptr<GuardianSpawner>> Fork(
      GuardianOptions options = {});
  ~GuardianSpawner() override;
  Status Attach(Loop& loop);

  void Begin(const ProcessSpec& spec, OnStarted on_started,
             OnExit on_exit) override;
  Result<int> Start(const ProcessSpec& spec, OnExit on_exit) override;
  Status Signal(int pid, int signal) override;
  void KillAll(std::function<void(int killed)> done) override;
  Containment containment() const override;

 private:
  struct Inner;
  explicit GuardianSpawner(std::unique_ptr<Inner> inner);
  std::unique_ptr<Inner> inner_;
};

}  // namespace muster::sys
