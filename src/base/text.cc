// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace muster {
namespace {

struct CodePoint {
  char32_t value = 0;
  std::size_t length = 0;  // 0: no well-formed UTF-8
};

// The first code point of a text that is not empty. Overlong forms, surrogates
// and what lies beyond U+10FFFF are not well-formed.
CodePoint FirstOf(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) {
    return {.value = lead, .length = 1};
  }
  const std::size_t length = lead < 0xC2   ? 0
                             : lead < 0xE0 ? 2
                             : lead < 0xF0 ? 3
                             : lead < 0xF5 ? 4
                                           : 0;
  if (length == 0 || text.size() < length) {
    return {};
  }
  char32_t value = lead & (0x7FU >> length);
  for (const char c : text.substr(1, length - 1)) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte & 0xC0U) != 0x80) {
      return {};
    }
    value = (value << 6U) | (byte & 0x3FU);
  }
  constexpr char32_t kLeast[] = {0x80, 0x800, 0x10000};
  const bool valid = value >= kLeast[length - 2] && value <= 0x10FFFF &&
                     (value < 0xD800 || value > 0xDFFF);
  return valid ? CodePoint{.value = value, .length = length} : CodePoint{};
}

// What a terminal obeys, and what changes the order or the lines of a text.
bool IsUnsafe(char32_t c) {
  return (c < 0x20 && c != '\t') || (c >= 0x7F && c < 0xA0) || c == 0x61C ||
         c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) ||
         (c >= 0x2066 && c <= 0x2069);
}

// How long the color (SGR) is that the text begins with; 0: it does not.
std::size_t ColorLength(std::string_view text) {
  if (!text.starts_with("\x1b[")) {
    return 0;
  }
  const auto end = text.find_first_not_of("0123456789;", 2);
  return end != std::string_view::npos && text[end] == 'm' ? end + 1 : 0;
}

// One code point that is unsafe, or a byte that is no UTF-8.
void Escape(std::string_view bytes, char32_t value, TextForm form,
            std::string& out) {
  char escape[16];
  if (form == TextForm::kJson) {
    std::snprintf(escape, sizeof escape, "\\u%04x",
                  static_cast<unsigned>(value));
    out += escape;
    return;
  }
  for (const char c : bytes) {
    std::snprintf(escape, sizeof escape, "\\x%02x",
                  static_cast<unsigned char>(c));
    out += c == '\n' ? "\\n" : c == '\r' ? "\\r" : escape;
  }
}

}  // namespace

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) {
    return parts;
  }
  for (;;) {
    const auto end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

std::string Join(std::span<const std::string> parts, std::string_view between) {
  std::string text;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) {
      text += between;
    }
    text += part;
  }
  return text;
}

std::string JoinSome(std::span<const std::string> parts, std::size_t most) {
  const std::size_t shown = std::min(parts.size(), most);
  std::string text = Join(parts.first(shown), ", ");
  if (shown < parts.size()) {
    text += " and " + std::to_string(parts.size() - shown) + " more";
  }
  return text;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower;
}

std::string Upper(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return upper;
}

bool IsDigits(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::optional<std::int64_t> ParseInt(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::uint64_t> ParseBytes(std::string_view text) {
  text = Trim(text);
  double amount = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), amount);
  if (error != std::errc() || !(amount > 0)) {
    return std::nullopt;
  }
  constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1},         {"B", 1},        {"kB", 1e3},    {"KB", 1e3},
      {"MB", 1e6},     {"GB", 1e9},     {"TB", 1e12},   {"KiB", 0x1p10},
      {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"TiB", 0x1p40}};
  const auto unit =
      Trim(text.substr(static_cast<std::size_t>(end - text.data())));
  for (const auto& [name, size] : kUnits) {
    const double bytes = amount * size;
    if (name == unit && bytes >= 1 && bytes <= 0x1p60) {
      return static_cast<std::uint64_t>(bytes);
    }
  }
  return std::nullopt;
}

std::optional<Duration> ParseDuration(std::string_view text) {
  text = Trim(text);
  double amount = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), amount);
  if (error != std::errc() || !(amount >= 0) || amount > 1e9) {
    return std::nullopt;
  }
  const auto unit =
      Trim(text.substr(static_cast<std::size_t>(end - text.data())));
  double seconds = 0;
  if (unit.empty() || unit == "s") {
    seconds = amount;
  } else if (unit == "ms") {
    seconds = amount / 1e3;
  } else if (unit == "min" || unit == "m") {
    seconds = amount * 60;
  } else if (unit == "h") {
    seconds = amount * 3600;
  } else if (unit == "d") {
    seconds = amount * 86400;
  } else {
    return std::nullopt;
  }
  // Nine years: anything longer is a mistyped unit and would overflow.
  if (seconds > 2.8e8) {
    return std::nullopt;
  }
  return Duration(static_cast<std::int64_t>(seconds * 1e9));
}

std::string ToString(Duration duration) {
  const double seconds = std::chrono::duration<double>(duration).count();
  char text[48];
  if (seconds < 0.9995) {
    std::snprintf(text, sizeof text, seconds < 0.00995 ? "%.2f ms" : "%.0f ms",
                  seconds * 1e3);
  } else if (seconds < 99.95) {
    std::snprintf(text, sizeof text, "%.1f s", seconds);
  } else if (seconds < 3600) {
    const auto whole = static_cast<int>(std::lround(seconds));
    std::snprintf(text, sizeof text, "%d min %d s", whole / 60, whole % 60);
  } else {
    const auto minutes = static_cast<int>(std::lround(seconds / 60));
    std::snprintf(text, sizeof text, "%d h %d min", minutes / 60, minutes % 60);
  }
  return text;
}

std::string BytesText(std::uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (amount >= 1024 && unit + 1 < std::size(kUnits)) {
    amount /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", amount,
                kUnits[unit]);
  return text;
}

std::string Printable(std::string_view text, TextForm form) {
  constexpr char32_t kReplacement = 0xFFFD;
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint first = FirstOf(text);
    std::size_t length = std::max<std::size_t>(first.length, 1);
    const bool line_end = first.value == '\n' && form != TextForm::kLine;
    if (first.length > 0 && (line_end || !IsUnsafe(first.value))) {
      out += text.substr(0, length);
    } else if (const std::size_t color = ColorLength(text);
               color > 0 && form == TextForm::kPage) {
      length = color;
      out += text.substr(0, length);
    } else {
      Escape(text.substr(0, length),
             first.length > 0 ? first.value : kReplacement, form, out);
    }
    text.remove_prefix(length);
  }
  return out;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = FirstOf(text).length;
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

std::string EscapeBytes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = FirstOf(text).length;
    if (length == 0) {
      Escape(text.substr(0, 1), 0xFFFD, TextForm::kLine, out);
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return out;
}

std::string Digest(std::string_view bytes) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (char c : bytes) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211ULL;
  }
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(hash));
  return text;
}

std::string RanksText(std::span<const int> ranks) {
  std::vector<std::string> names;
  names.reserve(ranks.size());
  for (const int rank : ranks) {
    names.push_back(std::to_string(rank));
  }
  return (names.size() == 1 ? "rank " : "ranks ") + Join(names, ", ");
}

std::size_t Columns(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(
      text.begin(), text.end(),
      [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::vector<std::string> Wrap(std::string_view text, std::size_t columns) {
  std::vector<std::string> lines;
  std::string line;
  for (const std::string& word : Split(text, ' ')) {
    if (!line.empty() && Columns(line) + 1 + Columns(word) > columns) {
      line.resize(line.find_last_not_of(' ') + 1);
      lines.push_back(std::move(line));
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  lines.push_back(std::move(line));
  return lines;
}

std::string Count(std::int64_t n, std::string_view noun) {
  const char* plural = noun.ends_with('s') ? "es" : "s";
  return std::to_string(n) + " " + std::string(noun) + (n == 1 ? "" : plural);
}

}  // namespace muster
