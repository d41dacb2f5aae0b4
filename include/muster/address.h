// SPDX-License-Identifier: Apache-2.0
// A host and a port.
#pragma once

#include <compare>
#include <cstdint>
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
  // True for localhost, 127.0.0.0/8 and ::1. Names are not looked up.
  bool IsLoopback() const;
  // The host is written in digits, not a name: "10.0.0.1", "::1". True for an
  // empty one, which stands for every interface.
  bool IsNumeric() const;
};

// "10.0.0.7:8476", "[::1]:8476".
std::string ToString(const Address& address);

}  // namespace muster
