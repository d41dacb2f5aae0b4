// SPDX-License-Identifier: Apache-2.0
#include "base/redact/secret_form.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>

#include "base/redact/glyph.h"
#include "base/redact/secret_value.h"
#include "base/text.h"

namespace muster {
namespace {

constexpr auto kLetters = TokenBytes::kLetters;
constexpr auto kUpper = TokenBytes::kUpper;
constexpr auto kHex = TokenBytes::kHex;
constexpr auto kUrl = TokenBytes::kUrl;
constexpr auto kDotted = TokenBytes::kDotted;
constexpr auto kBase64 = TokenBytes::kBase64;

constexpr TokenForm kTokenForms[] = {
    // Models and clouds.
    {"hf_", kLetters, 16},
    {"api_org_", kLetters, 16},
    {"sk-", kUrl, 20},
    {"xai-", kUrl, 20},
    {"gsk_", kLetters, 20},
    {"pplx-", kLetters, 20},
    {"nvapi-", kUrl, 20},
    {"r8_", kLetters, 20},
    {"lsv2_", kUrl, 20},
    {"wandb_v1_", kUrl, 16},
    {"ya29.", kDotted, 1},
    {"1//0", kUrl, 20},
    {"4/0A", kUrl, 30},
    {"GOCSPX-", kUrl, 16},
    {"AIza", kUrl, 30, "key"},
    {"AKIA", kUpper, 16, "key"},
    {"ASIA", kUpper, 16, "key"},
    {"ABIA", kUpper, 16, "key"},
    {"ACCA", kUpper, 16, "key"},
    {"ABSK", kBase64, 60, "key"},
    {"bedrock-api-key-", kBase64, 20, "key"},
    {"LTAI", kLetters, 16, "key"},
    {"AQVN", kUrl, 30, "key"},
    {"dapi", kHex, 32},
    {"dop_v1_", kHex, 32},
    {"doo_v1_", kHex, 32},
    {"dor_v1_", kHex, 32},
    {"v1.0-", kUrl, 40, "key"},
    {"fo1_", kUrl, 30},
    {"fm1a_", kBase64, 40},
    {"fm1r_", kBase64, 40},
    {"fm2_", kBase64, 40},
    {"HRKU-", kUrl, 30},
    {"tk-us-", kUrl, 30},
    {"pul-", kHex, 32},
    // Sources, packages, containers.
    {"ghp_", kLetters, 20},
    {"gho_", kLetters, 20},
    {"ghu_", kLetters, 20},
    {"ghs_", kLetters, 20},
    {"ghr_", kLetters, 20},
    {"github_pat_", kUrl, 20},
    {"glpat-", kDotted, 16},
    {"gldt-", kUrl, 16},
    {"glptt-", kUrl, 16},
    {"glrt-", kDotted, 16},
    {"glcbt-", kUrl, 16},
    {"glft-", kUrl, 16},
    {"glffct-", kUrl, 16},
    {"glimt-", kUrl, 16},
    {"glagent-", kUrl, 16},
    {"gloas-", kUrl, 16},
    {"glsoat-", kUrl, 16},
    {"GR1348941", kUrl, 16},
    {"npm_", kLetters, 30},
    {"pypi-", kUrl, 40},
    {"rubygems_", kHex, 32},
    {"CLOJARS_", kLetters, 40},
    {"dckr_pat_", kUrl, 16},
    {"dckr_oat_", kUrl, 16},
    {"AKCp", kLetters, 50, "key"},
    {"cmVmd", kLetters, 50},
    {"sgp_", kUrl, 40},
    {"ATATT3", kUrl, 40},
    {"ATCTT3", kUrl, 40},
    {"pnu_", kLetters, 30},
    {"sha256~", kUrl, 40},
    // Secrets, networks, keys.
    {"hvs.", kUrl, 20},
    {"hvb.", kUrl, 20},
    {"hvr.", kUrl, 20},
    {"dp.st.", kDotted, 20},
    {"dp.pt.", kDotted, 20},
    {"dp.ct.", kDotted, 20},
    {"dp.sa.", kDotted, 20},
    {"dp.scim.", kDotted, 20},
    {"dp.audit.", kDotted, 20},
    {"tskey-", kUrl, 16},
    {"ops_eyJ", kBase64, 40},
    {"A3-", kUrl, 30, "key"},
    {"p8e-", kLetters, 30},
    {"AGE-SECRET-KEY-", kUpper, 30, "key"},
    {"Private-MAC: ", kHex, 32, "key", true},
    {"eyJ", kDotted, 20},
    // Watching, mail, chats, money.
    {"glc_", kBase64, 30},
    {"glsa_", kUrl, 30},
    {"sntrys_", kBase64, 30},
    {"sntryu_", kHex, 32},
    {"NRAK-", kLetters, 20},
    {"NRII-", kUrl, 20},
    {"dt0c01.", kDotted, 40},
    {"SG.", kDotted, 30},
    {"key-", kHex, 32, "key"},
    {"xkeysib-", kUrl, 40, "key"},
    {"xapp-", kUrl, 10},
    {"xoxa-", kUrl, 10},
    {"xoxb-", kUrl, 10},
    {"xoxe-", kUrl, 10},
    {"xoxe.xox", kUrl, 10},
    {"xoxo-", kUrl, 10},
    {"xoxp-", kUrl, 10},
    {"xoxr-", kUrl, 10},
    {"xoxs-", kUrl, 10},
    {"hooks.slack.com/", TokenBytes::kPath, 8, "token", true},
    {"discord.com/api/webhooks/", TokenBytes::kPath, 8, "token", true},
    {"discordapp.com/api/webhooks/", TokenBytes::kPath, 8, "token", true},
    {"api.telegram.org/bot", TokenBytes::kColon, 20, "token", true},
    {"api.telegram.org/file/bot", TokenBytes::kColon, 20, "token", true},
    {"ntn_", kLetters, 40},
    {"lin_api_", kLetters, 30},
    {"figd_", kUrl, 30},
    {"PMAK-", kUrl, 40, "key"},
    {"tfp_", kDotted, 40},
    {"sl.", kUrl, 100},
    {"sk_live_", kLetters, 10},
    {"sk_test_", kLetters, 10},
    {"sk_prod_", kLetters, 10},
    {"rk_live_", kLetters, 10},
    {"rk_test_", kLetters, 10},
    {"whsec_", kBase64, 20},
    {"sq0atp-", kUrl, 20},
    {"sq0csp-", kUrl, 20},
    {"shpat_", kHex, 32},
    {"shpca_", kHex, 32},
    {"shppa_", kHex, 32},
    {"shpss_", kHex, 32},
    {"shippo_live_", kHex, 32},
    {"shippo_test_", kHex, 32},
    {"EZAK", kLetters, 50, "key"},
    {"EZTK", kLetters, 50, "key"},
    {"EAA", kLetters, 80},
    {"FLWSECK", kUrl, 12, "key"},
    {"duffel_live_", kUrl, 30},
    {"duffel_test_", kUrl, 30},
    {"fio-u-", kUrl, 40},
    {"rdme_", kLetters, 50},
    {"pscale_tkn_", kDotted, 30},
    {"pscale_oauth_", kDotted, 30},
    {"pscale_pw_", kDotted, 30, "password"},
    {"sm_aat_", kLetters, 16},
    {"sm_pat_", kLetters, 16},
    {"sm_sat_", kLetters, 16},
};

bool IsOfToken(TokenBytes bytes, char c) {
  const auto byte = static_cast<unsigned char>(c);
  switch (bytes) {
    case TokenBytes::kLetters:
      return std::isalnum(byte) != 0;
    case TokenBytes::kUpper:
      return std::isupper(byte) != 0 || std::isdigit(byte) != 0;
    case TokenBytes::kHex:
      return std::isxdigit(byte) != 0;
    case TokenBytes::kUrl:
      return IsWordByte(c) || c == '-';
    case TokenBytes::kDotted:
      return IsNameByte(c);
    case TokenBytes::kBase64:
      return std::isalnum(byte) != 0 || c == '+' || c == '/' || c == '=' ||
             c == '_';
    case TokenBytes::kColon:
      return IsWordByte(c) || c == '-' || c == ':';
    case TokenBytes::kPath:
      return IsWordByte(c) || c == '-' || c == '/';
  }
  return false;
}

// Three parts, the first two of some length.
bool IsJwt(std::string_view text) {
  constexpr std::size_t kMinSize = 10;
  const auto first = text.find('.');
  const auto second = first == text.npos ? first : text.find('.', first + 1);
  return second != text.npos && first > kMinSize && second - first > kMinSize;
}

// sk-learn-contrib-something, or behind '_' any word.
bool IsWords(std::string_view text, bool parted) {
  return (parted || text.find_first_of("-_.") != text.npos) &&
         std::none_of(text.begin(), text.end(), [](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return std::isdigit(byte) != 0 || std::isupper(byte) != 0;
         });
}

}  // namespace

std::span<const TokenForm> TokenForms() {
  return kTokenForms;
}

const TokenFinder::Run& TokenFinder::RunAt(std::size_t at, TokenBytes bytes) {
  Run& run = runs_[static_cast<std::size_t>(bytes)];
  if (at >= run.end) {
    run.end = at;
    while (run.end < text_.size() && IsOfToken(bytes, text_[run.end])) {
      ++run.end;
    }
    run.trimmed = run.end;
    while (run.trimmed > at && text_[run.trimmed - 1] == '.') {
      --run.trimmed;
    }
  }
  return run;
}

FoundSecret TokenFinder::At(std::size_t at, const TokenForm& form) {
  constexpr std::size_t kMaxPart = 4096;  // of a JWT
  constexpr std::size_t kJudged = 128;
  const bool begins = BeginsWord(text_, at);
  if (!begins && text_[at - 1] != '_') {
    return {};
  }
  const std::size_t begin = at + form.prefix.size();
  const std::size_t end = RunAt(begin, form.bytes).trimmed;
  if (end < begin + form.least ||
      (form.prefix == "eyJ" &&
       !IsJwt(text_.substr(at, std::min(end - at, kMaxPart)))) ||
      (form.least > 1 &&
       IsWords(text_.substr(begin, std::min(end - begin, kJudged)), !begins))) {
    return {};
  }
  return {.begin = form.stays ? begin : at, .end = end, .kind = form.kind};
}

namespace {

int Humps(std::string_view text) {
  int humps = 0;
  for (std::size_t i = 1; i < text.size(); ++i) {
    humps += std::islower(static_cast<unsigned char>(text[i - 1])) != 0 &&
                     std::isupper(static_cast<unsigned char>(text[i])) != 0
                 ? 1
                 : 0;
  }
  return humps;
}

// Where the parts of `user:password@host/path` end; npos: it has no such part.
struct Authority {
  std::size_t colon;
  std::size_t sign;
  std::size_t path;
};
Authority AuthorityAt(std::string_view text, std::size_t begin) {
  constexpr std::size_t kMaxSize = 1024;  // of user and password
  constexpr auto kNone = std::string_view::npos;
  auto colon = kNone;
  auto sign = kNone;
  auto path = kNone;
  std::size_t i = begin;
  for (; i < text.size() && i < begin + kMaxSize; ++i) {
    if (IsWordByte(text[i])) {
      continue;
    }
    const Glyph glyph = text[i] == '%' ? Glyph{'%', 1} : GlyphAt(text, i);
    if (glyph.IsSpace() || glyph.c == '"' || glyph.c == '<' || glyph.c == '>' ||
        glyph.c == Glyph::kNothing ||
        (glyph.IsQuote() && QuoteCloses(text, i, glyph.size))) {
      break;
    }
    if (glyph.c == ':' && colon == kNone && sign == kNone && path == kNone) {
      colon = i;
    } else if (glyph.c == '@' && (path == kNone || sign == kNone)) {
      sign = i;
    } else if (path == kNone && (glyph.c == '/' || glyph.c == '?')) {
      path = i;
      if (sign != kNone || colon == kNone ||
          IsDigits(text.substr(colon + 1, i - colon - 1)) ||
          text[begin] == '[') {
        break;  // what follows is no password with '/'
      }
    }
  }
  return {.colon = colon, .sign = sign, .path = path};
}

}  // namespace

FoundSecret UserOfAddress(std::string_view text, std::size_t at) {
  constexpr std::size_t kTokenSize = 20;
  constexpr std::size_t kShortToken = 8;
  constexpr int kMaxHumps = 2;  // of aUserName
  constexpr auto kNone = std::string_view::npos;
  const std::size_t begin = at + 3;
  if (at == 0 || std::isalnum(static_cast<unsigned char>(text[at - 1])) == 0) {
    return {};
  }
  const auto [colon, sign, path] = AuthorityAt(text, begin);
  if (sign == kNone ||
      (path != kNone && path < sign &&
       !IsWordByte(text.substr(sign + 1, 1).empty() ? ' ' : text[sign + 1]))) {
    return {};
  }
  const std::string_view user =
      text.substr(begin, std::min(colon, sign) - begin);
  const std::string scheme = Lower(text.substr(
      at - std::min<std::size_t>(at, 5), std::min<std::size_t>(at, 5)));
  const bool http = scheme.ends_with("http") || scheme == "https";
  const bool words = std::all_of(user.begin(), user.end(), IsWordByte);
  const std::string_view body =
      user.substr(0, user.find_last_not_of("0123456789") + 1);
  if (http && words &&
      (user.size() >= kTokenSize ||
       (user.size() >= kShortToken &&
        (IsRandom(body, 1) || Humps(user) > kMaxHumps)))) {
    return {.begin = begin, .end = sign, .kind = "password"};
  }
  if (colon == kNone ||
      IsPlaceholder(text.substr(colon + 1, sign - colon - 1))) {
    return {};
  }
  return {.begin = colon + 1, .end = sign, .kind = "password"};
}

namespace {

// From the end of one line, or of what is spelled as one, to the next.
std::size_t EndOfLine(std::string_view text, std::size_t at) {
  while (at < text.size() && !GlyphAt(text, at).IsBreak()) {
    ++at;
  }
  return std::min(at, text.size());
}

bool IsBase64Line(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '+' ||
           c == '/' || c == '=';
  });
}

// Without blanks, and without quotes and commas of the program that holds it.
std::string_view WithoutQuotes(std::string_view line) {
  constexpr std::string_view kAround = " \t\"'`,\\";
  const auto begin = line.find_first_not_of(kAround);
  return begin == line.npos
             ? std::string_view()
             : line.substr(begin, line.find_last_not_of(kAround) - begin + 1);
}

// What of the line, if anything, can stand between BEGIN, which stood at this
// column, and END; what a logger writes ahead may be of another length.
std::optional<std::string_view> PartOfKey(std::string_view line,
                                          std::size_t column, bool ends) {
  constexpr std::string_view kHeaders[] = {
      "Proc-Type:", "DEK-Info:", "Comment:", "Version:",
      "Hash:",      "Charset:",  "Subject:", "X-"};
  constexpr std::size_t kLongWord = 40;
  constexpr std::size_t kWord = 8;  // where an END is to come
  const auto may_be = [&](std::string_view part) {
    return part.empty() || IsBase64Line(part) ||
           std::any_of(std::begin(kHeaders), std::end(kHeaders),
                       [&](auto header) { return part.starts_with(header); });
  };
  const std::string_view all = WithoutQuotes(line);
  if (may_be(all)) {
    return all;
  }
  if (line.size() > column) {
    const std::string_view behind = WithoutQuotes(line.substr(column));
    if (may_be(behind)) {
      return behind;
    }
  }
  const std::string_view word = all.substr(all.find_last_of(" \t") + 1);
  const bool padded = ends && word.ends_with('=');
  return IsBase64Line(word) &&
                 (padded || word.size() >= (ends ? kWord : kLongWord))
             ? std::optional(word)
             : std::nullopt;
}

// Of "---- BEGIN X PRIVATE KEY ----" around what stands at `at`; of any length.
struct KeyMark {
  std::size_t begin = 0;
  std::size_t end = 0;
};
KeyMark KeyMarkAt(std::string_view text, std::size_t at) {
  constexpr std::size_t kMaxSize = 80;
  constexpr std::size_t kDashes = 4;
  std::size_t begin = at;
  while (begin > 0 && (text[begin - 1] == '-' || text[begin - 1] == ' ')) {
    --begin;
  }
  while (begin < at && text[begin] == ' ') {
    ++begin;
  }
  const std::string_view near = text.substr(0, at + kMaxSize);
  const auto name = near.find("PRIVATE KEY", at);
  const auto behind = near.find_first_of("-\n", at);
  if (at - begin < kDashes || name == near.npos || behind == near.npos ||
      behind < name ||
      near.substr(at, name - at)
              .find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ") !=
          near.npos) {
    return {};
  }
  return {begin, std::min(text.find_first_not_of('-', behind), text.size())};
}

// The END of a key that begins before `at`, if it comes soon.
KeyMark EndOfKey(std::string_view text, std::size_t at) {
  constexpr std::size_t kMaxSize = std::size_t{64} << 10;  // of a key in bytes
  std::string_view near = text.substr(0, at + kMaxSize);
  near = near.substr(0, near.find("BEGIN ", at));
  for (std::size_t found = near.find("END ", at); found != near.npos;
       found = near.find("END ", found + 1)) {
    const KeyMark mark = KeyMarkAt(near, found);
    if (mark.end > 0) {
      return mark;
    }
  }
  return {};
}

// How far from the beginning of its line, or from kMaxPrefix before it.
std::size_t ColumnOf(std::string_view text, std::size_t at) {
  constexpr std::size_t kMaxPrefix = 256;  // of a logger
  std::size_t column = 0;
  while (column < std::min(kMaxPrefix, at) &&
         !GlyphBefore(text, at - column).IsBreak()) {
    ++column;
  }
  return column;
}

// The mark, and what of the key stands on its line.
FoundSecret FirstPart(std::string_view text, const KeyMark& mark,
                      std::size_t end_of_line) {
  constexpr std::size_t kLongRest = 16;
  FoundSecret part{.begin = mark.begin, .end = mark.end, .kind = "key"};
  const std::string_view rest =
      WithoutQuotes(text.substr(mark.end, end_of_line - mark.end));
  const std::string_view word = rest.substr(0, rest.find(' '));
  if (word.size() >= kLongRest && IsBase64Line(word)) {
    part.end =
        static_cast<std::size_t>(rest.data() - text.data()) + rest.size();
  }
  return part;
}

}  // namespace

std::vector<FoundSecret> PrivateKeyAt(std::string_view text, std::size_t at) {
  // A key of RSA with 16,384 bits has fewer.
  constexpr int kMaxKeyLines = 200;
  const bool putty = text.substr(at).starts_with("Private-Lines:");
  const KeyMark mark = putty ? KeyMark{at, at} : KeyMarkAt(text, at);
  if (!putty && mark.end == 0) {
    return {};
  }
  const KeyMark last = putty ? KeyMark{} : EndOfKey(text, mark.end);
  if (last.end > 0 &&
      text.substr(mark.begin, last.end - mark.begin)
              .find_first_of(std::string_view("\n\0", 2)) == text.npos) {
    return {{.begin = mark.begin, .end = last.end, .kind = "key"}};
  }
  std::vector<FoundSecret> parts;
  const std::size_t column = putty ? 0 : ColumnOf(text, mark.begin);
  std::size_t end = EndOfLine(text, mark.end);
  if (!putty) {
    parts.push_back(FirstPart(text, mark, end));
  }
  for (int lines = 0; lines < 2 * kMaxKeyLines && end < text.size();) {
    const std::size_t begin = end + GlyphAt(text, end).size;
    end = EndOfLine(text, begin);
    if (last.end > 0 && end > last.begin) {
      parts.push_back({.begin = last.begin, .end = last.end});
      break;
    }
    const auto part =
        PartOfKey(text.substr(begin, end - begin), column, last.end > 0);
    if (!part && last.end == 0) {
      break;
    }
    if (part && !part->empty()) {
      const auto from = static_cast<std::size_t>(part->data() - text.data());
      parts.push_back({.begin = from,
                       .end = from + part->size(),
                       .kind = parts.empty() ? "key" : nullptr});
    }
    lines += part && part->empty() ? 1 : 2;
  }
  return parts;
}

}  // namespace muster
