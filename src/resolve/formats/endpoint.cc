// SPDX-License-Identifier: Apache-2.0
#include "resolve/formats/endpoint.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace muster::resolve {
namespace {

Error Malformed(std::string_view text, const std::string& what) {
  return Error(
      Cause::kClusterSpecInvalid,
      "`" + Printable(text.substr(0, 200)) + "` is no endpoint: " + what);
}

bool IsHostCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
}

Status CheckHost(std::string_view text, std::string_view host) {
  const auto odd = std::find_if_not(host.begin(), host.end(), [](char c) {
    return IsHostCharacter(c) || c == ':' || c == '%';
  });
  if (odd != host.end() || host.empty()) {
    const auto at = host.data() - text.data() + (odd - host.begin());
    return Malformed(text, "the host name is not valid at position " +
                               std::to_string(at + 1));
  }
  return Ok();
}

Result<int> ParsePort(std::string_view text, std::string_view digits) {
  const bool only_digits =
      std::all_of(digits.begin(), digits.end(),
                  [](char c) { return c >= '0' && c <= '9'; });
  const auto port = only_digits ? ParseInt(digits) : std::nullopt;
  if (!port || *port > 65535) {
    const auto at = digits.data() - text.data();
    return Malformed(text,
                     "the port is not a number from 0 to 65535 at position " +
                         std::to_string(at + 1));
  }
  return static_cast<int>(*port);
}

using Ip = std::array<std::uint16_t, 8>;

std::optional<std::uint32_t> ParseIpv4(std::string_view text) {
  const auto parts = Split(text, '.');
  if (parts.size() != 4) {
    return std::nullopt;
  }
  std::uint32_t value = 0;
  for (const std::string& part : parts) {
    const auto number = ParseInt(part);
    if (part.size() > 3 || !number || *number < 0 || *number > 255 ||
        part[0] == '+') {
      return std::nullopt;
    }
    value = value << 8U | static_cast<std::uint32_t>(*number);
  }
  return value;
}

std::optional<std::uint16_t> ParseGroup(std::string_view text) {
  if (text.empty() || text.size() > 4) {
    return std::nullopt;
  }
  unsigned value = 0;
  for (const char c : text) {
    const bool digit = c >= '0' && c <= '9';
    const char lower = static_cast<char>(c | 0x20);
    if (!digit && (lower < 'a' || lower > 'f')) {
      return std::nullopt;
    }
    value =
        value * 16 + static_cast<unsigned>(digit ? c - '0' : lower - 'a' + 10);
  }
  return static_cast<std::uint16_t>(value);
}

// The groups of one side of "::".
std::optional<std::vector<std::uint16_t>> ParseGroups(std::string_view text) {
  std::vector<std::uint16_t> groups;
  if (text.empty()) {
    return groups;
  }
  const auto parts = Split(text, ':');
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i + 1 == parts.size() && parts[i].find('.') != std::string::npos) {
      const auto v4 = ParseIpv4(parts[i]);
      if (!v4) {
        return std::nullopt;
      }
      groups.push_back(static_cast<std::uint16_t>(*v4 >> 16U));
      groups.push_back(static_cast<std::uint16_t>(*v4 & 0xffffU));
      continue;
    }
    const auto group = ParseGroup(parts[i]);
    if (!group) {
      return std::nullopt;
    }
    groups.push_back(*group);
  }
  return groups;
}

std::optional<Ip> ParseIp(std::string_view text) {
  text = text.substr(0, text.find('%'));
  Ip ip{};
  if (const auto v4 = ParseIpv4(text)) {
    ip[5] = 0xffff;
    ip[6] = static_cast<std::uint16_t>(*v4 >> 16U);
    ip[7] = static_cast<std::uint16_t>(*v4 & 0xffffU);
    return ip;
  }
  if (text.find(':') == std::string_view::npos) {
    return std::nullopt;
  }
  const auto gap = text.find("::");
  const bool has_gap = gap != std::string_view::npos;
  const auto head = ParseGroups(text.substr(0, gap));
  const auto tail = has_gap ? ParseGroups(text.substr(gap + 2))
                            : std::optional<std::vector<std::uint16_t>>(
                                  std::vector<std::uint16_t>());
  if (!head || !tail) {
    return std::nullopt;
  }
  const std::size_t count = head->size() + tail->size();
  if (has_gap ? count > 7 : count != 8) {
    return std::nullopt;
  }
  std::copy(head->begin(), head->end(), ip.begin());
  std::copy(tail->begin(), tail->end(),
            ip.end() - static_cast<std::ptrdiff_t>(tail->size()));
  return ip;
}

std::string_view WithoutScheme(std::string_view text) {
  constexpr std::string_view kScheme = "grpc://";
  return text.starts_with(kScheme) ? text.substr(kScheme.size()) : text;
}

}  // namespace

bool IsIpAddress(std::string_view text) {
  return ParseIp(text).has_value();
}

bool SameIp(std::string_view a, std::string_view b) {
  const auto first = ParseIp(a);
  const auto second = ParseIp(b);
  return first && second && *first == *second;
}

bool IsLoopbackIp(std::string_view text) {
  const auto ip = ParseIp(text);
  const bool v4 = ip && std::all_of(ip->begin(), ip->begin() + 5,
                                    [](std::uint16_t g) { return g == 0; });
  return (v4 && (*ip)[5] == 0xffff && (*ip)[6] >> 8U == 127) ||
         (ip && SameIp(text, "::1"));
}

std::string JoinHostPort(const std::string& host, int port) {
  const bool ipv6 = host.find(':') != std::string::npos;
  return (ipv6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<HostAndPort> SplitHostPort(std::string_view text) {
  text = Trim(text);
  if (text.size() > 512) {
    return Malformed(text, "it is longer than 512 characters");
  }
  HostAndPort found;
  if (IsIpAddress(text)) {
    found.host = text;
    return found;
  }
  std::string_view host = text;
  std::string_view port;
  const bool closed = text.ends_with(']');
  const auto colon = closed ? std::string_view::npos : text.rfind(':');
  if (colon != std::string_view::npos) {
    host = text.substr(0, colon);
    port = text.substr(colon + 1);
  }
  if (host.size() > 1 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return Malformed(text, "a second `:` (IPv6 with a port needs brackets)");
  }
  MUSTER_TRY(CheckHost(text, host));
  found.host = host;
  if (colon != std::string_view::npos) {
    MUSTER_ASSIGN(found.port, ParsePort(text, port));
  }
  return found;
}

Result<HostAndPort> ParseEndpoint(std::string_view text, int default_port) {
  if (Trim(text).empty()) {
    return HostAndPort{"localhost", default_port};
  }
  MUSTER_ASSIGN(auto found, SplitHostPort(text));
  if (!found.port) {
    found.port = default_port;
  }
  return found;
}

Result<std::vector<std::string>> ParseTpuEndpoints(std::string_view text,
                                                   int default_port) {
  std::vector<std::string> endpoints;
  for (const std::string& part : Split(text, ',')) {
    auto one = SplitHostPort(WithoutScheme(Trim(part)));
    if (one && one->port == 0) {
      one = Malformed(part, "the port is not within 1 to 65535");
    }
    if (!one) {
      return std::move(one).error().While("reading entry " +
                                          std::to_string(endpoints.size() + 1));
    }
    endpoints.push_back(
        JoinHostPort(one->host, one->port.value_or(default_port)));
  }
  if (endpoints.empty()) {
    return Malformed(text, "it lists no address");
  }
  return endpoints;
}

bool IsTpuEndpoints(std::string_view text) {
  if (Trim(text).starts_with("grpc://")) {
    return true;
  }
  const auto parts = Split(text, ',');
  return !parts.empty() &&
         std::all_of(parts.begin(), parts.end(), [](const std::string& part) {
           const auto one = SplitHostPort(WithoutScheme(Trim(part)));
           return one && (one->port || IsIpAddress(one->host));
         });
}

}  // namespace muster::resolve
