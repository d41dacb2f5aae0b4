// SPDX-License-Identifier: Apache-2.0
#include "causes/body.h"

#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string>

namespace causes {
namespace {

Place AtLine(std::size_t index) {
  return {static_cast<int>(index) + 1, 1};
}

// Without blank lines at either end; the first line keeps its indentation,
// which marks commands.
std::string_view WithoutBlankEnds(std::string_view text) {
  const auto first = text.find_first_not_of(" \n");
  if (first == std::string_view::npos) {
    return {};
  }
  const auto line = text.rfind('\n', first);
  const auto begin = line == std::string_view::npos ? 0 : line + 1;
  return text.substr(begin, text.find_last_not_of(" \n") - begin + 1);
}

// "```log expect=LABEL key=value".
Example ReadFenceHead(const CauseFile& file, std::size_t index,
                      Problems& problems) {
  Example example;
  const std::string& line = file.lines[index];
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word != "```log") {
    problems.Add(file, AtLine(index),
                 "an example begins with ```log expect=LABEL");
  }
  while (words >> word) {
    const auto equals = word.find('=');
    const auto column = static_cast<int>(line.find(word)) + 1;
    const Place place{static_cast<int>(index) + 1, column};
    if (equals == std::string::npos) {
      problems.Add(file, place, "`" + word + "` is not `key=value`");
      continue;
    }
    if (word.substr(0, equals) == "expect") {
      example.expect = {word.substr(equals + 1), place};
    } else {
      example.fields[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  if (example.expect.text.empty()) {
    problems.Add(file, AtLine(index), "the example has no `expect=`");
  }
  return example;
}

// The fenced blocks of [first, last).
void ReadExamples(CauseFile& file, std::size_t first, std::size_t last,
                  Problems& problems) {
  for (std::size_t i = first; i < last; ++i) {
    if (file.lines[i].rfind("```", 0) != 0) {
      continue;
    }
    const std::size_t head = i;
    Example example = ReadFenceHead(file, head, problems);
    for (++i; i < last && file.lines[i] != "```"; ++i) {
      example.text += file.lines[i] + "\n";
    }
    if (i == last) {
      problems.Add(file, AtLine(head), "the example does not end with ```");
    }
    file.examples.push_back(std::move(example));
  }
}

void CheckExamples(const CauseFile& file, std::size_t heading,
                   Problems& problems) {
  const auto hits = std::count_if(
      file.examples.begin(), file.examples.end(), [&](const Example& example) {
        return example.expect.text == file.label.text;
      });
  if (hits == 0) {
    problems.Add(file, AtLine(heading),
                 "no example with `expect=" + file.label.text + "`");
  }
  if (hits == std::ssize(file.examples)) {
    problems.Add(file, AtLine(heading),
                 "no near miss: an example with `expect=none` or with the "
                 "label that it is instead");
  }
}

void CheckLinks(const CauseFile& file, std::size_t first, Problems& problems) {
  static const RE2 link(R"(\]\(([^)]+)\))");
  for (std::size_t i = first; i < file.lines.size(); ++i) {
    re2::StringPiece rest(file.lines[i]);
    std::string target;
    while (RE2::FindAndConsume(&rest, link, &target)) {
      const bool remote = target.find("://") != std::string::npos;
      if (!remote &&
          !std::filesystem::exists(file.path.parent_path() / target)) {
        const auto column = static_cast<int>(file.lines[i].find(target)) + 1;
        problems.Add(file, {static_cast<int>(i) + 1, column},
                     "the link leads nowhere");
      }
    }
  }
}

// One section: the lines [heading + 1, end).
void TakeSection(CauseFile& file, std::size_t heading, std::size_t end,
                 Problems& problems) {
  const std::string title = file.lines[heading].substr(2);
  std::string text;
  for (std::size_t i = heading + 1; i < end; ++i) {
    text += file.lines[i] + "\n";
  }
  text = std::string(WithoutBlankEnds(text));
  if (text.empty()) {
    problems.Add(file, AtLine(heading), "the section `" + title + "` is empty");
  }
  if (title == "Examples") {
    ReadExamples(file, heading + 1, end, problems);
    CheckExamples(file, heading, problems);
  }
  file.sections[title] = text;
}

}  // namespace

void ReadBody(CauseFile& file, std::size_t first, Problems& problems) {
  std::vector<std::size_t> headings;
  bool fenced = false;
  for (std::size_t i = first; i < file.lines.size(); ++i) {
    fenced = fenced != (file.lines[i].rfind("```", 0) == 0);
    if (!fenced && file.lines[i].rfind("# ", 0) == 0) {
      headings.push_back(i);
    }
  }
  for (std::size_t i = 0; i < std::size(kSections); ++i) {
    const std::string expected = "# " + std::string(kSections[i]);
    if (i >= headings.size()) {
      problems.Add(file, AtLine(file.lines.size() - 1),
                   "the section `" + expected + "` is missing");
      return;
    }
    if (file.lines[headings[i]] != expected) {
      problems.Add(file, AtLine(headings[i]),
                   "the section `" + expected + "` is expected here");
      return;
    }
  }
  if (headings.size() > std::size(kSections)) {
    problems.Add(file, AtLine(headings[std::size(kSections)]),
                 "no section comes after `# Examples`");
    return;
  }
  for (std::size_t i = 0; i < headings.size(); ++i) {
    const std::size_t end =
        i + 1 < headings.size() ? headings[i + 1] : file.lines.size();
    TakeSection(file, headings[i], end, problems);
  }
  CheckLinks(file, first, problems);
}

}  // namespace causes
