// SPDX-License-Identifier: Apache-2.0
// The words after `muster tpu`.
#pragma once

#include <string>
#include <vector>

#include "muster/error.h"

namespace muster::cli {

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
};

struct TpuFlags {
  std::vector<std::string> words;  // as they were written
  bool all_zones = false;
  bool quiet = false;         // names alone
  std::string type, version;  // of the accelerator; of the runtime

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
