// SPDX-License-Identifier: Apache-2.0
// The environment of one rank: variables of muster, PyTorch, TensorFlow and
// JAX, each with the reason for its value. Pure; any thread.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.h"
#include "muster/cluster.h"

namespace muster::run {

// What all ranks of an attempt share.
struct AttemptFacts {
  const Cluster& cluster;
  std::string run_id;
  int attempt = 1;
  int max_restarts = 3;
  int world_size = 1;
  int agents = 1;
  // "host:port" by rank: where a rank listens for its peers.
  std::vector<std::string> addresses;
  std::string master_host;
  std::string master_port;  // of rank 0, beside its own
  // Count and id for JAX, in variables that others take for Open MPI's.
  bool for_jax = false;
};

// Where one rank is placed.
struct RankPlace {
  const Member& member;
  int agent = 0;
  int local_rank = 0;
  int local_size = 1;
  int threads = 1;          // cores of this rank; 0: not known
  std::string threads_why;  // "2 cores of host a for 2 ranks"
};

struct RankEnvironment {
  std::map<std::string, Sourced<std::string>> set;
  std::vector<std::string> unset;
  std::vector<std::string> notes;  // equal for ranks that meet the same
};

// `inherited`: what the agent of this rank has set (Hello::environment).
// `user`: --env, which wins.
RankEnvironment MakeRankEnvironment(
    const AttemptFacts& attempt, const RankPlace& place,
    const std::map<std::string, std::string>& inherited,
    const std::map<std::string, std::string>& user);

// Every name that MakeRankEnvironment sets, respects or removes.
std::span<const std::string_view> RankVariables();

// "10.0.0.7:8476", "[::1]:8476"; the port may be a placeholder.
std::string HostPort(const std::string& host, const std::string& port);

// The cluster_spec with the addresses of this attempt.
Json TaskAddresses(const AttemptFacts& attempt);

}  // namespace muster::run
