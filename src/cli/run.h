// SPDX-License-Identifier: Apache-2.0
// `muster run`: from the command line to a finished run.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/settings.h"
#include "cli/tpu_line.h"
#include "resolve/resolve.h"
#include "sys/host.h"
#include "sys/spawner.h"

namespace muster::cli {

// What `muster run` was asked to do.
struct RunFlags {
  resolve::Request cluster;          // -n, --hosts, --cluster, --rank
  std::vector<std::string> command;  // after `--`, at least one word
  // --env K=V in the order given; a later one of the same name wins.
  std::vector<std::pair<std::string, std::string>> environment;
  bool dry_run = false;
  bool yes = false;  // nobody has to be asked
  Settings settings;
  // Of --tpu: how its workers are reached.
  ReachFlags reach;
  // Of --start ssh: what an agent is told, but for its rank and the hosts.
  std::vector<std::string> handed_on;
  // Set: over ssh this agent was started, with this token, and whoever did is
  // at the other end of standard input.
  std::optional<std::string> handed_token;
};

// Runs to the end; the exit code is that of DESIGN section 7. Writes results
// to stdout, the rest to stderr. An Error is what kept the run from being set
// up: main prints it as a finding and exits with ExitCodeOf(cause), see
// cli/answer.h. The spawner was forked before anything else in the process; it
// is null for a dry run. Main thread.
Result<int> Run(const RunFlags& flags, const sys::Host& host,
                std::unique_ptr<sys::GuardianSpawner> spawner);

}  // namespace muster::cli
