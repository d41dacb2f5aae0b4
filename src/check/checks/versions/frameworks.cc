// SPDX-License-Identifier: Apache-2.0
// The installed frameworks fit each other.
#include "base/text.h"
#include "check/check.h"

namespace muster::check::versions_frameworks {
namespace {

Outcome Run(const Context& context) {
  if (!context.frameworks) {
    return Skip("the Python environment is not inspected");
  }
  const Frameworks found = context.frameworks();
  if (found.place.empty()) {
    return Skip("no Python environment was found");
  }
  std::vector<std::string> names;
  for (const char* name : {"tensorflow", "tensorflow-cpu", "tensorflow-tpu",
                           "jax", "jaxlib", "libtpu", "torch", "torch-xla"}) {
    const auto version = found.versions.find(name);
    if (version != found.versions.end()) {
      names.push_back(std::string(name) + " " + Printable(version->second));
    }
  }
  return Judge(found.problems,
               (names.empty() ? "no framework" : Join(names, ", ")) + " in " +
                   found.place);
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "versions.frameworks",
                   .title = "the versions of the installed frameworks match",
                   .may_wait = true,
                   .before_run = BeforeRun::kSeveralHosts,
                   .run = Run};

}  // namespace muster::check::versions_frameworks
