// SPDX-License-Identifier: Apache-2.0
// Secrets that are known by how they are written: tokens of services, private
// keys, the user of an address.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace muster {

enum class TokenBytes {
  kLetters,  // and digits
  kUpper,
  kHex,
  kUrl,     // letters, '_', '-'
  kDotted,  // also '.'
  kBase64,
  kColon,  // digits, ':', then as kUrl
  kPath,
};

// What a service puts ahead of its tokens.
struct TokenForm {
  std::string_view prefix;
  TokenBytes bytes = TokenBytes::kLetters;
  std::size_t least = 0;  // bytes behind the prefix
  const char* kind = "token";
  bool stays = false;  // the prefix: the address of a hook
};
std::span<const TokenForm> TokenForms();

// What goes; nothing takes the place of one without a kind.
struct FoundSecret {
  std::size_t begin = 0;
  std::size_t end = 0;
  const char* kind = nullptr;

  explicit operator bool() const { return end > begin; }
};

class TokenFinder {
 public:
  explicit TokenFinder(std::string_view text) : text_(text) {}

  // The prefix of `form` stands at `at`.
  FoundSecret At(std::size_t at, const TokenForm& form);

 private:
  struct Run {
    std::size_t end = 0;      // before the first byte that is of no token
    std::size_t trimmed = 0;  // and before the dots at its end
  };
  const Run& RunAt(std::size_t at, TokenBytes bytes);

  std::string_view text_;
  // The last one of each kind of bytes: many tokens may seem to begin in one.
  std::array<Run, 8> runs_;
};

// The password, or a token as user, of an address whose "://" stands at `at`.
FoundSecret UserOfAddress(std::string_view text, std::size_t at);

// The parts of a private key whose "BEGIN " or, PuTTY's, "Private-Lines:"
// stands at `at`: from the first byte of its mark to its end, or as far as its
// lines may be of a key.
std::vector<FoundSecret> PrivateKeyAt(std::string_view text, std::size_t at);

}  // namespace muster
