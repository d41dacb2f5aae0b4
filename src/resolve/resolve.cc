// SPDX-License-Identifier: Apache-2.0
#include "resolve/resolve.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/text.h"
#include "base/words/suggest.h"
#include "cluster/members.h"
#include "resolve/contradictions.h"
#include "resolve/environment/proxies.h"
#include "resolve/formats/process_count.h"
#include "resolve/platform/notebook.h"
#include "resolve/ranks_of_agents.h"
#include "resolve/self.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve {
namespace {

constexpr const char* kNothing = "default: no source describes a cluster";
constexpr const char* kKnown =
    "not queried: the cluster is known without the network";

// One process on this host. A rank that was told all the same has no cluster to
// be a rank of.
Result<Claim> Default(const Request& request, const sys::Host& host) {
  MUSTER_ASSIGN(const auto told, GivenRank(request, host));
  if (told) {
    return Error(Cause::kLaunchEnvMissing,
                 "the rank is " + std::to_string(told->value) + " (" +
                     told->source +
                     "), but no source lists the other members: use --hosts or "
                     "set MUSTER_HOSTS")
        .With(Observed("env.partial",
                       {{"set", told->source}, {"missing", "MUSTER_HOSTS"}},
                       host));
  }
  Claim claim{.source = "default"};
  claim.cluster = Unplaced({1, kNothing});
  claim.cluster.one_host = true;
  return claim;
}

Error Contradict(const std::vector<Contradiction>& all, const sys::Host& host) {
  std::vector<std::string> texts;
  texts.reserve(all.size());
  for (const Contradiction& one : all) {
    texts.push_back(ToString(one));
  }
  Error error(Cause::kClusterSpecInvalid,
              "two descriptions of the cluster contradict each other: " +
                  Join(texts, "; "));
  for (const Contradiction& one : all) {
    for (const Sourced<std::string>& value : {one.first, one.second}) {
      // NOLINTNEXTLINE(bugprone-use-after-move): With() adds to it in place.
      static_cast<void>(std::move(error).With(Observed(
          "spec.contradiction",
          {{"what", one.what},
           {"value", value.value},
           {"source", value.source},
           {"text",
            "the " + one.what + " is " + value.value + ": " + value.source}},
          host)));
    }
  }
  return error;
}

Finding Remark(const Contradiction& one) {
  Finding finding =
      MakeFinding(Cause::kClusterSpecInvalid,
                  ToString(one) + ": using the first", Confidence::kPossible);
  finding.severity = Severity::kWarning;
  return finding;
}

const Source* FindSource(std::string_view name) {
  for (const Source* source : AllSources()) {
    if (source->name == name) {
      return source;
    }
  }
  return nullptr;
}

Result<const Source*> RequireSource(std::string_view name) {
  if (const Source* source = FindSource(name)) {
    return source;
  }
  std::vector<std::string> names;
  for (const Source* source : AllSources()) {
    names.emplace_back(source->name);
  }
  const auto meant = DidYouMean(name, names);
  return Error(Cause::kUsageInvalid,
               "no source `" + Printable(name) + "`" +
                   (meant ? ", did you mean `" + *meant + "`?" : "") +
                   (meant ? " There" : ": the sources") + " are " +
                   Join(names, ", "));
}

// Whether it is worth asking, before it is asked whether it speaks.
std::string WhyNotAsked(const Source& source, const Request& request,
                        bool known) {
  if (!request.source.empty()) {
    return source.name == request.source
               ? ""
               : "not queried: --source " + request.source;
  }
  if (source.on_request) {
    return "used only with --source";
  }
  return source.network && known ? kKnown : "";
}

std::string Counted(const Sourced<int>& number, const std::string& what) {
  return std::to_string(number.value) + " " + what + " (" + number.source + ")";
}

// By what there is another host than this one; empty: nothing tells of one.
std::string OtherHosts(const Claim& claim) {
  if (claim.num_nodes && claim.num_nodes->value > 1) {
    return "there are " + Counted(*claim.num_nodes, "nodes");
  }
  const Number& here = claim.local_num_processes;
  const Number& all = claim.num_processes;
  return here && all && here->value < all->value
             ? "only " + std::to_string(here->value) + " (" + here->source +
                   ") of " + Counted(*all, "processes") + " are on this host"
             : "";
}

// A loopback address is each host's own.
Status CheckCoordinator(const Claim& claim, const sys::Host& host) {
  const std::string others = OtherHosts(claim);
  if (others.empty() || !claim.coordinator_host ||
      !Address{.host = claim.coordinator_host->value}.IsLoopback()) {
    return Ok();
  }
  return Error(Cause::kNetLoopbackName,
               "the coordinator is " + claim.coordinator_host->value + " (" +
                   claim.coordinator_host->source + "), but " + others +
                   ": the other hosts would connect to themselves")
      .With(Observed("address.loopback",
                     {{"address", claim.coordinator_host->value}}, host));
}

// What could be no part of a host's name ends in files, variables and
// terminals otherwise.
Status CheckHosts(const Claim& claim) {
  for (const auto* hosts : {&claim.hosts, &claim.rank_hosts}) {
    for (const std::string& host : *hosts) {
      const bool sound =
          std::all_of(host.begin(), host.end(),
                      [](unsigned char c) { return c > 0x20 && c < 0x7f; });
      if (!sound || host.empty()) {
        return Error(Cause::kClusterSpecInvalid,
                     "the host `" + Printable(host) + "` of the source " +
                         claim.source +
                         " is neither a name nor an address: it contains an "
                         "invalid character");
      }
    }
  }
  return Ok();
}

// What was read and describes no cluster by itself.
struct Rest {
  std::vector<Error> left_over;     // sources of which a part is set
  std::vector<Claim> coordinators;  // a coordinator without ranks
};

// What a source claims, with what muster concludes of it.
Result<Claim> ReadAndConclude(const Source& source, const Request& request,
                              const sys::Host& host) {
  MUSTER_ASSIGN(Claim claim, source.read(request, host));
  if (source.conclude != nullptr) {
    MUSTER_TRY(source.conclude(request, host, claim));
  }
  return claim;
}

// Reads a source; a claim of nothing is a silence.
Status ReadSource(const Source& source, const Request& request,
                  const sys::Host& host, Resolved& resolved, Rest& rest) {
  const std::string name(source.name);
  auto claim = ReadAndConclude(source, request, host);
  if (!claim) {
    Error error = std::move(claim).error().While("reading the source " + name);
    if (!source.may_be_left_over || !request.source.empty() ||
        error.cause() != Cause::kLaunchEnvMissing) {
      return error;
    }
    resolved.silent.push_back({name, error.message()});
    rest.left_over.push_back(std::move(error));
    return Ok();
  }
  MUSTER_TRY(CheckHosts(*claim));
  MUSTER_TRY(Complete(*claim));
  if (!claim->nothing.empty()) {
    resolved.silent.push_back({name, claim->nothing});
    resolved.findings.insert(resolved.findings.end(), claim->remarks.begin(),
                             claim->remarks.end());
    if (source.may_be_left_over && claim->coordinator_host &&
        claim->coordinator_port) {
      rest.coordinators.push_back(*std::move(claim));
    }
    return Ok();
  }
  Cluster& cluster = claim->cluster;
  if (!cluster.self && !cluster.one_host && cluster.size.value > 1) {
    MUSTER_ASSIGN(cluster.self, FindSelf(cluster, request, host));
  }
  MUSTER_TRY(CheckCoordinator(*claim, host));
  MUSTER_TRY(CheckAddresses(claim->cluster, host, claim->remarks));
  resolved.claims.push_back(*std::move(claim));
  return Ok();
}

// The coordinator that a variable tells, for the winner where it knows none and
// for JAX, which takes it before all others.
void TakeCoordinator(const Claim& told, const Request& request,
                     Resolved& resolved) {
  Claim& winner = resolved.claims.front();
  auto& coordinator = winner.cluster.coordinator;
  Sourced<Address> address{
      {.host = told.coordinator_host->value,
       .port = static_cast<std::uint16_t>(told.coordinator_port->value)},
      told.coordinator_host->source};
  if (winner.cluster.size.value == 1 ||
      (coordinator && coordinator->value == address.value)) {
    return;
  }
  if (coordinator) {
    Contradiction both{
        "coordinator",
        {muster::ToString(coordinator->value), coordinator->source},
        {muster::ToString(address.value), address.source}};
    if (request.profile == "jax") {
      std::swap(both.first, both.second);
    }
    resolved.findings.push_back(Remark(both));
  }
  if (!coordinator || request.profile == "jax") {
    coordinator = std::move(address);
    winner.coordinator_told = true;
  }
}

// What is left of sources that describe no cluster: remarks beside one that is
// described, else the error.
Status JudgeRest(Rest rest, const Request& request, Resolved& resolved) {
  const bool described =
      std::any_of(resolved.claims.begin(), resolved.claims.end(),
                  [](const Claim& claim) { return !claim.only_this_host; });
  if (!described && !rest.left_over.empty()) {
    return std::move(rest.left_over.front());
  }
  if (!described && !rest.coordinators.empty()) {
    return Error(Cause::kLaunchEnvMissing, rest.coordinators.front().nothing);
  }
  for (const Error& error : rest.left_over) {
    Finding finding = FromError(error);
    finding.what += ": the source " + resolved.claims.front().source +
                    " describes the cluster, and is used";
    finding.severity = Severity::kWarning;
    finding.confidence = Confidence::kLikely;
    resolved.findings.push_back(std::move(finding));
  }
  for (const Claim& told : rest.coordinators) {
    TakeCoordinator(told, request, resolved);
  }
  return Ok();
}

// By precedence; a TPU that the command line names comes before all variables.
std::vector<const Source*> InOrder(const Request& request) {
  const auto all = AllSources();
  std::vector<const Source*> sources(all.begin(), all.end());
  if (request.cloud.tpu) {
    std::stable_partition(
        sources.begin(), sources.end(),
        [](const Source* source) { return source->name == "tpu"; });
  }
  return sources;
}

Status ReadClaims(const Request& request, const sys::Host& host,
                  Resolved& resolved) {
  Rest rest;
  for (const Source* source : InOrder(request)) {
    const std::string name(source->name);
    if (std::string why =
            WhyNotAsked(*source, request, !resolved.claims.empty());
        !why.empty()) {
      if (!source->on_request && request.source.empty()) {
        resolved.silent.push_back({name, std::move(why)});
      }
      continue;
    }
    const Match match = source->match(request, host);
    if (!match.speaks && request.source.empty()) {
      if (match.suspicious) {
        resolved.findings.push_back(Warning(*match.suspicious, match.why));
      }
      resolved.silent.push_back({name, match.why});
      continue;
    }
    if (match.asks_network && !resolved.claims.empty()) {
      resolved.silent.push_back({name, kKnown});
      continue;
    }
    MUSTER_TRY(ReadSource(*source, request, host, resolved, rest));
  }
  MUSTER_TRY(JudgeRest(std::move(rest), request, resolved));
  if (resolved.claims.empty() && !request.source.empty()) {
    return Error(
        Cause::kLaunchEnvMissing,
        "the source " + request.source +
            ", the only one to use (--source), describes no cluster: " +
            resolved.silent.back().why);
  }
  if (resolved.claims.empty()) {
    MUSTER_ASSIGN(auto claim, Default(request, host));
    resolved.claims.push_back(std::move(claim));
  }
  return Ok();
}

// -n alone is this host, unless a launcher has started this process beside
// others: then it is for each of them.
void TakeAgentsOfLauncher(const Request& request, Resolved& resolved) {
  auto& claims = resolved.claims;
  if (!request.processes || claims.front().source != "flags" ||
      !claims.front().cluster.one_host) {
    return;
  }
  const auto agents =
      std::find_if(claims.begin() + 1, claims.end(), [](const Claim& claim) {
        const Source* source = FindSource(claim.source);
        return source != nullptr && source->starts_agents &&
               claim.cluster.size.value > 1 && !claim.cluster.one_host;
      });
  if (agents != claims.end()) {
    std::rotate(claims.begin(), agents, agents + 1);
    claims.erase(claims.begin() + 1);
  }
}

bool IsForThisProcess(const Claim& claim) {
  const Source* source = FindSource(claim.source);
  return source == nullptr || source->scope == Scope::kProcess;
}

// A rank of several that nobody can reach is no answer.
Status RequireCoordinator(const Cluster& cluster) {
  const bool placed = std::all_of(
      cluster.members.begin(), cluster.members.end(),
      [](const Member& member) { return member.address.has_value(); });
  if (cluster.coordinator || placed || cluster.one_host ||
      cluster.size.value == 1) {
    return Ok();
  }
  return Error(Cause::kLaunchEnvMissing,
               "the rank is known (" +
                   (cluster.self ? std::to_string(cluster.self->value) + " of "
                                 : std::string()) +
                   std::to_string(cluster.size.value) + ", " +
                   cluster.size.source +
                   "), but the coordinator is not: set MASTER_ADDR and "
                   "MASTER_PORT, or JAX_COORDINATOR_ADDRESS, or use --hosts");
}

// Ports that members will listen on.
std::vector<PortUse> Ports(const Resolved& resolved) {
  std::vector<PortUse> ports;
  const Cluster& cluster = resolved.cluster;
  if (cluster.coordinator) {
    ports.push_back({cluster.coordinator->value.port, "coordinator",
                     cluster.coordinator->source});
  }
  const Claim& winner = resolved.claims.front();
  if (cluster.self) {
    const auto& own =
        cluster.members[static_cast<std::size_t>(cluster.self->value)].address;
    if (own && (ports.empty() || ports.front().port != own->value.port)) {
      ports.push_back({own->value.port, "this member", own->source});
    }
  }
  if (winner.accelerator_type || winner.source == "gke-tpu") {
    ports.push_back({8476, "TPU processes, 8476 and up", "default of libtpu"});
  }
  if (winner.num_slices && winner.num_slices->value > 1) {
    ports.push_back(
        {winner.megascale_port ? winner.megascale_port->value : 8080,
         "between slices",
         winner.megascale_port ? winner.megascale_port->source
                               : "default of megascale"});
  }
  return ports;
}

// Where rank 0 meets the others, as its launcher told: an address that is not
// this host's makes everybody a client, and all of them wait. The launcher of
// MPI may run elsewhere. Numbers only: names are compared by --check-self.
std::optional<Finding> CheckCoordinatorIsHere(const Resolved& resolved,
                                              const sys::Host& host) {
  const Cluster& cluster = resolved.cluster;
  const Claim& winner = resolved.claims.front();
  const auto ours = host.env.LocalAddresses();
  if (!cluster.self || cluster.self->value != 0 || !cluster.coordinator ||
      !winner.coordinator_told || winner.source == "openmpi" ||
      cluster.size.value == 1 || ours.empty()) {
    return std::nullopt;
  }
  const Address& there = cluster.coordinator->value;
  const bool here = std::any_of(
      ours.begin(), ours.end(),
      [&](const std::string& one) { return there.HasIpOf({.host = one}); });
  if (!there.Ip() || there.IsLoopback() || here) {
    return std::nullopt;
  }
  Finding finding = Warning(
      Cause::kNetWrongEndpoint,
      "this process is rank 0 (" + cluster.self->source +
          "), but the coordinator " + muster::ToString(there) + " (" +
          cluster.coordinator->source +
          ") is not an address of this host, which has " + Join(ours, ", ") +
          ": no process listens there unless the port is forwarded");
  finding.confidence = Confidence::kPossible;
  return finding;
}

// --rank or MUSTER_RANK beside the winner, which tells the own rank itself.
Status CheckGivenRank(const Claim& claim, const Request& request,
                      const sys::Host& host) {
  MUSTER_ASSIGN(const auto told, GivenRank(request, host));
  const auto& self = claim.cluster.self;
  const bool only_node = !self && request.node_rank == 0;
  if (!told || only_node || (self && self->value == told->value) ||
      (!self && claim.cluster.size.value == 1)) {
    return Ok();
  }
  const Sourced<std::string> other =
      self ? Sourced<std::string>{std::to_string(self->value), self->source}
           : Sourced<std::string>{"every rank of this host",
                                  claim.cluster.size.source};
  return Contradict({{"rank of this process",
                      {std::to_string(told->value), told->source},
                      other}},
                    host);
}

// What stands around the answer and may spoil it.
void AddSurroundings(const sys::Host& host, Resolved& resolved) {
  static const std::set<std::string_view> notebooks{
      "default", "colab", "kaggle", "local-tpu", "tpu"};
  std::vector<std::optional<Finding>> found{
      CheckProxies(resolved, host.env), CheckCoordinatorIsHere(resolved, host)};
  if (notebooks.contains(resolved.claims.front().source)) {
    found.push_back(FindLostTpuName(host));
  }
  for (std::optional<Finding>& one : found) {
    if (one) {
      resolved.findings.push_back(*std::move(one));
    }
  }
}

}  // namespace

Fact Observed(std::string name, std::map<std::string, FactValue> fields,
              const sys::Host& host) {
  return {.name = std::move(name),
          .fields = std::move(fields),
          .subject = "this host",
          .by = "resolve on " + host.env.Hostname(),
          .at = host.clock.WallNow()};
}

Result<Resolved> Resolve(const Request& request, const sys::Host& host) {
  if (!request.processes_by.empty()) {
    Request counted = request;
    MUSTER_ASSIGN(counted.processes,
                  CountProcesses(request.processes_by, host));
    counted.processes_by.clear();
    return Resolve(counted, host);
  }
  Resolved resolved;
  if (!request.source.empty()) {
    MUSTER_TRY(RequireSource(request.source));
  }
  MUSTER_TRY(ReadClaims(request, host, resolved));
  TakeAgentsOfLauncher(request, resolved);
  Claim& winner = resolved.claims.front();
  MUSTER_TRY(CheckGivenRank(winner, request, host));
  const int size = winner.cluster.size.value;  // of what sources count
  std::vector<Contradiction> fatal;
  for (const Claim& claim : resolved.claims) {
    resolved.findings.insert(resolved.findings.end(), claim.remarks.begin(),
                             claim.remarks.end());
    if (&claim == &winner) {
      continue;
    }
    const bool both_told = IsForThisProcess(winner) && IsForThisProcess(claim);
    for (Contradiction& one : Compare(winner, claim)) {
      if (one.fatal && both_told) {
        fatal.push_back(std::move(one));
      } else {
        resolved.findings.push_back(Remark(one));
      }
    }
  }
  if (!fatal.empty()) {
    return Contradict(fatal, host);
  }
  MUSTER_TRY(StartSeveral(request, winner));
  ConcludeLocalRank(winner);
  resolved.cluster = winner.cluster;
  // A later source may know what the winner does not tell.
  for (const Claim& claim : resolved.claims) {
    if (!resolved.cluster.coordinator && claim.cluster.size.value == size) {
      resolved.cluster.coordinator = claim.cluster.coordinator;
    }
  }
  MUSTER_TRY(RequireCoordinator(resolved.cluster));
  resolved.ports = Ports(resolved);
  AddSurroundings(host, resolved);
  return resolved;
}

}  // namespace muster::resolve
