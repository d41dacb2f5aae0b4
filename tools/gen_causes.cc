// SPDX-License-Identifier: Apache-2.0
// Reads causes/FAMILY/LABEL.md and writes the enum and its tables.
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Entry {
  std::string label, family, title, severity, retry;
};

std::string Camel(const std::string& label) {
  std::string out;
  bool up = true;
  for (char c : label) {
    if (c == '-') {
      up = true;
      continue;
    }
    out += up ? static_cast<char>(std::toupper(static_cast<unsigned char>(c)))
              : c;
    up = false;
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  std::vector<Entry> entries;
  for (const auto& file :
       std::filesystem::recursive_directory_iterator(argv[1])) {
    if (file.path().extension() != ".md") continue;
    std::ifstream in(file.path());
    std::stringstream text;
    text << in.rdbuf();
    std::string body = text.str();
    auto end = body.find("\n---", 4);
    YAML::Node node = YAML::Load(body.substr(4, end - 4));
    entries.push_back({node["label"].as<std::string>(),
                       file.path().parent_path().filename(),
                       node["title"].as<std::string>(),
                       node["severity"].as<std::string>(),
                       node["retry"].as<std::string>()});
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.label < b.label; });
  std::filesystem::create_directories(std::string(argv[2]) + "/muster");
  std::ofstream header(std::string(argv[2]) + "/muster/cause.h");
  header << "// SPDX-License-Identifier: Apache-2.0\n"
            "// Generated from causes/ by tools/gen_causes.cc.\n#pragma once\n\n"
            "#include <cstdint>\n#include <optional>\n#include <span>\n"
            "#include <string_view>\n\nnamespace muster {\n\n"
            "enum class Cause : std::uint16_t {\n";
  for (const auto& e : entries)
    header << "  k" << Camel(e.label) << ",  // " << e.title << "\n";
  header << "};\n\n"
            "enum class Severity : std::uint8_t { kNote, kWarning, kError };\n"
            "// Whether a repeat can heal it, and if not, who can.\n"
            "enum class Retry : std::uint8_t {\n  kTransient, kNeedsChange, "
            "kNeedsHuman, kBug\n};\n\n"
            "std::string_view Label(Cause cause);\n"
            "std::string_view Family(Cause cause);\n"
            "std::string_view Title(Cause cause);\n"
            "Severity SeverityOf(Cause cause);\n"
            "Retry RetryOf(Cause cause);\n"
            "std::optional<Cause> CauseFromLabel(std::string_view label);\n"
            "std::span<const Cause> AllCauses();\n\n}  // namespace muster\n";
  std::ofstream table(std::string(argv[2]) + "/cause_table.cc");
  table << "// SPDX-License-Identifier: Apache-2.0\n"
           "// Generated from causes/ by tools/gen_causes.cc.\n"
           "#include \"muster/cause.h\"\n\n#include <array>\n\n"
           "namespace muster {\nnamespace {\n\nstruct Row {\n"
           "  std::string_view label, family, title;\n  Severity severity;\n"
           "  Retry retry;\n};\n\nconstexpr std::array<Row, "
        << entries.size() << "> kRows{{\n";
  std::map<std::string, std::string> sev{{"note", "kNote"},
                                         {"warning", "kWarning"},
                                         {"error", "kError"}};
  std::map<std::string, std::string> ret{{"transient", "kTransient"},
                                         {"needs-change", "kNeedsChange"},
                                         {"needs-human", "kNeedsHuman"},
                                         {"bug", "kBug"}};
  for (const auto& e : entries)
    table << "    {\"" << e.label << "\", \"" << e.family << "\", \"" << e.title
          << "\", Severity::" << sev.at(e.severity)
          << ", Retry::" << ret.at(e.retry) << "},\n";
  table << "}};\n\nconstexpr std::array<Cause, " << entries.size()
        << "> kAll{\n";
  for (const auto& e : entries) table << "    Cause::k" << Camel(e.label) << ",\n";
  table << "};\n\nconst Row& RowOf(Cause cause) {\n"
           "  return kRows[static_cast<std::size_t>(cause)];\n}\n\n}  // "
           "namespace\n\n"
           "std::string_view Label(Cause cause) { return RowOf(cause).label; }\n"
           "std::string_view Family(Cause cause) { return RowOf(cause).family; }\n"
           "std::string_view Title(Cause cause) { return RowOf(cause).title; }\n"
           "Severity SeverityOf(Cause cause) { return RowOf(cause).severity; }\n"
           "Retry RetryOf(Cause cause) { return RowOf(cause).retry; }\n\n"
           "std::optional<Cause> CauseFromLabel(std::string_view label) {\n"
           "  for (Cause cause : kAll) {\n    if (Label(cause) == label) {\n"
           "      return cause;\n    }\n  }\n  return std::nullopt;\n}\n\n"
           "std::span<const Cause> AllCauses() { return kAll; }\n\n"
           "}  // namespace muster\n";
  std::ofstream catalogue(std::string(argv[2]) + "/catalogue_table.cc");
  catalogue << "// SPDX-License-Identifier: Apache-2.0\n";
  return 0;
}
