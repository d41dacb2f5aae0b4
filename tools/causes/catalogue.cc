// SPDX-License-Identifier: Apache-2.0
#include "causes/catalogue.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>

namespace causes {
namespace {

using ByLabel = std::map<std::string_view, const CauseFile*>;

std::vector<std::string_view> LabelsOf(const ByLabel& all) {
  std::vector<std::string_view> labels;
  labels.reserve(all.size());
  for (const auto& [label, file] : all) {
    labels.push_back(label);
  }
  return labels;
}

void CheckRelated(const CauseFile& file, const ByLabel& all,
                  Problems& problems) {
  for (const Placed& label : file.related) {
    if (label.text == file.label.text) {
      problems.Add(file, label.place, "a cause is not related to itself");
    } else if (all.count(label.text) == 0) {
      problems.Add(file, label.place,
                   "there is no cause `" + label.text + "`" +
                       DidYouMean(label.text, LabelsOf(all)));
    }
  }
}

bool Matches(const CauseFile& file, const std::string& text) {
  return std::any_of(file.match.begin(), file.match.end(),
                     [&](const Placed& pattern) {
                       return RE2::PartialMatch(text, RE2(pattern.text));
                     });
}

bool Lists(const CauseFile& file, const std::string& label) {
  return std::any_of(
      file.related.begin(), file.related.end(),
      [&](const Placed& related) { return related.text == label; });
}

void CheckExample(const CauseFile& file, const Example& example,
                  const std::vector<CauseFile>& files, Problems& problems) {
  const std::string& expected = example.expect.text;
  const bool own = expected == file.label.text;
  if (!file.match.empty() && own != Matches(file, example.text)) {
    problems.Add(file, example.expect.place,
                 own ? "no pattern of this file finds the example"
                     : "a pattern of this file finds the near miss");
  }
  for (const CauseFile& other : files) {
    if (own && other.label.text != expected && Matches(other, example.text) &&
        !Lists(other, expected)) {
      problems.Add(file, example.expect.place,
                   "a pattern of `" + other.label.text +
                       "` finds the example too, and that file does not list "
                       "`" +
                       expected + "` as related");
    }
  }
}

}  // namespace

std::vector<CauseFile> ReadCatalogue(const std::filesystem::path& root,
                                     Problems& problems) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".md") {
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
    for (const Example& example : file.examples) {
      const std::string& expected = example.expect.text;
      if (expected != "none" && all.count(expected) == 0) {
        problems.Add(file, example.expect.place,
                     "there is no cause `" + expected + "`" +
                         DidYouMean(expected, LabelsOf(all)));
      }
      CheckExample(file, example, files, problems);
    }
  }
  return files;
}

}  // namespace causes
