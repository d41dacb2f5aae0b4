// SPDX-License-Identifier: Apache-2.0
// torch's TCPStore in its two dialects. Facts: reference/tpu.md c.6; measured
// with torch 1.13.1 (old) and 2.13 (new, both backends).
//
// A query is one byte and its values, in the byte order of the host. The old
// store is asked first: the new one ignores that byte or closes, while the
// first message of the new dialect stops an old store until the connection
// ends.
#include <cstring>

#include "base/text.h"
#include "identify/service_probe.h"

namespace muster::identify::tcp_store {
namespace {

// What a dialect calls its queries that read.
struct Dialect {
  std::string_view begin;  // before the first query of a connection
  char keys, check, get;
};
constexpr Dialect kOld{"", 6, 4, 2};
constexpr Dialect kNew{{"\x00\xCE\xF7\x85\x3C", 5}, 7, 5, 3};

// How many have joined counts itself under this key.
constexpr std::string_view kJoined = "init/";
constexpr std::int64_t kMaxKeys = 1 << 30;

std::string Number(std::uint64_t value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

std::optional<std::int64_t> NumberAt(std::string_view bytes) {
  std::int64_t value = 0;
  if (bytes.size() < sizeof value) {
    return std::nullopt;
  }
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

ProbeReply Query(ProbeConnection& wire, const Dialect& dialect,
                 const std::string& query, std::size_t enough) {
  return wire.Say(std::string(dialect.begin) + query, enough);
}

std::optional<std::int64_t> Keys(ProbeConnection& wire, const Dialect& dialect,
                                 ProbeReply& heard) {
  heard = Query(wire, dialect, {dialect.keys}, sizeof(std::int64_t));
  const auto keys = NumberAt(heard.bytes);
  return heard.bytes.size() == sizeof(std::int64_t) && *keys >= 0 &&
                 *keys < kMaxKeys
             ? keys
             : std::nullopt;
}

// A key that is not there must not be asked for: that ends or keeps waiting.
std::optional<std::int64_t> Joined(ProbeConnection& wire,
                                   const Dialect& dialect) {
  const std::string key = Number(kJoined.size()) + std::string(kJoined);
  const ProbeReply there =
      Query(wire, dialect, std::string{dialect.check} + Number(1) + key, 1);
  if (there.bytes != std::string_view("\0", 1)) {
    return std::nullopt;
  }
  const ProbeReply value =
      Query(wire, dialect, std::string{dialect.get} + key, 9);
  const auto size = NumberAt(value.bytes);
  return size && *size > 0 && *size < 12
             ? ParseInt(
                   std::string_view(value.bytes)
                       .substr(sizeof *size, static_cast<std::size_t>(*size)))
             : std::nullopt;
}

std::optional<ServerIdentity> Ask(ProbeConnection& wire, ProbeReply& heard) {
  for (const Dialect& dialect : {kOld, kNew}) {
    const auto keys = Keys(wire, dialect, heard);
    if (!keys) {
      if (!heard.bytes.empty()) {
        return std::nullopt;  // somebody else
      }
      continue;
    }
    ServerIdentity server{.protocol = "tcpstore",
                          .text = "a torch TCPStore (" + Count(*keys, "key")};
    if (const auto joined = Joined(wire, dialect)) {
      server.text += ", " + std::to_string(*joined) + " joined";
    }
    server.text += ")";
    return server;
  }
  return std::nullopt;
}

}  // namespace

extern const Protocol kProtocol;
constinit const Protocol kProtocol{.name = "tcpstore",
                                   .title = "a torch TCPStore",
                                   .port = 29500,
                                   .speaks = Speaks::kAsked,
                                   .order = 10,
                                   .ask = Ask};

}  // namespace muster::identify::tcp_store
