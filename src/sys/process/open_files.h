// SPDX-License-Identifier: Apache-2.0
// Which processes have a file or socket open, as far as we may look.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace muster::sys {

struct Holder {
  int pid = 0;
  std::string command;

  bool operator==(const Holder&) const = default;
};

// "process 41 (python3)".
std::string ToText(const Holder& holder);
// With commas.
std::string ToText(const std::vector<Holder>& holders);

// Processes with a descriptor whose link in /proc/PID/fd says one of `targets`
// ("/dev/accel0", "socket:[4711]"), at most `most` of them. A path is that of
// this process: what has it in another mount namespace is no holder. Those of
// other users are seen by root alone.
std::vector<Holder> FindHolders(const std::vector<std::string>& targets,
                                std::size_t most);

// Whether a process below `root` has one of them open.
bool TreeHolds(int root, const std::vector<std::string>& targets);

}  // namespace muster::sys
