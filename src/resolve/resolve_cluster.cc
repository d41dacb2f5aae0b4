// SPDX-License-Identifier: Apache-2.0
#include "muster/resolve.h"

#include <mutex>

#include "resolve/resolve.h"
#include "sys/net/curl_http.h"

namespace muster {
namespace {

// One client for the process, so that an answer is asked for once.
struct Network {
  std::mutex one_at_a_time;
  std::unique_ptr<sys::Http> client = sys::MakeCurlHttp();
  sys::PatientHttp http{*client, resolve::kPatience};
};

Network& TheNetwork() {
  static auto* const network = new Network();
  return *network;
}

}  // namespace

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
  Network& network = TheNetwork();
  const std::scoped_lock lock(network.one_at_a_time);
  network.http.Refill(resolve::kPatience);
  MUSTER_ASSIGN(auto resolved, resolve::Resolve(request, {.env = environment,
                                                          .clock = clock,
                                                          .fs = fs,
                                                          .http = &network.http,
                                                          .names = &names}));
  return std::move(resolved.cluster);
}

}  // namespace muster
