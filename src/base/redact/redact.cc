// SPDX-License-Identifier: Apache-2.0
#include "base/redact/redact.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <iterator>

#include "base/redact/glyph.h"
#include "base/redact/secret_assign.h"
#include "base/redact/secret_form.h"
#include "base/redact/secret_name.h"
#include "base/redact/secret_tool.h"
#include "base/redact/secret_value.h"
#include "base/text.h"

namespace muster {
namespace {

// What makes a place worth reading closely.
enum class MarkKind { kName, kForm, kTool, kAddress, kKey };
struct Mark {
  std::string_view text;  // lower case if a name
  MarkKind kind = MarkKind::kName;
  std::size_t index = 0;  // of the form or tool
};

// Which marks may begin with three bytes, by their hash: most of a text begins
// none.
class Marks {
 public:
  static const Marks& Get() {
    static const auto* const marks = new Marks;
    return *marks;
  }

  static std::size_t Hash(std::uint32_t bytes) {
    return (((bytes & 0xFFFFFFU) | 0x202020U) * 0x9E3779B1U) >> (32U - kBits);
  }

  const std::vector<Mark>& At(std::size_t hash) const { return chains_[hash]; }
  bool None(std::size_t hash) const { return none_[hash]; }

 private:
  static constexpr unsigned kBits = 14;

  Marks() {
    none_.fill(true);
    for (std::string_view stem : SecretStems()) {
      Add({stem, MarkKind::kName});
    }
    for (std::size_t i = 0; i < TokenForms().size(); ++i) {
      Add({TokenForms()[i].prefix, MarkKind::kForm, i});
    }
    for (std::size_t i = 0; i < SecretTools().size(); ++i) {
      Add({SecretTools()[i].name, MarkKind::kTool, i});
    }
    Add({"://", MarkKind::kAddress});
    Add({"BEGIN ", MarkKind::kKey});
    Add({"Private-Lines:", MarkKind::kKey});
  }
  void Add(Mark mark) {
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, mark.text.data(), 3);
    const std::size_t hash = Hash(bytes);
    chains_[hash].push_back(mark);
    none_[hash] = false;
  }

  std::array<bool, 1U << kBits> none_;
  std::array<std::vector<Mark>, 1U << kBits> chains_;
};

bool AllOf(std::string_view text, int (*is)(int)) {
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return is(static_cast<unsigned char>(c)) != 0;
  });
}

// What follows an option in a sentence or in a usage text.
bool IsProse(std::string_view value) {
  constexpr std::string_view kWords[] = {
      "a",      "and",     "argument", "as",        "by",      "can",
      "cannot", "expired", "failed",   "flag",      "for",     "from",
      "has",    "if",      "in",       "incorrect", "instead", "invalid",
      "is",     "may",     "missing",  "must",      "needs",   "not",
      "option", "or",      "required", "should",    "the",     "to",
      "was",    "with",    "wrong"};
  constexpr std::string_view kStandIns[] = {"TOKEN", "PASS", "SECRET", "KEY",
                                            "VALUE", "STR",  "TEXT"};
  const bool upper = std::none_of(value.begin(), value.end(), [](char c) {
    return std::islower(static_cast<unsigned char>(c)) != 0 ||
           std::isdigit(static_cast<unsigned char>(c)) != 0;
  });
  return value.starts_with('-') ||
         std::find(std::begin(kWords), std::end(kWords),
                   value.substr(0, value.find_last_not_of(".,") + 1)) !=
             std::end(kWords) ||
         (upper && std::any_of(std::begin(kStandIns), std::end(kStandIns),
                               [&](auto word) {
                                 return value.find(word) != value.npos;
                               }));
}

// What `pwd` says is a folder, unless it cannot be one.
bool MayBeFolder(std::string_view value) {
  return value.find_first_of("/\\($`") != value.npos ||
         value.starts_with('~') || value.starts_with('.');
}

// "machine m login l password VALUE", or "password VALUE" alone on its line.
bool IsNetrc(std::string_view text, NamePlace name, std::size_t end) {
  constexpr std::size_t kMaxSize = 300;
  if (text.substr(name.begin, name.end - name.begin) != "password") {
    return false;
  }
  const std::size_t from = name.begin - std::min(name.begin, kMaxSize);
  std::string_view before = text.substr(from, name.begin - from);
  before.remove_prefix(before.rfind('\n') + 1);
  std::vector<std::string> words = Split(Trim(before), ' ');
  std::erase(words, "");
  GlyphReader behind(text, end);
  behind.SkipBlanks();
  return words.empty() ? behind.Peek().IsBreak() || behind.Peek().IsEnd()
                       : words.size() > 1 && words[words.size() - 2] == "login";
}

class Scan {
 public:
  Scan(std::string_view text, std::map<std::string, int>& removed)
      : text_(text), removed_(removed), tokens_(text) {}

  std::string Run() {
    const Marks& marks = Marks::Get();
    std::size_t at = 0;
    while (at + 3 <= text_.size()) {
      // Three bytes count, but four are read at once.
      std::uint32_t bytes = 0;
      if (at + sizeof(bytes) <= text_.size()) {
        std::memcpy(&bytes, text_.data() + at, sizeof(bytes));
      } else {
        std::memcpy(&bytes, text_.data() + at, 3);
      }
      const std::size_t hash = Marks::Hash(bytes);
      if (marks.None(hash)) {
        ++at;
        continue;
      }
      const std::size_t end = end_;
      for (const Mark& mark : marks.At(hash)) {
        if (Stands(mark, at)) {
          Meet(mark, at);
        }
      }
      at = end_ > end ? std::max(at + 1, end_) : at + 1;
    }
    return Without();
  }

 private:
  bool Stands(const Mark& mark, std::size_t at) const {
    const std::string_view there = text_.substr(at, mark.text.size());
    return mark.kind == MarkKind::kName
               ? there.size() == mark.text.size() &&
                     std::equal(
                         there.begin(), there.end(), mark.text.begin(),
                         [](char a, char b) {
                           return std::tolower(static_cast<unsigned char>(a)) ==
                                  b;
                         })
               : there == mark.text;
  }

  void Meet(const Mark& mark, std::size_t at) {
    switch (mark.kind) {
      case MarkKind::kName:
        return Name(at);
      case MarkKind::kForm:
        return Remove(tokens_.At(at, TokenForms()[mark.index]));
      case MarkKind::kTool:
        for (const FoundSecret& found :
             SecretsOfTool(text_, at, SecretTools()[mark.index])) {
          found_.push_back(found);  // what is between them is read, too
        }
        return;
      case MarkKind::kAddress:
        return Remove(UserOfAddress(text_, at));
      case MarkKind::kKey:
        for (const FoundSecret& part : PrivateKeyAt(text_, at)) {
          Remove(part);
        }
        return;
    }
  }

  void Remove(FoundSecret found) {
    if (found) {
      found_.push_back(found);
      end_ = std::max(end_, found.end);
    }
  }

  // ---- Names.

  void Name(std::size_t at) {
    if (at < name_end_) {
      return;  // a second word of the same name
    }
    const NamePlace name = NameAround(text_, at);
    name_end_ = name.end;
    const auto meaning =
        MeaningOfName(text_.substr(name.begin, name.end - name.begin));
    if (meaning == NameMeaning::kNone) {
      return;
    }
    const auto found = ValueOfName(text_, name);
    if (!found) {
      return;
    }
    if (meaning == NameMeaning::kAuthorization) {
      return Authorization(*found);
    }
    if (meaning == NameMeaning::kCookie) {
      return Cookie(*found);
    }
    const char* kind = KindOf(meaning, name, *found);
    if (kind != nullptr) {
      Replace(found->value.begin, EndOfValue(text_, *found), kind);
    }
  }

  // As its form says, if it has one.
  void Replace(std::size_t begin, std::size_t end, const char* kind) {
    for (const TokenForm& form : TokenForms()) {
      if (text_.substr(begin, form.prefix.size()) == form.prefix &&
          tokens_.At(begin, form).end == end) {
        kind = form.kind;
        break;
      }
    }
    Remove({.begin = begin, .end = end, .kind = kind});
  }

  // Null if the value stays.
  const char* KindOf(NameMeaning meaning, NamePlace name,
                     const AssignedValue& found) const {
    constexpr std::size_t kMinSize = 4;  // of a value that nothing encloses
    const std::string_view value = found.value.Of(text_);
    const bool option = text_[name.begin] == '-';
    if (value.empty() || IsPlaceholder(value)) {
      return nullptr;
    }
    const Glyph before = GlyphBefore(text_, name.begin);
    if ((before.c == '?' || before.c == '&') &&
        found.how == Assigned::kEquals && !found.value.quoted &&
        (meaning != NameMeaning::kToken || name.end - name.begin == 5)) {
      return "signature";  // of an address
    }
    const bool parted =
        found.how == Assigned::kBlank || found.how == Assigned::kElement;
    if (meaning == NameMeaning::kBearer) {
      return found.how == Assigned::kBlank && IsBearer(value) ? "token"
                                                              : nullptr;
    }
    if ((parted && !option && !IsNetrc(text_, name, found.value.end)) ||
        (option && (IsProse(value) || found.how == Assigned::kColon)) ||
        (!parted && !found.value.quoted && value.size() < kMinSize) ||
        IsSentence(found)) {
      return nullptr;
    }
    return IsSecretOf(meaning, name, found) ? KindOfMeaning(meaning) : nullptr;
  }

  static const char* KindOfMeaning(NameMeaning meaning) {
    return meaning == NameMeaning::kKey         ? "key"
           : meaning == NameMeaning::kSignature ? "signature"
                                                : "secret";
  }

  static bool IsBearer(std::string_view value) {
    constexpr std::size_t kMinSize = 16;
    return value.size() >= kMinSize &&
           std::all_of(value.begin(), value.end(), [](char c) {
             return IsNameByte(c) || c == '~' || c == '+' || c == '/' ||
                    c == '=';
           });
  }

  // "password: must have a digit".
  bool IsSentence(const AssignedValue& found) const {
    const std::string_view value = found.value.Of(text_);
    if (found.how != Assigned::kColon || found.value.quoted) {
      return false;
    }
    const std::string_view behind = text_.substr(found.value.end, 2);
    return IsProse(value) ||
           (AllOf(value, std::isalpha) && behind.size() == 2 &&
            behind[0] == ' ' && AllOf(behind.substr(1), std::isalpha));
  }

  bool IsSecretOf(NameMeaning meaning, NamePlace name,
                  const AssignedValue& found) const {
    constexpr std::size_t kHexKey = 32;
    const std::string_view value = found.value.Of(text_);
    const bool hex = value.size() >= kHexKey && AllOf(value, std::isxdigit);
    const bool structured = found.quoted_name && found.value.quoted;
    switch (meaning) {
      case NameMeaning::kPassword:
        return true;
      case NameMeaning::kFolder:
        return (found.how != Assigned::kColon || found.value.quoted) &&
               !MayBeFolder(value);
      case NameMeaning::kSecret:
        return !NamesFile(value);
      case NameMeaning::kToken:
      case NameMeaning::kAccess:
        return value[0] != '<' && value[0] != '[' && !IsNumberText(value) &&
               !NamesFile(value) &&
               (meaning == NameMeaning::kAccess ||
                IsRandom(value, found.how == Assigned::kColon ? 16 : 8));
      case NameMeaning::kHint:
        return !IsNumberText(value) && !NamesFile(value) &&
               IsHinted(name, found, structured);
      case NameMeaning::kKey:
        return structured && hex;
      case NameMeaning::kSignature:
        return found.how == Assigned::kEquals && hex;
      default:
        return false;
    }
  }

  // PASS=X, "auth": "dXNlcjpwYXNz", but not "pass: layer1" or "auth=basic".
  bool IsHinted(NamePlace name, const AssignedValue& found,
                bool structured) const {
    constexpr std::size_t kMinSize = 8;
    constexpr std::string_view kWays[] = {
        "basic",  "bearer", "digest", "gssapi", "kerberos", "ldap",    "oauth",
        "oauth2", "plain",  "scram",  "tls",    "required", "optional"};
    const std::string_view value = found.value.Of(text_);
    const bool upper = std::none_of(
        text_.begin() + static_cast<std::ptrdiff_t>(name.begin),
        text_.begin() + static_cast<std::ptrdiff_t>(name.end), [](char c) {
          return std::islower(static_cast<unsigned char>(c)) != 0;
        });
    const bool way = std::find(std::begin(kWays), std::end(kWays),
                               Lower(value)) != std::end(kWays);
    // A number of something: layer1, gpt2.
    const std::string_view word =
        value.substr(0, value.find_last_not_of("0123456789") + 1);
    const bool numbered =
        word.size() < value.size() && AllOf(word, std::isalpha);
    return !way && ((upper && found.how == Assigned::kEquals &&
                     text_[name.end - 1] != 'S') ||
                    (structured && (IsRandom(value, 1) || IsBase64(value))) ||
                    (!numbered && value.find('.') == value.npos &&
                     IsRandom(value, kMinSize)) ||
                    (found.how == Assigned::kEquals && IsBase64(value)));
  }

  // "Authorization: Bearer X", whatever encloses it.
  void Authorization(const AssignedValue& found) {
    constexpr std::string_view kSchemes[] = {
        "bearer", "basic", "token", "digest", "negotiate", "apikey", "bot"};
    constexpr std::size_t kMinSize = 12;
    const std::size_t end = EndOfValue(text_, found);
    const std::string_view all =
        text_.substr(found.value.begin, end - found.value.begin);
    const std::string scheme =
        Lower(all.substr(0, std::min<std::size_t>(all.find(' '), 16)));
    const bool known = std::find(std::begin(kSchemes), std::end(kSchemes),
                                 scheme) != std::end(kSchemes);
    if (!known) {
      if (!IsPlaceholder(all) && IsRandom(all, kMinSize)) {
        Replace(found.value.begin, end, "token");
      }
      return;
    }
    std::size_t begin = found.value.begin + scheme.size();
    while (begin < text_.size() && text_[begin] == ' ') {
      ++begin;
    }
    const ValuePlace value = found.value.quoted
                                 ? ValuePlace{std::min(begin, end), end, true}
                                 : ValueAt(text_, begin, ValueBounds::kNone);
    const std::string_view token = value.Of(text_);
    if (!token.empty() && !IsPlaceholder(token) && !IsProse(token) &&
        (scheme != "token" || !AllOf(token, std::islower))) {
      Replace(value.begin, value.end, "token");
    }
  }

  // All of them, to the end of the quote or line.
  void Cookie(const AssignedValue& found) {
    std::size_t end = EndOfValue(text_, found);
    const std::size_t begin = found.value.begin;
    const std::string_view first = text_.substr(begin, end - begin);
    const auto equals = first.find('=');
    if (equals == first.npos || equals == 0 || found.how == Assigned::kBlank ||
        !std::all_of(first.begin(),
                     first.begin() + static_cast<std::ptrdiff_t>(equals),
                     IsNameByte)) {
      return;
    }
    while (!found.value.quoted && end < text_.size() &&
           !GlyphAt(text_, end).IsBreak() && !GlyphAt(text_, end).IsQuote()) {
      ++end;
    }
    Remove({.begin = begin, .end = end, .kind = "cookie"});
  }

  // ---- What stays.

  std::string Without() {
    std::stable_sort(found_.begin(), found_.end(),
                     [](const FoundSecret& a, const FoundSecret& b) {
                       return a.begin < b.begin;
                     });
    std::string out;
    std::size_t kept = 0;
    for (const FoundSecret& found : found_) {
      if (found.begin < kept) {  // it began within another
        kept = std::max(kept, found.end);
        continue;
      }
      out.append(text_, kept, found.begin - kept);
      if (found.kind != nullptr) {
        out.append(kRemovedMark).append(found.kind).append("]");
        ++removed_[found.kind];
      }
      kept = found.end;
    }
    return out.append(text_, kept);
  }

  std::string_view text_;
  std::map<std::string, int>& removed_;
  TokenFinder tokens_;
  std::vector<FoundSecret> found_;
  std::size_t end_ = 0;       // of what goes so far
  std::size_t name_end_ = 0;  // of the last name
};

// "me@example.org"; `git@github.com` is nobody.
std::string WithoutEmails(std::string_view text, int& count) {
  constexpr std::size_t kMaxSize = 64;  // of each part
  std::string out;
  std::size_t kept = 0;
  const auto of_name = [&](std::size_t i) {
    return IsNameByte(text[i]) || text[i] == '+';
  };
  for (std::size_t at = text.find('@'); at != text.npos;
       at = text.find('@', at + 1)) {
    std::size_t begin = at;
    while (begin > kept && at - begin < kMaxSize && of_name(begin - 1)) {
      --begin;
    }
    std::size_t end = at + 1;
    while (end < text.size() && end - at < kMaxSize && IsNameByte(text[end])) {
      ++end;
    }
    while (begin < at && !BeginsWord(text, begin)) {
      ++begin;
    }
    const std::string_view host =
        Trim(text.substr(at + 1, text.find_last_not_of(".-", end - 1) - at));
    const auto dot = host.rfind('.');
    if (begin == at || text.substr(begin, at - begin) == "git" ||
        dot == host.npos || host.size() - dot < 3 ||
        !AllOf(host.substr(dot + 1), std::isalpha)) {
      continue;
    }
    out.append(text, kept, begin - kept).append("[removed: email]");
    kept = at + 1 + host.size();
    ++count;
  }
  return out.append(text, kept);
}

}  // namespace

std::string Redactor::Text(std::string_view text) {
  std::string out = Scan(text, removed_).Run();
  if (emails_) {
    int count = 0;
    out = WithoutEmails(out, count);
    if (count > 0) {
      removed_["email"] += count;
    }
  }
  return out;
}

std::string Redactor::Path(std::string_view path) {
  constexpr std::size_t kMaxEnding = 6;
  std::vector<std::string> parts = Split(path, '/');
  for (std::string& part : parts) {
    const auto dot = part.rfind('.');
    const std::string ending = dot == part.npos ? "" : part.substr(dot);
    const bool is_ending =
        ending.size() > 1 && ending.size() <= kMaxEnding &&
        AllOf(std::string_view(ending).substr(1), std::islower);
    part = Text(is_ending ? std::string_view(part).substr(0, dot)
                          : std::string_view(part));
    part += is_ending ? ending : "";
  }
  return Join(parts, "/");
}

std::string Redacted(std::string_view text) {
  return Redactor().Text(text);
}

std::vector<std::string> RedactedCommand(std::span<const std::string> argv) {
  // No word holds a NUL.
  std::string line;
  for (const std::string& word : argv) {
    line += '\0';
    line += word;
  }
  std::vector<std::string> words = Split(Redacted(line), '\0');
  words.erase(words.begin(), words.begin() + (words.empty() ? 0 : 1));
  return words;
}

}  // namespace muster
