// SPDX-License-Identifier: Apache-2.0
// What Slurm writes lists of hosts and of task counts with. Pure; every error
// is cluster-spec-invalid and names the position (counted from 1).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "muster/error.h"

namespace muster::resolve {

// "n[1-2,07]-ib0, m5": items between commas or white space, each with any
// number of brackets of numbers and ranges. The order is that of the text, the
// last bracket runs fastest, duplicates stay, leading zeros keep their width.
Result<std::vector<std::string>> ExpandHostList(std::string_view text);

// "2(x3),1" = 2, 2, 2, 1.
Result<std::vector<int>> ExpandTasksPerNode(std::string_view text);

}  // namespace muster::resolve
