// SPDX-License-Identifier: Apache-2.0
// Small text functions that several modules need.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "muster/deadline.h"

namespace muster {

// Splits at every separator; an empty text gives no pieces.
std::vector<std::string> Split(std::string_view text, char separator);
std::string Join(std::span<const std::string> parts, std::string_view between);
// "a, b and 5 more": at most so many of them are shown.
std::string JoinSome(std::span<const std::string> parts, std::size_t most);
std::string_view Trim(std::string_view text);
// ASCII letters in lower case, every other byte as it is.
std::string Lower(std::string_view text);
// ASCII letters in upper case, every other byte as it is.
std::string Upper(std::string_view text);

// Nothing but the digits 0 to 9, at least one.
bool IsDigits(std::string_view text);

// A whole decimal number and nothing else.
std::optional<std::int64_t> ParseInt(std::string_view text);

// "1.5 s", "250 ms", "2 min", "1 h"; a bare number is seconds.
std::optional<Duration> ParseDuration(std::string_view text);
// "0.4 ms", "12.3 s", "2 min 5 s".
std::string ToString(Duration duration);
// "100MB", "1.5 GiB", "4096": of powers of 1000 or 1024, at least a byte and at
// most 2^60.
std::optional<std::uint64_t> ParseBytes(std::string_view text);
// "3.2 MiB".
std::string BytesText(std::uint64_t bytes);

// What of a text may stay: kLine nothing; kPage ends of lines and the colors of
// our own pages; kJson ends of lines, and escapes are those of JSON strings.
enum class TextForm { kLine, kPage, kJson };
// Text of another host or program, made safe for a terminal. Control characters
// (C0, DEL, C1), what reorders or breaks a line (bidi controls, U+2028, U+2029)
// and invalid UTF-8 become visible escapes: \x1b, \xe9. Of a text that is
// already safe it makes the same text.
std::string Printable(std::string_view text, TextForm form = TextForm::kLine);

// Well-formed by RFC 3629.
bool IsUtf8(std::string_view text);
// UTF-8 as it is, each byte that is none as the visible escape \xe9.
std::string EscapeBytes(std::string_view text);

// Columns that a text takes on a terminal: code points, which is right for all
// but wide and combining characters.
std::size_t Columns(std::string_view text);
// Lines of at most so many columns, broken at spaces; a longer word has a line
// of its own. At least one line.
std::vector<std::string> Wrap(std::string_view text, std::size_t columns);

// Stable 64-bit digest (FNV-1a) as 16 hex digits: says "the same or not", no
// protection against intent.
std::string Digest(std::string_view bytes);

// "rank 3", "ranks 1, 2".
std::string RanksText(std::span<const int> ranks);

// "1 step", "3 steps".
std::string Count(std::int64_t n, std::string_view noun);

}  // namespace muster
