// SPDX-License-Identifier: Apache-2.0
#include "muster/address.h"

#include <algorithm>
#include <optional>

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
    return Malformed(text, at, "the port is not within 1 to 65535");
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
                     "no IPv6 address");
  }
  return HostPart{std::string(host), close + 1};
}

Result<HostPart> ParsePlain(std::string_view text) {
  const auto colon = text.find(':');
  const auto host = text.substr(0, colon);
  const auto odd = std::find_if_not(host.begin(), host.end(), IsHostCharacter);
  if (odd != host.end()) {
    return Malformed(text, static_cast<std::size_t>(odd - host.begin()),
                     "a character that no host name has");
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

bool Address::IsNumeric() const {
  return host.find(':') != std::string::npos ||
         host.find_first_not_of("0123456789.") == std::string::npos;
}

bool Address::IsLoopback() const {
  if (host == "localhost" || host == "::1") {
    return true;
  }
  if (!host.starts_with("127.")) {
    return false;
  }
  const auto parts = Split(host, '.');
  return parts.size() == 4 &&
         std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
           const auto number = ParseInt(part);
           return number && *number >= 0 && *number <= 255;
         });
}

std::string ToString(const Address& address) {
  const bool ipv6 = address.host.find(':') != std::string::npos;
  return (ipv6 ? "[" + address.host + "]" : address.host) + ":" +
         std::to_string(address.port);
}

}  // namespace muster
