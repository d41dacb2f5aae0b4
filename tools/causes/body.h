// SPDX-License-Identifier: Apache-2.0
// The Markdown below the front matter: sections and examples.
#pragma once

#include <cstddef>

#include "causes/cause_file.h"

namespace causes {

// Reads from line index `first` (from zero) on: every section of kSections once
// and in order, none empty, examples of a hit and of a near miss, and local
// links that lead to a file.
void ReadBody(CauseFile& file, std::size_t first, Problems& problems);

}  // namespace causes
