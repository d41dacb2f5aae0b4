// SPDX-License-Identifier: Apache-2.0
// `muster run --tpu NAME --recreate`: another TPU in place of one that is lost.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "cloud/tpu/tpu_api.h"
#include "resolve/platform/cloud_tpu.h"
#include "settings/run_flags.h"
#include "sys/host.h"

namespace muster::remote {

// What one run may make anew, as often as --max-recreates says, each within
// --deadline. Main thread.
class Recreator {
 public:
  // What it reaches the world by.
  struct Outside {
    // Not the host's: what was answered before the run is no answer now.
    std::unique_ptr<sys::Http> http;
    // Whether the workers can be logged in to.
    std::function<Status(const cloud::TpuNode&)> reach;
  };
  Recreator(const settings::RunFlags& flags, const sys::Host& host);
  Recreator(const settings::RunFlags& flags, const sys::Host& host,
            Outside outside);

  // Asks the API what became of `lost`, deletes what is left of it, makes the
  // same again (type, version, scheduling, network, metadata, labels, disks)
  // and waits until the port of ssh is open on each worker. One that was
  // preempted is made anew at once, another after a question, which --yes
  // answers. False: it is not wanted or not allowed, and why was said. Errors:
  // cancelled (Ctrl-C, with what goes on in the cloud), usage-invalid (a person
  // stopped it, another has its name), deadline-exceeded, what the API refuses.
  Result<bool> Replace(const resolve::TpuNode& lost);

 private:
  struct Left;
  Result<cloud::TpuApi> Open(const resolve::TpuNode& lost,
                             std::function<bool(Duration)> pause) const;
  Result<Left> Look(const resolve::TpuNode& lost, cloud::TpuApi& api) const;
  bool MayGoOn(const Left& left, const std::string& what) const;
  Status Make(const resolve::TpuNode& lost, const Left& left);

  const settings::RunFlags& flags_;
  const Outside outside_;
  sys::Host host_;
  int made_ = 0;
};

}  // namespace muster::remote
