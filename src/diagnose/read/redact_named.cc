// SPDX-License-Identifier: Apache-2.0
#include "diagnose/read/redact_named.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <iterator>

#include "base/text.h"

namespace muster::diagnose {
namespace {

// Group 1 is the name; group 2 what assigns, if it is not blanks or a comma
// that part an option or a word of .netrc from its value.
constexpr char kNamed[] =
    R"((?i)([A-Z0-9_.-]*(?:password|passwd|passphrase|secret|token|pwd|)"
    R"((?:secret|api|access|account|auth|private|storage|encryption|signing|)"
    R"(subscription|kaggle|openai)[_-]?key|)"
    R"((?:db|database|user|admin|root|smtp|e?mail|mysql|postgres|pg|redis|)"
    R"(mongo|ftp|ssh|proxy|login|sudo|vnc)_?pass)))"
    R"((?:(\\*["']?\s*(?:=>|[:=]{1,2})\s*)|\\*["'],\s*|\s+))";
constexpr std::string_view kRemoved = "[removed: ";
constexpr std::size_t kShortest = 4;  // of a value that nothing encloses

bool IsWordByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}
bool IsSpace(char c) {
  return std::isspace(static_cast<unsigned char>(c)) != 0;
}
bool IsQuote(char c) {
  return c == '"' || c == '\'';
}
template <typename Words>
bool IsOneOf(const Words& words, std::string_view word) {
  return std::find(std::begin(words), std::end(words), word) != std::end(words);
}

struct Value {
  std::size_t begin = 0;
  std::size_t end = 0;
  bool quoted = false;
};

// Behind a quote at `i`, that it closes: not so within "it's".
bool Closes(std::string_view text, std::size_t i) {
  return i + 1 >= text.size() || IsSpace(text[i + 1]) ||
         std::string_view(",;:)]}>\"'\\").find(text[i + 1]) != text.npos;
}

// Behind a comma, that something else follows: `password=ab,cd` is one value,
// `password=ab,user=cd` are two.
bool Parts(std::string_view text, std::size_t i) {
  std::size_t at = i + 1;
  if (at >= text.size() || IsSpace(text[at]) || IsQuote(text[at])) {
    return true;
  }
  while (at < text.size() &&
         (IsWordByte(text[at]) || text[at] == '-' || text[at] == '.')) {
    ++at;
  }
  return at > i + 1 && at < text.size() && (text[at] == '=' || text[at] == ':');
}

std::size_t EndOfBare(std::string_view text, std::size_t at) {
  while (at < text.size() && !IsSpace(text[at])) {
    const bool escaped =
        text[at] == '\\' && at + 1 < text.size() && IsQuote(text[at + 1]);
    if ((IsQuote(text[at]) && Closes(text, at)) ||
        (escaped && Closes(text, at + 1)) ||
        (std::string_view(",;&").find(text[at]) != text.npos &&
         Parts(text, at))) {
      break;
    }
    const bool removed = text.substr(at).starts_with(kRemoved);
    at = removed ? std::min(text.find(']', at), text.size() - 1) + 1
                 : at + (escaped ? 2 : 1);
  }
  return at;
}

// In JSON within JSON a quote has backslashes, and the one that closes it as
// many; more of them belong to the value.
std::size_t EndOfQuoted(std::string_view text, std::size_t begin, char quote,
                        std::size_t escapes) {
  std::size_t backslashes = 0;
  for (std::size_t at = begin; at < text.size() && text[at] != '\n'; ++at) {
    if (text[at] == quote &&
        (escapes == 0 ? backslashes % 2 == 0 : backslashes <= escapes)) {
      return at - (escapes == 0 ? 0 : backslashes);
    }
    backslashes = text[at] == '\\' ? backslashes + 1 : 0;
  }
  return std::min(text.find('\n', begin), text.size());
}

Value ValueAt(std::string_view text, std::size_t at) {
  std::size_t quote = at;
  while (quote < text.size() && text[quote] == '\\') {
    ++quote;
  }
  if (quote < text.size() && IsQuote(text[quote])) {
    return {.begin = quote + 1,
            .end = EndOfQuoted(text, quote + 1, text[quote], quote - at),
            .quoted = true};
  }
  return {.begin = at, .end = EndOfBare(text, at), .quoted = false};
}

bool IsNumber(const std::string& text) {
  char* end = nullptr;
  std::strtod(text.c_str(), &end);
  return end == text.c_str() + text.size();
}

// Letters and digits mixed, as nobody writes words.
bool LooksRandom(std::string_view text, std::size_t least) {
  std::size_t digits = 0;
  std::size_t upper = 0;
  std::size_t lower = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    digits += std::isdigit(byte) != 0 ? 1 : 0;
    upper += std::isupper(byte) != 0 ? 1 : 0;
    lower += std::islower(byte) != 0 ? 1 : 0;
    if (std::isalnum(byte) == 0 &&
        std::string_view("._~+/=-").find(c) == std::string_view::npos) {
      return false;
    }
  }
  constexpr std::size_t kLong = 20;
  const std::size_t letters = upper + lower;
  return text.size() >= least && text[0] != '/' &&
         !IsNumber(std::string(text)) &&
         ((digits > 0 && letters > 0) ||
          (upper > 0 && lower > 0 && letters == text.size() &&
           letters >= kLong));
}

// A name ahead of "token" that speaks of no text: HF_TOKEN, not pad_token.
bool GivesAccess(std::string_view name) {
  constexpr std::string_view kWho[] = {
      "auth",  "access", "refresh", "api",   "session", "security", "bearer",
      "hf",    "hub",    "github",  "gh",    "gitlab",  "secret",   "wandb",
      "bot",   "slack",  "service", "vault", "private", "deploy",   "jwt",
      "oauth", "csrf",   "npm",     "pypi",  "account", "personal", "registry"};
  const bool upper = std::none_of(name.begin(), name.end(), [](char c) {
    return std::islower(static_cast<unsigned char>(c)) != 0;
  });
  std::string who = Lower(name.substr(0, name.size() - 5));
  const bool option = who == "--";
  who.resize(who.find_last_not_of("_-") + 1);
  return upper || option ||
         std::any_of(std::begin(kWho), std::end(kWho),
                     [&](auto one) { return who.ends_with(one); });
}

bool NamesToken(std::string_view name) {
  return Lower(name).ends_with("token");
}

// What stands for no value.
bool IsPlaceholder(std::string_view value) {
  constexpr std::string_view kNone[] = {"none", "null", "nil", "true", "false"};
  return IsOneOf(kNone, Lower(value)) ||
         value.find_first_not_of('*') == value.npos;
}

// Of `--token`: what follows it in a sentence or in a usage text.
bool IsProse(std::string_view value) {
  constexpr std::string_view kWords[] = {
      "a",    "and", "argument", "as",       "by",   "can",   "cannot",
      "flag", "for", "from",     "has",      "if",   "in",    "instead",
      "is",   "may", "must",     "needs",    "not",  "or",    "option",
      "the",  "to",  "was",      "required", "with", "should"};
  constexpr std::string_view kStandIns[] = {"TOKEN", "PASS", "SECRET", "KEY",
                                            "VALUE", "STR",  "TEXT"};
  const bool upper = std::all_of(value.begin(), value.end(), [](char c) {
    return std::islower(static_cast<unsigned char>(c)) == 0 &&
           std::isdigit(static_cast<unsigned char>(c)) == 0;
  });
  return value.starts_with('-') || IsOneOf(kWords, value) ||
         (upper && std::any_of(std::begin(kStandIns), std::end(kStandIns),
                               [&](auto word) {
                                 return value.find(word) != value.npos;
                               }));
}

// What `pwd` tells is a folder, unless it cannot be one.
bool MayBeFolder(std::string_view value) {
  return value.find_first_of("/\\($`") != value.npos ||
         value.starts_with('~') || value.starts_with('.');
}

// "machine m login l password VALUE", or "password VALUE" alone on its line.
bool IsNetrc(std::string_view name, std::string_view before,
             std::string_view behind) {
  if (name != "password") {
    return false;
  }
  std::vector<std::string> words = Split(Trim(before), ' ');
  std::erase(words, "");
  return words.empty() ? Trim(behind).empty()
                       : words.size() > 1 && words[words.size() - 2] == "login";
}

struct Found {
  std::string_view name;
  std::string_view assigns;  // empty: blanks or a comma part it from its value
  Value value;
};

bool IsSecret(std::string_view text, const Found& found) {
  const auto [begin, end, quoted] = found.value;
  const std::string_view value = text.substr(begin, end - begin);
  const bool assigned = !found.assigns.empty();
  const bool option = found.name.starts_with("--");
  const auto at = static_cast<std::size_t>(found.name.data() - text.data());
  if (value.empty() || IsPlaceholder(value) ||
      (value.starts_with(kRemoved) && value.find(']') == value.size() - 1) ||
      (!assigned && !option &&
       !IsNetrc(found.name, text.substr(0, at), text.substr(end))) ||
      (option && (IsProse(value) || found.assigns.starts_with(':'))) ||
      (assigned && !quoted && value.size() < kShortest)) {
    return false;
  }
  if (Lower(found.name).ends_with("pwd")) {
    return found.assigns.find('=') != found.assigns.npos && !MayBeFolder(value);
  }
  if (!NamesToken(found.name)) {
    return true;
  }
  if (value[0] == '<' || value[0] == '[' || IsNumber(std::string(value))) {
    return false;
  }
  // "next token: layer1" is prose.
  const bool prose = found.assigns.starts_with(':');
  return GivesAccess(found.name) || LooksRandom(value, prose ? 16 : 8);
}

const RE2& Named() {
  static const auto* const named = [] {
    RE2::Options options(RE2::Quiet);
    options.set_encoding(RE2::Options::EncodingLatin1);
    return new RE2(kNamed, options);
  }();
  return *named;
}

std::string_view View(const re2::StringPiece& piece) {
  return {piece.data(), piece.size()};
}

}  // namespace

std::string_view NamedPattern() {
  return kNamed;
}

std::string WithoutNamed(const std::string& text, int& count) {
  std::string out;
  std::size_t kept = 0;  // up to here it is in `out`
  std::size_t at = 0;
  std::array<re2::StringPiece, 3> groups;
  while (at < text.size() &&
         Named().Match(text, at, text.size(), RE2::UNANCHORED, groups.data(),
                       static_cast<int>(groups.size()))) {
    at = static_cast<std::size_t>(groups[0].data() - text.data()) +
         groups[0].size();
    const Found found{.name = View(groups[1]),
                      .assigns = View(groups[2]),
                      .value = ValueAt(text, at)};
    if (IsSecret(text, found)) {
      out.append(text, kept, found.value.begin - kept);
      out += "[removed: secret]";
      ++count;
      kept = at = found.value.end;
    }
  }
  return kept == 0 ? text : out.append(text, kept, text.npos);
}

}  // namespace muster::diagnose
