// SPDX-License-Identifier: Apache-2.0
// "a:8476,b:8476" as members.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "resolve/resolve.h"

namespace muster::resolve {

// Of a list that names hosts alone. Where only some entries have a port, one
// was forgotten.
inline constexpr std::uint16_t kDefaultPort = 8476;

// A cluster of workers, ranked in the order of the list; the coordinator is
// rank 0. Without own rank. cluster-spec-invalid names the entry and the
// position; duplicate-identity an address that occurs twice.
Result<Cluster> ParseAddressList(std::string_view text,
                                 const std::string& source);

// The coordinator concluded from the address of rank 0, if that is known.
void ConcludeCoordinator(Cluster& cluster);

}  // namespace muster::resolve
