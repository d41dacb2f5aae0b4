// SPDX-License-Identifier: Apache-2.0
#include "resolve/formats/process_count.h"

#include "accelerator/local_devices.h"
#include "base/text.h"

namespace muster::resolve {

Result<int> CountProcesses(const std::string& text, const sys::Host& host) {
  if (const auto number = ParseInt(Trim(text))) {
    if (*number >= 1 && *number <= 65536) {
      return static_cast<int>(*number);
    }
  }
  const int gpus = accelerator::CountGpus(host);
  if (text == "cpu" || (text == "auto" && gpus == 0)) {
    return host.env.Cores();
  }
  if ((text == "gpu" || text == "auto") && gpus > 0) {
    return gpus;
  }
  if (text == "gpu" || text == "xpu") {
    return Error(Cause::kDeviceMissing,
                 "nproc_per_node is `" + text + "`, but this host has none");
  }
  return Error(Cause::kClusterSpecInvalid,
               "nproc_per_node is `" + Printable(text) +
                   "`, expected a number, auto, gpu, cpu or xpu");
}

}  // namespace muster::resolve
