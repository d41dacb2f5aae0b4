// SPDX-License-Identifier: Apache-2.0
// mpirun of Open MPI 4 (ORTE) and 5 (PRRTE). Their address is the launcher's,
// which runs where rank 0 does in the common case.
#include "base/text.h"
#include "resolve/formats/endpoint.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::openmpi {
namespace {

constexpr const char* kOrteUri = "OMPI_MCA_orte_hnp_uri";

const std::vector<std::string>& PmixUris() {
  static const std::vector<std::string> names{
      "PMIX_SERVER_URI2",  "PMIX_SERVER_URI3",  "PMIX_SERVER_URI4",
      "PMIX_SERVER_URI41", "PMIX_SERVER_URI21", "PMIX_SERVER_URI51",
      "PMIX_SERVER_URI61"};
  return names;
}

// Slurm speaks PMIx to its tasks too.
bool IsPrrte(const sys::Env& env) {
  const std::string space = env.Get("PMIX_NAMESPACE").value_or("");
  return !space.empty() && !space.starts_with("slurm.");
}

Match Speak(const Request&, const sys::Host& host) {
  const sys::Env& env = host.env;
  if (FirstText(env,
                {kOrteUri, "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"}) ||
      IsPrrte(env)) {
    return Speaks();
  }
  return Silent(
      "none of OMPI_COMM_WORLD_SIZE, OMPI_MCA_orte_hnp_uri and "
      "PMIX_NAMESPACE is set");
}

// The first address of "…;tcp://IP[,IP…]:PORT", tcp4, or tcp6 with brackets.
std::optional<std::string> AddressOf(std::string_view uri) {
  for (const std::string_view scheme : {"tcp://", "tcp4://", "tcp6://"}) {
    const auto at = uri.find(scheme);
    if (at == std::string_view::npos) {
      continue;
    }
    auto rest = uri.substr(at + scheme.size());
    const bool bracket = rest.starts_with('[');
    rest = rest.substr(bracket ? 1 : 0);
    const auto end = rest.find_first_of(bracket ? ",]" : ",:");
    const std::string host(Trim(rest.substr(0, end)));
    if (end != std::string_view::npos && !host.empty()) {
      return host;
    }
  }
  return std::nullopt;
}

// The number that tells one job from another: JOBID of "JOBID.0;…" divided as
// Open MPI makes it a multiple of 4096, or the process id of PRRTE's launcher
// in "prterun-HOST-PID@1.0;…" and "pmix-server.PID;…".
std::optional<std::int64_t> JobNumber(std::string_view uri) {
  auto head = uri.substr(0, uri.find(';'));
  if (const auto at = head.find('@'); at != std::string_view::npos) {
    head = head.substr(0, at);
    return ParseInt(head.substr(head.rfind('-') + 1));
  }
  if (head.starts_with("pmix-server.")) {
    return ParseInt(head.substr(head.find('.') + 1));
  }
  return ParseInt(head.substr(0, head.find('.')));
}

// PMIx tells each process the server of its own host: it is the launcher's as
// long as its rank, which ends "prterun-HOST-PID@0.0", is 0.
bool IsLaunchersServer(std::string_view uri) {
  const auto head = uri.substr(0, uri.find(';'));
  return head.starts_with("pmix-server.") ||
         ParseInt(head.substr(head.rfind('.') + 1)).value_or(0) == 0;
}

// What the other hosts would not reach the launcher by.
bool IsThisHostsOwn(const Claim& claim, std::string_view uri,
                    const std::string& address) {
  const bool all_here =
      claim.local_num_processes && claim.num_processes &&
      claim.local_num_processes->value == claim.num_processes->value;
  return !IsLaunchersServer(uri) ||
         (Address{.host = address}.IsLoopback() && !all_here);
}

Error NoAddress(const std::string& name, const std::string& uri) {
  return Error(Cause::kClusterSpecInvalid,
               name + " is `" + Printable(uri.substr(0, 200)) +
                   "`, which contains no TCP address: start mpirun with an "
                   "address that the other hosts can reach, or set the "
                   "coordinator with MASTER_ADDR and MASTER_PORT");
}

Status TakeUri(const sys::Env& env, Claim& claim) {
  const Text orte = TextVariable(env, kOrteUri);
  const Text uri = orte ? orte : FirstText(env, PmixUris());
  if (!uri) {
    return Ok();
  }
  const auto address = AddressOf(uri->value);
  if (!address) {
    return NoAddress(uri->source.substr(4), uri->value);
  }
  if (!orte && IsThisHostsOwn(claim, uri->value, *address)) {
    return Ok();
  }
  claim.coordinator_host = Sourced<std::string>{*address, uri->source};
  const auto job = JobNumber(uri->value);
  if (job && *job >= 0) {
    const auto spread = orte ? *job / 4096 : *job;
    claim.coordinator_port =
        Sourced<int>{static_cast<int>(61440 + spread % 4096),
                     "61440 + job of " + uri->source.substr(4) + " mod 4096"};
  }
  return Ok();
}

// AzureML names the main node in variables of its own.
Status TakeAzure(const sys::Env& env, Claim& claim) {
  const bool one_node =
      claim.local_num_processes && claim.num_processes &&
      claim.local_num_processes->value == claim.num_processes->value;
  if (one_node) {
    if (auto node = TextVariable(env, "AZ_BATCHAI_MPI_MASTER_NODE")) {
      claim.coordinator_host = node;
      claim.coordinator_port = Sourced<int>{54965, "default of AzureML"};
    }
    return Ok();
  }
  const Text node = TextVariable(env, "AZ_BATCH_MASTER_NODE");
  if (!node) {
    return Ok();
  }
  MUSTER_ASSIGN(const auto split, SplitHostPort(node->value));
  claim.coordinator_host = Sourced<std::string>{split.host, node->source};
  MUSTER_ASSIGN(claim.coordinator_port, PortVariable(env, "MASTER_PORT"));
  if (!claim.coordinator_port) {
    claim.coordinator_port = Sourced<int>{6105, "default of DeepSpeed"};
  }
  return Ok();
}

Status TakeCoordinator(const Request& request, const sys::Env& env,
                       Claim& claim) {
  if (IsSet(env, "AZ_BATCH_MASTER_NODE") ||
      IsSet(env, "AZ_BATCHAI_MPI_MASTER_NODE")) {
    MUSTER_TRY(TakeAzure(env, claim));
  }
  if (!claim.coordinator_host) {
    MUSTER_TRY(TakeUri(env, claim));
  }
  if (request.profile != "jax") {
    if (auto told = TextVariable(env, "MASTER_ADDR")) {
      claim.coordinator_host = told;
    }
    MUSTER_ASSIGN(auto port, PortVariable(env, "MASTER_PORT"));
    if (port) {
      claim.coordinator_port = port;
    }
  }
  MUSTER_ASSIGN(auto port, PortVariable(env, "JAX_COORDINATOR_PORT"));
  if (port) {
    claim.coordinator_port = port;
  }
  return Ok();
}

Result<Claim> Read(const Request& request, const sys::Host& host) {
  const sys::Env& env = host.env;
  Claim claim{.source = "openmpi"};
  MUSTER_TRY(
      RequireAll({.names = {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                  .setters = "mpirun sets them for each process"},
                 host));
  MUSTER_ASSIGN(claim.num_processes,
                NumberVariable(env, "OMPI_COMM_WORLD_SIZE", 1));
  MUSTER_ASSIGN(claim.process_id, NumberVariable(env, "OMPI_COMM_WORLD_RANK"));
  MUSTER_ASSIGN(claim.local_process_id,
                NumberVariable(env, "OMPI_COMM_WORLD_LOCAL_RANK"));
  MUSTER_ASSIGN(claim.local_num_processes,
                NumberVariable(env, "OMPI_COMM_WORLD_LOCAL_SIZE", 1));
  MUSTER_TRY(CheckNumbers(claim));
  MUSTER_TRY(TakeCoordinator(request, env, claim));
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "openmpi",
    .precedence = 320,
    .starts_agents = true,
    .doc = "mpirun of Open MPI 4 (ORTE) or 5 (PRRTE)",
    .reads =
        "OMPI_COMM_WORLD_SIZE, OMPI_COMM_WORLD_RANK, "
        "OMPI_COMM_WORLD_LOCAL_RANK, OMPI_COMM_WORLD_LOCAL_SIZE, "
        "OMPI_MCA_orte_hnp_uri, PMIX_NAMESPACE, PMIX_SERVER_URI2 (3, 4, "
        "41, 21, 51, 61), AZ_BATCH_MASTER_NODE, "
        "AZ_BATCHAI_MPI_MASTER_NODE, MASTER_ADDR, MASTER_PORT, "
        "JAX_COORDINATOR_PORT",
    .ports = "61440 + (job id / 4096) mod 4096, AzureML 6105 and 54965",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::openmpi
