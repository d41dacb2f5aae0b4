// SPDX-License-Identifier: Apache-2.0
// What would stop the creation of a TPU, asked before anything is created.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "accelerator/version_compat.h"
#include "cloud/tpu/tpu_api.h"

namespace muster::cloud {

enum class Health { kPass, kFail, kSkip, kBroken };

// One question and its answer; broken: it could not be asked.
struct Diagnosis {
  std::string id;  // "billing"
  Health health = Health::kPass;
  std::string detail;          // what was seen, or why it was skipped
  std::string link;            // where it is seen and changed
  std::optional<Error> error;  // of a failed or broken one
};

// Credentials, project, API, billing, permissions, type, version, quota, in
// this order. `zone` may be empty: what needs one is skipped. Nothing is
// changed. What `wanted` leaves open is filled with what is usual.
std::vector<Diagnosis> Examine(TpuApi& api, const std::string& zone,
                               accelerator::TpuNodeSpec wanted);

// Whether the Cloud TPU API is enabled in the project, and switching it on,
// which takes effect within minutes. What TpuApi::Send says.
Result<bool> ApiIsEnabled(TpuApi& api);
Status EnableApi(TpuApi& api);

}  // namespace muster::cloud
