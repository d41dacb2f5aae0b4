// SPDX-License-Identifier: Apache-2.0
#include "resolve/ranks_of_agents.h"

#include <algorithm>
#include <limits>

#include "base/text.h"
#include "wire/progress_page.h"

namespace muster::resolve {
namespace {

struct Slots {
  std::vector<int> of;  // by member; empty: one each
  std::string source;
};

Status CheckSlots(const Slots& slots) {
  constexpr int kMaxCount = static_cast<int>(wire::kProgressSlots);
  for (const int one : slots.of) {
    if (one < 1 || one > kMaxCount) {
      return Error(Cause::kClusterSpecInvalid,
                   slots.source + " is " + std::to_string(one) +
                       ": a host runs 1 to " + std::to_string(kMaxCount) +
                       " ranks");
    }
  }
  return Ok();
}

Result<Slots> SlotsOf(const Request& request, const Claim& claim) {
  const std::size_t count = claim.cluster.members.size();
  const bool listed = claim.slots.size() == count;
  if (request.processes && !claim.cluster.one_host) {
    for (std::size_t i = 0; listed && i < count; ++i) {
      if (claim.slots[i] < *request.processes) {
        return Error(Cause::kClusterSpecInvalid,
                     "flag -n asks for " + Count(*request.processes, "rank") +
                         " on each host, but host " + std::to_string(i + 1) +
                         " of " + claim.cluster.size.source + " has " +
                         Count(claim.slots[i], "slot"));
      }
    }
    return Slots{std::vector<int>(count, *request.processes), "flag -n"};
  }
  if (listed) {
    return Slots{claim.slots, "slots of " + claim.cluster.size.source};
  }
  // Of a launcher that knows how many it starts on each node.
  if (claim.nproc_per_node && claim.num_nodes &&
      claim.num_nodes->value == static_cast<int>(count) &&
      !claim.cluster.one_host) {
    return Slots{std::vector<int>(count, claim.nproc_per_node->value),
                 claim.nproc_per_node->source};
  }
  return Slots{};
}

// Each rank of a host has the port after that of the one before.
Status CheckPorts(const Cluster& agents, const Slots& slots) {
  constexpr int kLastPort = std::numeric_limits<std::uint16_t>::max();
  for (std::size_t i = 0; i < agents.members.size(); ++i) {
    const auto& address = agents.members[i].address;
    if (address && address->value.port + slots.of[i] - 1 > kLastPort) {
      return Error(Cause::kClusterSpecInvalid,
                   "the ports of " + Count(slots.of[i], "rank") + " (" +
                       slots.source + ") from " + ToString(address->value) +
                       " (" + address->source + ") pass " +
                       std::to_string(kLastPort));
    }
  }
  return Ok();
}

std::optional<Sourced<Address>> AddressOf(const Member& agent, int slot) {
  auto address = agent.address;
  if (address && address->value.port != 0) {
    address->value.port =
        static_cast<std::uint16_t>(address->value.port + slot);
  }
  return address;
}

std::string SizeSource(const Cluster& agents, const Slots& slots) {
  const bool equal = std::ranges::all_of(
      slots.of, [&](int one) { return one == slots.of.front(); });
  return Count(std::ssize(agents.members), "host") + " (" + agents.size.source +
         ")" +
         (equal ? " of " + Count(slots.of.front(), "rank") : std::string()) +
         " (" + slots.source + ")";
}

// Numbers of the processes that the claim tells, which are agents.
void CountRanks(Claim& claim, int own, const std::string& source) {
  const auto times = [&](Number& number) {
    if (number) {
      number =
          Sourced<int>{number->value * own, number->source + " and " + source};
    }
  };
  if (claim.local_process_id && claim.local_num_processes) {
    times(claim.local_process_id);
    times(claim.local_num_processes);
  } else {
    claim.local_process_id = Sourced<int>{0, "first rank of its agent"};
    claim.local_num_processes = Sourced<int>{own, source};
  }
  claim.nproc_per_node = Sourced<int>{own, source};
  claim.num_processes = claim.cluster.size;
  claim.process_id = claim.cluster.self;
}

}  // namespace

Status StartSeveral(const Request& request, Claim& claim) {
  MUSTER_ASSIGN(const Slots slots, SlotsOf(request, claim));
  MUSTER_TRY(CheckSlots(slots));
  if (std::ranges::all_of(slots.of, [](int one) { return one == 1; })) {
    return Ok();
  }
  Cluster& cluster = claim.cluster;
  for (const Member& agent : cluster.members) {
    if (claim.tasks || agent.task != "worker") {
      return Error(Cause::kUsageInvalid,
                   slots.source +
                       " starts several ranks for each member, but " +
                       claim.source + " lists each task with its own address");
    }
  }
  MUSTER_TRY(CheckPorts(cluster, slots));
  const Cluster agents = cluster;
  std::vector<std::string> hosts;
  std::vector<int> first;
  cluster.members.clear();
  for (std::size_t node = 0; node < agents.members.size(); ++node) {
    first.push_back(static_cast<int>(cluster.members.size()));
    for (int slot = 0; slot < slots.of[node]; ++slot) {
      const int rank = static_cast<int>(cluster.members.size());
      cluster.members.push_back(
          {.rank = rank,
           .index = rank,
           .address = AddressOf(agents.members[node], slot),
           .node = static_cast<int>(node)});
      if (node < claim.rank_hosts.size()) {
        hosts.push_back(claim.rank_hosts[node]);
      }
    }
  }
  claim.rank_hosts = std::move(hosts);
  cluster.size = {static_cast<int>(cluster.members.size()),
                  SizeSource(agents, slots)};
  const int own = agents.self ? agents.self->value : 0;
  if (agents.members.size() == 1) {
    cluster.one_host = true;
    cluster.self.reset();
  } else if (agents.self) {
    cluster.self->value = first[static_cast<std::size_t>(own)];
    if (!claim.node_rank) {
      claim.node_rank = *agents.self;
      claim.num_nodes = agents.size;
    }
  }
  CountRanks(claim, slots.of[static_cast<std::size_t>(own)], slots.source);
  return Ok();
}

std::vector<std::string> MachinesByRank(const Claim& claim) {
  std::vector<std::string> machines;
  const Number& local = claim.local_process_id;
  const Number& size = claim.local_num_processes;
  // Blocks of ranks, as launchers lay them out, when this one fits that.
  const bool blocks = local && size && size->value > 0 && claim.cluster.self &&
                      claim.cluster.self->value % size->value == local->value;
  for (const Member& member : claim.cluster.members) {
    const auto rank = static_cast<std::size_t>(member.rank);
    machines.push_back(
        rank < claim.rank_hosts.size() ? claim.rank_hosts[rank]
        : member.address               ? member.address->value.host
        : blocks                       ? "of ranks from " +
                       std::to_string(member.rank / size->value * size->value)
        : member.node >= 0 ? "of node " + std::to_string(member.node)
                           : "of rank " + std::to_string(member.rank));
  }
  return machines;
}

void ConcludeLocalRank(Claim& claim) {
  const Cluster& cluster = claim.cluster;
  if (claim.local_process_id || !cluster.self || cluster.one_host) {
    return;
  }
  const auto machines = MachinesByRank(claim);
  const auto self = static_cast<std::ptrdiff_t>(cluster.self->value);
  const std::string& own = machines[static_cast<std::size_t>(self)];
  const auto all = std::ranges::count(machines, own);
  if (all < 2) {
    return;  // nothing to tell apart
  }
  claim.local_concluded = true;
  claim.local_process_id =
      Sourced<int>{static_cast<int>(std::count(machines.begin(),
                                               machines.begin() + self, own)),
                   "among the members at " + own};
  claim.local_num_processes =
      Sourced<int>{static_cast<int>(all), "members at " + own};
}

}  // namespace muster::resolve
