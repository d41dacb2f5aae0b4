// SPDX-License-Identifier: Apache-2.0
#include "muster/resolve.h"

#include "resolve/resolve.h"

namespace muster {

Result<Cluster> ResolveCluster(const ResolveOptions& options) {
  sys::RealEnv environment;
  sys::RealClock clock;
  sys::RealFs fs;
  const sys::RealNames names;
  resolve::Request request;
  request.processes = options.processes;
  request.hosts = options.hosts;
  request.cluster = options.cluster_file;
  request.rank = options.rank;
  request.profile = options.profile;
  request.source = options.source;
  MUSTER_ASSIGN(auto resolved, resolve::Resolve(request, {.env = environment,
                                                          .clock = clock,
                                                          .fs = fs,
                                                          .names = &names}));
  return std::move(resolved.cluster);
}

}  // namespace muster
