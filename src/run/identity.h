// SPDX-License-Identifier: Apache-2.0
// What an agent says of itself, and where agents of a run meet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/cluster.h"
#include "sys/host.h"
#include "sys/process/spawner.h"
#include "wire/hello.h"

namespace muster::run {

// The hello of the agent that starts `ranks` of the cluster here: all but what
// changes from call to call. Where other hosts take part it tells digests of
// the program's files and of the environment, so that a difference is found
// before the start. Files that cannot be read in time (their file system does
// not answer) are not told of, which is logged. Main thread.
wire::Hello MakeIdentity(const sys::Host& host, const Cluster& cluster,
                         std::vector<int> ranks,
                         const std::vector<std::string>& argv,
                         Duration read_within = sys::kExecWithin);

// Ports between which a choice is made; both ends belong to it.
struct CoordinatorPorts {
  std::uint16_t first = 0;
  std::uint16_t last = 0;
};

// Where the coordinator listens: its address of the cluster, unless that port
// belongs to the program itself (TF_CONFIG). Then a port of the range that all
// hosts compute alike from the member list.
Sourced<Address> CoordinatorAddress(const Cluster& cluster,
                                    CoordinatorPorts ports);

}  // namespace muster::run
