// SPDX-License-Identifier: Apache-2.0
// Text of any kind without its secrets. The first bytes pick a name, what
// carries it and a secret, which is planted between what is left of them: it
// goes, what it stood in stays, and nothing is left to remove.
#include <algorithm>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/redact/redact.h"
#include "tests/fuzz/fuzz.h"

namespace {

using namespace muster;  // NOLINT(google-build-using-namespace)

constexpr std::string_view kNames[] = {"password",     "DB_PASSWORD",
                                       "clientSecret", "api_key",
                                       "HF_TOKEN",     "JWT_SECRET"};
// The name at '$', the secret at '@'.
constexpr std::string_view kCarriers[] = {"$=@",
                                          "$: \"@\"",
                                          "{\"$\": \"@\"}",
                                          "{\"$\":\n  \"@\"}",
                                          "$:\n  @",
                                          "[\"--$\",\n \"@\"]",
                                          "--$ @",
                                          "('$', '@')",
                                          "<$>@</$>",
                                          "$=&quot;@&quot;",
                                          "\x1b[1m$\x1b[0m=\x1b[32m@\x1b[0m"};
constexpr std::size_t kMaxSecret = 24;
constexpr std::size_t kMinSecret = 12;

std::string Filled(std::string_view carrier, std::string_view name,
                   std::string_view secret) {
  std::string text;
  for (const char c : carrier) {
    text += c == '$'   ? std::string(name)
            : c == '@' ? std::string(secret)
                       : std::string(1, c);
  }
  return text;
}

// A letter, a digit and what the bytes say.
std::string SecretOf(std::string_view bytes) {
  constexpr std::string_view kBytes =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::string secret = "Z9";
  for (const char c : bytes.substr(0, kMaxSecret)) {
    secret += kBytes[static_cast<unsigned char>(c) % kBytes.size()];
  }
  secret.resize(std::max(secret.size(), kMinSecret), 'x');
  return secret;
}

}  // namespace

void Fuzz(const std::string& bytes) {
  constexpr std::size_t kHead = 3;
  if (bytes.size() < kHead) {
    return;
  }
  const auto pick = [&](std::size_t i, std::size_t of) {
    return static_cast<unsigned char>(bytes[i]) % of;
  };
  const std::string_view name = kNames[pick(0, std::size(kNames))];
  const std::string_view carrier = kCarriers[pick(1, std::size(kCarriers))];
  const std::string_view rest = std::string_view(bytes).substr(kHead);
  const std::string secret = SecretOf(rest);
  static_cast<void>(Redacted(rest));

  // Alone on its lines, and in JSON as a string among others.
  const std::string line =
      "step 3\n" + Filled(carrier, name, secret) + "\nloss 0.1\n";
  const bool in_json = pick(2, 2) != 0;
  const std::string text = in_json ? Json(line).dump() : line;
  const std::string left = Redacted(text);
  MUSTER_CHECK(left.find(secret) == std::string::npos);
  MUSTER_CHECK(Redacted(left) == left);
  const auto mark = left.find("[removed: ");
  MUSTER_CHECK(mark != std::string::npos);
  const auto end = left.find(']', mark) + 1;
  MUSTER_CHECK(left.substr(0, mark) + secret + left.substr(end) == text);

  // In whatever else: gone all the same.
  const std::string anywhere = std::string(rest.substr(0, rest.size() / 2)) +
                               "\n" + line +
                               std::string(rest.substr(rest.size() / 2));
  MUSTER_CHECK(Redacted(anywhere).find(secret) == std::string::npos ||
               rest.find(secret) != std::string_view::npos);
}
