// SPDX-License-Identifier: Apache-2.0
// Which runtime versions fit which TPUs, and which names a TPU may have: what
// can be known before anything is asked. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "muster/error.h"

namespace muster::accelerator {

// What a node is to be made of.
struct TpuNodeSpec {
  std::string type;     // "v5litepod-16"
  std::string version;  // empty: not chosen yet
  // As the API has it; 0: not known.
  int hosts = 0;
};

// "v5litepod" of "v5litepod-16"; empty for a text of another form.
std::string GenerationOf(const std::string& type);

// How many hosts a slice of the type has: one number, or both where two
// layouts are in use, the usual one first. Empty: not known here.
std::vector<int> HostCounts(const std::string& type);

// The runtime version of PyTorch and JAX for the type; nullopt: a generation
// that is not known here.
std::optional<std::string> DefaultRuntimeVersion(const std::string& type);

// usage-invalid: the version is known not to fit, with those that do; a type
// that this API does not serve. What is unknown passes: the API decides.
Status CheckRuntimeVersion(const TpuNodeSpec& wanted);

// usage-invalid: no name of a TPU (1 to 63 of a-z, 0-9 and `-`, begins with a
// letter, does not end with `-`), with one that is.
Status CheckTpuName(const std::string& name);

}  // namespace muster::accelerator
