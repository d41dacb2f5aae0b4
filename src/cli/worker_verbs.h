// SPDX-License-Identifier: Apache-2.0
// The verbs that work on the workers of a TPU over ssh. Each prints its result;
// an Error is for main to print. Main thread, before any other.
#pragma once

#include <memory>

#include "cli/command_line.h"
#include "cli/tpu/tpu.h"
#include "muster/error.h"
#include "remote/tpu_workers.h"
#include "settings/settings.h"
#include "sys/host.h"
#include "sys/process/spawner.h"

namespace muster::cli {

// `muster tpu ssh` and `muster tpu notebook`.
Result<int> TpuReachVerb(const CommandLine& line,
                         const settings::Settings& settings,
                         const sys::Host& host);

// The largest exit code of the command on the workers; 255 when one could not
// be asked or was lost, 130 when interrupted. Without a command a shell for
// this terminal: does not return.
Result<int> TpuSsh(const TpuCall& call, const remote::ReachedTpu& tpu,
                   std::unique_ptr<sys::GuardianSpawner> spawner);
// Until it is interrupted (0), or Jupyter or the connection ends (1).
Result<int> TpuNotebook(const TpuCall& call, const remote::ReachedTpu& tpu,
                        std::unique_ptr<sys::GuardianSpawner> spawner);

// Whether `muster check` is to be made on the workers of a TPU.
bool ChecksWorkers(const CommandLine& line, const sys::Host& host);
// `muster check --tpu NAME`: the same checks on each worker, at once. The exit
// code is the worst: 1, then 3, then 0; 3 also for a worker that could not be
// asked.
Result<int> CheckWorkers(const CommandLine& line,
                         const settings::Settings& settings,
                         const sys::Host& host);

}  // namespace muster::cli
