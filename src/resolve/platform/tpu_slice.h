// SPDX-License-Identifier: Apache-2.0
// A slice of TPU hosts, and several of them joined by megascale.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "resolve/resolve.h"

namespace muster::resolve {

struct TpuSlice {
  std::vector<std::string> hosts;  // as listed, of this slice
  std::string hosts_source;
  Sourced<int> worker;
};

// Ranks over all slices, the coordinator and its port by profile. `tpu_env` are
// metadata values that hold where no variable of the process is set.
Status FillSlices(const TpuSlice& slice,
                  const std::map<std::string, std::string>& tpu_env,
                  const Request& request, const sys::Env& env, Claim& claim);

// TPU_PROCESS_ADDRESSES=local, as Kaggle writes it: this host alone.
bool IsLocalWord(const std::string& text);

// Compares the number of listed hosts with those that the type in `text` has,
// and both with the chips of this host (0: not known); warnings in
// claim.remarks.
void RemarkHostCount(const std::string& text, Claim& claim, int chips_here);

}  // namespace muster::resolve
