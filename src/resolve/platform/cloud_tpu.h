// SPDX-License-Identifier: Apache-2.0
// One TPU node as the Cloud TPU API shows it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cloud/tpu/tpu_node.h"
#include "resolve/resolve.h"

namespace muster::resolve {

// Where a TPU is looked for.
struct TpuPlace {
  std::string name;
  std::string project, project_source;
  std::string zone, zone_source;

  std::string Node() const {
    return "projects/" + project + "/locations/" + zone + "/nodes/" + name;
  }
};

// What the API tells of it, and how it was found.
struct TpuNode : cloud::TpuNode {
  TpuPlace place;
};

// Which TPU is meant, and how it is reached.
struct TpuTarget {
  // A list of addresses; or a name that the API knows; or this host's own.
  enum class Kind { kAddresses, kName, kLocal } kind = Kind::kName;
  std::string text;
  std::string source;  // "argument tpu", "env TPU_NAME"
};
// Argument, KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS, TPU_NAME, TPU_CONFIG, the TPU of
// this host. launch-env-missing names each place that was looked at.
Result<TpuTarget> FindTpuTarget(const Request& request, const sys::Host& host);

// Project and zone from the request, TPU_CONFIG, variables, the metadata
// server; a full name (projects/P/locations/Z/nodes/N) tells both.
Result<TpuPlace> PlaceTpu(const TpuTarget& target, const Request& request,
                          const sys::Host& host);

// cloud-*: what the API refuses. tpu-not-found: no such name in this zone;
// lists those that are there, and the zones that have the name.
Result<TpuNode> GetTpuNode(const TpuPlace& place, const sys::Host& host);

// READY, with addresses.
Status CheckReady(const TpuNode& node);

}  // namespace muster::resolve
