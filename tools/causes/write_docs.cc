// SPDX-License-Identifier: Apache-2.0
// The reference pages of the catalogue: an overview and one for each cause.
#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <ostream>
#include <string>

#include "causes/catalogue.h"

namespace causes {
namespace {

using Families = std::map<std::string, std::vector<const CauseFile*>>;

void WriteRows(const Families& families, std::ostream& out) {
  out << "| cause | what it says | severity | a repeat |\n"
         "|---|---|---|---|\n";
  for (const auto& [family, files] : families) {
    for (const CauseFile* file : files) {
      out << "| [" << file->label.text << "](" << file->label.text << ".md) | "
          << file->title.text << " | " << file->severity.text << " | "
          << file->retry.text << " |\n";
    }
  }
}

std::string Joined(const std::vector<Placed>& words) {
  std::string out;
  for (const Placed& word : words) {
    out += (out.empty() ? "" : ", ") + word.text;
  }
  return out;
}

// {path} is PATH on a page, where no fact fills it.
std::string Filled(std::string command) {
  static const RE2 field("\\{([a-z_]+)\\}");
  std::string name;
  while (RE2::PartialMatch(command, field, &name)) {
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    RE2::Replace(&command, field, name);
  }
  return command;
}

void WriteFixes(const std::vector<Fix>& fixes, std::ostream& out) {
  out << "\n";
  for (const Fix& fix : fixes) {
    out << "- " << fix.text.text;
    if (!fix.command.empty()) {
      out << ": `" << Filled(fix.command) << "`";
    }
    out << " (" << fix.safety
        << (fix.changes_results ? ", changes results" : "") << ")\n";
  }
}

void WriteExamples(const std::vector<Example>& examples, std::ostream& out) {
  if (!examples.empty()) {
    out << "\n## Lines that lead here, and lines that do not\n";
  }
  for (const Example& example : examples) {
    out << "\n`" << example.expect.text << "`:\n\n```\n" << example.text;
    out << (example.text.ends_with('\n') ? "```\n" : "\n```\n");
  }
}

}  // namespace

void WriteEntry(const CauseFile& file, std::ostream& out) {
  out << "<!-- Generated from causes/" << file.family << "/" << file.label.text
      << ".md by tools/gen_causes.cc --docs. -->\n# " << file.label.text
      << "\n\n"
      << file.title.text << "\n\n| family | severity | a repeat |\n"
      << "|---|---|---|\n| " << file.family << " | " << file.severity.text
      << " | " << file.retry.text << " |\n";
  for (std::string_view section : kSections) {
    if (section == "Examples") {
      continue;
    }
    out << "\n## " << section << "\n\n"
        << file.sections.at(std::string(section)) << "\n";
    if (section == "Fix") {
      WriteFixes(file.fixes, out);
    }
  }
  out << "\n## What decides\n\n" << file.decide.text;
  if (!file.decide_command.text.empty()) {
    out << ": `" << file.decide_command.text << "`";
  }
  out << "\n";
  if (!file.related.empty()) {
    out << "\n## It is another one when\n\n";
    for (const auto& [label, tells] : file.related) {
      out << "- [" << label.text << "](" << label.text << ".md): " << tells
          << "\n";
    }
  }
  if (!file.facts.empty()) {
    out << "\nSeen from: " << Joined(file.facts) << "\n";
  }
  WriteExamples(file.examples, out);
}

void WriteOverview(const std::vector<CauseFile>& files, std::ostream& out) {
  Families families;
  for (const CauseFile& file : files) {
    families[file.family].push_back(&file);
  }
  out << "<!-- Generated from causes/ by tools/gen_causes.cc --docs. -->\n"
         "# Causes\n\n"
         "Every failure that muster reports has one of these causes. The label "
         "is the code:\nit is never renamed. `muster explain LABEL` prints an "
         "entry, `muster explain --list`\nall of them.\n\n"
         "A repeat: *transient* may heal by itself and is retried; "
         "*needs-change* needs a\nchange of the program, its settings or its "
         "data; *needs-human* needs somebody to\nchange a machine; *bug* is a "
         "defect.\n\n"
         "Safety of a fix: *safe* changes nothing; *asks* changes something "
         "of yours;\n*costs* creates or deletes cloud resources.\n\n";
  WriteRows(families, out);
}

}  // namespace causes
