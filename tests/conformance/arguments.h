// SPDX-License-Identifier: Apache-2.0
// Arguments of other projects' resolvers for which muster has no flag. What a
// variable can say is put into the environment before the source is read; the
// rest changes what it claims, as those resolvers do.
#pragma once

#include <string>

#include "base/json_fwd.h"
#include "resolve/claim.h"
#include "sys/fake/fake_env.h"
#include "sys/host.h"

namespace muster::conformance {

// The arguments that variables of `env` can say, before AskSource.
Status PutArguments(const std::string& source, const Json& args,
                    sys::FakeEnv& env);

// What a source claims with these arguments. cluster-spec-invalid also when it
// does not speak here; internal-error when there is none of that name.
Result<resolve::Claim> AskSource(const std::string& name, const Json& args,
                                 const sys::Host& host);

// Of a TensorFlow resolver: the task and the RPC layer that its caller gives.
void OverrideTask(const Json& args, resolve::Claim& claim);
// The address of the task that `args` (task_type, task_id, rpc_layer) names;
// what it leaves open, the claim tells. "" when nobody names a task.
Status TakeMaster(const Json& args, resolve::Claim& claim);

// {"job": ["host:port"]}: cluster-spec-invalid when there is no such task.
Result<const resolve::TaskMap::Tasks*> JobOf(const resolve::TaskMap& map,
                                             const std::string& job);
Result<std::string> AddressOf(const resolve::TaskMap& map,
                              const std::string& job, int index);

}  // namespace muster::conformance
