// SPDX-License-Identifier: Apache-2.0
// One TPU node, and one queued resource, as the Cloud TPU API shows them.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "muster/fact.h"

namespace muster::cloud {

struct TpuSymptom {
  std::string type;  // "OUT_OF_MEMORY"
  WallTime at{};
};

// Fields that the API does not tell are empty.
struct TpuNode {
  std::string name, zone, project;
  std::string id;  // a number, of this node alone and for its life
  std::string state, health, health_description;
  std::string accelerator_type, topology, runtime_version;
  std::string scheduling;  // "spot", "reserved", "on-demand"
  std::string queued_resource, created, network;
  std::string network_project;         // that it is of: a name or a number
  std::string request;                 // of muster, that made it
  std::vector<std::string> endpoints;  // "ip:port", by worker
  // By worker, empty where one has none; none: no worker has one.
  std::vector<std::string> external_addresses;
  bool os_login = false;  // its own metadata switches OS Login on
  // What else its maker chose, as the API takes it: JSON, for another like it.
  // Its metadata may hold secrets.
  std::string chosen;
  std::vector<TpuSymptom> symptoms;
};
TpuNode ToTpuNode(const Json& json);

struct QueuedResource {
  std::string name, zone, project;
  std::string state, created;
  std::string reason;   // why it failed
  int code = 0;         // of that, as google.rpc.Code has it
  std::string request;  // of muster, that made it
  std::vector<std::string> nodes;
  std::string accelerator_type, runtime_version;
  std::string scheduling;
};
QueuedResource ToQueuedResource(const Json& json);

// "projects/P/locations/Z/nodes/N" in parts; empty where it is of another
// form.
struct ResourceName {
  std::string project, zone, id;
};
ResourceName SplitResourceName(const std::string& text);

// "1" of "projects/1/networks/default", also behind a server's address; empty
// where none is told.
std::string ProjectOf(const std::string& path);

}  // namespace muster::cloud
