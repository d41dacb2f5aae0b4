// SPDX-License-Identifier: Apache-2.0
// All processes below one, and ending exactly them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <vector>

namespace muster::sys {

// A process, told apart from a later one with the same number by its start.
struct ProcessId {
  int pid = 0;
  std::uint64_t start_ticks = 0;  // since boot

  auto operator<=>(const ProcessId&) const = default;
};

struct Descendant {
  ProcessId id;
  int parent = 0;
  char state = '?';  // of /proc/PID/stat

  bool zombie() const { return state == 'Z' || state == 'X'; }
};

// Everything below `root` by parent numbers of /proc. A moment's picture: what
// is forked meanwhile may be missing, so callers repeat.
std::vector<Descendant> Descendants(int root);

// KILL to exactly this process; false when it is gone, or may not be signaled.
bool KillProcess(const ProcessId& process);

// A descriptor for the process, close-on-exec; -1 where the kernel has none.
int OpenPidfd(int pid);
// 0 or the errno.
int SendByPidfd(int pidfd, int signal);

// Ends what is below a process, step by step, remembering what it met.
class Sweep {
 public:
  // Processes that were there before and are not ours.
  explicit Sweep(int root, std::set<ProcessId> spared = {});

  // Sends KILL to all that run now; how many were left to do so. Below the
  // calling process itself, which has to reap its children: to those, and so,
  // step by step, to all.
  int Step();
  // Different processes that got KILL so far.
  int killed() const { return static_cast<int>(killed_.size()); }

 private:
  std::optional<int> KillChildren();

  int root_;
  std::set<ProcessId> spared_;
  std::set<ProcessId> killed_;
};

}  // namespace muster::sys
