// SPDX-License-Identifier: Apache-2.0
// The patterns and rules of the catalog as constant tables.
#include <cstdint>
#include <iomanip>
#include <map>
#include <ostream>
#include <set>
#include <sstream>
#include <string>

#include "causes/catalogue.h"
#include "causes/literal.h"

namespace causes {
namespace {

// The fact that a line becomes which the rule's pattern finds.
std::string FactOf(const CauseFile& file, std::size_t index) {
  return "log." + file.label.text + "." + std::to_string(index);
}

// "exit.status.signal=SIGKILL" -> {"exit.status", "signal", "SIGKILL"}.
std::string Condition(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos) {
    return "{" + Literal(text) + ", \"\", \"\"}";
  }
  const auto dot = text.rfind('.', equals);
  return "{" + Literal(text.substr(0, dot)) + ", " +
         Literal(text.substr(dot + 1, equals - dot - 1)) + ", " +
         Literal(text.substr(equals + 1)) + "}";
}

std::string WriteConditions(std::ostream& out, const std::string& name,
                            const std::vector<std::string>& conditions) {
  if (conditions.empty()) {
    return "{}";
  }
  out << "constexpr Condition " << name << "[] = {\n";
  for (const std::string& condition : conditions) {
    out << "    " << condition << ",\n";
  }
  out << "};\n";
  return name;
}

std::string RuleOf(const CauseFile& file, std::size_t index,
                   std::ostream& out) {
  const Rule& rule = file.rules[index];
  const std::string id =
      Enumerator(file.label.text).substr(1) + std::to_string(index);
  std::vector<std::string> with;
  if (!rule.text.text.empty()) {
    with.push_back(Condition(FactOf(file, index)));
  }
  for (const Placed& condition : rule.with) {
    with.push_back(Condition(condition.text));
  }
  std::vector<std::string> without;
  for (const Placed& condition : rule.without) {
    without.push_back(Condition(condition.text));
  }
  const std::string with_name = WriteConditions(out, "kWith" + id, with);
  const std::string not_name = WriteConditions(out, "kNot" + id, without);
  return "    {Cause::" + Enumerator(file.label.text) +
         ", RuleWeight::" + Enumerator(rule.weight) + ", " + with_name + ", " +
         not_name + "},\n";
}

void WriteRows(const std::vector<CauseFile>& files,
               const std::vector<FactPattern>& facts, std::ostream& out) {
  for (const FactPattern& fact : facts) {
    out << "    {" << Literal(fact.text) << ", " << Literal(fact.name) << ", "
        << Literal(fact.says) << (fact.of_notes ? ", true},\n" : "},\n");
  }
  for (const CauseFile& file : files) {
    for (std::size_t i = 0; i < file.rules.size(); ++i) {
      const Rule& rule = file.rules[i];
      if (!rule.text.text.empty()) {
        out << "    {" << Literal(rule.text.text) << ", "
            << Literal(FactOf(file, i))
            << (rule.of_notes ? ", \"\", true},\n" : ", \"\"},\n");
      }
    }
  }
}

// 64 bits, as hexadecimal: names what is written, and protects from nothing.
std::string Fnv1a(const std::string& bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char byte : bytes) {
    hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3U;
  }
  std::ostringstream text;
  text << std::hex << std::setfill('0') << std::setw(16) << hash;
  return text.str();
}

}  // namespace

void WritePatterns(const std::vector<CauseFile>& files,
                   const std::vector<FactPattern>& facts, std::ostream& out) {
  std::ostringstream rows;
  WriteRows(files, facts, rows);
  std::ostringstream all;
  all << rows.str();
  WriteRules(files, all);
  out << kNotice << "#include \"diagnose/match/matcher.h\"\n\n"
      << "namespace muster::diagnose {\nnamespace {\n\n"
      << kLiterals << "constexpr PatternRow kRows[] = {\n"
      << rows.str();
  out << "};\n\n}  // namespace\n\n"
      << "std::span<const PatternRow> CataloguePatterns() { return kRows; }\n\n"
      << "std::string_view RulesDigest() { return \"" << Fnv1a(all.str())
      << "\"; }\n\n"
      << "}  // namespace muster::diagnose\n";
}

void WriteRules(const std::vector<CauseFile>& files, std::ostream& out) {
  out << kNotice << "#include \"diagnose/match/rules.h\"\n\n"
      << "namespace muster::diagnose {\nnamespace {\n\n"
      << kLiterals;
  std::string rows;
  std::string causes;
  for (const CauseFile& file : files) {
    for (std::size_t i = 0; i < file.rules.size(); ++i) {
      rows += RuleOf(file, i, out);
    }
    std::vector<std::string> over;
    for (const Placed& label : file.over) {
      over.push_back("Cause::" + Enumerator(label.text));
    }
    const std::string id = Enumerator(file.label.text).substr(1);
    if (!over.empty()) {
      out << "constexpr Cause kOver" << id << "[] = {\n";
      for (const std::string& label : over) {
        out << "    " << label << ",\n";
      }
      out << "};\n";
    }
    causes += "    {" + (over.empty() ? std::string("{}") : "kOver" + id) +
              ", " + Literal(file.decide.text) + ",\n     " +
              Literal(file.decide_command.text) + ", " +
              (file.lasting ? "true" : "false") + "},\n";
  }
  out << "constexpr Rule kRules[] = {\n"
      << rows << "};\n\n"
      << "constexpr CauseMeta kCauseMeta[] = {\n"
      << causes << "};\n\n"
      << "}  // namespace\n\n"
      << "std::span<const Rule> CatalogueRules() { return kRules; }\n\n"
      << "const CauseMeta& CauseMetaOf(Cause cause) {\n"
      << "  return kCauseMeta[static_cast<std::size_t>(cause)];\n}\n\n"
      << "}  // namespace muster::diagnose\n";
}

void WriteKnownTexts(const std::vector<CauseFile>& files,
                     const std::vector<KnownText>& texts, std::ostream& out) {
  std::map<std::string, std::string> by_label;
  for (const KnownText& known : texts) {
    by_label[known.label.text] += known.text;
  }
  for (const CauseFile& file : files) {
    for (const Example& example : file.examples) {
      by_label[example.expect.text] += example.text + "\n";
    }
  }
  out << kNotice << "#include \"diagnose/match/rules.h\"\n\n"
      << "namespace muster::diagnose {\nnamespace {\n\n"
      << kLiterals << "constexpr std::string_view kTexts[] = {\n";
  for (const CauseFile& file : files) {
    out << "    // " << file.label.text << "\n    "
        << Literal(by_label[file.label.text]) << ",\n";
  }
  out << "};\n\n}  // namespace\n\n"
      << "std::string_view KnownTextsOf(Cause cause) {\n"
      << "  return kTexts[static_cast<std::size_t>(cause)];\n}\n\n"
      << "}  // namespace muster::diagnose\n";
}

}  // namespace causes
