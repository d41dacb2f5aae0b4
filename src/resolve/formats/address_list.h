// SPDX-License-Identifier: Apache-2.0
// "a:8476,b:8476", "a:8,b:4" or "a:8476:8" as members.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "resolve/resolve.h"

namespace muster::resolve {

// Of a list that names hosts alone. Where only some entries have a port, one
// was forgotten.
inline constexpr std::uint16_t kDefaultPort = 8476;

// Numbers below are slots: how many ranks a host has (as `mpirun -H a:8`).
inline constexpr int kFirstPort = 1024;

struct AddressList {
  Cluster cluster;         // of workers, in the order of the list
  std::vector<int> slots;  // of each; empty: one everywhere
};

// The coordinator is rank 0. Without own rank. cluster-spec-invalid names the
// entry and the position; duplicate-identity an address that occurs twice.
Result<AddressList> ParseAddressList(std::string_view text,
                                     const std::string& source);

// The coordinator concluded from the address of rank 0, if that is known.
void ConcludeCoordinator(Cluster& cluster);

}  // namespace muster::resolve
