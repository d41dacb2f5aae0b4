// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace muster::wire {

// A message as it travels between agents: its kind and a JSON document
// (bounded: 8 MiB).
struct Envelope {
  std::string kind;
  std::string body;
};

}  // namespace muster::wire
