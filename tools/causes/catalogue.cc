// SPDX-License-Identifier: Apache-2.0
#include "causes/catalogue.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <memory>
#include <sstream>

namespace causes {
namespace {

using ByLabel = std::map<std::string_view, const CauseFile*>;

std::vector<std::string> LabelsOf(const ByLabel& all) {
  std::vector<std::string> labels;
  labels.reserve(all.size());
  for (const auto& [label, file] : all) {
    labels.emplace_back(label);
  }
  return labels;
}

void CheckOver(const CauseFile& file, const ByLabel& all, Problems& problems) {
  for (const Placed& label : file.over) {
    if (label.text == file.label.text) {
      problems.Add(file, label.place, "a cause does not stand over itself");
    } else if (all.count(label.text) == 0) {
      problems.Add(file, label.place, NoSuchCause(label.text, LabelsOf(all)));
    }
  }
}

void CheckRelated(const CauseFile& file, const ByLabel& all,
                  Problems& problems) {
  for (const auto& [label, tells] : file.related) {
    if (label.text == file.label.text) {
      problems.Add(file, label.place, "a cause is not related to itself");
    } else if (all.count(label.text) == 0) {
      problems.Add(file, label.place, NoSuchCause(label.text, LabelsOf(all)));
    }
  }
}

using Compiled = std::vector<std::unique_ptr<RE2>>;

Compiled Compile(const std::vector<Placed>& patterns) {
  Compiled compiled;
  for (const Placed& pattern : patterns) {
    compiled.push_back(std::make_unique<RE2>(pattern.text));
  }
  return compiled;
}

bool Matches(const Compiled& patterns, const std::string& text) {
  return std::any_of(
      patterns.begin(), patterns.end(),
      [&](const auto& pattern) { return RE2::PartialMatch(text, *pattern); });
}

// True when the expected cause stands over this one, so that both may match.
bool StandsOver(const ByLabel& all, const std::string& expected,
                const std::string& label) {
  const auto found = all.find(expected);
  return found != all.end() &&
         std::any_of(found->second->over.begin(), found->second->over.end(),
                     [&](const Placed& over) { return over.text == label; });
}

// True when a pattern finds this value of its group in a line of the text.
bool Captures(const CauseFile& file, const std::string& text,
              const std::string& group, const std::string& value) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    for (const Rule& rule : file.rules) {
      const RE2 pattern(rule.text.text);
      const auto& groups = pattern.NamedCapturingGroups();
      const auto found = groups.find(group);
      if (rule.text.text.empty() || found == groups.end()) {
        continue;
      }
      std::vector<re2::StringPiece> parts(
          static_cast<std::size_t>(found->second) + 1);
      if (pattern.Match(line, 0, line.size(), RE2::UNANCHORED, parts.data(),
                        static_cast<int>(parts.size())) &&
          parts.back() == value) {
        return true;
      }
    }
  }
  return false;
}

void CheckFields(const CauseFile& file, const Example& example,
                 const ByLabel& all, Problems& problems) {
  const auto expected = all.find(example.expect.text);
  for (const auto& [group, value] : example.fields) {
    if (expected == all.end() ||
        !Captures(*expected->second, example.text, group, value)) {
      std::string what = "no pattern finds `";
      what.append(group).append("=").append(value).append("` in the example");
      problems.Add(file, example.expect.place, what);
    }
  }
}

void CheckExamples(const CauseFile& file, const ByLabel& all_files,
                   Problems& problems) {
  std::vector<Placed> all;
  bool facts_alone = false;
  for (const Rule& rule : file.rules) {
    if (rule.text.text.empty()) {
      facts_alone = true;
    } else {
      all.push_back(rule.text);
    }
  }
  const Compiled own = Compile(all);
  const Compiled unconditional = Compile(file.match);
  for (const Example& example : file.examples) {
    CheckFields(file, example, all_files, problems);
    const bool hit = example.expect.text == file.label.text;
    if (hit && !own.empty() && !facts_alone && !Matches(own, example.text)) {
      problems.Add(file, example.expect.place,
                   "no pattern of this file finds the example");
    }
    if (!hit && !StandsOver(all_files, example.expect.text, file.label.text) &&
        Matches(unconditional, example.text)) {
      problems.Add(file, example.expect.place,
                   "a pattern of this file finds the near miss");
    }
  }
}

}  // namespace

std::vector<CauseFile> ReadCatalogue(const std::filesystem::path& root,
                                     Problems& problems) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".md" &&
        entry.path().parent_path() != root) {
      paths.push_back(entry.path());
    }
  }
  std::sort(paths.begin(), paths.end());
  std::vector<CauseFile> files;
  files.reserve(paths.size());
  for (const auto& path : paths) {
    files.push_back(ReadCauseFile(path, problems));
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) {
    return a.label.text < b.label.text;
  });
  ByLabel all;
  for (const CauseFile& file : files) {
    const auto [found, added] = all.emplace(file.label.text, &file);
    if (!added) {
      problems.Add(file, file.label.place,
                   "the label is taken by " + found->second->path.string());
    }
  }
  if (!problems.empty()) {
    return files;
  }
  for (const CauseFile& file : files) {
    CheckRelated(file, all, problems);
    CheckOver(file, all, problems);
    CheckExamples(file, all, problems);
    for (const Example& example : file.examples) {
      const std::string& expected = example.expect.text;
      if (expected != "none" && all.count(expected) == 0) {
        problems.Add(file, example.expect.place,
                     NoSuchCause(expected, LabelsOf(all)));
      }
    }
  }
  return files;
}

}  // namespace causes
