// SPDX-License-Identifier: Apache-2.0
// The words after `muster tpu`.
#pragma once

#include <string>
#include <vector>

#include "muster/error.h"
#include "settings/run_flags.h"

namespace muster::cli {

// usage-invalid, of the command line.
Error Usage(const std::string& message);

enum class TpuAction {
  kOverview,
  kAuth,
  kDoctor,
  kList,
  kDescribe,
  kTypes,
  kVersions,
  kQueuedList,
  kQueuedDescribe,
  kSsh,
  kNotebook,
  kCreate,
  kWait,
  kStart,
  kStop,
  kDelete,
  kQueuedDelete,
  kReap,
};

struct TpuFlags {
  std::vector<std::string> words;  // as they were written
  bool all_zones = false;
  bool quiet = false;         // names alone
  std::string type, version;  // of the accelerator; of the runtime
  std::string shell_line;     // ssh: for the login shell there
  int port = 8888;            // notebook: of the link
  bool yes = false;           // what costs or destroys is not asked about
  bool dry_run = false;
  bool enable = false;
  // How it is to be had; several: whichever comes first.
  bool on_demand = false, spot = false, reserved = false;
  bool queued = false;
  bool wait = false;
  std::vector<std::string> any_zone;
  std::string reach;  // ssh, agent, a port, none

  // Made by ReadTpuWords.
  TpuAction action = TpuAction::kOverview;
  std::string name;
};

// Fills action and name from the words. usage-invalid names what is unknown,
// missing or too much, and what was probably meant.
Status ReadTpuWords(TpuFlags& flags);
// Whether the action has the flag: "--zone".
bool TpuActionHas(TpuAction action, const std::string& flag);
// "muster tpu queued list".
std::string NameOf(TpuAction action);

}  // namespace muster::cli
