// SPDX-License-Identifier: Apache-2.0
// What the agent tells a rank when it registers.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "muster/error.h"

namespace muster {

// The defaults are those of a session of one.
struct Membership {
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;
  int local_size = 1;
  std::size_t slot = 0;
  int segment_ranks = 1;  // that share the segment: those of the agent
  int attempt = 1;
  std::string run_id;
  std::map<std::string, std::vector<std::string>> tasks;
};

// From the JSON of kRegistered. internal-error: it is not what an agent of this
// version sends.
Result<Membership> ParseMembership(std::string_view text);

}  // namespace muster
