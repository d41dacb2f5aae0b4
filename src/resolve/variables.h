// SPDX-License-Identifier: Apache-2.0
// Variables that launchers set together.
#pragma once

#include <string>
#include <vector>

#include "resolve/resolve.h"

namespace muster::resolve {

using sys::IsSet;

// A number of processes, 1 to 65536. cluster-spec-invalid names the variable.
Result<int> SizeVariable(const sys::Env& env, const std::string& name);
// A rank, at least 0. cluster-spec-invalid names the variable.
Result<int> RankVariable(const sys::Env& env, const std::string& name);

// The value with its source "env NAME"; absent when it is not set.
Text TextVariable(const sys::Env& env, const std::string& name);
Result<Number> NumberVariable(const sys::Env& env, const std::string& name,
                              int least = 0);
// The first of them that is set.
Text FirstText(const sys::Env& env, const std::vector<std::string>& names);
Result<Number> FirstNumber(const sys::Env& env,
                           const std::vector<std::string>& names,
                           int least = 0);
// A port, 1 to 65535. cluster-spec-invalid names the variable.
Result<Number> PortVariable(const sys::Env& env, const std::string& name);
// MASTER_PORT, else the port of torch's launcher.
Result<Sourced<int>> MasterPort(const sys::Env& env);
inline constexpr int kTorchPort = 29500;

// The variable by which a launcher says that it started this process inside of
// a scheduler's allocation or task: mpirun, mpiexec, horovodrun, torchrun.
// Empty: none does.
std::string LauncherInside(const sys::Env& env);

// A group of variables of which some are set.
struct Variables {
  std::vector<std::string> names;
  std::string setters;  // who sets them normally
};
// launch-env-missing: which are set and to what, which are missing, who sets
// them.
Error PartlySet(const Variables& variables, const sys::Host& host);
// PartlySet when one of them is missing.
Status RequireAll(const Variables& variables, const sys::Host& host);

// "a, b and c".
std::string List(const std::vector<std::string>& names);

// Workers without addresses.
Cluster Unplaced(Sourced<int> size);

// A remark of severity warning.
Finding Warning(Cause cause, std::string what);

}  // namespace muster::resolve
