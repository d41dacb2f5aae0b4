// SPDX-License-Identifier: Apache-2.0
// The part of `muster check` that `muster run` makes on its own host before
// ranks start.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "check/context.h"
#include "finding/finding.h"
#include "monitor/resource/accelerator_use.h"
#include "muster/cluster.h"
#include "sys/host.h"

namespace muster::cli {

// The packages of the Python of this host. May wait for a disk.
check::Frameworks LookForFrameworks(const sys::Host& host);

// Looks at once, which may take as long as the checks that wait, and gives what
// tells the findings of an attempt: of the first, those; before a restart it
// looks again, at what cannot wait. A check that is broken finds nothing. Call
// it before there are threads, since checks that wait run in forks. The
// references outlive what is returned.
std::function<std::vector<Finding>(int attempt)> LookAtHost(
    const sys::Host& host, const Cluster& cluster, const std::string& runs_dir);

// The accelerators of this host, and what Python lacks for them. Takes 5 s at
// most; call it before there are threads.
monitor::HostAccelerators LookForAccelerators(const sys::Host& host);

}  // namespace muster::cli
