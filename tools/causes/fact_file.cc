// SPDX-License-Identifier: Apache-2.0
#include "causes/fact_file.h"

#include <re2/re2.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/words/suggest.h"

namespace causes {
namespace {

class FactReader {
 public:
  FactReader(CauseFile& file, Problems& problems)
      : file_(file), problems_(problems) {}

  std::vector<FactPattern> Read(const YAML::Node& root) {
    static const std::vector<std::string> known{"facts", "guesses", "harmless",
                                                "trouble"};
    for (const auto& pair : root) {
      const auto key = pair.first.as<std::string>();
      if (key == "facts") {
        ReadList(pair.second, "");
      } else if (key == "harmless" || key == "trouble" || key == "guesses") {
        ReadList(pair.second, "log." + key);
      } else {
        Wrong(pair.first,
              "unknown key `" + key + "`" + muster::MeantText(key, known));
      }
    }
    return std::move(patterns_);
  }

 private:
  void Wrong(const YAML::Node& node, const std::string& what) {
    problems_.Add(file_, {node.Mark().line + 1, node.Mark().column + 1}, what);
  }

  // What YAML makes of an unquoted comma is a key, too.
  void Checknown(const YAML::Node& item) {
    static const std::vector<std::string> known{"name", "note", "says", "text"};
    for (const auto& pair : item) {
      const auto key = pair.first.as<std::string>();
      if (std::find(known.begin(), known.end(), key) == known.end()) {
        Wrong(pair.first,
              "unknown key `" + key + "`" + muster::MeantText(key, known));
      }
    }
  }

  void ReadList(const YAML::Node& list, const std::string& name) {
    if (!list.IsSequence()) {
      Wrong(list, "expected a list of patterns");
      return;
    }
    for (const auto& item : list) {
      FactPattern pattern{.name = name};
      if (item.IsMap()) {
        Checknown(item);
        pattern.of_notes = item["note"].IsDefined();
        const YAML::Node text = item[pattern.of_notes ? "note" : "text"];
        pattern.text = text ? text.Scalar() : "";
        pattern.says = item["says"] ? item["says"].Scalar() : "";
        pattern.name = item["name"] ? item["name"].Scalar() : name;
      } else {
        pattern.text = item.Scalar();
      }
      const RE2 compiled(pattern.text, RE2::Quiet);
      if (pattern.name.empty() || pattern.text.empty()) {
        Wrong(item, "a fact has a `name` and a `text` or a `note`");
      } else if (item.IsMap() && item["note"] && item["text"]) {
        Wrong(item, "`text` or `note`, not both");
      } else if (!compiled.ok()) {
        Wrong(item, "the pattern does not compile: " + compiled.error());
      }
      patterns_.push_back(std::move(pattern));
    }
  }

  CauseFile& file_;
  Problems& problems_;
  std::vector<FactPattern> patterns_;
};

}  // namespace

std::vector<FactPattern> ReadFactFile(const std::filesystem::path& root,
                                      Problems& problems) {
  CauseFile file;
  file.path = root / "facts.yaml";
  std::ifstream in(file.path);
  std::ostringstream text;
  for (std::string line; std::getline(in, line);) {
    text << line << "\n";
    file.lines.push_back(line);
  }
  try {
    return FactReader(file, problems).Read(YAML::Load(text.str()));
  } catch (const YAML::Exception& error) {
    problems.Add(file, {error.mark.line + 1, error.mark.column + 1},
                 "not YAML: " + error.msg);
  }
  return {};
}

}  // namespace causes
