// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include <utility>

#include "sys/fake/fake_spawner.h"

namespace muster::sys {

void FakeSpawner::Begin(const ProcessSpec& spec, OnStarted on_started,
                        OnExit on_exit) {
  held = [=, this](std::optional<Error> why_not) {
    on_started(why_not ? Result<int>(*std::move(why_not))
                       : Start(spec, on_exit));
  };
  if (!hold) {
    Answer();
  }
}

void FakeSpawner::Answer(std::optional<Error> why_not) {
  std::exchange(held, nullptr)(std::move(why_not));
}

Result<int> FakeSpawner::Start(const ProcessSpec& spec, OnExit on_exit) {
  if (next_error) {
    return *std::exchange(next_error, std::nullopt);
  }
  const int pid = 1000 + static_cast<int>(processes.size());
  processes[pid] = Started{.spec = spec, .on_exit = std::move(on_exit)};
  return pid;
}

Status FakeSpawner::Signal(int pid, int signal) {
  signals.emplace_back(pid, signal);
  return Ok();
}

void FakeSpawner::KillAll(std::function<void(int killed)> done) {
  auto kill_now = [this, done = std::move(done)] {
    int killed = std::exchange(leftovers, 0);
    if (held) {
      Answer(Error(Cause::kCancelled, "everything was ended"));
      ++killed;
    }
    std::vector<int> running;
    for (const auto& [pid, process] : processes) {
      if (process.running) {
        running.push_back(pid);
      }
    }
    for (const int pid : running) {
      End(pid, SIGKILL);
    }
    killed += static_cast<int>(running.size());
    done(killed);
  };
  if (loop != nullptr) {
    loop->Post(std::move(kill_now));
  } else {
    kill_now();
  }
}

void FakeSpawner::End(int pid, int wait_status, int guardian_signal) {
  Started& process = processes.at(pid);
  if (std::exchange(process.running, false)) {
    process.on_exit(wire::Exit{.pid = pid,
                               .wait_status = wait_status,
                               .guardian_signal = guardian_signal});
  }
}

}  // namespace muster::sys
