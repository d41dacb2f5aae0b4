// SPDX-License-Identifier: Apache-2.0
// MPI_HOST, the list of workers that Volcano gives to the one that calls
// mpiexec. It describes hosts and no processes.
#include "base/text.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::mpi_host {
namespace {

Match Speak(const Request&, const sys::Host& host) {
  return IsSet(host.env, "MPI_HOST") ? Speaks() : Silent("MPI_HOST is not set");
}

Result<Claim> Read(const Request&, const sys::Host& host) {
  Claim claim{.source = "mpi-host"};
  for (const std::string& one :
       Split(host.env.Get("MPI_HOST").value_or(""), ',')) {
    if (Trim(one).empty()) {
      return Error(Cause::kClusterSpecInvalid,
                   "MPI_HOST, entry " + std::to_string(claim.hosts.size() + 1) +
                       ", is empty");
    }
    claim.hosts.emplace_back(Trim(one));
  }
  if (claim.hosts.empty()) {
    return Error(Cause::kLaunchEnvMissing,
                 "MPI_HOST is not set: Volcano sets it on the master of an MPI "
                 "job");
  }
  claim.nothing = "MPI_HOST lists " + Count(std::ssize(claim.hosts), "host") +
                  " for mpiexec, which assigns the ranks";
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{.name = "mpi-host",
                               .precedence = 620,
                               .doc = "the host list of a Volcano MPI job",
                               .reads = "MPI_HOST",
                               .match = Speak,
                               .read = Read};

}  // namespace muster::resolve::mpi_host
