// SPDX-License-Identifier: Apache-2.0
// Texts and checks of the ranks' calls. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "collective/segment.h"
#include "muster/deadline.h"
#include "muster/error.h"

namespace muster {

// "all-reduce of 100 F32", "broadcast of 10 I64 from rank 0", "barrier".
std::string Describe(const CallRecord& call);

// Compares the ranks' records of one call, by rank. collective-desync (another
// operation, another of several areas) or collective-shape-mismatch (count,
// dtype, root), naming rank 0's call and that of the first rank that differs:
// the same error on every rank.
std::optional<Error> FindMismatch(std::span<const CallRecord> calls);

// A wait for `call` has reached its deadline. `late`: ranks that have not
// started it or, when all have (`stuck`), not done their part.
struct Lateness {
  std::vector<int> late;
  bool stuck = false;
  Duration waited{};
};
Error DeadlineError(const CallRecord& call, const Lateness& lateness);

// An all-reduce found something that is not finite. `rank`: whose input, equal
// to `size` when all inputs were finite and their sum was not.
Error NotFiniteError(const CallRecord& call, int rank, int size);

}  // namespace muster
