// SPDX-License-Identifier: Apache-2.0
#include "resolve/platform/tpu_health.h"

#include <algorithm>

#include "base/text.h"

namespace muster::resolve {

bool IsRecoverable(const TpuNode& node, WallTime now) {
  if (node.state == "TERMINATED" || node.state == "PREEMPTED") {
    return false;
  }
  return std::none_of(node.symptoms.begin(), node.symptoms.end(),
                      [&](const auto& symptom) {
                        return (symptom.type == "OUT_OF_MEMORY" ||
                                symptom.type == "HBM_OUT_OF_MEMORY") &&
                               now - symptom.at < std::chrono::seconds(90);
                      });
}

Result<Waited> WaitUntilHealthy(
    const std::string& name, const HealthWait& wait,
    const std::function<std::string(int at_s)>& health) {
  Waited waited;
  std::string last = health(0);
  while (last != "HEALTHY") {
    if (waited.seconds + wait.interval_s > wait.timeout_s ||
        wait.interval_s < 1) {
      return Error(Cause::kTpuUnhealthy,
                   "the TPU `" + Printable(name) +
                       "` did not become HEALTHY "
                       "within " +
                       std::to_string(wait.timeout_s) + " s: its health is " +
                       (last.empty() ? "not known" : Printable(last)));
    }
    waited.seconds += wait.interval_s;
    ++waited.sleeps;
    last = health(waited.seconds);
  }
  return waited;
}

}  // namespace muster::resolve
