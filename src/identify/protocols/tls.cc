// SPDX-License-Identifier: Apache-2.0
// A TLS server: to a hello it says its own, or an alert. The handshake ends
// there, no certificate is looked at.
#include "channel/tcp_probe.h"
#include "identify/service_probe.h"

namespace muster::identify::tls {
namespace {

// A hello of TLS 1.2 (RFC 5246, 7.4.1.2) without extensions: 32 bytes that
// need not be random here, no session, four suites, no compression.
constexpr char kHello[] =
    "\x16\x03\x01\x00\x33"  // a handshake record of 51 bytes
    "\x01\x00\x00\x2F"      // ClientHello of 47 bytes
    "\x03\x03"
    "muster asks who you are and goes"
    "\x00"
    "\x00\x08\xC0\x2F\xC0\x30\x00\x9C\x00\x2F"
    "\x01\x00";
constexpr std::size_t kRecordHead = 5;

std::optional<ForeignServer> Ask(Wire& wire, Heard& heard) {
  const bool http = heard.bytes.starts_with("HTTP/");
  const auto is_tls = [](const std::string& bytes) {
    return bytes.starts_with("\x15\x03") || bytes.starts_with("\x16\x03");
  };
  if (!is_tls(heard.bytes)) {
    Heard said = wire.Say({kHello, sizeof kHello - 1}, kRecordHead);
    // What it said to HTTP names it better than what it says to this.
    if (!http || is_tls(said.bytes)) {
      heard = std::move(said);
    }
  }
  if (!is_tls(heard.bytes)) {
    return std::nullopt;
  }
  return ForeignServer{.protocol = "tls",
                       .text = channel::NameOfAnswer(heard.bytes)};
}

}  // namespace

extern const Protocol kProtocol;
constinit const Protocol kProtocol{.name = "tls",
                                   .title = "a TLS server",
                                   .port = 443,
                                   .speaks = Speaks::kAsked,
                                   .order = 30,
                                   .ask = Ask};

}  // namespace muster::identify::tls
