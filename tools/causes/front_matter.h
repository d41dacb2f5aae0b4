// SPDX-License-Identifier: Apache-2.0
// The YAML between the two `---`.
#pragma once

#include <cstddef>

#include "causes/cause_file.h"

namespace causes {

// Reads lines 2 to `end` (the line count before the closing `---`) of the file
// into its fields, and checks each value.
void ReadFrontMatter(CauseFile& file, std::size_t end, Problems& problems);

}  // namespace causes
