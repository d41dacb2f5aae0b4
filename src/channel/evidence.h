// SPDX-License-Identifier: Apache-2.0
// Adding several facts to an error.
#pragma once

#include <span>
#include <utility>

#include "muster/error.h"

namespace muster::channel {

// The error with at most `limit` facts in all.
inline Error WithFacts(Error error, std::span<const Fact> facts,
                       std::size_t limit = 16) {
  for (const Fact& fact : facts) {
    if (error.evidence().size() >= limit) {
      break;
    }
    Error more = std::move(error).With(fact);
    error = std::move(more);
  }
  return error;
}

}  // namespace muster::channel
