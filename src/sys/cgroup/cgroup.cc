// SPDX-License-Identifier: Apache-2.0
#include "sys/cgroup/cgroup.h"

#include <algorithm>
#include <cstdint>

#include "base/text.h"
#include "sys/process/process.h"

namespace muster::sys {
namespace {

// A mount of /proc/self/mountinfo: what part of the hierarchy is visible where.
struct Mount {
  std::string root;
  std::string point;
};

bool HasWord(std::string_view list, std::string_view word) {
  const auto words = Split(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

//   36 35 98:0 /root /point rw,noatime shared:1 - cgroup cgroup rw,memory
std::optional<Mount> FindMount(std::string_view mountinfo, bool v2,
                               std::string_view controller) {
  for (const auto& line : Split(mountinfo, '\n')) {
    const auto fields = Split(line, ' ');
    const auto dash = std::find(fields.begin(), fields.end(), "-");
    if (fields.size() < 5 || fields.end() - dash < 4) {
      continue;
    }
    if (v2 ? dash[1] == "cgroup2"
           : dash[1] == "cgroup" && HasWord(dash[3], controller)) {
      return Mount{fields[3], fields[4]};
    }
  }
  return std::nullopt;
}

//   4:memory:/path      (v1)          0::/path      (v2)
std::optional<std::string> FindPath(std::string_view cgroup, bool v2,
                                    std::string_view controller) {
  for (const auto& line : Split(cgroup, '\n')) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == line.npos || second == line.npos) {
      continue;
    }
    const auto list =
        std::string_view(line).substr(first + 1, second - first - 1);
    if (v2 ? list.empty() : HasWord(list, controller)) {
      return line.substr(second + 1);
    }
  }
  return std::nullopt;
}

// The path inside of the mount: a container sees only what is below its root.
std::string Visible(const std::string& path, const std::string& root) {
  if (root != "/" && path.starts_with(root)) {
    return path.substr(root.size());
  }
  // Outside of what is mounted: the mount's root is the nearest that we see.
  return root == "/" ? path : "";
}

std::vector<std::string> UpToTheMount(const std::string& point,
                                      std::string inside) {
  std::vector<std::string> directories;
  while (!inside.empty() && inside != "/") {
    directories.push_back(point + inside);
    inside.resize(inside.rfind('/'));
  }
  directories.push_back(point);
  return directories;
}

std::optional<double> QuotaOf(const Fs& fs, const std::string& directory,
                              bool v2) {
  std::vector<std::string> words;
  if (v2) {
    words =
        Split(Trim(fs.Read(JoinPath(directory, "cpu.max")).value_or("")), ' ');
  } else {
    for (const char* file : {"cpu.cfs_quota_us", "cpu.cfs_period_us"}) {
      words.emplace_back(Trim(fs.Read(JoinPath(directory, file)).value_or("")));
    }
  }
  const auto quota = words.empty() ? std::nullopt : ParseInt(words[0]);
  const auto period = words.size() < 2 ? std::nullopt : ParseInt(words[1]);
  if (!quota || !period || *quota <= 0 || *period <= 0) {
    return std::nullopt;  // "max", -1 or no such file
  }
  return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<std::uint64_t> Counter(std::string_view text,
                                     std::string_view name) {
  for (const auto& line : Split(text, '\n')) {
    const auto words = Split(line, ' ');
    if (words.size() == 2 && words[0] == name) {
      if (const auto count = ParseInt(words[1]); count && *count >= 0) {
        return static_cast<std::uint64_t>(*count);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

CgroupPath FindCgroup(const Fs& fs, std::string_view controller, int pid) {
  const std::string process = pid == 0 ? "self" : std::to_string(pid);
  const auto cgroup = fs.Read("/proc/" + process + "/cgroup").value_or("");
  const auto mounts = fs.Read("/proc/self/mountinfo").value_or("");
  // v1 first: where both are mounted, a controller belongs to one only, and v2
  // lists no controllers here.
  for (const bool v2 : {false, true}) {
    const auto path = FindPath(cgroup, v2, controller);
    const auto mount = FindMount(mounts, v2, controller);
    if (path && mount) {
      return {UpToTheMount(mount->point, Visible(*path, mount->root)), v2};
    }
  }
  return {};
}

std::optional<std::string> FindUnifiedCgroup(const Fs& fs) {
  const auto path =
      FindPath(fs.Read("/proc/self/cgroup").value_or(""), true, "");
  const auto mount =
      FindMount(fs.Read("/proc/self/mountinfo").value_or(""), true, "");
  if (!path || !mount) {
    return std::nullopt;
  }
  return UpToTheMount(mount->point, Visible(*path, mount->root)).front();
}

std::optional<double> CpuQuota(const Fs& fs, int pid) {
  const auto cgroup = FindCgroup(fs, "cpu", pid);
  std::optional<double> least;
  for (const auto& directory : cgroup.directories) {
    if (const auto quota = QuotaOf(fs, directory, cgroup.v2)) {
      least = std::min(least.value_or(*quota), *quota);
    }
  }
  return least;
}

std::optional<GroupCounter> OomKillsOfGroup(const Fs& fs, int pid) {
  const auto cgroup = FindCgroup(fs, "memory", pid);
  const char* file = cgroup.v2 ? "memory.events" : "memory.oom_control";
  for (const auto& directory : cgroup.directories) {
    const std::string path = JoinPath(directory, file);
    if (const auto count = Counter(fs.Read(path).value_or(""), "oom_kill")) {
      return GroupCounter{.path = path, .count = *count};
    }
  }
  return std::nullopt;
}

std::optional<std::uint64_t> OomKills(const Fs& fs, int pid) {
  if (const auto group = OomKillsOfGroup(fs, pid)) {
    return group->count;
  }
  // Outside of any group (the root has no counter): that of the host.
  return Counter(fs.Read("/proc/vmstat").value_or(""), "oom_kill");
}

std::optional<std::uint64_t> OomKills(int pid) {
  return OomKills(RealFs(), pid);
}

}  // namespace muster::sys
