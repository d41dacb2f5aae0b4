// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sys/env.h"

namespace muster::cloud {

// "https://tpu.googleapis.com/v2/projects/P/locations/Z"; without a zone the
// project alone. gcloud's CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU names another
// server.
std::string TpuUrl(const sys::Env& env, const std::string& project,
                   const std::string& zone = "");

}  // namespace muster::cloud
