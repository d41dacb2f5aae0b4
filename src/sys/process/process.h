// SPDX-License-Identifier: Apache-2.0
// What the kernel says about a process and its cgroup: read-only looks.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "muster/deadline.h"
#include "muster/error.h"
#include "sys/file/fs.h"

namespace muster::sys {

// The number of this process.
int OwnPid();
// Whether it may do everything.
bool IsRoot();
// From now on the kernel writes no core of this process, for it holds secrets;
// of programs that it starts it does. Its files in /proc are root's meanwhile.
void LeaveNoCore();
// Lets this process, and none that the guardian starts, have so many files and
// connections open, as far as the hard limit lets it; gives the limit in force.
std::uint64_t RaiseFileLimit(std::uint64_t wanted);

// From /proc/PID/{stat,status,wchan}. nullopt: the process is gone.
struct ProcessState {
  char state = '?';  // R, S, D, T, Z, …
  std::string wait_channel;
  std::uint64_t cpu_ticks = 0;  // user + system
  std::uint64_t context_switches = 0;
  std::uint64_t rss_bytes = 0;
};
std::optional<ProcessState> ReadProcess(int pid);

// Memory in use that no file holds, of this process alone, in bytes. nullopt:
// it is gone.
std::optional<std::uint64_t> OwnMemoryOf(int pid);

// How often the kernel has killed for memory in this process's cgroup (v1 or
// v2), or on the host where it is in none; pid 0 is this process. nullopt: no
// counter can be read here.
std::optional<std::uint64_t> OomKills(int pid);
std::optional<std::uint64_t> OomKills(const Fs& fs, int pid);

// The same of its cgroup alone, with the file that tells it.
struct GroupCounter {
  std::string path;
  std::uint64_t count = 0;
};
std::optional<GroupCounter> OomKillsOfGroup(const Fs& fs, int pid);

// How long this thread has run, and how long it was ready to and had no core.
struct CoreTime {
  Duration ran{};
  Duration queued{};  // 0 also where the kernel does not tell
};
CoreTime OwnCoreTime();

// Memory of the host now, in bytes.
struct HostMemory {
  std::uint64_t total = 0;
  std::uint64_t available = 0;
};
Result<HostMemory> ReadHostMemory();

// Anonymous shared memory (memfd) of the given size, close-on-exec.
Result<int> MakeSharedMemory(const std::string& name, std::size_t bytes);

}  // namespace muster::sys
