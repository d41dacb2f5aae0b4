// SPDX-License-Identifier: Apache-2.0
// Where a value ends, and what it may be.
#pragma once

#include <cstddef>
#include <string_view>

namespace muster {

// What takes the place of a secret begins with it and ends with ']'.
inline constexpr std::string_view kRemovedMark = "[removed: ";

struct ValuePlace {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool quoted = false;

  std::string_view Of(std::string_view text) const {
    return text.substr(begin, end - begin);
  }
};

// What surrounds a value besides quotes.
enum class ValueBounds {
  kNone,
  kTag,   // <password>X</password>
  kWord,  // of a command: to NUL
};

// The value that begins at `at`.
ValuePlace ValueAt(std::string_view text, std::size_t at, ValueBounds bounds);

// True if the quote at `at`, of so many bytes, ends a text: not so in "it's".
bool QuoteCloses(std::string_view text, std::size_t at, std::size_t size);

// What stands for no value: null, ***, ${NAME}, <password>.
bool IsPlaceholder(std::string_view value);
bool IsNumberText(std::string_view value);
// "/etc/key.pem", "~/.ssh/id_rsa", "key.json".
bool NamesFile(std::string_view value);
// Letters and digits mixed, as nobody writes words.
bool IsRandom(std::string_view value, std::size_t least);
bool IsBase64(std::string_view value);

}  // namespace muster
