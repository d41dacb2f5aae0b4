// SPDX-License-Identifier: Apache-2.0
// causes/texts.txt: texts of failures, each below a line `@ LABEL`.
#pragma once

#include <filesystem>
#include <vector>

#include "causes/cause_file.h"

namespace causes {

struct KnownText {
  Placed label;
  std::string text;
};

// Reads the file below `root`; empty where there is none. A label is one of
// `files`. Lines that begin with `@#` are remarks; before the first text there
// is nothing else.
std::vector<KnownText> ReadTextFile(const std::filesystem::path& root,
                                    const std::vector<CauseFile>& files,
                                    Problems& problems);

}  // namespace causes
