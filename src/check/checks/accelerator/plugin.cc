// SPDX-License-Identifier: Apache-2.0
// What opens the accelerators of this host for JAX and for C++, and its
// version. It is not loaded.
#include "check/facts/device_open.h"

namespace muster::check::accelerator_plugin {
namespace {

std::string TextOf(const FoundPlugin& plugin) {
  return (plugin.version.empty() ? "unknown version" : plugin.version) + ", " +
         plugin.path.value + " (" + plugin.path.source + ")";
}

Outcome Run(const Context& context) {
  const std::string_view platform = PlatformHere(context.host.fs);
  if (platform.empty()) {
    return Skip("no accelerator is visible here");
  }
  if (!context.plugins) {
    return Skip("the Python environment is not inspected");
  }
  for (const FoundPlugin& one : context.plugins()) {
    if (one.platform == platform) {
      return Pass(TextOf(one));
    }
  }
  const std::string install(InstallLine(platform));
  if (platform != "tpu") {
    return Skip("no PJRT plug-in is installed (" + install +
                "); PyTorch and TensorFlow need none");
  }
  return Judge(
      {MakeProblem(context, Cause::kAccelPluginMissing,
                   "this host has a TPU but no libtpu: " + install,
                   {{"none in TPU_LIBRARY_PATH, PJRT_NAMES_AND_LIBRARY_PATHS, "
                     "the Python environment or the system libraries",
                     "environment and disk"}})},
      "");
}

}  // namespace

extern const Check kCheck;
const Check kCheck{
    .id = "accelerator.plugin",
    .title = "a plug-in for the accelerators is installed",
    .may_wait = true,
    .severity = Severity::kWarning,
    .fix = {"install it where the program runs", "pip install libtpu"},
    .before_run = BeforeRun::kNever,
    .run = Run};

}  // namespace muster::check::accelerator_plugin
