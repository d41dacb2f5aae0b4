// SPDX-License-Identifier: Apache-2.0
#include "base/redact/secret_tool.h"

#include <algorithm>
#include <string>

#include "base/redact/glyph.h"
#include "base/redact/secret_value.h"
#include "base/text.h"

namespace muster {
namespace {

constexpr SecretTool kSecretTools[] = {
    {"curl", "", "-u -U --user --proxy-user", false, true},
    {"sshpass", "", "-p"},
    {"mysql", "", "-p", true},
    {"mariadb", "", "-p", true},
    {"redis-cli", "", "-a"},
    {"ldapsearch", "", "-w"},
    {"docker", "login", "-p"},
    {"podman", "login", "-p"},
    {"helm", "login", "-p"},
    {"nerdctl", "login", "-p"},
    {"skopeo", "login", "-p"},
    {"crane", "login", "-p"},
    {"apptainer", "login", "-p"},
    {"singularity", "login", "-p"},
    {"oc ", "login", "-p"},
    {"az ", "login", "-p"},
    {"wandb", "login", ""}};

// Behind `at`, in a shell's line or a list; empty where the command ends.
ValuePlace NextWord(std::string_view text, std::size_t at) {
  GlyphReader reader(text, at);
  const bool closed = reader.TakeQuote();
  reader.SkipBlanks();
  if (closed && reader.Take(',')) {
    reader.SkipBlanks();
    reader.TakeBreak();
  }
  const bool word = reader.Peek().c == '\0';
  if (word) {
    reader.Next();
  }
  const Glyph glyph = reader.Peek();
  if (glyph.IsEnd() || glyph.IsBreak() || glyph.c == '|' || glyph.c == ';' ||
      reader.at() == at) {
    return {};
  }
  return ValueAt(text, reader.at(),
                 word ? ValueBounds::kWord : ValueBounds::kNone);
}

// "-pX", "--user=X"; for none of them a long word: what is skipped of it.
bool IsOfTool(const SecretTool& tool, std::string_view word,
              std::size_t& skipped) {
  constexpr std::size_t kLongWord = 20;
  if (tool.options.empty()) {
    return word.size() >= kLongWord &&
           std::all_of(word.begin(), word.end(), IsWordByte);
  }
  for (const std::string& option : Split(tool.options, ' ')) {
    const bool long_one = option.starts_with("--");
    if (word.starts_with(option) && word.size() > option.size() &&
        (!long_one || word[option.size()] == '=')) {
      skipped = option.size() + (word[option.size()] == '=' ? 1 : 0);
      return true;
    }
  }
  return false;
}

void OfTool(std::string_view text, const SecretTool& tool, ValuePlace place,
            std::vector<FoundSecret>& found) {
  auto [begin, end, quoted] = place;
  if (tool.user) {
    const auto colon = text.substr(begin, end - begin).find(':');
    begin = colon == text.npos ? end : begin + colon + 1;
  }
  if (!IsPlaceholder(text.substr(begin, end - begin))) {
    found.push_back({.begin = begin, .end = end, .kind = "secret"});
  }
}

}  // namespace

std::span<const SecretTool> SecretTools() {
  return kSecretTools;
}

std::vector<FoundSecret> SecretsOfTool(std::string_view text, std::size_t at,
                                       const SecretTool& tool) {
  std::vector<FoundSecret> found;
  constexpr int kMaxWords = 32;
  constexpr std::size_t kMaxSize = 1024;
  if (!BeginsWord(text, at) ||
      (at > 0 && (text[at - 1] == '-' || text[at - 1] == '.'))) {
    return found;
  }
  const std::string_view line = text.substr(0, at + kMaxSize);
  std::size_t end = at + tool.name.size();
  while (end < line.size() && IsWordByte(line[end])) {
    ++end;  // mysqldump
  }
  bool verb = tool.verb.empty();
  bool next = false;  // is the secret
  for (int words = 0; words < kMaxWords; ++words) {
    const ValuePlace word = NextWord(line, end);
    if (word.end <= end) {
      return found;
    }
    end = word.end;
    const std::string_view said = word.Of(line);
    std::size_t skipped = 0;
    if (next || (verb && IsOfTool(tool, said, skipped))) {
      OfTool(text, tool, {word.begin + skipped, word.end, word.quoted}, found);
      next = false;
    } else {
      verb = verb || said == tool.verb;
      next = verb && !tool.joined && !said.empty() &&
             (" " + std::string(tool.options) + " ")
                     .find(" " + std::string(said) + " ") != std::string::npos;
    }
  }
  return found;
}

}  // namespace muster
