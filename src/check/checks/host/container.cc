// SPDX-License-Identifier: Apache-2.0
// Where this process runs: a container, a sandbox, under a filter of system
// calls. Nothing of it is a fault; it explains what other checks find.
#include <algorithm>

#include "base/text.h"
#include "check/check.h"

namespace muster::check::host_container {
namespace {

std::string ContainerOf(const Context& context) {
  const sys::Fs& fs = context.host.fs;
  if (context.host.env.Get("KUBERNETES_SERVICE_HOST")) {
    return "a Kubernetes pod";
  }
  if (fs.Exists("/.dockerenv")) {
    return "a Docker container";
  }
  if (fs.Exists("/run/.containerenv")) {
    return "a Podman container";
  }
  return "no container detected";
}

// The system calls of gVisor are its own, and so is what they say.
bool IsGvisor(const sys::Fs& fs) {
  return fs.Read("/proc/version")
             .value_or("")
             .find("Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016") !=
         std::string::npos;
}

// ", cgroup v2 /kubepods/pod1"; of version 1 that of the memory.
std::string CgroupOf(const sys::Fs& fs) {
  std::string of_memory;
  const std::string text = fs.Read("/proc/self/cgroup").value_or("");
  for (const std::string& line : Split(text, '\n')) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string path = Printable(line.substr(second + 1));
    const auto controllers =
        Split(line.substr(first + 1, second - first - 1), ',');
    if (controllers.empty() || controllers.front().empty()) {
      // Of a hybrid the other one holds the limits.
      if (of_memory.empty()) {
        of_memory.append("cgroup v2 ").append(path);
      }
    } else if (std::find(controllers.begin(), controllers.end(), "memory") !=
               controllers.end()) {
      of_memory.assign("cgroup v1 ").append(path);
    }
  }
  return of_memory.empty() ? "" : ", " + of_memory;
}

Outcome Run(const Context& context) {
  const auto status = context.host.fs.Read("/proc/self/status");
  if (!status) {
    return Broken(status.error().message());
  }
  const auto filter = Field(*status, "Seccomp");
  std::string detail = ContainerOf(context);
  detail += IsGvisor(context.host.fs) ? ", sandbox gVisor" : "";
  detail += filter.value_or(0) == 2 ? ", system calls are filtered" : "";
  detail += CgroupOf(context.host.fs);
  return Pass(detail);
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "host.container",
                   .title = "the container environment is known",
                   .severity = Severity::kNote,
                   .run = Run};

}  // namespace muster::check::host_container
