// SPDX-License-Identifier: Apache-2.0
// An HTTP server, by its answer to a request for its first page.
#include "channel/tcp_probe.h"
#include "identify/service_probe.h"

namespace muster::identify::http {
namespace {

constexpr std::size_t kStatusLine = 16;

std::optional<ForeignServer> Ask(Wire& wire, Heard& heard) {
  if (!heard.bytes.starts_with("HTTP/")) {
    heard = wire.Say("GET / HTTP/1.0\r\n\r\n", kStatusLine);
  }
  // TLS servers that speak plainly to those who do say so.
  if (!heard.bytes.starts_with("HTTP/") ||
      heard.bytes.find("HTTPS") != std::string::npos) {
    return std::nullopt;
  }
  return ForeignServer{.protocol = "http",
                       .text = channel::NameOfAnswer(heard.bytes)};
}

}  // namespace

extern const Protocol kProtocol;
constinit const Protocol kProtocol{.name = "http",
                                   .title = "an HTTP server",
                                   .port = 80,
                                   .speaks = Speaks::kAsked,
                                   .order = 20,
                                   .ask = Ask};

}  // namespace muster::identify::http
