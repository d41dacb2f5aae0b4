// SPDX-License-Identifier: Apache-2.0
// How the workers of a TPU are reached from this machine, and why they are not
// any more.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cloud/tpu/tpu_node.h"
#include "finding/finding.h"
#include "muster/cluster.h"
#include "muster/error.h"
#include "sys/host.h"

namespace muster::cloud {

// Which of a worker's addresses is used.
enum class AddressChoice { kAuto, kInternal, kExternal };
// usage-invalid: none of auto, internal, external.
Result<AddressChoice> ParseAddressChoice(const std::string& text);

struct TpuWorker {
  int index = 0;
  std::string internal;  // what the other workers call it
  std::string address;   // from here
};

struct TpuWorkers {
  std::vector<TpuWorker> workers;
  std::string why;  // these addresses: "external: this machine is not in …"
};
// `which`: all, or the number of one. kAuto: the internal ones where this
// machine is one of the workers or in the TPU's network, as the metadata server
// tells; else the external ones, where there are any. usage-invalid: no such
// worker, or no external address although one is wanted; tpu-unhealthy: no
// address at all.
Result<TpuWorkers> FindWorkers(const TpuNode& node, const std::string& which,
                               AddressChoice choice, const sys::Host& host);

// Key and user of ssh, as gcloud keeps them.
struct TpuLogin {
  std::string key_file;  // empty: gcloud has made none, ssh takes its own
  std::string known_hosts;
  Sourced<std::string> user;
  std::string if_refused;  // what to do when the key is not accepted
};
// `user`: the one that is asked for; empty: none. `account`: who asks the API.
// usage-invalid: OS Login is on and the account's user name is not known.
Result<TpuLogin> FindLogin(const TpuNode& node, const std::string& user,
                           const std::string& account, const sys::Host& host);
// The name under which the host key of a worker is kept: another TPU that gets
// its address has another.
std::string HostKeyName(const TpuNode& node, int worker);

// "muster tpu create t --zone … --wait", which makes another of the same kind.
std::string CreateCommand(const TpuNode& node);

// Why nobody answers at the TPU any more; nullopt: it is as it should be.
std::optional<Finding> WhyGone(const TpuNode& node);

}  // namespace muster::cloud
