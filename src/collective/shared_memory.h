// SPDX-License-Identifier: Apache-2.0
// Collectives among the ranks of one host, in memory that they share.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>

#include "muster/collective.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "wire/progress_page.h"

namespace muster {

struct SharedMemoryOptions {
  int rank = 0;
  int size = 1;
  // An empty memfd that all ranks of the attempt share; not owned, needed only
  // while the group is made.
  int segment = -1;
  // Whose stop word ends every wait and on whose bell the ranks sleep. Must
  // outlive the group.
  wire::Board* board = nullptr;
  // How long a wait looks before it sleeps, where each rank has a core.
  Duration spin = std::chrono::microseconds(50);
  // Address space kept for each rank's memory: the most it can allocate.
  std::size_t arena_bytes = std::size_t{1} << 36;
};

// Joins the group; does not wait for the others. duplicate-identity (the rank
// is taken), shm-too-small, os-limit, usage-invalid (rank and size).
// Errors of a work beyond those of collective.h: rank-world-mismatch when ranks
// disagree about the size of the group.
Result<std::unique_ptr<Collective>> MakeSharedMemory(
    const SharedMemoryOptions& options);

}  // namespace muster
