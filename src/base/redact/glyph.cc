// SPDX-License-Identifier: Apache-2.0
#include "base/redact/glyph.h"

#include <algorithm>
#include <cctype>

namespace muster {
namespace {

struct Spelling {
  std::string_view text;
  char c;
};

// Behind '&'; an `amp;` ahead of it is of HTML within HTML.
constexpr Spelling kEntities[] = {
    {"quot;", '"'}, {"#34;", '"'},   {"#x22;", '"'}, {"apos;", '\''},
    {"#39;", '\''}, {"#x27;", '\''}, {"lt;", '<'},   {"#60;", '<'},
    {"gt;", '>'},   {"#62;", '>'},   {"nbsp;", ' '}, {"#10;", '\n'},
    {"#61;", '='},  {"#x3D;", '='},  {"#58;", ':'}};
// Behind backslashes.
constexpr Spelling kEscapes[] = {
    {"\"", '"'},    {"'", '\''},     {"`", '`'},     {"n", '\n'},
    {"r", '\r'},    {"t", '\t'},     {"/", '/'},     {"\n", ' '},
    {"u0022", '"'}, {"u0027", '\''}, {"u003c", '<'}, {"u003e", '>'},
    {"u003d", '='}, {"u0026", '&'},  {"u00a0", ' '}, {"u000a", '\n'}};
constexpr Spelling kPercents[] = {{"22", '"'}, {"27", '\''}, {"3D", '='},
                                  {"3d", '='}, {"3A", ':'},  {"3a", ':'},
                                  {"20", ' '}, {"0A", '\n'}, {"26", '&'}};
constexpr std::string_view kEscapeBytes[] = {"\x1b", "u001b", "u001B", "x1b",
                                             "x1B",  "033",   "e"};

template <std::size_t kCount>
Glyph Spelled(const Spelling (&spellings)[kCount], std::string_view text,
              std::size_t at, std::size_t before) {
  for (const Spelling& spelling : spellings) {
    if (text.substr(at, spelling.text.size()) == spelling.text) {
      return {spelling.c, before + spelling.text.size()};
    }
  }
  return {};
}

// Of "[1;32m", 0 if none.
std::size_t ColorSize(std::string_view text) {
  constexpr std::size_t kMaxSize = 32;
  if (!text.starts_with('[')) {
    return 0;
  }
  const std::size_t end =
      text.substr(0, kMaxSize).find_first_not_of("0123456789;:?", 1);
  return end != text.npos &&
                 std::isalpha(static_cast<unsigned char>(text[end])) != 0
             ? end + 1
             : 0;
}

Glyph Color(std::string_view text, std::size_t at, std::size_t before) {
  for (std::string_view byte : kEscapeBytes) {
    if (text.substr(at, byte.size()) == byte) {
      const std::size_t size = ColorSize(text.substr(at + byte.size()));
      return size == 0 ? Glyph{}
                       : Glyph{Glyph::kNothing, before + byte.size() + size};
    }
  }
  return {};
}

bool IsHex(char c) {
  return std::isxdigit(static_cast<unsigned char>(c)) != 0;
}

}  // namespace

Glyph GlyphAt(std::string_view text, std::size_t at) {
  if (at >= text.size()) {
    return {};
  }
  const Glyph plain{text[at], 1};
  Glyph seen;
  switch (plain.c) {
    case '\x1b':
      seen = Color(text, at, 0);
      break;
    case '\\': {
      constexpr std::size_t kMaxCount = 64;  // JSON in JSON in JSON in JSON
      std::size_t count = 1;
      while (count < kMaxCount && at + count < text.size() &&
             text[at + count] == '\\') {
        ++count;
      }
      seen = Color(text, at + count, count);
      if (seen.IsEnd()) {
        seen = Spelled(kEscapes, text, at + count, count);
      }
      break;
    }
    case '&': {
      std::size_t from = at + 1;
      while (text.substr(from, 4) == "amp;") {
        from += 4;
      }
      seen = Spelled(kEntities, text, from, from - at);
      break;
    }
    case '%':
      seen = Spelled(kPercents, text, at + 1, 1);
      break;
    default:
      break;
  }
  return seen.IsEnd() ? plain : seen;
}

Glyph GlyphBefore(std::string_view text, std::size_t at) {
  constexpr std::string_view kFirst = "\\&%\x1b";
  for (std::size_t size = std::min(at, kMaxGlyph); size > 1; --size) {
    if (kFirst.find(text[at - size]) != kFirst.npos) {
      const Glyph glyph = GlyphAt(text, at - size);
      if (glyph.size == size) {
        return glyph;
      }
    }
  }
  return at == 0 ? Glyph{} : Glyph{text[at - 1], 1};
}

void GlyphReader::SkipNothing() {
  for (Glyph glyph = Peek(); glyph.c == Glyph::kNothing && glyph.size > 0;
       glyph = Peek()) {
    at_ += glyph.size;
  }
}

bool GlyphReader::Take(char c) {
  const bool taken = Peek().c == c;
  if (taken) {
    Next();
  }
  return taken;
}

bool GlyphReader::TakeQuote() {
  const bool taken = Peek().IsQuote();
  if (taken) {
    Next();
  }
  return taken;
}

bool GlyphReader::TakeWord(std::string_view lower) {
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (at_ + i >= text_.size() ||
        std::tolower(static_cast<unsigned char>(text_[at_ + i])) != lower[i]) {
      return false;
    }
  }
  at_ += lower.size();
  SkipNothing();
  return true;
}

void GlyphReader::SkipBlanks() {
  while (Peek().IsBlank()) {
    Next();
  }
}

int GlyphReader::TakeBreak() {
  const bool escaped = Peek().size > 1;
  while (Take('\r')) {
  }
  if (!Take('\n')) {
    return -1;
  }
  if (escaped && Peek().c == '"') {  // "line\n",
    Next();
    Take(',');
    Take('\r');
    if (!Take('\n')) {
      return -1;
    }
    SkipBlanks();
    if (!Take('"')) {
      return -1;
    }
  }
  int column = 0;
  for (; Peek().IsBlank(); Next()) {
    ++column;
  }
  return Peek().IsEnd() ? -1 : column;
}

bool BeginsWord(std::string_view text, std::size_t at) {
  if (at == 0 || !IsWordByte(text[at - 1])) {
    return true;
  }
  const bool percent = at > 2 && text[at - 3] == '%' && IsHex(text[at - 2]) &&
                       IsHex(text[at - 1]);
  return percent || GlyphBefore(text, at).size > 1;
}

}  // namespace muster
