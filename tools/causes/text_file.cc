// SPDX-License-Identifier: Apache-2.0
#include "causes/text_file.h"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>

namespace causes {
namespace {

std::vector<std::string> LabelsOf(const std::vector<CauseFile>& files) {
  std::vector<std::string> labels;
  labels.reserve(files.size());
  for (const CauseFile& file : files) {
    labels.push_back(file.label.text);
  }
  return labels;
}

}  // namespace

std::vector<KnownText> ReadTextFile(const std::filesystem::path& root,
                                    const std::vector<CauseFile>& files,
                                    Problems& problems) {
  CauseFile file;
  file.path = root / "texts.txt";
  const auto labels = LabelsOf(files);
  std::vector<KnownText> texts;
  std::ifstream in(file.path);
  for (std::string line; std::getline(in, line);) {
    file.lines.push_back(line);
    const Place place{.line = static_cast<int>(file.lines.size())};
    if (line.starts_with("@#")) {
      continue;
    }
    if (line.starts_with("@ ")) {
      const std::string label = line.substr(2);
      texts.push_back({{label, place}, ""});
      if (std::find(labels.begin(), labels.end(), label) == labels.end()) {
        problems.Add(file, place, NoSuchCause(label, labels));
      }
    } else if (!texts.empty()) {
      texts.back().text += line + "\n";
    } else if (!line.empty()) {
      problems.Add(file, place,
                   "a text begins with `@ LABEL`, a remark with `@#`");
    }
  }
  return texts;
}

}  // namespace causes
