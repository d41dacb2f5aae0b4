// SPDX-License-Identifier: Apache-2.0
// All cause files together, and what is made from them.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <vector>

#include "causes/cause_file.h"

namespace causes {

// Reads FAMILY/LABEL.md below `root`, sorted by label, and checks the files
// against each other: labels are unique, related and expected labels exist,
// patterns find their own examples and nobody else's.
std::vector<CauseFile> ReadCatalogue(const std::filesystem::path& root,
                                     Problems& problems);

// muster/cause.h: the enum and its lookups.
void WriteHeader(const std::vector<CauseFile>& files, std::ostream& out);
// cause_table.cc: label, family, title, severity and retry class.
void WriteTable(const std::vector<CauseFile>& files, std::ostream& out);
// catalogue_table.cc: the texts for finding/catalogue.h.
void WriteTexts(const std::vector<CauseFile>& files, std::ostream& out);
// docs/reference/causes.md.
void WriteDocs(const std::vector<CauseFile>& files, std::ostream& out);

}  // namespace causes
