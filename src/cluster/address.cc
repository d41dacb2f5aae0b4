// SPDX-License-Identifier: Apache-2.0
#include "muster/address.h"

#include <arpa/inet.h>

#include <algorithm>

#include "base/text.h"

namespace muster {
namespace {

Error Malformed(std::string_view text, std::size_t at, std::string_view what) {
  return Error(Cause::kClusterSpecInvalid,
               "`" + Printable(text) +
                   "` is not HOST:PORT: " + std::string(what) +
                   " at position " + std::to_string(at + 1));
}

bool IsHostCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

// What IPv6 is written with, a zone (%eth0) included.
bool IsIpv6Character(char c) {
  return IsHostCharacter(c) || c == ':' || c == '%';
}

// A port of `text`, whose digits begin at `at`.
Result<std::uint16_t> ParsePort(std::string_view text, std::size_t at) {
  const auto digits = text.substr(at);
  const bool only_digits =
      std::all_of(digits.begin(), digits.end(),
                  [](char c) { return c >= '0' && c <= '9'; });
  const auto port = only_digits ? ParseInt(digits) : std::nullopt;
  if (!port) {
    return Malformed(text, at, "the port is not a number");
  }
  if (*port < 1 || *port > 65535) {
    return Malformed(text, at, "the port is not in 1 to 65535");
  }
  return static_cast<std::uint16_t>(*port);
}

// The host of `[host]` or `host` and where it ends in the text.
struct HostPart {
  std::string host;
  std::size_t end = 0;
};

Result<HostPart> ParseBracketed(std::string_view text) {
  const auto close = text.find(']');
  if (close == std::string_view::npos) {
    return Malformed(text, 0, "`[` is not closed");
  }
  const auto host = text.substr(1, close - 1);
  const auto odd = std::find_if_not(host.begin(), host.end(), IsIpv6Character);
  if (odd != host.end() || host.find(':') == std::string_view::npos) {
    return Malformed(text, 1 + static_cast<std::size_t>(odd - host.begin()),
                     "not an IPv6 address");
  }
  return HostPart{std::string(host), close + 1};
}

Result<HostPart> ParsePlain(std::string_view text) {
  const auto colon = text.find(':');
  const auto host = text.substr(0, colon);
  const auto odd = std::find_if_not(host.begin(), host.end(), IsHostCharacter);
  if (odd != host.end()) {
    return Malformed(text, static_cast<std::size_t>(odd - host.begin()),
                     "an invalid character in the host name");
  }
  if (host.empty()) {
    return Malformed(text, 0, "the host is missing");
  }
  const auto second =
      colon == host.npos ? host.npos : text.find(':', colon + 1);
  if (second != host.npos) {
    return Malformed(text, second, "a second `:` (IPv6 needs brackets)");
  }
  return HostPart{std::string(host), host.size()};
}

// Is ::ffff:a.b.c.d.
bool IsV4(const Address::Bytes& ip) {
  constexpr std::array<unsigned char, 12> kMapped{0, 0, 0, 0, 0,    0,
                                                  0, 0, 0, 0, 0xff, 0xff};
  return std::equal(kMapped.begin(), kMapped.end(), ip.begin());
}

}  // namespace

Result<Address> Address::Parse(std::string_view text,
                               std::uint16_t default_port) {
  text = Trim(text);
  MUSTER_ASSIGN(auto part, text.starts_with('[') ? ParseBracketed(text)
                                                 : ParsePlain(text));
  Address address{.host = std::move(part.host), .port = default_port};
  if (part.end < text.size()) {
    if (text[part.end] != ':') {
      return Malformed(text, part.end, "`:` is missing");
    }
    MUSTER_ASSIGN(address.port, ParsePort(text, part.end + 1));
  } else if (default_port == 0) {
    return Malformed(text, text.size(), "the port is missing");
  }
  return address;
}

std::optional<Address::Bytes> Address::Ip() const {
  Bytes ip{};
  const bool v4 = host.find(':') == std::string::npos;
  const std::string number = v4 ? host : host.substr(0, host.find('%'));
  if (v4) {
    ip[10] = ip[11] = 0xff;
  }
  // A text with a null byte ends there for inet_pton, and is none.
  const bool literal =
      host.find('\0') == std::string::npos &&
      inet_pton(v4 ? AF_INET : AF_INET6, number.c_str(), &ip[v4 ? 12 : 0]) == 1;
  return literal ? std::optional(ip) : std::nullopt;
}

bool Address::HasIpOf(const Address& other) const {
  const auto ip = Ip();
  return ip && ip == other.Ip();
}

bool Address::IsLoopback() const {
  const auto ip = Ip();
  return host == "localhost" || HasIpOf({.host = "::1"}) ||
         (ip && IsV4(*ip) && (*ip)[12] == 127);
}

bool Address::IsLinkLocal() const {
  const auto ip = Ip();
  return ip && (IsV4(*ip) ? (*ip)[12] == 169 && (*ip)[13] == 254
                          : (*ip)[0] == 0xfe && (*ip)[1] >> 6U == 2);
}

bool Address::IsNumeric() const {
  return host.empty() || Ip();
}

std::string ToString(const Address& address) {
  const bool ipv6 = address.host.find(':') != std::string::npos;
  return (ipv6 ? "[" + address.host + "]" : address.host) + ":" +
         std::to_string(address.port);
}

}  // namespace muster
