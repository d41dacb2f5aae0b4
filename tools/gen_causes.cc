// SPDX-License-Identifier: Apache-2.0
// Reads causes/FAMILY/LABEL.md and writes what is made from them.
//
//   gen_causes CAUSES OUT      OUT/muster/cause.h, OUT/cause_table.cc,
//                              OUT/catalogue_table.cc, OUT/cause_rules.cc,
//                              OUT/cause_texts.cc and OUT/log_patterns.cc
//   gen_causes --check CAUSES      nothing but the check
//
// Exit status 1: a file is wrong; each problem is printed with its place.
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "causes/catalogue.h"

namespace {

using Files = std::vector<causes::CauseFile>;
using Writer = std::function<void(const Files&, std::ostream&)>;

// Leaves a file alone that would not change, so that nothing is built anew.
bool Update(const std::filesystem::path& path, const Writer& writer,
            const Files& files) {
  std::ostringstream wanted;
  writer(files, wanted);
  {
    std::ifstream in(path);
    std::ostringstream current;
    current << in.rdbuf();
    if (in && current.str() == wanted.str()) {
      return true;
    }
  }
  std::filesystem::create_directories(path.parent_path());
  std::ofstream out(path);
  out << wanted.str();
  out.flush();
  if (!out) {
    std::cerr << "gen_causes: cannot write " << path << "\n";
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv + 1, argv + argc);
  const bool check = !args.empty() && args[0] == "--check";
  const bool unknown = !check && !args.empty() && args[0].rfind("--", 0) == 0;
  if (unknown || args.size() != 2) {
    std::cerr << "usage: gen_causes CAUSES OUT | --check CAUSES\n";
    return 2;
  }
  causes::Problems problems;
  const std::filesystem::path root = check ? args[1] : args[0];
  if (!std::filesystem::is_directory(root)) {
    std::cerr << "gen_causes: there is no folder " << root << "\n";
    return 1;
  }
  const Files files = causes::ReadCatalogue(root, problems);
  if (files.empty()) {
    std::cerr << "gen_causes: no cause lies below " << root << "\n";
    return 1;
  }
  const auto facts = causes::ReadFactFile(root, problems);
  const auto texts = causes::ReadTextFile(root, files, problems);
  if (!problems.empty()) {
    std::cerr << problems.text();
    return 1;
  }
  if (check) {
    return 0;
  }
  const std::filesystem::path out = args[1];
  const bool written =
      Update(out / "muster" / "cause.h", causes::WriteHeader, files) &&
      Update(out / "cause_table.cc", causes::WriteTable, files) &&
      Update(out / "catalogue_table.cc", causes::WriteTexts, files) &&
      Update(out / "cause_rules.cc", causes::WriteRules, files) &&
      Update(
          out / "cause_texts.cc",
          [&](const Files& all, std::ostream& to) {
            causes::WriteKnownTexts(all, texts, to);
          },
          files) &&
      Update(
          out / "log_patterns.cc",
          [&](const Files& all, std::ostream& to) {
            causes::WritePatterns(all, facts, to);
          },
          files);
  return written ? 0 : 1;
}
