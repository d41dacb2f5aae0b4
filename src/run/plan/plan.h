// SPDX-License-Identifier: Apache-2.0
// The launch plan: what every rank is started with. Made by the coordinator
// alone and executed as written. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "muster/cluster.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "sys/env.h"
#include "wire/agent_messages.h"
#include "wire/hello.h"

namespace muster::run {

struct PlanOptions {
  std::string run_id;
  int attempt = 1;
  int max_restarts = 3;
  std::vector<std::string> argv;  // the same for every rank; never a shell
  // --env: wins over whatever the plan would set.
  std::map<std::string, std::string> user_environment;
  bool for_jax = false;       // AttemptFacts::for_jax
  bool bind_devices = false;  // --bind-devices
  Duration grace = std::chrono::seconds(10);
  // Ports that are not offered yet are written as "(offered at launch)".
  bool dry_run = false;
};

struct Planned {
  wire::LaunchPlan plan;
  int machines = 1;
  // What was decided or replaced and the user should hear: cores, threads,
  // variables of another launcher.
  std::vector<std::string> notes;
};

// The names that a plan sets or respects, with the values set here: what an
// agent tells in Hello::environment.
std::map<std::string, std::string> PlannedVariables(const sys::Env& env);

// The members whose port the user fixed for the program itself (TF_CONFIG names
// the ports on which TensorFlow's servers listen): rank -> port. They are kept
// over all attempts; other ranks listen where their agent offers.
std::map<int, std::uint16_t> FixedPorts(const Cluster& cluster);

// The members at the addresses that their ranks will be given: each with its
// own port, rank 0 with that of the store beside it as the coordinator.
// nullopt: they are all on one host, or MakePlan would refuse them.
std::optional<Cluster> PortsOfRanks(const Cluster& cluster,
                                    std::span<const wire::Hello> agents);

// One hello per agent, all of this attempt, together answering for every
// member: rank-world-mismatch, duplicate-identity when they do not;
// net-port-in-use when an agent offers fewer than two ports per rank;
// device-missing when devices are to be divided and a machine has too few.
Result<Planned> MakePlan(const Cluster& cluster,
                         std::span<const wire::Hello> agents,
                         const PlanOptions& options);

// What an agent of these ranks is told: each rank's plan names all members, and
// the plans of all would grow with the square of their number.
wire::LaunchPlan PartOf(const wire::LaunchPlan& plan,
                        std::span<const int> ranks);

}  // namespace muster::run
