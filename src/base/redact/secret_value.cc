// SPDX-License-Identifier: Apache-2.0
#include "base/redact/secret_value.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "base/redact/glyph.h"
#include "base/text.h"

namespace muster {
namespace {

bool IsOneByteOf(std::string_view bytes, char c) {
  return bytes.find(c) != bytes.npos;
}

// Behind a comma, that something else follows: `password=ab,cd` is one value,
// `password=ab,user=cd` are two.
bool CommaParts(std::string_view text, std::size_t at) {
  constexpr std::size_t kMaxSize = 64;  // of a name
  const Glyph next = GlyphAt(text, at + 1);
  if (next.IsEnd() || next.IsSpace() || next.IsQuote()) {
    return true;
  }
  std::size_t end = at + 1;
  while (end < text.size() && end < at + kMaxSize && IsNameByte(text[end])) {
    ++end;
  }
  return end > at + 1 && end < text.size() && IsOneByteOf("=:", text[end]);
}

std::size_t EndOfBare(std::string_view text, std::size_t at,
                      ValueBounds bounds) {
  while (at < text.size()) {
    if (IsWordByte(text[at])) {
      ++at;
      continue;
    }
    if (text.substr(at).starts_with(kRemovedMark)) {
      at = std::min(text.find(']', at), text.size() - 1) + 1;
      continue;
    }
    // A space that is spelled %20 is of the value.
    const Glyph glyph = text[at] == '%' ? Glyph{'%', 1} : GlyphAt(text, at);
    if (glyph.IsSpace() || glyph.c == Glyph::kNothing ||
        (glyph.c == '<' && (bounds == ValueBounds::kTag || glyph.size > 1 ||
                            text.substr(at).starts_with("</"))) ||
        (glyph.IsQuote() && QuoteCloses(text, at, glyph.size)) ||
        (IsOneByteOf(",;&", glyph.c) && glyph.size == 1 &&
         CommaParts(text, at))) {
      break;
    }
    at += glyph.size;
  }
  return at;
}

// As a shell writes a quote within quotes: 'it'\''s', 'it'"'"'s', 'it''s'.
std::size_t QuotedQuote(std::string_view text, std::size_t at, char quote) {
  if (quote == '\'') {
    for (std::string_view way : {R"('\'')", R"('"'"')"}) {
      if (text.substr(at).starts_with(way)) {
        return way.size();
      }
    }
  }
  return text.substr(at + 1, 1) == std::string_view(&quote, 1) ? 2 : 0;
}

// In JSON within JSON a quote has backslashes, and the one that closes it as
// many; more of them belong to the value.
std::size_t EndOfQuoted(std::string_view text, std::size_t begin,
                        std::string_view open) {
  const char quote = open.back();
  if (quote == ';' || open.front() == '%' || IsNameByte(quote)) {
    const auto end = text.find(open, begin);
    return std::min({end, text.find('\n', begin), text.size()});
  }
  const std::size_t escapes = open.size() - 1;
  std::size_t backslashes = 0;
  for (std::size_t at = begin;
       at < text.size() && text[at] != '\n' && text[at] != '\0'; ++at) {
    if (text[at] == quote &&
        (escapes == 0 ? backslashes % 2 == 0 : backslashes <= escapes)) {
      const std::size_t more =
          escapes == 0 && at > begin ? QuotedQuote(text, at, quote) : 0;
      if (more == 0) {
        return at - (escapes == 0 ? 0 : backslashes);
      }
      at += more - 1;
    }
    backslashes = text[at] == '\\' ? backslashes + 1 : 0;
  }
  return std::min(text.find_first_of(std::string_view("\n\0", 2), begin),
                  text.size());
}

// b'…', r"…".
std::size_t PrefixOfString(std::string_view text, std::size_t at) {
  constexpr std::size_t kMaxCount = 2;
  std::size_t size = 0;
  while (size < kMaxCount && at + size < text.size() &&
         IsOneByteOf("bBfFrRuU", text[at + size])) {
    ++size;
  }
  return GlyphAt(text, at + size).IsQuote() ? size : 0;
}

}  // namespace

bool QuoteCloses(std::string_view text, std::size_t at, std::size_t size) {
  const Glyph next = GlyphAt(text, at + size);
  return next.IsEnd() || next.IsSpace() || next.IsQuote() ||
         next.c == Glyph::kNothing || IsOneByteOf(",;:)]}<>\\", next.c);
}

ValuePlace ValueAt(std::string_view text, std::size_t at, ValueBounds bounds) {
  if (bounds == ValueBounds::kWord) {
    return {.begin = at,
            .end = std::min(text.find('\0', at), text.size()),
            .quoted = true};
  }
  const std::size_t quote = at + PrefixOfString(text, at);
  const Glyph glyph = GlyphAt(text, quote);
  if (!glyph.IsQuote()) {
    return {.begin = at, .end = EndOfBare(text, at, bounds), .quoted = false};
  }
  const std::string_view open = text.substr(quote, glyph.size);
  std::size_t begin = quote + glyph.size;
  if (text.substr(begin).starts_with(open) &&
      text.substr(begin + open.size()).starts_with(open)) {  // """…"""
    begin += 2 * open.size();
  }
  return {
      .begin = begin, .end = EndOfQuoted(text, begin, open), .quoted = true};
}

bool IsPlaceholder(std::string_view value) {
  constexpr std::string_view kNone[] = {"none",  "null",  "nil",      "true",
                                        "false", "yes",   "no",       "on",
                                        "off",   "unset", "undefined"};
  constexpr std::string_view kEnclosed[] = {"${}", "$()", "{}", "<>", "%%"};
  const std::string lower = Lower(value.substr(0, 16));
  const auto encloses = [&](std::string_view pair) {
    const std::string_view open = pair.substr(0, pair.size() - 1);
    return value.size() > pair.size() && value.starts_with(open) &&
           value.back() == pair.back() &&
           std::all_of(value.begin() + static_cast<std::ptrdiff_t>(open.size()),
                       value.end() - 1, [&](char c) {
                         return IsNameByte(c) || IsOneByteOf(" {}|/:", c);
                       });
  };
  return value.find_first_not_of("*.") == value.npos ||
         std::find(std::begin(kNone), std::end(kNone), lower) !=
             std::end(kNone) ||
         (value.starts_with(kRemovedMark) &&
          value.find(']') == value.size() - 1) ||
         std::any_of(std::begin(kEnclosed), std::end(kEnclosed), encloses);
}

bool IsNumberText(std::string_view value) {
  bool digits = false;
  for (const char c : value) {
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      digits = true;
    } else if (!IsOneByteOf("+-.,_eExX", c)) {
      return false;
    }
  }
  return digits;
}

bool NamesFile(std::string_view value) {
  constexpr std::string_view kBegins[] = {"/",     "~/",    "./",   "../",
                                          "gs://", "s3://", "file:"};
  constexpr std::string_view kEnds[] = {".json", ".pem", ".key",  ".pub",
                                        ".crt",  ".txt", ".yaml", ".yml",
                                        ".env",  ".p12", ".ppk",  ".ini"};
  constexpr std::size_t kKeySize = 32;
  // One word of base64 in 32 begins with '/', too.
  const bool key = value.size() >= kKeySize && IsRandom(value.substr(1), 1) &&
                   !IsOneByteOf(value, '.') && !IsOneByteOf(value, '_');
  return (!key &&
          std::any_of(std::begin(kBegins), std::end(kBegins),
                      [&](auto one) { return value.starts_with(one); })) ||
         std::any_of(std::begin(kEnds), std::end(kEnds),
                     [&](auto one) { return value.ends_with(one); });
}

bool IsRandom(std::string_view value, std::size_t least) {
  std::size_t digits = 0;
  std::size_t upper = 0;
  std::size_t lower = 0;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    digits += std::isdigit(byte) != 0 ? 1 : 0;
    upper += std::isupper(byte) != 0 ? 1 : 0;
    lower += std::islower(byte) != 0 ? 1 : 0;
    if (std::isalnum(byte) == 0 && !IsOneByteOf("._~+/=-", c)) {
      return false;
    }
  }
  constexpr std::size_t kLong = 20;
  const std::size_t letters = upper + lower;
  return value.size() >= least && !value.empty() && value[0] != '/' &&
         !IsNumberText(value) &&
         ((digits > 0 && letters > 0) ||
          (upper > 0 && lower > 0 && letters == value.size() &&
           letters >= kLong));
}

bool IsBase64(std::string_view value) {
  constexpr std::size_t kMinSize = 8;
  const bool hump =
      std::adjacent_find(value.begin(), value.end(), [](char a, char b) {
        return std::islower(static_cast<unsigned char>(a)) != 0 &&
               std::isupper(static_cast<unsigned char>(b)) != 0;
      }) != value.end();
  const std::size_t end = value.find_last_not_of('=') + 1;
  return value.size() >= kMinSize && value.size() % 4 == 0 &&
         (hump || IsRandom(value, kMinSize)) &&
         std::all_of(
             value.begin(), value.begin() + static_cast<std::ptrdiff_t>(end),
             [](char c) {
               return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                      c == '+' || c == '/';
             });
}

}  // namespace muster
