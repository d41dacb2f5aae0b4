// SPDX-License-Identifier: Apache-2.0
// One file causes/FAMILY/LABEL.md as values, each with its place in the file.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace causes {

// Both count from one.
struct Place {
  int line = 1;
  int column = 1;
};

// A text and where it stands.
struct Placed {
  std::string text;
  Place place;
};

struct Fix {
  Placed text;
  std::string command;
  std::string safety;
  bool changes_results = false;
};

// A neighbor, and what one sees when it is that one.
struct Related {
  Placed label;
  std::string tells;
};

// What leads to the cause: a pattern over lines, or facts alone (then `text` is
// empty). Conditions are names of facts, "exit.status" or
// "exit.status.signal=SIGKILL".
struct Rule {
  Placed text;
  std::string weight;  // direct, pattern, weak, hint
  std::vector<Placed> with, without;
  bool of_notes = false;  // `note: …`: the text is tried on notes alone
};

// A fenced block "log expect=LABEL peer=10.0.0.7:8476".
struct Example {
  Placed expect;
  std::map<std::string, std::string> fields;
  std::string text;
};

struct CauseFile {
  std::filesystem::path path;
  std::string family;  // the folder
  std::vector<std::string> lines;

  Placed label, title, severity, retry, since;
  std::vector<Placed> applies, match, facts, over;
  std::vector<Related> related;
  std::vector<Rule> rules;
  Placed decide, decide_command;  // the observation that tells it apart
  bool lasting = false;           // the program goes on with it
  std::vector<Fix> fixes;
  std::map<std::string, std::string> sections;  // heading -> text
  std::vector<Example> examples;
};

// The headings that every file has, in this order.
inline constexpr std::string_view kSections[] = {
    "What happened", "Why",        "Confirm it yourself",
    "Fix",           "References", "Examples"};

// Collects what is wrong: FILE:LINE:COLUMN, the line, and a caret below it.
class Problems {
 public:
  void Add(const CauseFile& file, Place place, const std::string& what);
  bool empty() const { return text_.empty(); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// Reads one file and checks what can be known from it alone. What could not be
// read is left empty, and a problem says why.
CauseFile ReadCauseFile(const std::filesystem::path& path, Problems& problems);

// "there is no cause `x`, did you mean `y`?"
std::string NoSuchCause(const std::string& label,
                        const std::vector<std::string>& known);

}  // namespace causes
