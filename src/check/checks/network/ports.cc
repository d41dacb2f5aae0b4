// SPDX-License-Identifier: Apache-2.0
// The ports that this process will listen on are free, or their holder is
// named.
#include "base/text.h"
#include "check/check.h"
#include "netcheck/diagnosis/mesh_findings.h"

namespace muster::check::network_ports {
namespace {

// Ports that somebody on this host is to open, with what told them.
std::map<std::uint16_t, std::string> PortsHere(const Context& context) {
  std::map<std::uint16_t, std::string> ports;
  const Cluster& cluster = *context.cluster;
  const auto add = [&](const std::optional<Sourced<Address>>& address,
                       const std::string& whose) {
    if (address && address->value.port != 0) {
      ports.emplace(address->value.port, whose + " (" + address->source + ")");
    }
  };
  if (const Member* self = Self(context)) {
    add(self->address, "port of this member");
    // torchrun's agent holds the store of its ranks already.
    if (self->rank == 0 &&
        !context.host.env.Get("TORCHELASTIC_USE_AGENT_STORE")) {
      add(cluster.coordinator, "port of the coordinator");
    }
    return ports;
  }
  for (const Member& member : cluster.members) {
    if (cluster.one_host) {
      add(member.address, "port of rank " + std::to_string(member.rank));
    }
  }
  return ports;
}

Outcome Run(const Context& context) {
  const auto ports = PortsHere(context);
  if (ports.empty()) {
    return Pass("no fixed ports; free ones are chosen at launch");
  }
  std::vector<Finding> findings;
  std::vector<std::string> good;
  for (const auto& [port, whose] : ports) {
    // Frameworks bind every interface, whatever their address says.
    const auto tried =
        context.machine.TryPort(Address{.host = "", .port = port});
    if (tried) {
      good.push_back(std::to_string(port));
      continue;
    }
    const Error& why = tried.error();
    std::vector<Seen> seen{
        {"it is the " + whose, "cluster"},
        {"cannot listen on it: " + std::string(Label(why.cause())), "bind"}};
    if (!why.evidence().empty()) {
      seen.back().fields = why.evidence().front().fields;
    }
    Finding finding = MakeProblem(context, why.cause(), why.message(), seen);
    netcheck::SetWayOut(why.cause(), port, finding);
    finding.subjects = {"port " + std::to_string(port)};
    findings.push_back(std::move(finding));
  }
  return Judge(std::move(findings),
               "free: " + Join(good, ", ") +
                   (SeveralHosts(*context.cluster)
                        ? "; `muster run` checks those of --port-range"
                        : ""));
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "network.ports",
                   .title = "the ports of this run are free",
                   .needs = "cluster.described",
                   // The agents hold them, and name who has one.
                   .before_run = BeforeRun::kNever,
                   .run = Run};

}  // namespace muster::check::network_ports
