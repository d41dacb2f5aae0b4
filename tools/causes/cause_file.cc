// SPDX-License-Identifier: Apache-2.0
#include "causes/cause_file.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/words/suggest.h"
#include "causes/body.h"
#include "causes/front_matter.h"

namespace causes {
namespace {

std::vector<std::string> ReadLines(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    lines.push_back(line);
  }
  return lines;
}

}  // namespace

void Problems::Add(const CauseFile& file, Place place,
                   const std::string& what) {
  std::ostringstream out;
  out << file.path.string() << ":" << place.line << ":" << place.column
      << ": error: " << what << "\n";
  const auto index = static_cast<std::size_t>(place.line) - 1;
  if (index < file.lines.size()) {
    const auto column = static_cast<std::size_t>(std::max(place.column, 1));
    out << "  " << file.lines[index] << "\n"
        << std::string(column + 1, ' ') << "^\n";
  }
  text_ += out.str();
}

std::string NoSuchCause(const std::string& label,
                        const std::vector<std::string>& known) {
  return "there is no cause `" + label + "`" + muster::MeantText(label, known);
}

CauseFile ReadCauseFile(const std::filesystem::path& path, Problems& problems) {
  CauseFile file;
  file.path = path;
  file.family = path.parent_path().filename().string();
  file.lines = ReadLines(path);
  if (file.lines.empty() || file.lines[0] != "---") {
    problems.Add(file, {}, "the front matter does not begin: line 1 is `---`");
    return file;
  }
  const auto end = std::find(file.lines.begin() + 1, file.lines.end(), "---");
  if (end == file.lines.end()) {
    problems.Add(file, {}, "the front matter does not end: no second `---`");
    return file;
  }
  const auto body = static_cast<std::size_t>(end - file.lines.begin()) + 1;
  ReadFrontMatter(file, body - 1, problems);
  ReadBody(file, body, problems);
  return file;
}

}  // namespace causes
