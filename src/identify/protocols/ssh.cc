// SPDX-License-Identifier: Apache-2.0
// An SSH server, by its greeting.
#include "channel/tcp_probe.h"
#include "identify/service_probe.h"

namespace muster::identify::ssh {
namespace {

std::optional<ForeignServer> Ask(Wire&, Heard& heard) {
  if (!heard.bytes.starts_with("SSH-")) {
    return std::nullopt;
  }
  return ForeignServer{.protocol = "ssh",
                       .text = channel::NameOfAnswer(heard.bytes)};
}

}  // namespace

extern const Protocol kProtocol;
constinit const Protocol kProtocol{.name = "ssh",
                                   .title = "an SSH server",
                                   .port = 22,
                                   .speaks = Speaks::kFirst,
                                   .order = 10,
                                   .ask = Ask};

}  // namespace muster::identify::ssh
