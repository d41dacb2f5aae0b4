// SPDX-License-Identifier: Apache-2.0
// What the environment says of a process that no agent has started.
#pragma once

#include "muster/error.h"
#include "sys/env.h"

namespace muster {

// launch-env-missing when the environment describes more members than this
// process (WORLD_SIZE, TF_CONFIG, a Slurm or MPI step), naming what says so and
// how to start; cluster-spec-invalid when it cannot be read.
Status RequireAlone(const sys::Env& env);

}  // namespace muster
