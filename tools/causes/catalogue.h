// SPDX-License-Identifier: Apache-2.0
// All cause files together, and what is made from them.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <vector>

#include "causes/cause_file.h"
#include "causes/fact_file.h"
#include "causes/text_file.h"

namespace causes {

// Reads FAMILY/LABEL.md below `root`, sorted by label, and checks the files
// against each other: labels are unique, related and expected labels exist,
// patterns find their own examples, with the fields that these name, and not
// the near misses. (What the whole catalog makes of every example is tested
// in tests/corpus.)
std::vector<CauseFile> ReadCatalogue(const std::filesystem::path& root,
                                     Problems& problems);

// muster/cause.h: the enum and its lookups.
void WriteHeader(const std::vector<CauseFile>& files, std::ostream& out);
// cause_table.cc: label, family, title, severity and retry class.
void WriteTable(const std::vector<CauseFile>& files, std::ostream& out);
// catalogue_table.cc: the texts for finding/catalog.h.
void WriteTexts(const std::vector<CauseFile>& files, std::ostream& out);
// log_patterns.cc for evidence/, cause_rules.cc for explain/.
void WritePatterns(const std::vector<CauseFile>& files,
                   const std::vector<FactPattern>& facts, std::ostream& out);
void WriteRules(const std::vector<CauseFile>& files, std::ostream& out);
// cause_texts.cc for explain/: the texts and the examples of each cause.
void WriteKnownTexts(const std::vector<CauseFile>& files,
                     const std::vector<KnownText>& texts, std::ostream& out);

}  // namespace causes
