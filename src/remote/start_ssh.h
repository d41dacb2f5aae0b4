// SPDX-License-Identifier: Apache-2.0
// `muster run --start ssh`: an agent on every host, over the system's ssh.
#pragma once

#include <memory>

#include "muster/error.h"
#include "settings/run_flags.h"
#include "sys/host.h"
#include "sys/process/spawner.h"

namespace muster::remote {

// Starts an agent on every host of flags.cluster.hosts or on every worker of
// the TPU that is named, passes on what they print, and ends as the agent of
// rank 0 ends. Findings of hosts that get no agent go to stderr: then no agent
// begins, and it is 125. When workers of a TPU vanish, its API is asked why.
// Errors: usage-invalid (no hosts), program-not-found (no ssh), those of
// resolve, of the API and of the file system.
Result<int> StartOverSsh(const settings::RunFlags& flags, const sys::Host& host,
                         std::unique_ptr<sys::GuardianSpawner> spawner);

}  // namespace muster::remote
