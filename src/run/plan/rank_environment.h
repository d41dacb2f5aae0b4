// SPDX-License-Identifier: Apache-2.0
// The environment of one rank: variables of muster, PyTorch, TensorFlow and
// JAX, each with the reason for its value. Pure; any thread.
#pragma once

#include <array>
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
  int machines = 1;
  // "host:port" by rank: where a rank listens for its peers.
  std::vector<std::string> addresses;
  std::string master_host;
  std::string master_port;  // of rank 0, beside its own
  // Count and id for JAX, in variables that others take for Open MPI's.
  bool for_jax = false;
};

// Variables that hide accelerators from a process; the first that is set
// counts.
inline constexpr std::array<std::string_view, 4> kVisibleDevices{
    "CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
    "TPU_VISIBLE_CHIPS"};

inline constexpr std::string_view kTpuChips = "TPU_VISIBLE_CHIPS";

// The accelerators that a rank sees.
struct RankDevices {
  bool bind = false;             // it is to see its own alone
  std::string variable;          // that restricts what is seen
  std::vector<std::string> ids;  // in it
  int count = 0;                 // that its agent sees
  bool own = false;  // others of the machine have others: a scheduler's doing
  std::vector<std::string> mine;  // its share of them
};

// Where one rank is placed.
struct RankPlace {
  const Member& member;
  int machine = 0;
  int local_rank = 0;  // among the ranks of the machine
  int local_size = 1;
  std::string local_source;
  int slot = 0;           // among the ranks of its agent
  int segment_ranks = 1;  // those
  RankDevices devices;
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

// Whether the processes of a TPU host with so many chips can have `each`.
bool AreTpuBounds(int chips, int each);

// Every name that MakeRankEnvironment sets, respects or removes.
std::span<const std::string_view> RankVariables();

// "10.0.0.7:8476", "[::1]:8476"; the port may be a placeholder.
std::string HostPort(const std::string& host, const std::string& port);

// The cluster_spec with the addresses of this attempt.
Json TaskAddresses(const AttemptFacts& attempt);

}  // namespace muster::run
