// SPDX-License-Identifier: Apache-2.0
// The C++ that is made from the catalog.
#include <cctype>
#include <ostream>
#include <string>

#include "causes/catalogue.h"
#include "causes/literal.h"

namespace causes {

std::string Enumerator(std::string_view label) {
  std::string out = "k";
  bool up = true;
  for (char c : label) {
    if (c == '-') {
      up = true;
      continue;
    }
    out +=
        up ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
    up = false;
  }
  return out;
}

std::string Literal(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      out += i + 1 < text.size() ? "\\n\"\n        \"" : "\\n";
    } else if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else {
      out += c;
    }
  }
  return out + "\"sv";
}

namespace {

// "constexpr TYPE kFactsOom[] = {...};", or nothing when there is no item.
void WriteArray(std::ostream& out, std::string_view type,
                const std::string& name,
                const std::vector<std::string>& items) {
  if (items.empty()) {
    return;
  }
  out << "constexpr " << type << " " << name << "[] = {\n";
  for (const std::string& item : items) {
    out << "    " << item << ",\n";
  }
  out << "};\n";
}

std::vector<std::string> Literals(const std::vector<Placed>& list) {
  std::vector<std::string> out;
  out.reserve(list.size());
  for (const Placed& item : list) {
    out.push_back(Literal(item.text));
  }
  return out;
}

// How an entry refers to an array that may not exist.
std::string Reference(const std::string& name, bool empty) {
  return empty ? "{}" : name;
}

void WriteArraysOf(const CauseFile& file, std::ostream& out) {
  const std::string id = Enumerator(file.label.text).substr(1);
  WriteArray(out, "std::string_view", "kApplies" + id, Literals(file.applies));
  WriteArray(out, "std::string_view", "kMatch" + id, Literals(file.match));
  WriteArray(out, "std::string_view", "kFacts" + id, Literals(file.facts));
  std::vector<std::string> related;
  for (const auto& [label, tells] : file.related) {
    related.push_back("{Cause::" + Enumerator(label.text) + ", " +
                      Literal(tells) + "}");
  }
  WriteArray(out, "RelatedCause", "kRelated" + id, related);
  std::vector<std::string> fixes;
  for (const Fix& fix : file.fixes) {
    fixes.push_back("{" + Literal(fix.text.text) + ",\n     " +
                    Literal(fix.command) +
                    ",\n     Safety::" + Enumerator(fix.safety) + ", " +
                    (fix.changes_results ? "true" : "false") + "}");
  }
  WriteArray(out, "CatalogueFix", "kFixes" + id, fixes);
}

void WriteEntryOf(const CauseFile& file, std::ostream& out) {
  const std::string id = Enumerator(file.label.text).substr(1);
  out << "    {Cause::k" << id << ", " << Literal(file.since.text) << ",\n"
      << "     " << Reference("kApplies" + id, file.applies.empty()) << ", "
      << Reference("kMatch" + id, file.match.empty()) << ", "
      << Reference("kFacts" + id, file.facts.empty()) << ",\n     "
      << Reference("kFixes" + id, file.fixes.empty()) << ", "
      << Reference("kRelated" + id, file.related.empty()) << ",\n";
  for (std::string_view section : kSections) {
    if (section != "Examples") {
      out << "     " << Literal(file.sections.at(std::string(section)))
          << ",\n";
    }
  }
  out << "    },\n";
}

}  // namespace

void WriteHeader(const std::vector<CauseFile>& files, std::ostream& out) {
  out << kNotice << R"(#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace muster {

// Why something failed or runs badly. The label of the catalog is the code.
enum class Cause : std::uint16_t {
)";
  for (const CauseFile& file : files) {
    // No titles here: a better title must not compile everything anew.
    out << "  " << Enumerator(file.label.text) << ",\n";
  }
  out << R"(};

enum class Severity : std::uint8_t { kNote, kWarning, kError };
// Whether a repeat can heal it, and if not, who can.
enum class Retry : std::uint8_t {
  kTransient,
  kNeedsChange,
  kNeedsHuman,
  kBug
};

std::string_view Label(Cause cause);   // "peer-died"
std::string_view Family(Cause cause);  // "rendezvous"
std::string_view Title(Cause cause);
Severity SeverityOf(Cause cause);
Retry RetryOf(Cause cause);
std::optional<Cause> CauseFromLabel(std::string_view label);
std::span<const Cause> AllCauses();  // by label

}  // namespace muster
)";
}

void WriteTable(const std::vector<CauseFile>& files, std::ostream& out) {
  out << kNotice << R"(#include "muster/cause.h"

#include <algorithm>
#include <array>

namespace muster {
namespace {

)" << kLiterals
      << R"(struct Row {
  std::string_view label, family, title;
  Severity severity;
  Retry retry;
};

)";
  out << "constexpr std::array<Row, " << files.size() << "> kRows{{\n";
  for (const CauseFile& file : files) {
    out << "    {" << Literal(file.label.text) << ", " << Literal(file.family)
        << ",\n     " << Literal(file.title.text)
        << ",\n     Severity::" << Enumerator(file.severity.text)
        << ", Retry::" << Enumerator(file.retry.text) << "},\n";
  }
  out << "}};\n\nconstexpr std::array<Cause, " << files.size() << "> kAll{\n";
  for (const CauseFile& file : files) {
    out << "    Cause::" << Enumerator(file.label.text) << ",\n";
  }
  out << R"(};

const Row& RowOf(Cause cause) {
  return kRows[static_cast<std::size_t>(cause)];
}

}  // namespace

std::string_view Label(Cause cause) { return RowOf(cause).label; }
std::string_view Family(Cause cause) { return RowOf(cause).family; }
std::string_view Title(Cause cause) { return RowOf(cause).title; }
Severity SeverityOf(Cause cause) { return RowOf(cause).severity; }
Retry RetryOf(Cause cause) { return RowOf(cause).retry; }

std::optional<Cause> CauseFromLabel(std::string_view label) {
  const auto* found = std::lower_bound(
      kRows.begin(), kRows.end(), label,
      [](const Row& row, std::string_view l) { return row.label < l; });
  if (found == kRows.end() || found->label != label) {
    return std::nullopt;
  }
  return kAll[static_cast<std::size_t>(found - kRows.begin())];
}

std::span<const Cause> AllCauses() { return kAll; }

}  // namespace muster
)";
}

void WriteTexts(const std::vector<CauseFile>& files, std::ostream& out) {
  out << kNotice << R"(#include <array>

#include "finding/catalogue.h"

namespace muster {
namespace {

)" << kLiterals;
  for (const CauseFile& file : files) {
    WriteArraysOf(file, out);
  }
  out << "\nconstexpr std::array<CatalogueEntry, " << files.size()
      << "> kEntries{{\n";
  for (const CauseFile& file : files) {
    WriteEntryOf(file, out);
  }
  out << R"(}};

}  // namespace

const CatalogueEntry& EntryOf(Cause cause) {
  return kEntries[static_cast<std::size_t>(cause)];
}

}  // namespace muster
)";
}

}  // namespace causes
