// SPDX-License-Identifier: Apache-2.0
#include "run/identity.h"

#include <algorithm>
#include <array>

#include "accelerator/local_devices.h"
#include "base/command_text.h"
#include "base/log.h"
#include "base/text.h"
#include "cluster/members.h"
#include "diagnose/match/matcher.h"
#include "muster/version.h"
#include "run/plan/plan.h"
#include "run/plan/rank_environment.h"
#include "sys/process/child_work.h"
#include "sys/process/find_program.h"
#include "sys/process/process.h"

namespace muster::run {
namespace {

// Larger ones are told apart by their size alone.
constexpr std::size_t kLargestRead = 32U << 20;

// What decides how a program runs, beside its files: search paths, and the
// libraries' own switches.
constexpr auto kMatters = std::to_array<std::string_view>(
    {"CUDA_", "GLOO_", "JAX_", "LD_LIBRARY_PATH", "LD_PRELOAD", "NCCL_", "OMP_",
     "PATH", "PYTHONPATH", "TF_", "TORCH_", "TPU_", "XLA_"});

std::string FileDigest(const sys::Fs& fs, const std::string& path) {
  const auto bytes = fs.Read(path, kLargestRead);
  return bytes ? Digest(*bytes) : std::string("unread");
}

// Of the words, the program's file and, where the first argument is a file (a
// script), that file.
std::string ProgramDigest(const sys::Host& host,
                          const std::vector<std::string>& argv) {
  std::string all;
  for (const std::string& word : argv) {
    all += word + '\0';
  }
  if (const auto path = sys::FindProgram(host.env, host.fs, argv.front());
      !path.empty()) {
    all += FileDigest(host.fs, path);
  }
  if (argv.size() > 1 && host.fs.Exists(argv[1])) {
    all += FileDigest(host.fs, argv[1]);
  }
  return Digest(all);
}

// The same, in a child, as long as their file system answers.
std::string ProgramDigestWithin(Duration limit, const sys::Host& host,
                                const std::vector<std::string>& argv) {
  auto child = sys::ChildWork::Start([&] { return ProgramDigest(host, argv); });
  auto digest = child ? child->Await(limit) : std::move(child).error();
  if (!digest) {
    MUSTER_LOG(kWarn,
               "the files of the program cannot be read and are not compared "
               "between hosts",
               {{"program", argv.front()}, {"why", digest.error().message()}});
    return "";
  }
  return *std::move(digest);
}

bool Matters(std::string_view variable) {
  return std::any_of(
      kMatters.begin(), kMatters.end(),
      [&](std::string_view prefix) { return variable.starts_with(prefix); });
}

std::string EnvironmentDigest(const sys::Env& env) {
  const auto own = RankVariables();
  std::string all;
  for (const auto& [name, value] : env.All()) {
    // Not those that differ from rank to rank, or that the plan sets.
    if (Matters(name) && std::find(own.begin(), own.end(), name) == own.end()) {
      all += name;
      all += '=';
      all += value;
      all += '\0';
    }
  }
  return Digest(all);
}

// Where its agent is, and what ranks can divide there.
void TakeMachine(const sys::Host& host, wire::Hello& hello) {
  hello.machine = host.env.MachineId();
  hello.core_ids.clear();
  hello.core_nodes.clear();
  for (const sys::Core& core : host.env.CoreIds()) {
    hello.core_ids.push_back(core.id);
    hello.core_nodes.push_back(core.node);
  }
  const auto devices = accelerator::FindLocalDevices(host);
  hello.devices = devices.count;
  hello.device_variable = devices.variable;
}

}  // namespace

wire::Hello MakeIdentity(const sys::Host& host, const Cluster& cluster,
                         std::vector<int> ranks,
                         const std::vector<std::string>& argv,
                         Duration read_within) {
  wire::Hello hello;
  hello.rules = diagnose::RulesDigest();
  hello.version = kVersion;
  hello.cluster_key = ClusterKey(cluster);
  for (const Member& member : cluster.members) {
    hello.members.push_back(Place(member));
  }
  hello.ranks = std::move(ranks);
  hello.host = host.env.Hostname();
  hello.pid = sys::OwnPid();
  hello.clock = host.clock.WallNow();
  hello.program = CommandLine(argv);
  hello.cores = host.env.Cores();
  TakeMachine(host, hello);
  hello.environment = PlannedVariables(host.env);
  hello.addresses = host.env.LocalAddresses();
  if (hello.ranks.size() < cluster.members.size()) {
    hello.program_digest = ProgramDigestWithin(read_within, host, argv);
    hello.environment_digest = EnvironmentDigest(host.env);
  }
  return hello;
}

Sourced<Address> CoordinatorAddress(const Cluster& cluster,
                                    CoordinatorPorts ports) {
  Sourced<Address> peer_check = *cluster.coordinator;
  const auto fixed = FixedPorts(cluster);
  const bool taken = std::any_of(
      fixed.begin(), fixed.end(),
      [&](const auto& port) { return port.second == peer_check.value.port; });
  if (!taken && peer_check.value.port != 0) {
    return peer_check;
  }
  const auto choice = static_cast<std::uint64_t>(ports.last - ports.first) + 1;
  const auto hash = std::stoull(ClusterKey(cluster), nullptr, 16);
  peer_check.value.port =
      static_cast<std::uint16_t>(ports.first + hash % choice);
  peer_check.source +=
      ", port computed from the members (setting port_range): the listed ports "
      "belong to the program";
  return peer_check;
}

}  // namespace muster::run
