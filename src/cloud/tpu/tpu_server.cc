// SPDX-License-Identifier: Apache-2.0
#include "cloud/tpu/tpu_server.h"

#include "sys/net/http.h"

namespace muster::cloud {

std::string TpuUrl(const sys::Env& env, const std::string& project,
                   const std::string& zone) {
  const auto other =
      sys::FirstSet(env, {"CLOUDSDK_API_ENDPOINT_OVERRIDES_TPU"});
  const std::string server =
      other ? other->value : "https://tpu.googleapis.com/";
  return server + (server.ends_with('/') ? "" : "/") + "v2/projects/" +
         sys::PercentEncode(project) +
         (zone.empty() ? "" : "/locations/" + sys::PercentEncode(zone));
}

}  // namespace muster::cloud
