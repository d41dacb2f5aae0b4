// SPDX-License-Identifier: Apache-2.0
// A host and a port.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "muster/error.h"

namespace muster {

// A host (name, IPv4 or IPv6 without brackets) and a port; port 0 = not given.
struct Address {
  std::string host;        // without brackets
  std::uint16_t port = 0;  // 0: not given

  auto operator<=>(const Address&) const = default;

  // HOST[:PORT] or [IPv6]:PORT. cluster-spec-invalid with the position when it
  // is neither, or the port is missing and no default (not 0) is given.
  static Result<Address> Parse(std::string_view text,
                               std::uint16_t default_port = 0);

  // The bytes of an IP address, IPv4 as "::ffff:a.b.c.d".
  using Bytes = std::array<unsigned char, 16>;
  // Of the host when it is a literal: "10.0.0.1", "::1", "::ffff:10.0.0.1" or
  // "fe80::1%eth0", whose scope is left out. nullopt: it is a name, or empty.
  std::optional<Bytes> Ip() const;
  // Both hosts are literals of one IP address ("::1" and "0:0:0:0:0:0:0:1").
  bool HasIpOf(const Address& other) const;
  // True for localhost, 127.0.0.0/8 and ::1. Names are not resolved.
  bool IsLoopback() const;
  // True for literals in 169.254.0.0/16 and fe80::/10.
  bool IsLinkLocal() const;
  // The host is a literal, not a name. True for an empty one, which stands for
  // every interface.
  bool IsNumeric() const;
};

// "10.0.0.7:8476", "[::1]:8476".
std::string ToString(const Address& address);

}  // namespace muster
