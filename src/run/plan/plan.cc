// SPDX-License-Identifier: Apache-2.0
#include "run/plan/plan.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "base/text.h"
#include "run/plan/rank_environment.h"

namespace muster::run {
namespace {

constexpr std::string_view kLater = "(offered at launch)";
constexpr std::string_view kTensorFlowSource = "TF_CONFIG";

std::size_t Index(int rank) {
  return static_cast<std::size_t>(rank);
}

// One agent with the ranks it starts, in the order in which it offers ports.
struct Place {
  const wire::Hello* agent = nullptr;
  int agent_index = 0;
  int slot = 0;  // among the ranks of the agent
  int port_index = 0;
  // Among the ranks of the machine, whoever starts them.
  int machine = 0;
  int local_rank = 0;
  int local_size = 1;
  std::string local_source;
};

// Agents with the same key are on one machine. Where that is not known, its
// name stands for it.
std::string MachineKey(const wire::Hello& agent) {
  return agent.machine.empty() ? "named " + agent.host : agent.machine;
}

using RanksOfMachine = std::vector<std::size_t>;

// Who started the agents has numbered their ranks; empty: not all of them, or
// two alike, or an agent has several.
std::vector<int> WordsOf(const std::vector<Place>& places,
                         const RanksOfMachine& ranks) {
  std::vector<int> words;
  for (const std::size_t rank : ranks) {
    const wire::Hello& agent = *places[rank].agent;
    const int word = agent.ranks.size() == 1 ? agent.local_rank : -1;
    if (word < 0 || word >= std::ssize(ranks) ||
        std::ranges::find(words, word) != words.end()) {
      return {};
    }
    words.push_back(word);
  }
  return words;
}

// Machines in the order of their first ranks.
void PlaceOnMachines(std::vector<Place>& places) {
  std::map<std::string, RanksOfMachine> machines;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    machines[MachineKey(*places[rank].agent)].push_back(rank);
  }
  std::map<std::size_t, const RanksOfMachine*> in_order;
  for (const auto& [key, ranks] : machines) {
    in_order[ranks.front()] = &ranks;
  }
  int machine = 0;
  for (const auto& [lowest, ranks] : in_order) {
    const wire::Hello* first = places[lowest].agent;
    const auto words = WordsOf(places, *ranks);
    const bool one_agent = std::ranges::all_of(
        *ranks, [&](std::size_t rank) { return places[rank].agent == first; });
    for (std::size_t i = 0; i < ranks->size(); ++i) {
      Place& place = places[(*ranks)[i]];
      place.machine = machine;
      place.local_rank = words.empty() ? static_cast<int>(i) : words[i];
      place.local_size = static_cast<int>(ranks->size());
      place.local_source =
          !words.empty() && !one_agent ? "launcher of the agents"
          : one_agent                  ? "agent"
          : place.agent->machine.empty()
              ? "agents with the host name " + place.agent->host
              : "agents on one machine";
    }
    ++machine;
  }
}

// Which agent starts which rank; agents in the order of their first ranks.
Result<std::vector<Place>> PlaceRanks(const Cluster& cluster,
                                      std::span<const wire::Hello> agents) {
  std::vector<const wire::Hello*> order;
  for (const wire::Hello& agent : agents) {
    order.push_back(&agent);
  }
  const auto first = [](const wire::Hello* agent) {
    return agent->ranks.empty()
               ? -1
               : *std::min_element(agent->ranks.begin(), agent->ranks.end());
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](auto* a, auto* b) { return first(a) < first(b); });
  std::vector<Place> places(cluster.members.size());
  for (std::size_t a = 0; a < order.size(); ++a) {
    const auto& ranks = order[a]->ranks;
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      if (ranks[i] < 0 || Index(ranks[i]) >= places.size()) {
        return Error(Cause::kRankWorldMismatch,
                     "host `" + order[a]->host + "` claims rank " +
                         std::to_string(ranks[i]) + " of " +
                         Count(std::ssize(places), "member"));
      }
      Place& place = places[Index(ranks[i])];
      if (place.agent != nullptr) {
        return Error(Cause::kDuplicateIdentity, "hosts `" + place.agent->host +
                                                    "` and `" + order[a]->host +
                                                    "` both claim rank " +
                                                    std::to_string(ranks[i]));
      }
      place.agent = order[a];
      place.agent_index = static_cast<int>(a);
      place.port_index = static_cast<int>(i);
      place.slot = static_cast<int>(
          std::count_if(ranks.begin(), ranks.end(),
                        [&](int rank) { return rank < ranks[i]; }));
    }
  }
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    if (places[rank].agent == nullptr) {
      return Error(Cause::kRankWorldMismatch,
                   "no agent has " + Name(cluster.members[rank]));
    }
  }
  PlaceOnMachines(places);
  return places;
}

// The host under which peers reach a rank.
std::string HostOf(const Cluster& cluster, int rank, const wire::Hello& agent) {
  const Member& member = cluster.members[Index(rank)];
  if (member.address) {
    return member.address->value.host;
  }
  if (cluster.one_host ||
      (cluster.coordinator && cluster.coordinator->value.IsLoopback())) {
    return "127.0.0.1";
  }
  const auto& own = agent.addresses;
  const auto routable =
      std::find_if(own.begin(), own.end(), [](const std::string& host) {
        const Address address{.host = host};
        return !address.IsLoopback() && !address.IsLinkLocal();
      });
  return routable == own.end() ? agent.host : *routable;
}

// The rank's own port (0) or the one beside it (1).
Result<std::string> PortOf(const Place& place, int which, bool dry_run) {
  const auto index = Index(2 * place.port_index + which);
  const auto& ports = place.agent->ports;
  if (index < ports.size()) {
    return std::to_string(ports[index]);
  }
  if (dry_run) {
    return std::string(kLater);
  }
  return Error(Cause::kNetPortInUse,
               "host `" + place.agent->host + "` offers " +
                   Count(std::ssize(ports), "port") + " for " +
                   Count(std::ssize(place.agent->ranks), "rank") +
                   ", but each rank needs two");
}

// Cores of one machine, divided among the ranks that its agents start there.
struct CoreShare {
  std::vector<int> cores;  // empty: not pinned
  int threads = 0;         // 0: not known
  std::string why;
};

// Agents that may use the same cores divide them; those that a launcher has
// given cores of their own keep to these.
std::map<std::pair<std::string, std::vector<int>>, RanksOfMachine> RanksByCores(
    const std::vector<Place>& places) {
  std::map<std::pair<std::string, std::vector<int>>, RanksOfMachine> groups;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const wire::Hello& agent = *places[rank].agent;
    groups[{MachineKey(agent), agent.core_ids}].push_back(rank);
  }
  return groups;
}

struct Part {
  std::size_t from = 0, to = 0;  // of core_ids
};

// Part `i` of `n` even ones.
Part EvenPart(Part of, std::size_t i, std::size_t n) {
  const std::size_t size = of.to - of.from;
  return {of.from + i * size / n, of.from + (i + 1) * size / n};
}

// The cores of each of n ranks. None has cores of two NUMA nodes where there
// are as many ranks as nodes, nor a part of a node where there are fewer.
std::vector<Part> DivideByNodes(const wire::Hello& agent, std::size_t n) {
  const std::size_t cores = agent.core_ids.size();
  std::vector<Part> nodes;
  for (std::size_t i = 0; i < cores; ++i) {
    const bool same = i > 0 && agent.core_nodes.size() == cores &&
                      agent.core_nodes[i] == agent.core_nodes[i - 1];
    if (nodes.empty() || (!same && agent.core_nodes.size() == cores)) {
      nodes.push_back({i, i});
    }
    nodes.back().to = i + 1;
  }
  const std::size_t k = nodes.size();
  std::vector<Part> parts(n);
  bool enough = true;
  for (std::size_t rank = 0; rank < n; ++rank) {
    if (n < k) {
      const Part some = EvenPart({0, k}, rank, n);
      parts[rank] = {nodes[some.from].from, nodes[some.to - 1].to};
    } else {
      const std::size_t node = rank * k / n;
      // The ranks of node j are those from j * n / k, rounded up.
      const std::size_t first = (node * n + k - 1) / k;
      const std::size_t after = ((node + 1) * n + k - 1) / k;
      parts[rank] = EvenPart(nodes[node], rank - first, after - first);
    }
    enough = enough && parts[rank].to > parts[rank].from;
  }
  if (!enough) {  // nodes of very different sizes
    for (std::size_t rank = 0; rank < n; ++rank) {
      parts[rank] = EvenPart({0, cores}, rank, n);
    }
  }
  return parts;
}

std::vector<CoreShare> DivideCores(const std::vector<Place>& places,
                                   std::vector<std::string>& notes) {
  std::vector<CoreShare> shares(places.size());
  for (const auto& [key, ranks] : RanksByCores(places)) {
    const wire::Hello& agent = *places[ranks[0]].agent;
    if (agent.cores < 1) {
      continue;  // a host that nobody has asked yet
    }
    const auto cores = static_cast<std::size_t>(agent.cores);
    const std::size_t n = ranks.size();
    const std::string why = Count(static_cast<std::int64_t>(cores), "core") +
                            " of host " + agent.host + " for " +
                            Count(static_cast<std::int64_t>(n), "rank");
    // A quota may allow less than the list of cores; then no core is ours.
    const bool pinned = n > 1 && n <= cores && agent.core_ids.size() == cores;
    const auto parts =
        pinned ? DivideByNodes(agent, n) : std::vector<Part>(n, {0, 0});
    for (std::size_t i = 0; i < n; ++i) {
      CoreShare& share = shares[ranks[i]];
      share.threads = static_cast<int>(std::max<std::size_t>(cores / n, 1));
      share.why = why;
      if (pinned) {
        share.cores.assign(
            agent.core_ids.begin() + static_cast<std::ptrdiff_t>(parts[i].from),
            agent.core_ids.begin() + static_cast<std::ptrdiff_t>(parts[i].to));
        share.threads = static_cast<int>(share.cores.size());
      }
    }
    if (n > 1) {
      const char* how = pinned      ? "each rank is bound to its own cores"
                        : n > cores ? "ranks share cores and are not bound"
                                    : "ranks are not bound to cores";
      notes.push_back(why + ": " + how + ", " +
                      Count(shares[ranks[0]].threads, "thread") + " each");
    }
  }
  return shares;
}

// What the rank sees of the accelerators of its machine, as far as variables
// tell.
RankDevices DevicesOf(const Place& place, bool bind) {
  const wire::Hello& agent = *place.agent;
  const int ranks = static_cast<int>(agent.ranks.size());
  RankDevices devices{
      .bind = bind, .variable = agent.device_variable, .count = agent.devices};
  bool listed = false;
  for (const std::string_view name : kVisibleDevices) {
    const auto found = agent.environment.find(std::string(name));
    if (found == agent.environment.end()) {
      continue;
    }
    listed = true;
    devices.variable = name;
    devices.ids = Split(found->second, ',');
    devices.count = static_cast<int>(devices.ids.size());
    break;
  }
  // A scheduler shows each of its tasks only what is that task's own.
  devices.own = listed && place.local_size > ranks && devices.count >= ranks &&
                devices.count < place.local_size;
  const int index = devices.own ? place.slot : place.local_rank;
  const int among = devices.own ? ranks : place.local_size;
  for (int i = 0; i < devices.count / std::max(among, 1); ++i) {
    const int at = index * (devices.count / among) + i;
    devices.mine.push_back(devices.ids.empty()
                               ? std::to_string(at)
                               : devices.ids[static_cast<std::size_t>(at)]);
  }
  return devices;
}

// "0-2,5".
std::string RankList(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t i = 0; i < ranks.size();) {
    std::size_t last = i;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) {
      ++last;
    }
    text += (text.empty() ? "" : ",") + std::to_string(ranks[i]);
    if (last > i) {
      text += "-" + std::to_string(ranks[last]);
    }
    i = last + 1;
  }
  return text;
}

// The JSON that a rank of libmuster gets when it registers (base/rank_wire.h).
std::string Registered(const AttemptFacts& attempt, const RankPlace& place) {
  Json json;
  json["rank"] = place.member.rank;
  json["world_size"] = attempt.world_size;
  json["local_rank"] = place.local_rank;
  json["local_size"] = place.local_size;
  json["slot"] = place.slot;
  json["segment_ranks"] = place.segment_ranks;
  json["attempt"] = attempt.attempt;
  json["run"] = attempt.run_id;
  json["members"] = attempt.addresses;
  json["tasks"] = TaskAddresses(attempt);
  return Dump(json);
}

Result<AttemptFacts> FactsOf(const Cluster& cluster,
                             const std::vector<Place>& places,
                             const PlanOptions& options) {
  AttemptFacts facts{.cluster = cluster,
                     .run_id = options.run_id,
                     .attempt = options.attempt,
                     .max_restarts = options.max_restarts,
                     .world_size = cluster.WorldSize(),
                     .agents = 1,
                     .for_jax = options.for_jax};
  const auto fixed = FixedPorts(cluster);
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    facts.agents = std::max(facts.agents, places[rank].agent_index + 1);
    facts.machines = std::max(facts.machines, places[rank].machine + 1);
    const int number = static_cast<int>(rank);
    std::string port;
    if (const auto kept = fixed.find(number); kept != fixed.end()) {
      port = std::to_string(kept->second);
    } else {
      MUSTER_ASSIGN(port, PortOf(places[rank], 0, options.dry_run));
    }
    facts.addresses.push_back(
        HostPort(HostOf(cluster, number, *places[rank].agent), port));
  }
  facts.master_host = HostOf(cluster, 0, *places[0].agent);
  MUSTER_ASSIGN(facts.master_port, PortOf(places[0], 1, options.dry_run));
  return facts;
}

// --bind-devices is honored or refused.
Status CheckDivides(const Place& place, const AttemptFacts& facts,
                    bool dry_run) {
  const RankDevices devices = DevicesOf(place, true);
  const std::string host = "host `" + place.agent->host + "`";
  if (devices.mine.empty()) {
    // A dry run has not asked other hosts.
    return dry_run && place.agent->cores < 1
               ? Ok()
               : Status(Error(Cause::kDeviceMissing,
                              "--bind-devices needs a device for each rank, "
                              "but " +
                                  host + " has " +
                                  Count(devices.count, "device") + " for " +
                                  Count(place.local_size, "rank")));
  }
  if (devices.variable == kTpuChips && place.local_size > 1 &&
      (facts.machines > 1 || devices.count % place.local_size != 0 ||
       !AreTpuBounds(devices.count, static_cast<int>(devices.mine.size())))) {
    return Error(Cause::kUsageInvalid,
                 "--bind-devices divides the chips of one TPU host of 4 or 8 "
                 "among 1, 2, 4 or 8 ranks, not " +
                     Count(devices.count, "chip") + " of " + host + " among " +
                     Count(place.local_size, "rank") + " on " +
                     Count(facts.machines, "host"));
  }
  return Ok();
}

}  // namespace

std::map<std::string, std::string> PlannedVariables(const sys::Env& env) {
  std::map<std::string, std::string> variables;
  for (const std::string_view name : RankVariables()) {
    if (auto value = env.Get(std::string(name))) {
      variables[std::string(name)] = *std::move(value);
    }
  }
  return variables;
}

std::map<int, std::uint16_t> FixedPorts(const Cluster& cluster) {
  std::map<int, std::uint16_t> ports;
  for (const Member& member : cluster.members) {
    if (member.address && member.address->value.port != 0 &&
        member.address->source.find(kTensorFlowSource) != std::string::npos) {
      ports[member.rank] = member.address->value.port;
    }
  }
  return ports;
}

std::optional<Cluster> PortsOfRanks(const Cluster& cluster,
                                    std::span<const wire::Hello> agents) {
  const auto places = PlaceRanks(cluster, agents);
  if (!places || cluster.one_host) {
    return std::nullopt;
  }
  const auto fixed = FixedPorts(cluster);
  Cluster ports = cluster;
  std::set<std::string> hosts;
  for (Member& member : ports.members) {
    const Place& place = (*places)[Index(member.rank)];
    const auto own = Index(2 * place.port_index);
    if (place.agent->ports.size() < own + 2) {
      return std::nullopt;
    }
    const auto kept = fixed.find(member.rank);
    const Address address{
        .host = HostOf(cluster, member.rank, *place.agent),
        .port = kept == fixed.end() ? place.agent->ports[own] : kept->second};
    hosts.insert(address.host);
    member.address = {address, "offered by its agent"};
    if (member.rank == 0) {
      ports.coordinator = {
          Address{.host = address.host, .port = place.agent->ports[own + 1]},
          "offered by its agent"};
    }
  }
  return hosts.size() > 1 ? std::optional(std::move(ports)) : std::nullopt;
}

Result<Planned> MakePlan(const Cluster& cluster,
                         std::span<const wire::Hello> agents,
                         const PlanOptions& options) {
  MUSTER_CHECK(!cluster.members.empty() && !options.argv.empty());
  MUSTER_ASSIGN(const auto places, PlaceRanks(cluster, agents));
  MUSTER_ASSIGN(const auto facts, FactsOf(cluster, places, options));
  Planned planned;
  const auto shares = DivideCores(places, planned.notes);
  wire::LaunchPlan& plan = planned.plan;
  plan.run_id = options.run_id;
  plan.attempt = options.attempt;
  plan.world_size = facts.world_size;
  planned.machines = facts.machines;
  plan.grace_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(options.grace)
          .count();
  plan.agents.resize(Index(facts.agents));
  std::map<std::string, std::vector<int>> notes;
  for (const Member& member : cluster.members) {
    const Place& place = places[Index(member.rank)];
    if (options.bind_devices) {
      MUSTER_TRY(CheckDivides(place, facts, options.dry_run));
    }
    const CoreShare& share = shares[Index(member.rank)];
    const RankPlace where{
        .member = member,
        .machine = place.machine,
        .local_rank = place.local_rank,
        .local_size = place.local_size,
        .local_source = place.local_source,
        .slot = place.slot,
        .segment_ranks = static_cast<int>(place.agent->ranks.size()),
        .devices = DevicesOf(place, options.bind_devices),
        .threads = share.threads,
        .threads_why = share.why};
    auto environment = MakeRankEnvironment(
        facts, where, place.agent->environment, options.user_environment);
    for (const std::string& note : environment.notes) {
      notes[note].push_back(member.rank);
    }
    plan.agents[Index(place.agent_index)].push_back(member.rank);
    plan.ranks.push_back({.rank = member.rank,
                          .local_rank = where.local_rank,
                          .local_size = where.local_size,
                          .slot = where.slot,
                          .argv = options.argv,
                          .environment = std::move(environment.set),
                          .unset = std::move(environment.unset),
                          .cores = share.cores,
                          .name = Name(member),
                          .registered = Registered(facts, where)});
  }
  for (const auto& [note, ranks] : notes) {
    planned.notes.push_back(ranks.size() == plan.ranks.size()
                                ? note
                                : note + " (rank " + RankList(ranks) + ")");
  }
  plan.digest = Digest(Encode(plan).body);
  return planned;
}

wire::LaunchPlan PartOf(const wire::LaunchPlan& plan,
                        std::span<const int> ranks) {
  wire::LaunchPlan part{.run_id = plan.run_id,
                        .attempt = plan.attempt,
                        .world_size = plan.world_size,
                        .agents = plan.agents,
                        .ranks = {},
                        .grace_ms = plan.grace_ms,
                        .digest = plan.digest};
  for (const int rank : ranks) {
    part.ranks.push_back(plan.ranks.at(static_cast<std::size_t>(rank)));
  }
  return part;
}

}  // namespace muster::run
