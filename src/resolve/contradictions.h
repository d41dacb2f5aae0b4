// SPDX-License-Identifier: Apache-2.0
// Whether two sources describe the same cluster.
#pragma once

#include <string>
#include <vector>

#include "base/text.h"
#include "resolve/resolve.h"

namespace muster::resolve {

using muster::ToString;  // those declared here do not hide it

// A value on which two claims differ.
struct Contradiction {
  std::string what;  // "size", "own rank", "coordinator", "address of rank 1"
  Sourced<std::string> first;
  Sourced<std::string> second;
  // It changes who is there. Others may be two spellings of one address.
  bool fatal = true;

  bool operator==(const Contradiction&) const = default;
};

// Compares what both claim. Addresses are compared as they are written: a name
// and a number, or a short and a full name, are never a fatal difference.
std::vector<Contradiction> Compare(const Claim& first, const Claim& second);

// "the size is 8 (flag -n) and 4 (env WORLD_SIZE)".
std::string ToString(const Contradiction& contradiction);

}  // namespace muster::resolve
