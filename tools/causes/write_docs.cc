// SPDX-License-Identifier: Apache-2.0
// The reference pages of the catalogue: an overview and one for each cause.
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

std::string Joined(const std::vector<Placed>& words, bool links) {
  std::string out;
  for (const Placed& word : words) {
    out += out.empty() ? "" : ", ";
    out += links ? "[" + word.text + "](" + word.text + ".md)" : word.text;
  }
  return out;
}

void WriteFixes(const std::vector<Fix>& fixes, std::ostream& out) {
  out << "\n";
  for (const Fix& fix : fixes) {
    out << "- " << fix.text.text;
    if (!fix.command.empty()) {
      out << ": `" << fix.command << "`";
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
  if (!file.decide.text.empty()) {
    out << "\n## What decides\n\n" << file.decide.text;
    if (!file.decide_command.text.empty()) {
      out << ": `" << file.decide_command.text << "`";
    }
    out << "\n";
  }
  if (!file.related.empty()) {
    out << "\nRelated: " << Joined(file.related, true) << "\n";
  }
  if (!file.facts.empty()) {
    out << "\nSeen from: " << Joined(file.facts, false) << "\n";
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
