// SPDX-License-Identifier: Apache-2.0
// What `muster run` was asked to do.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "resolve/resolve.h"
#include "settings/settings.h"
#include "sys/file/fs.h"

namespace muster::settings {

// How the workers of a TPU are reached, and what they get.
struct ReachFlags {
  std::string worker;            // all, or a number; empty: the verb's default
  std::string address = "auto";  // auto, internal, external
  std::string user;              // empty: as it is found
  std::string copy;              // a folder that each worker gets
  bool keep_copy = false;
  bool recreate = false;  // a TPU that is lost is made anew
};

struct RunFlags {
  resolve::Request cluster;          // -n, --hosts, --cluster, --rank
  std::vector<std::string> command;  // after `--`, at least one word
  // --env K=V in the order given; a later one of the same name wins.
  std::vector<std::pair<std::string, std::string>> environment;
  bool dry_run = false;
  bool share = false;  // others may read the folder of the run

  sys::Fs::Access access() const {
    return share ? sys::Fs::Access::kByUmask : sys::Fs::Access::kOwner;
  }
  std::string processes;      // -n as it was written
  bool bind_devices = false;  // each rank sees its own alone
  bool raw = false;           // a terminal gets the output of ranks as it is
  bool yes = false;           // nobody has to be asked
  Settings settings;
  // Of --tpu: how its workers are reached.
  ReachFlags reach;
  // Of --start ssh: what an agent is told, but for its rank and the hosts.
  std::vector<std::string> agent_arguments;
  // Set: over ssh this agent was started, with this token, and whoever did is
  // at the other end of standard input.
  std::optional<std::string> bootstrap_token;
};

}  // namespace muster::settings
