// SPDX-License-Identifier: Apache-2.0
#include "causes/front_matter.h"

#include <re2/re2.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <string>
#include <utility>

#include "base/words/suggest.h"

namespace causes {
namespace {

using Words = std::vector<std::string>;

const Words& KnownKeys() {
  static const Words keys{"label",   "title",  "severity", "retry", "applies",
                          "since",   "match",  "fix",      "facts", "direct",
                          "weak",    "hint",   "rules",    "over",  "decide",
                          "related", "lasting"};
  return keys;
}

// The lists of patterns, strongest first, and what their weight is called.
constexpr std::pair<std::string_view, std::string_view> kWeights[] = {
    {"direct", "direct"},
    {"match", "pattern"},
    {"weak", "weak"},
    {"hint", "hint"}};

// Reads one mapping; every problem names the place of the value at fault.
class Reader {
 public:
  Reader(CauseFile& file, Problems& problems)
      : file_(file), problems_(problems) {}

  void Read(const YAML::Node& root);
  void ReadKey(const std::string& key, const YAML::Node& value);

 private:
  Place PlaceOf(const YAML::Mark& mark) const {
    // The first line of the YAML is the second line of the file.
    return {mark.line + 2, mark.column + 1};
  }
  void Wrong(const YAML::Node& node, const std::string& what) {
    problems_.Add(file_, PlaceOf(node.Mark()), what);
  }
  bool CheckKeys(const YAML::Node& map, const Words& known,
                 const Words& required);
  Placed Text(const YAML::Node& node);
  Placed OneOf(const YAML::Node& node, const Words& choices);
  std::vector<Placed> List(const YAML::Node& node, std::string_view key);
  void ReadLabel(const YAML::Node& node);
  void ReadTitle(const YAML::Node& node);
  void ReadPatterns(const YAML::Node& node, std::string_view key,
                    std::string_view weight);
  void ReadRules(const YAML::Node& node);
  void ReadConditions(const YAML::Node& node, Rule& rule);
  std::vector<Placed> Conditions(const YAML::Node& node, std::string_view key);
  Placed Pattern(const YAML::Node& item);
  void ReadSince(const YAML::Node& node);
  void ReadApplies(const YAML::Node& node);
  void ReadDecide(const YAML::Node& node);
  void ReadFacts(const YAML::Node& node);
  void ReadFixes(const YAML::Node& node);
  void CheckOrder();
  void ReadRelated(const YAML::Node& node);

  CauseFile& file_;
  Problems& problems_;
};

bool Reader::CheckKeys(const YAML::Node& map, const Words& known,
                       const Words& required) {
  if (!map.IsMap()) {
    Wrong(map, "expected `key: value` lines");
    return false;
  }
  std::set<std::string> seen;
  for (const auto& pair : map) {
    const auto key = pair.first.as<std::string>();
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      Wrong(pair.first,
            "unknown key `" + key + "`" + muster::MeantText(key, known));
    } else if (!seen.insert(key).second) {
      Wrong(pair.first, "the key `" + key + "` occurs twice");
    }
  }
  for (std::string_view key : required) {
    if (seen.count(std::string(key)) == 0) {
      Wrong(map, "the key `" + std::string(key) + "` is missing");
    }
  }
  return true;
}

Placed Reader::Text(const YAML::Node& node) {
  if (!node.IsScalar() || node.Scalar().empty()) {
    Wrong(node, "expected a text");
    return {};
  }
  return {node.Scalar(), PlaceOf(node.Mark())};
}

Placed Reader::OneOf(const YAML::Node& node, const Words& choices) {
  Placed value = Text(node);
  if (!value.text.empty() &&
      std::find(choices.begin(), choices.end(), value.text) == choices.end()) {
    std::string all;
    for (std::string_view choice : choices) {
      all += (all.empty() ? "" : ", ") + std::string(choice);
    }
    Wrong(node, "`" + value.text + "` is none of: " + all);
  }
  return value;
}

std::vector<Placed> Reader::List(const YAML::Node& node, std::string_view key) {
  std::vector<Placed> list;
  if (!node.IsSequence()) {
    Wrong(node, "`" + std::string(key) + "` is a list");
    return list;
  }
  for (const auto& item : node) {
    list.push_back(Text(item));
  }
  return list;
}

void Reader::ReadLabel(const YAML::Node& node) {
  static const RE2 shape("[a-z][a-z0-9]*(-[a-z0-9]+)*");
  file_.label = Text(node);
  const std::string stem = file_.path.stem().string();
  if (!RE2::FullMatch(file_.label.text, shape)) {
    Wrong(node, "a label is lower-case words joined by `-`");
  } else if (file_.label.text != stem) {
    Wrong(node, "the label is `" + file_.label.text + "`, the file is `" +
                    stem + ".md`: they are equal");
  }
}

void Reader::ReadTitle(const YAML::Node& node) {
  file_.title = Text(node);
  const std::string& title = file_.title.text;
  if (title.size() > 76) {
    Wrong(node, "the title has more than 76 characters");
  } else if (!title.empty() &&
             (title.back() == '.' ||
              std::isupper(static_cast<unsigned char>(title[0])) != 0)) {
    Wrong(node, "a title is lower case without a full stop");
  }
}

// The longest stretch of a pattern that must occur literally: what a prefilter
// can search for.
std::size_t LongestLiteral(std::string_view pattern) {
  std::size_t longest = 0;
  std::size_t run = 0;
  int depth = 0;  // inside of [...]
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    depth += c == '[' ? 1 : c == ']' && depth > 0 ? -1 : 0;
    const bool literal =
        depth == 0 &&
        (std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view(" _-:'\"/=<>,`").find(c) != std::string_view::npos);
    run = literal ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

// A line that says all of these things within a sentence's reach, in any order.
std::string InAnyOrder(const std::vector<Placed>& words) {
  std::vector<std::string> groups;
  groups.reserve(words.size());
  for (const Placed& word : words) {
    groups.push_back("(?:" + word.text + ")");
  }
  std::sort(groups.begin(), groups.end());
  std::string all;
  do {
    std::string order;
    for (const std::string& group : groups) {
      order += (order.empty() ? "\\b" : ".{0,80}?\\b") + group;
    }
    all += (all.empty() ? "" : "|") + order;
  } while (std::next_permutation(groups.begin(), groups.end()));
  return "(?i)(?:" + all + ")";
}

std::vector<Placed> Reader::Conditions(const YAML::Node& node,
                                       std::string_view key) {
  static const RE2 shape("[a-z][a-z0-9_]*(\\.[a-z0-9_-]+)+(=[^ ]+)?");
  std::vector<Placed> conditions = List(node, key);
  for (const Placed& condition : conditions) {
    if (!RE2::FullMatch(condition.text, shape)) {
      problems_.Add(file_, condition.place,
                    "a condition is `thing.observed` or "
                    "`thing.observed.field=value`");
    }
  }
  return conditions;
}

void Reader::ReadConditions(const YAML::Node& node, Rule& rule) {
  if (node["with"]) {
    rule.with = Conditions(node["with"], "with");
  }
  if (node["without"]) {
    rule.without = Conditions(node["without"], "without");
  }
}

// The pattern of `text: …`, of `says: […]` or of `note: …`.
Placed Reader::Pattern(const YAML::Node& item) {
  const bool has_says = item["says"].IsDefined();
  const int given = int{item["text"].IsDefined()} + int{has_says} +
                    int{item["note"].IsDefined()};
  if (given != 1) {
    Wrong(item, given == 0 ? "neither `text` nor `says` nor `note`"
                           : "one of `text`, `says` and `note`");
    return {};
  }
  return has_says ? Placed{InAnyOrder(List(item["says"], "says")),
                           PlaceOf(item.Mark())}
                  : Text(item[item["note"].IsDefined() ? "note" : "text"]);
}

void Reader::ReadPatterns(const YAML::Node& node, std::string_view key,
                          std::string_view weight) {
  if (!node.IsSequence()) {
    Wrong(node, "`" + std::string(key) + "` is a list");
    return;
  }
  for (const auto& item : node) {
    Rule rule;
    rule.weight = weight;
    if (item.IsMap()) {
      CheckKeys(item, {"text", "says", "note", "with", "without"}, {});
      ReadConditions(item, rule);
      rule.of_notes = item["note"].IsDefined();
      rule.text = Pattern(item);
    } else {
      rule.text = Text(item);
    }
    if (rule.text.text.empty()) {
      continue;  // a problem says why
    }
    RE2 pattern(rule.text.text, RE2::Quiet);
    if (!pattern.ok()) {
      Wrong(item, "the pattern does not compile: " + pattern.error());
    } else if (LongestLiteral(rule.text.text) < 4) {
      Wrong(item, "the pattern has no literal of four characters or more");
    }
    if (weight != "hint" && rule.with.empty() && rule.without.empty() &&
        !rule.of_notes) {
      file_.match.push_back(rule.text);
    }
    file_.rules.push_back(std::move(rule));
  }
}

void Reader::ReadRules(const YAML::Node& node) {
  if (!node.IsSequence()) {
    Wrong(node, "`rules` is a list");
    return;
  }
  for (const auto& item : node) {
    Rule rule;
    if (!CheckKeys(item, {"weight", "with", "without"}, {})) {
      continue;
    }
    ReadConditions(item, rule);
    if (rule.with.empty()) {
      Wrong(item, "a rule names the facts that it rests on: `with`");
    }
    rule.weight =
        item["weight"]
            ? OneOf(item["weight"], {"direct", "pattern", "weak", "hint"}).text
            : "pattern";
    file_.rules.push_back(std::move(rule));
  }
}

void Reader::ReadSince(const YAML::Node& node) {
  static const RE2 shape("[0-9]+\\.[0-9]+(\\.[0-9]+)?");
  file_.since = Text(node);
  if (!RE2::FullMatch(file_.since.text, shape)) {
    Wrong(node, "`since` is a version: 0.1");
  }
}

void Reader::ReadApplies(const YAML::Node& node) {
  if (!node.IsSequence() || node.size() == 0) {
    Wrong(node, "`applies` is a list with at least one entry");
    return;
  }
  for (const auto& item : node) {
    file_.applies.push_back(OneOf(item, {"tpu", "gpu", "cpu"}));
  }
}

void Reader::ReadDecide(const YAML::Node& node) {
  if (!CheckKeys(node, {"text", "command"}, {"text"})) {
    return;
  }
  file_.decide = Text(node["text"]);
  if (node["command"]) {
    file_.decide_command = Text(node["command"]);
  }
}

void Reader::ReadFacts(const YAML::Node& node) {
  static const RE2 shape("[a-z][a-z0-9_]*(\\.[a-z0-9_]+)+(=[^ ]+)?");
  file_.facts = List(node, "facts");
  for (std::size_t i = 0; i < file_.facts.size(); ++i) {
    if (!RE2::FullMatch(file_.facts[i].text, shape)) {
      Wrong(node[i], "a fact is `thing.observed` or `thing.observed=value`");
    }
  }
}

void Reader::ReadFixes(const YAML::Node& node) {
  if (!node.IsSequence() || node.size() == 0) {
    Wrong(node, "`fix` is a list with at least one entry");
    return;
  }
  for (const auto& item : node) {
    if (!CheckKeys(item, {"text", "command", "safety", "changes_results"},
                   {"text", "safety"})) {
      continue;
    }
    Fix fix;
    for (const auto& pair : item) {
      const auto key = pair.first.as<std::string>();
      if (key == "text") {
        fix.text = Text(pair.second);
      } else if (key == "command") {
        fix.command = Text(pair.second).text;
      } else if (key == "safety") {
        fix.safety = OneOf(pair.second, {"safe", "asks", "costs"}).text;
      } else if (key == "changes_results") {
        fix.changes_results =
            OneOf(pair.second, {"true", "false"}).text == "true";
      }
    }
    if (!fix.text.text.empty() && fix.text.text.back() == '.') {
      problems_.Add(file_, fix.text.place, "a fix has no full stop");
    }
    file_.fixes.push_back(fix);
  }
  CheckOrder();
}

// What changes least comes first: somebody who tries them in turn stops there.
void Reader::CheckOrder() {
  static const Words weakest_first{"safe", "asks", "costs"};
  const auto rank = [](const Fix& fix) {
    return std::pair(
        std::find(weakest_first.begin(), weakest_first.end(), fix.safety) -
            weakest_first.begin(),
        fix.changes_results);
  };
  for (std::size_t i = 1; i < file_.fixes.size(); ++i) {
    if (rank(file_.fixes[i]) < rank(file_.fixes[i - 1])) {
      problems_.Add(file_, file_.fixes[i].text.place,
                    "this fix changes less than the one before it: safe, asks, "
                    "costs; what changes results is last of its kind");
    }
  }
}

void Reader::ReadRelated(const YAML::Node& node) {
  if (!node.IsMap()) {
    Wrong(node,
          "`related` has a line for each label: what one sees when it is "
          "that cause");
    return;
  }
  for (const auto& pair : node) {
    const Placed tells = Text(pair.second);
    if (tells.text.size() > 120 || tells.text.ends_with('.')) {
      Wrong(pair.second,
            "an observation has 120 characters at most and no full stop");
    }
    file_.related.push_back({Text(pair.first), tells.text});
  }
}

void Reader::ReadKey(const std::string& key, const YAML::Node& value) {
  if (key == "label") {
    ReadLabel(value);
  } else if (key == "title") {
    ReadTitle(value);
  } else if (key == "severity") {
    file_.severity = OneOf(value, {"error", "warning", "note"});
  } else if (key == "retry") {
    file_.retry =
        OneOf(value, {"transient", "needs-change", "needs-human", "bug"});
  } else if (key == "since") {
    ReadSince(value);
  } else if (key == "applies") {
    ReadApplies(value);
  } else if (key == "rules") {
    ReadRules(value);
  } else if (key == "decide") {
    ReadDecide(value);
  } else if (key == "lasting") {
    file_.lasting = OneOf(value, {"true", "false"}).text == "true";
  } else if (key == "over") {
    file_.over = List(value, "over");
  } else if (key == "facts") {
    ReadFacts(value);
  } else if (key == "fix") {
    ReadFixes(value);
  } else if (key == "related") {
    ReadRelated(value);
  }
}

void Reader::Read(const YAML::Node& root) {
  if (!CheckKeys(root, KnownKeys(),
                 {"label", "title", "severity", "retry", "applies", "since",
                  "decide", "fix", "related"})) {
    return;
  }
  if (!root["match"] && !root["facts"] && !root["direct"] && !root["rules"] &&
      !root["weak"]) {
    Wrong(root, "neither `match` nor `facts`: nothing can lead to this cause");
  }
  for (const auto& [key, weight] : kWeights) {
    if (const YAML::Node list = root[std::string(key)]) {
      ReadPatterns(list, key, weight);
    }
  }
  for (const auto& pair : root) {
    ReadKey(pair.first.as<std::string>(), pair.second);
  }
}

}  // namespace

void ReadFrontMatter(CauseFile& file, std::size_t end, Problems& problems) {
  std::string yaml;
  for (std::size_t i = 1; i < end; ++i) {
    yaml += file.lines[i] + "\n";
  }
  try {
    Reader(file, problems).Read(YAML::Load(yaml));
  } catch (const YAML::Exception& error) {
    problems.Add(file, {error.mark.line + 2, error.mark.column + 1},
                 "not YAML: " + error.msg);
  }
}

}  // namespace causes
