// SPDX-License-Identifier: Apache-2.0
// What the whole catalog makes of the examples in causes/: the label of each
// example has to be the verdict, or one of its candidates; "none" is no cause.
// And what it makes of causes/texts.txt: there the label has to be the verdict;
// and of causes/healthy.txt, where nothing may be named.
//
//   catalogue_examples CAUSES   exit 1 and a list when some are not met
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/text.h"
#include "case_text.h"
#include "diagnose/match/log_scanner.h"
#include "diagnose/verdict/answer.h"

namespace muster {
namespace {

struct Example {
  std::string expect, text;
  bool is_verdict = false;  // a candidate is not enough
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

std::vector<Example> TextsOf(const std::filesystem::path& path) {
  std::vector<Example> texts;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("@#")) {
      continue;
    }
    if (line.starts_with("@ ")) {
      texts.push_back({line.substr(2), ""});
    } else if (!texts.empty()) {
      Example& text = texts.back();
      text.text += line + "\n";
      // What only notes say is never more than a candidate.
      text.is_verdict = text.is_verdict ||
                        !(Trim(line).empty() || corpus::IsDescription(line));
    }
  }
  return texts;
}

diagnose::Answer Ask(const diagnose::Matcher& matcher,
                     const std::string& text) {
  const corpus::CaseText split = corpus::SplitCase(text);
  diagnose::LogScanner scanner(matcher);
  scanner.Begin({.name = "example"});
  scanner.Feed(split.log);
  scanner.End();
  scanner.AddNotes(split.notes);
  return diagnose::Explain(scanner.TakeFacts());
}

bool IsMet(const Example& example, const diagnose::Answer& answer) {
  const bool named = answer.kind == diagnose::AnswerKind::kCause;
  if (example.expect == "none") {
    return !named;
  }
  if (named) {
    return Label(answer.findings.front().cause) == example.expect;
  }
  if (example.is_verdict) {
    return false;
  }
  for (const auto& candidate : answer.candidates) {
    if (Label(candidate.cause) == example.expect) {
      return true;
    }
  }
  return false;
}

// How many of the examples are not met; each is printed.
int Missed(const diagnose::Matcher& matcher, const std::string& from,
           const std::vector<Example>& examples) {
  int missed = 0;
  for (const Example& example : examples) {
    const diagnose::Answer answer = Ask(matcher, example.text);
    if (IsMet(example, answer)) {
      continue;
    }
    ++missed;
    std::printf("%s: expected %s, got %s\n  %s", from.c_str(),
                example.expect.c_str(),
                answer.findings.empty()
                    ? std::string(diagnose::ToString(answer.kind)).c_str()
                    : std::string(Label(answer.findings[0].cause)).c_str(),
                example.text.c_str());
  }
  return missed;
}

int Run(const std::string& folder) {
  const diagnose::Matcher matcher;
  std::size_t all = 0;
  int missed = 0;
  for (const char* name : {"texts.txt", "healthy.txt"}) {
    const auto texts = TextsOf(folder + "/" + name);
    if (texts.empty()) {
      std::printf("%s/%s: no texts\n", folder.c_str(), name);
      return 1;
    }
    all += texts.size();
    missed += Missed(matcher, name, texts);
  }
  const std::size_t texts = all;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".md" ||
        entry.path().parent_path().filename() == "muster") {
      continue;
    }
    const auto examples = ExamplesOf(entry.path());
    all += examples.size();
    missed += Missed(matcher, entry.path().filename().string(), examples);
  }
  std::printf("%zu examples, %d missed\n", all, missed);
  return missed == 0 && all > texts ? 0 : 1;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  return argc == 2 ? muster::Run(argv[1]) : 2;
}
