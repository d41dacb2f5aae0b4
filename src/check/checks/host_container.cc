// SPDX-License-Identifier: Apache-2.0
// Where this process runs: a container, a sandbox, under a filter of system
// calls. Nothing of it is a fault; it explains what other checks find.
#include "base/text.h"
#include "check/check.h"

namespace muster::check::host_container {
namespace {

std::string ContainerOf(const Context& context) {
  const sys::Fs& fs = context.host.fs;
  if (context.host.env.Get("KUBERNETES_SERVICE_HOST")) {
    return "a pod of Kubernetes";
  }
  if (fs.Exists("/.dockerenv")) {
    return "a container of Docker";
  }
  if (fs.Exists("/run/.containerenv")) {
    return "a container of Podman";
  }
  return "no container that names itself";
}

// The system calls of gVisor are its own, and so is what they say.
bool IsGvisor(const sys::Fs& fs) {
  return fs.Read("/proc/version")
             .value_or("")
             .find("Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016") !=
         std::string::npos;
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
  return Pass(detail);
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "host.container",
                   .title = "what surrounds this process is known",
                   .severity = Severity::kNote,
                   .run = Run};

}  // namespace muster::check::host_container
