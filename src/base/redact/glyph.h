// SPDX-License-Identifier: Apache-2.0
// Text as it is seen through what carries it: JSON in JSON, HTML, terminals.
#pragma once

#include <cstddef>
#include <string_view>

namespace muster {

// One character as it is seen, and the bytes that spell it: `&quot;`, `\"`,
// `\u0022` and `%22` are quotes, `\n` ends a line, a color is nothing.
struct Glyph {
  static constexpr char kNothing = '\x01';  // takes bytes, shows nothing
  static constexpr char kEnd = '\x02';      // of the text

  char c = kEnd;
  std::size_t size = 0;

  bool IsQuote() const { return c == '"' || c == '\'' || c == '`'; }
  bool IsBlank() const { return c == ' ' || c == '\t'; }
  // NUL parts the words of a command.
  bool IsBreak() const { return c == '\n' || c == '\r' || c == '\0'; }
  bool IsSpace() const { return IsBlank() || IsBreak(); }
  bool IsEnd() const { return c == kEnd; }
};

inline constexpr std::size_t kMaxGlyph = 16;  // but for backslashes

Glyph GlyphAt(std::string_view text, std::size_t at);
// The one that ends there.
Glyph GlyphBefore(std::string_view text, std::size_t at);

// Reads one after the other; what shows nothing is passed over.
class GlyphReader {
 public:
  GlyphReader(std::string_view text, std::size_t at) : text_(text), at_(at) {
    SkipNothing();
  }

  std::size_t at() const { return at_; }
  Glyph Peek() const { return GlyphAt(text_, at_); }
  void Next() {
    at_ += Peek().size;
    SkipNothing();
  }
  // True if this was next.
  bool Take(char c);
  bool TakeQuote();
  bool TakeWord(std::string_view lower);
  void SkipBlanks();
  // To the next line and its first character that is no blank; where each line
  // is a string of a list of JSON, to what is in the next one. The columns that
  // it is indented by, or -1 at the end of the text or if a line goes on.
  int TakeBreak();

 private:
  void SkipNothing();

  std::string_view text_;
  std::size_t at_;
};

// ASCII letters and digits, '_'.
constexpr bool IsWordByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '_';
}
// Of names: also '-' and '.'.
constexpr bool IsNameByte(char c) {
  return IsWordByte(c) || c == '-' || c == '.';
}
// False if the byte at `at` goes on with a word that begins before it: the
// letter of an escape (`\n`, a color, `%22`) does not.
bool BeginsWord(std::string_view text, std::size_t at);

}  // namespace muster
