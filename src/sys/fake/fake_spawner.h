// SPDX-License-Identifier: Apache-2.0
// Spawner of tests; linked by them alone.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "sys/process/spawner.h"

namespace muster::sys {

// For tests: starts nothing; the test ends processes by calling End. KillAll
// ends what still runs with KILL: from the loop if there is one, else at once.
class FakeSpawner : public Spawner {
 public:
  void Begin(const ProcessSpec& spec, OnStarted on_started,
             OnExit on_exit) override;
  Result<int> Start(const ProcessSpec& spec, OnExit on_exit) override;
  Status Signal(int pid, int signal) override;
  void KillAll(std::function<void(int killed)> done) override;
  Containment containment() const override { return contained; }

  void End(int pid, int wait_status, int guardian_signal = 0);
  // What Begin has held back runs now, or never will.
  void Answer(std::optional<Error> why_not = std::nullopt);

  struct Started {
    ProcessSpec spec;
    OnExit on_exit;
    bool running = true;
  };
  std::map<int, Started> processes;
  std::vector<std::pair<int, int>> signals;  // pid, signal
  std::optional<Error> next_error;           // what the next Start gives
  bool hold = false;                         // Begin waits for Answer
  std::function<void(std::optional<Error> why_not)> held;
  int leftovers = 0;  // descendants that the next KillAll finds besides
  Loop* loop = nullptr;
  Containment contained{.cgroup = "", .why_not = "nothing is started"};
};

}  // namespace muster::sys
