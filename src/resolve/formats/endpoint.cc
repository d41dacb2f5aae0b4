// SPDX-License-Identifier: Apache-2.0
#include "resolve/formats/endpoint.h"

#include <algorithm>

#include "base/text.h"
#include "muster/address.h"

namespace muster::resolve {
namespace {

Error Malformed(std::string_view text, const std::string& what) {
  return Error(
      Cause::kClusterSpecInvalid,
      "`" + Printable(text.substr(0, 200)) + "` is not an endpoint: " + what);
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

bool IsLiteral(std::string_view text) {
  return Address{.host = std::string(text)}.Ip().has_value();
}

std::string_view WithoutScheme(std::string_view text) {
  constexpr std::string_view kScheme = "grpc://";
  return text.starts_with(kScheme) ? text.substr(kScheme.size()) : text;
}

}  // namespace

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
  if (IsLiteral(text)) {
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
      one = Malformed(part, "the port is not in 1 to 65535");
    }
    if (!one) {
      return std::move(one).error().While("reading entry " +
                                          std::to_string(endpoints.size() + 1));
    }
    endpoints.push_back(
        JoinHostPort(one->host, one->port.value_or(default_port)));
  }
  if (endpoints.empty()) {
    return Malformed(text, "it contains no address");
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
           return one && (one->port || IsLiteral(one->host));
         });
}

}  // namespace muster::resolve
