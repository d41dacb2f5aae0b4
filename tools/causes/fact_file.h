// SPDX-License-Identifier: Apache-2.0
// causes/facts.yaml: what lines of logs show that is no cause by itself.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "causes/cause_file.h"

namespace causes {

// A pattern and the name of the fact that a matching line becomes.
struct FactPattern {
  std::string name;
  std::string text;
  std::string says;       // of harmless lines: why they are
  bool of_notes = false;  // `note: …`: it is tried on notes alone
};

// Reads the file below `root`; empty where there is none. Names of patterns
// under `harmless` and `trouble` are log.harmless and log.trouble.
std::vector<FactPattern> ReadFactFile(const std::filesystem::path& root,
                                      Problems& problems);

}  // namespace causes
