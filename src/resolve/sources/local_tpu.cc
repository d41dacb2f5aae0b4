// SPDX-License-Identifier: Apache-2.0
// The TPU of this very machine, where nothing names one.
#include "accelerator/local_devices.h"
#include "base/text.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::local_tpu {
namespace {

Match Speak(const Request&, const sys::Host& host) {
  const accelerator::LocalTpu tpu = accelerator::FindLocalTpu(host);
  return tpu.chips > 0 ? Speaks()
                       : Silent("no TPU chip here: " + Join(tpu.probed, ", "));
}

Result<Claim> Read(const Request&, const sys::Host& host) {
  const accelerator::LocalTpu tpu = accelerator::FindLocalTpu(host);
  Claim claim{.source = "local-tpu", .only_this_host = true};
  const std::string source =
      tpu.source.empty() ? "no device file" : "TPU of this host, " + tpu.source;
  claim.num_processes = Sourced<int>{1, source};
  claim.process_id = Sourced<int>{0, source};
  claim.chips_per_host = Sourced<int>{tpu.chips, source};
  claim.more["tpu_chips"] = std::int64_t{tpu.chips};
  if (tpu.chips > 0) {
    claim.more["tpu"] = std::string("local");
  }
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "local-tpu",
    .precedence = 1100,
    .doc = "the TPU chips of this host",
    .reads = "/dev/accel*, /dev/vfio, /sys/bus/pci/devices",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::local_tpu
