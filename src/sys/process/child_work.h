// SPDX-License-Identifier: Apache-2.0
// A function run in a child process, for calls that may never return: what it
// says comes back as text, and a child that does not answer is ended.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "muster/deadline.h"
#include "muster/error.h"
#include "sys/file/fd.h"

namespace muster::sys {

// What the child differs in, for work that calls a foreign library.
struct ChildSurroundings {
  std::vector<std::pair<std::string, std::string>> variables;
  bool silent = false;  // what it prints goes nowhere
  // The kernel ends it before others where the host's memory runs out.
  bool expendable = false;
};

// The child has a copy of everything, may allocate, and must not print unless
// it is silent. Main thread.
class ChildWork {
 public:
  // os-limit: no process can be made.
  static Result<ChildWork> Start(const std::function<std::string()>& work,
                                 const ChildSurroundings& surroundings = {});
  // Work that says on its way how far it is; each time takes the place of the
  // one before. What it returns must not begin with the byte 0x1e.
  using Say = std::function<void(const std::string& how_far)>;
  static Result<ChildWork> Start(
      const std::function<std::string(const Say& say)>& work,
      const ChildSurroundings& surroundings = {});

  ChildWork(ChildWork&& other) noexcept;
  ChildWork& operator=(ChildWork&&) = delete;
  ChildWork(const ChildWork&) = delete;
  ChildWork& operator=(const ChildWork&) = delete;
  // Ends the child. One that the kernel does not let go is left to it.
  ~ChildWork();

  int fd() const { return pipe_.get(); }
  int pid() const { return pid_; }
  // Reads what has come. nullopt, at once: it is still at work. One that has
  // said all is given 10 s for a core to end on.
  // peer-died: it ended without saying that it was done, and how; of work that
  // threw, with its words.
  std::optional<Result<std::string>> Take();
  // The same, waiting. deadline-exceeded: no answer within the limit.
  Result<std::string> Await(Duration limit);
  // What it said last, as far as Take has read it.
  const std::string& said() const { return said_; }

 private:
  static Result<ChildWork> Fork(
      const std::function<std::string(const Say& say)>& work,
      const ChildSurroundings& surroundings);
  ChildWork(int pid, Fd pipe) : pid_(pid), pipe_(std::move(pipe)) {}
  void TakeWhatWasSaid();
  // How the child ended; nullopt: it did not within the limit.
  std::optional<int> Reap(Duration limit);

  int pid_ = 0;
  Fd pipe_;
  std::string text_;
  std::string said_;
};

// Waits until one of them has something to take, or the deadline passes.
void AwaitAny(std::span<const ChildWork* const> works, Deadline deadline);

}  // namespace muster::sys
