// SPDX-License-Identifier: Apache-2.0
#include "base/redact/secret_assign.h"

#include <algorithm>

#include "base/redact/glyph.h"

namespace muster {
namespace {

Glyph SeenBefore(std::string_view text, std::size_t& at) {
  Glyph glyph = GlyphBefore(text, at);
  while (glyph.c == Glyph::kNothing && glyph.size > 0) {
    at -= glyph.size;
    glyph = GlyphBefore(text, at);
  }
  return glyph;
}

// Columns ahead of what begins its line, bullets included; -1 if it does not.
int IndentOf(std::string_view text, std::size_t at) {
  int column = 0;
  const auto is_bullet = [&](std::size_t i) {
    return text[i] == '-' && i + 1 < text.size() && text[i + 1] == ' ';
  };
  while (at > 0 &&
         (text[at - 1] == ' ' || text[at - 1] == '\t' || is_bullet(at - 1))) {
    --at;
    ++column;
  }
  const Glyph before = GlyphBefore(text, at);
  return before.IsEnd() || before.IsBreak() || before.c == '"' ? column : -1;
}

// Of the line that it is in, whatever stands before it there.
int IndentOfLine(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
  if (const auto escaped = before.rfind("\\n"); escaped != before.npos) {
    begin = std::max(begin, escaped + 2);
  }
  const auto text_begin = [&] {
    return std::min(before.find_first_not_of(" \t", begin), before.size());
  };
  if (before.substr(text_begin()).starts_with('"')) {
    begin = text_begin() + 1;  // an element of a list of lines
  }
  return static_cast<int>(text_begin() - begin);
}

// The end of the lines that are indented by more columns.
std::size_t EndOfBlock(std::string_view text, std::size_t at, int indent) {
  constexpr std::size_t kMaxSize = std::size_t{16} << 10;
  GlyphReader reader(text.substr(0, at + kMaxSize), at);
  for (;;) {
    while (!reader.Peek().IsEnd() && !reader.Peek().IsBreak()) {
      reader.Next();
    }
    const std::size_t end = reader.at();
    if (reader.TakeBreak() <= indent) {
      return end;
    }
  }
}

class Assignment {
 public:
  Assignment(std::string_view text, NamePlace name)
      : text_(text), name_(name), reader_(text, name.end) {
    std::size_t begin = name.begin;
    open_ = SeenBefore(text, begin);
    before_ = begin - open_.size;
    closed_ = reader_.TakeQuote();
    found_.quoted_name = closed_ && open_.IsQuote();
  }

  std::optional<AssignedValue> Find() {
    if (ElsewhereAsValue()) {
      return Found(Assigned::kEquals);
    }
    const std::size_t behind = reader_.at();
    const bool index = closed_ && reader_.Take(']');  // environ["NAME"]
    reader_.SkipBlanks();
    const Glyph glyph = reader_.Peek();
    if (glyph.c == ':' || glyph.c == '=') {
      const auto found = Behind(glyph.c);
      return index && found && !found->value.quoted ? std::nullopt : found;
    }
    if (open_.c == '<') {
      return OfTag();
    }
    if (closed_ && glyph.c == ',') {
      return NextElement(Assigned::kElement);
    }
    const bool parted = reader_.at() > behind || glyph.IsBreak();
    return closed_ || !parted ? std::nullopt : NextWord();
  }

 private:
  // Of a long value its beginning says what it is; only if it goes is its end
  // looked for: there may be a name in each of its words.
  std::optional<AssignedValue> Found(Assigned how,
                                     ValueBounds bounds = ValueBounds::kNone) {
    constexpr std::size_t kJudged = 256;
    found_.how = how;
    found_.bounds = bounds;
    found_.at = reader_.at();
    const std::string_view near = text_.substr(0, found_.at + kJudged);
    found_.value = ValueAt(near, found_.at, bounds);
    found_.cut = near.size() < text_.size() &&
                 found_.value.end + kMaxGlyph > near.size();
    return found_;
  }

  // {"name": "DB_PASSWORD", "value": "X"}, also in lines of their own.
  bool ElsewhereAsValue() {
    GlyphReader reader = reader_;
    reader.SkipBlanks();
    const bool comma = reader.Take(',');
    reader.SkipBlanks();
    const bool next_line = reader.TakeBreak() >= 0;
    reader.TakeQuote();
    if (!(closed_ || comma || next_line) || !reader.TakeWord("value")) {
      return false;
    }
    reader.TakeQuote();
    reader.SkipBlanks();
    if (!reader.Take(':') && !reader.Take('=')) {
      return false;
    }
    reader.SkipBlanks();
    reader_ = reader;
    return true;
  }

  std::optional<AssignedValue> Behind(char separator) {
    reader_.Next();
    const bool more = reader_.Take('=') || reader_.Take('>');
    if (reader_.Peek().c == ':') {
      return std::nullopt;  // Name::Of
    }
    reader_.SkipBlanks();
    if (EndsElement()) {  // "password:",
      reader_.Next();
      reader_.SkipBlanks();
      return reader_.Peek().c == ',' ? NextElement(Assigned::kEquals)
                                     : std::nullopt;
    }
    const Assigned how = separator == ':' && !more && !found_.quoted_name
                             ? Assigned::kColon
                             : Assigned::kEquals;
    if (how == Assigned::kColon && !reader_.TakeWord("!!str ")) {
      PassType();
    }
    if (IsBlock()) {
      return Block();
    }
    return reader_.Peek().c == '\n' || reader_.Peek().c == '\r'
               ? NextLine()
               : Found(how, WholeWord());
  }

  // At the quote that encloses name and separator.
  bool EndsElement() const {
    GlyphReader reader = reader_;
    return reader.TakeQuote() &&
           (reader.Peek().IsSpace() || reader.Peek().IsEnd() ||
            IsCloser(reader.Peek().c));
  }
  static bool IsCloser(char c) {
    return std::string_view(",)]}").find(c) != std::string_view::npos;
  }

  // `password: str = "X"`.
  void PassType() {
    constexpr std::size_t kMaxSize = 32;
    GlyphReader reader = reader_;
    const std::size_t begin = reader.at();
    while (reader.at() < begin + kMaxSize &&
           (IsNameByte(reader.Peek().c) || reader.Peek().c == '[' ||
            reader.Peek().c == ']')) {
      reader.Next();
    }
    if (reader.at() > begin && reader.Peek().c == ' ') {
      reader.Next();
      if (reader.Take('=') && reader.Take(' ')) {
        reader_ = reader;
      }
    }
  }

  // YAML's `password: |`.
  bool IsBlock() const {
    GlyphReader reader = reader_;
    if (!reader.Take('|') && !reader.Take('>')) {
      return false;
    }
    if (reader.Peek().c == '-' || reader.Peek().c == '+') {
      reader.Next();
    }
    return reader.Peek().IsBreak();
  }

  std::optional<AssignedValue> Block() {
    int indent = IndentOf(text_, name_.begin);
    if (indent < 0) {  // a log has written words before it
      indent = IndentOfLine(text_, name_.begin);
    }
    while (!reader_.Peek().IsBreak()) {
      reader_.Next();
    }
    if (reader_.TakeBreak() <= indent) {
      return std::nullopt;
    }
    found_.how = Assigned::kEquals;
    found_.value = {.begin = reader_.at(),
                    .end = EndOfBlock(text_, reader_.at(), indent),
                    .quoted = true};
    return found_;
  }

  // A quoted one of a quoted name; of YAML one word that is indented by more.
  std::optional<AssignedValue> NextLine() {
    const int indent = IndentOf(text_, name_.begin);
    const int column = reader_.TakeBreak();
    const Glyph first = reader_.Peek();
    if (column >= 0 && found_.quoted_name) {
      return first.IsQuote() ? Found(Assigned::kEquals) : std::nullopt;
    }
    if (indent < 0 || column <= indent || first.c == '-') {
      return std::nullopt;
    }
    Found(Assigned::kEquals);
    GlyphReader behind(text_, found_.value.end);
    const bool closed = behind.TakeQuote();
    behind.SkipBlanks();
    const std::string_view value = found_.value.Of(text_);
    const bool scalar =
        !value.empty() &&
        (found_.value.quoted ||
         (value.back() != ':' && value.find_first_of("{[(") == value.npos)) &&
        (behind.Peek().IsBreak() || behind.Peek().IsEnd() ||
         (closed && IsCloser(behind.Peek().c)));
    return scalar ? std::optional(found_) : std::nullopt;
  }

  // <password type="x">X</password>.
  std::optional<AssignedValue> OfTag() {
    constexpr std::size_t kMaxSize = 200;
    const std::size_t begin = reader_.at();
    while (reader_.at() < begin + kMaxSize && !reader_.Peek().IsEnd() &&
           std::string_view("<>/\n").find(reader_.Peek().c) ==
               std::string_view::npos) {
      reader_.Next();
    }
    if (!reader_.Take('>')) {
      return std::nullopt;
    }
    reader_.SkipBlanks();
    if (reader_.Peek().IsBreak()) {
      reader_.TakeBreak();
    }
    Found(Assigned::kEquals, ValueBounds::kTag);
    GlyphReader behind(text_, found_.value.end);
    while (behind.Peek().IsSpace()) {
      behind.Next();
    }
    const bool closed = behind.Take('<') && behind.Take('/');
    return closed || found_.cut ? std::optional(found_) : std::nullopt;
  }

  // Of two in brackets the second is the value of the first.
  std::optional<AssignedValue> NextElement(Assigned how) {
    reader_.Next();
    reader_.SkipBlanks();
    if (reader_.Peek().IsBreak()) {
      reader_.TakeBreak();
    }
    if (!reader_.Peek().IsQuote()) {
      return std::nullopt;
    }
    Found(how);
    GlyphReader behind(text_, found_.value.end);
    behind.TakeQuote();
    behind.SkipBlanks();
    if (behind.Peek().IsBreak()) {
      behind.TakeBreak();
    }
    const char open = GlyphBefore(text_, before_).c;
    if ((open == '(' && behind.Peek().c == ')') ||
        (open == '[' && behind.Peek().c == ']')) {
      found_.how = Assigned::kEquals;
    }
    return found_;
  }

  std::optional<AssignedValue> NextWord() {
    if (reader_.Peek().c == '\0') {
      reader_.Next();
      return Found(Assigned::kBlank, ValueBounds::kWord);
    }
    if (reader_.Peek().IsBreak()) {  // "- --password", "- X"
      const bool bullet = text_.substr(0, name_.begin).ends_with("- ");
      if (!bullet || reader_.TakeBreak() < 0 || !reader_.Take('-') ||
          !reader_.Take(' ')) {
        return std::nullopt;
      }
    }
    return Found(Assigned::kBlank);
  }

  // A word of a command is one value, unless it is what a shell is to run.
  ValueBounds WholeWord() const {
    if (open_.c != '\0') {
      return ValueBounds::kNone;
    }
    const std::size_t end = name_.begin - 1;
    const auto before = end == 0 ? text_.npos : text_.rfind('\0', end - 1);
    const std::string_view last =
        before == text_.npos ? std::string_view()
                             : text_.substr(before + 1, end - before - 1);
    return last.starts_with('-') && last.ends_with('c') ? ValueBounds::kNone
                                                        : ValueBounds::kWord;
  }

  std::string_view text_;
  NamePlace name_;
  GlyphReader reader_;
  Glyph open_;  // ahead of the name
  std::size_t before_ = 0;
  bool closed_ = false;
  AssignedValue found_;
};

}  // namespace

NamePlace NameAround(std::string_view text, std::size_t at) {
  constexpr std::size_t kMaxSize = 64;
  NamePlace name{at, at};
  while (name.begin > 0 && at - name.begin < kMaxSize &&
         IsNameByte(text[name.begin - 1])) {
    --name.begin;
  }
  while (name.end < text.size() && name.end - at < kMaxSize &&
         IsNameByte(text[name.end])) {
    ++name.end;
  }
  // What belongs to an escape is of no name.
  constexpr std::string_view kOfEscapes = "\\[;%\x1b";
  if (name.begin > 0 &&
      kOfEscapes.find(text[name.begin - 1]) != kOfEscapes.npos) {
    for (std::size_t i = at; i > name.begin; --i) {
      if (IsWordByte(text[i - 1]) && BeginsWord(text, i)) {
        name.begin = i;
      }
    }
  }
  while (name.end > at && !IsWordByte(text[name.end - 1])) {
    --name.end;
  }
  return name;
}

std::optional<AssignedValue> ValueOfName(std::string_view text,
                                         NamePlace name) {
  return Assignment(text, name).Find();
}

std::size_t EndOfValue(std::string_view text, const AssignedValue& found) {
  return found.cut ? ValueAt(text, found.at, found.bounds).end
                   : found.value.end;
}

}  // namespace muster
