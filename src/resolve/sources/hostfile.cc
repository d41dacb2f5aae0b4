// SPDX-License-Identifier: Apache-2.0
// A host file of Open MPI, DeepSpeed or Horovod, named on the command line. A
// missing one is an error, never "this host alone".
#include <algorithm>

#include "base/text.h"
#include "resolve/formats/host_file.h"
#include "resolve/self.h"
#include "resolve/source.h"
#include "resolve/variables.h"

namespace muster::resolve::hostfile {
namespace {

Match Speak(const Request& request, const sys::Host&) {
  return request.host_file ? Speaks() : Silent("--hostfile is not given");
}

Result<Claim> Read(const Request& request, const sys::Host& host) {
  if (!request.host_file) {
    return Error(Cause::kUsageInvalid, "--hostfile is not given");
  }
  const std::string what = "host file `" + *request.host_file + "`";
  auto text = host.fs.ReadNamed(*request.host_file, 8U << 20);
  if (!text) {
    return std::move(text)
        .error()
        .With(Observed("spec.unreadable", {{"file", *request.host_file}}, host))
        .While("while reading the " + what);
  }
  HostFileRules rules;
  if (request.profile == "openmpi") {
    rules = {.default_slots = host.env.Cores(), .add_repeated = true};
  }
  MUSTER_ASSIGN(const auto hosts, ParseHostFile(*text, what, rules));
  Claim claim{.source = "hostfile"};
  int processes = 0;
  for (const HostSlots& one : hosts) {
    claim.hosts.push_back(one.host);
    claim.slots.push_back(one.slots);
    claim.more["slots." + one.host] = std::int64_t{one.slots};
    if (one.max_slots) {
      claim.more["max_slots." + one.host] = std::int64_t{*one.max_slots};
    }
    if (!claim.node_rank && IsThisHost({.host = one.host}, host.env)) {
      claim.node_rank = Sourced<int>{static_cast<int>(claim.hosts.size()) - 1,
                                     "position of this host in the " + what};
    }
    processes = std::min(processes + one.slots, 65536);
  }
  claim.rank_hosts = claim.hosts;  // by node
  if (!claim.node_rank) {
    MUSTER_ASSIGN(claim.node_rank, GivenRank(request, host));
  }
  if (!claim.node_rank) {
    return Error(Cause::kNetWrongEndpoint,
                 "no host in the " + what + " is this host (`" +
                     Printable(host.env.Hostname()) +
                     "`): correct the file, or set the position of this host "
                     "with --rank")
        .With(Observed("address.not_ours",
                       {{"addresses", Join(host.env.LocalAddresses(), ", ")}},
                       host));
  }
  claim.num_processes = Sourced<int>{processes, what};
  claim.num_nodes = Sourced<int>{static_cast<int>(hosts.size()), what};
  claim.coordinator_host =
      Sourced<std::string>{claim.hosts.front(), "first of the " + what};
  claim.coordinator_port =
      Sourced<int>{kTorchPort, "default of torch's launcher"};
  return claim;
}

}  // namespace

extern const Source kSource;
constinit const Source kSource{
    .name = "hostfile",
    .precedence = 110,
    .scope = Scope::kProcess,
    .starts_agents = true,
    .doc = "an Open MPI, DeepSpeed or Horovod host file (--hostfile)",
    .reads = "the file",
    .ports = "29500",
    .match = Speak,
    .read = Read};

}  // namespace muster::resolve::hostfile
