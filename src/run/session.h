// SPDX-License-Identifier: Apache-2.0
// `muster run`: from the command line to a finished run.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "finding/finding.h"
#include "monitor/resource/accelerator_use.h"
#include "muster/cluster.h"
#include "settings/run_flags.h"
#include "sys/host.h"
#include "sys/process/spawner.h"

namespace muster::run {

// What is found on this host before an attempt. `checks` not set: --check off.
struct Preflight {
  std::function<std::vector<Finding>(int attempt)> checks;
  monitor::HostAccelerators accelerators;
};

// Runs to the end; the exit code is that of DESIGN section 7. Writes results
// to stdout, the rest to stderr. An Error is what kept the run from being set
// up: main prints it as a finding and exits with ExitCodeOf(cause), see
// cli/answer.h. The spawner was forked before anything else in the process; it
// is null for a dry run, which asks for no preflight. `preflight` is called
// once, before there are threads. Main thread.
Result<int> Run(const settings::RunFlags& flags, const sys::Host& host,
                std::unique_ptr<sys::GuardianSpawner> spawner,
                const std::function<Preflight(const Cluster&)>& preflight);

}  // namespace muster::run
