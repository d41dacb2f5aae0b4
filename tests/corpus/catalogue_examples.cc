// SPDX-License-Identifier: Apache-2.0
// What the whole catalogue makes of the examples in causes/: the label of each
// example has to be the verdict, or one of its candidates; "none" is no cause.
//
//   catalogue_examples CAUSES       exit 1 and a list when some are not met
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "evidence/log_scanner.h"
#include "explain/answer.h"

namespace muster {
namespace {

struct Example {
  std::string expect, text;
};

std::vector<Example> ExamplesOf(const std::filesystem::path& path) {
  std::vector<Example> examples;
  std::ifstream in(path);
  bool inside = false;
  for (std::string line; std::getline(in, line);) {
    const std::string head = "```log expect=";
    if (line.rfind(head, 0) == 0) {
      const std::string rest = line.substr(head.size());
      examples.push_back({rest.substr(0, rest.find(' ')), ""});
      inside = true;
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      examples.back().text += line + "\n";
    }
  }
  return examples;
}

explain::Answer Ask(const evidence::Matcher& matcher, const std::string& text) {
  evidence::LogScanner scanner(matcher);
  scanner.Begin({.name = "example"});
  scanner.Feed(text);
  scanner.End();
  return explain::Explain(scanner.TakeFacts());
}

bool IsMet(const Example& example, const explain::Answer& answer) {
  const bool named = answer.kind == explain::AnswerKind::kCause;
  if (example.expect == "none") {
    return !named;
  }
  if (named) {
    return Label(answer.findings.front().cause) == example.expect;
  }
  for (const auto& candidate : answer.candidates) {
    if (Label(candidate.cause) == example.expect) {
      return true;
    }
  }
  return false;
}

int Run(const std::string& folder) {
  const evidence::Matcher matcher;
  int all = 0;
  int missed = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".md" ||
        entry.path().parent_path().filename() == "muster") {
      continue;
    }
    for (const Example& example : ExamplesOf(entry.path())) {
      ++all;
      const explain::Answer answer = Ask(matcher, example.text);
      if (!IsMet(example, answer)) {
        ++missed;
        std::printf("%s: expected %s, got %s\n  %s",
                    entry.path().filename().c_str(), example.expect.c_str(),
                    answer.findings.empty()
                        ? std::string(explain::ToText(answer.kind)).c_str()
                        : std::string(Label(answer.findings[0].cause)).c_str(),
                    example.text.c_str());
      }
    }
  }
  std::printf("%d examples, %d missed\n", all, missed);
  return missed == 0 && all > 0 ? 0 : 1;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  return argc == 2 ? muster::Run(argv[1]) : 2;
}
