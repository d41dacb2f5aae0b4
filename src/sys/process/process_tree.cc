// SPDX-License-Identifier: Apache-2.0
#include "sys/process/process_tree.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <map>
#include <optional>
#include <string>

#include "base/text.h"
#include "sys/file/fd.h"
#include "sys/file/fs.h"

// Older headers lack them; the numbers are equal on all architectures.
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

namespace muster::sys {
namespace {

std::optional<Descendant> ReadOne(int pid) {
  const auto stat =
      RealFs().Read("/proc/" + std::to_string(pid) + "/stat").value_or("");
  const auto close = stat.rfind(')');
  if (close == std::string::npos) {
    return std::nullopt;
  }
  // After the command: state, parent, …; the start is the 22nd of all.
  const auto fields =
      Split(Trim(std::string_view(stat).substr(close + 1)), ' ');
  if (fields.size() < 20) {
    return std::nullopt;
  }
  return Descendant{
      .id = {pid, static_cast<std::uint64_t>(ParseInt(fields[19]).value_or(0))},
      .parent = static_cast<int>(ParseInt(fields[1]).value_or(0)),
      .state = fields[0].empty() ? '?' : fields[0][0]};
}

// nullopt: this kernel has no list of them.
std::optional<std::vector<int>> ChildrenOfOurs() {
  const RealFs fs;
  std::vector<int> pids;
  const auto tasks = fs.List("/proc/self/task");
  if (!tasks) {
    return std::nullopt;
  }
  for (const auto& task : *tasks) {
    const auto text = fs.Read("/proc/self/task/" + task + "/children");
    if (!text) {
      return std::nullopt;
    }
    for (const auto& word : Split(Trim(*text), ' ')) {
      pids.push_back(static_cast<int>(ParseInt(word).value_or(0)));
    }
  }
  std::erase_if(pids, [](int pid) { return pid <= 0; });
  return pids;
}

}  // namespace

std::vector<Descendant> Descendants(int root) {
  std::multimap<int, Descendant> by_parent;
  for (const auto& name :
       RealFs().List("/proc").value_or(std::vector<std::string>())) {
    if (const auto pid = ParseInt(name)) {
      if (const auto one = ReadOne(static_cast<int>(*pid))) {
        by_parent.emplace(one->parent, *one);
      }
    }
  }
  std::vector<Descendant> found;
  std::vector<int> parents{root};
  while (!parents.empty()) {
    const auto [first, last] = by_parent.equal_range(parents.back());
    parents.pop_back();
    for (auto child = first; child != last; ++child) {
      found.push_back(child->second);
      parents.push_back(child->second.id.pid);
    }
    by_parent.erase(first, last);  // a reused number makes no circle
  }
  return found;
}

int OpenPidfd(int pid) {
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
}

int SendByPidfd(int pidfd, int signal) {
  return syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) == 0 ? 0
                                                                        : errno;
}

bool KillProcess(const ProcessId& process) {
  const Fd pidfd(OpenPidfd(process.pid));
  // Asked after the descriptor is open: from here on it cannot be another.
  const auto now = ReadOne(process.pid);
  if (!now || now->id != process) {
    return false;
  }
  return pidfd ? SendByPidfd(pidfd.get(), SIGKILL) == 0
               : kill(process.pid, SIGKILL) == 0;
}

Sweep::Sweep(int root, std::set<ProcessId> spared)
    : root_(root), spared_(std::move(spared)) {}

// Children first and at once, each when its number was read: of a process that
// forks again and again, and ends, the newest is always our child (we are a
// subreaper), and is hit before it forks. What was below it is our child next.
std::optional<int> Sweep::KillChildren() {
  const auto children = ChildrenOfOurs();
  if (!children) {
    return std::nullopt;
  }
  int left = 0;
  for (const int pid : *children) {
    kill(pid, SIGKILL);  // its number is its own until we have reaped it
    if (const auto one = ReadOne(pid)) {
      left += one->zombie() ? 0 : 1;
      killed_.insert(one->id);
    }
  }
  return left;
}

int Sweep::Step() {
  if (root_ == getpid() && spared_.empty()) {
    if (const auto left = KillChildren()) {
      return *left;
    }
  }
  int left = 0;
  for (const auto& one : Descendants(root_)) {
    if (one.zombie() || spared_.contains(one.id)) {
      continue;
    }
    ++left;
    if (KillProcess(one.id)) {
      killed_.insert(one.id);
    }
  }
  return left;
}

}  // namespace muster::sys
