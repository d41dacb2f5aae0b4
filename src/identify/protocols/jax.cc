// SPDX-License-Identifier: Apache-2.0
// The coordination service of JAX, which its process 0 serves. Facts:
// reference/tpu.md c.3; measured with JAX 0.8.2 (TensorFlow's dialect)
// and 0.10.2 (XLA's).
#include "identify/coordination_service.h"

namespace muster::identify::jax {
namespace {

std::optional<ServerIdentity> Ask(ProbeConnection& wire, ProbeReply&) {
  for (const Dialect dialect : {Dialect::kTensorflow, Dialect::kXla}) {
    const auto service = FindCoordination(wire, dialect);
    if (!service) {
      continue;
    }
    ServerIdentity server{.protocol = "jax",
                          .tasks = TasksOfJob(wire, *service, "jax_worker")};
    const bool of_jax = dialect == Dialect::kXla || !server.tasks.empty();
    server.text =
        of_jax ? "a JAX coordination service" : "a coordination service";
    if (!server.tasks.empty()) {
      server.text += " (" + TextOf(server.tasks) + ")";
    }
    return server;
  }
  return std::nullopt;
}

}  // namespace

extern const Protocol kProtocol;
constinit const Protocol kProtocol{.name = "jax",
                                   .title = "a JAX coordination service",
                                   .port = 0,
                                   .speaks = Speaks::kInCalls,
                                   .order = 20,
                                   .ask = Ask};

}  // namespace muster::identify::jax
