// SPDX-License-Identifier: Apache-2.0
// What a name says about its value: DB_PASSWORD, apiKey, x-auth-token.
#pragma once

#include <span>
#include <string_view>

namespace muster {

enum class NameMeaning {
  kNone,
  kPassword,
  kFolder,  // pwd: a password or where a shell is
  kSecret,
  kAccess,     // a token or key of which the name says that it gives access
  kToken,      // gives access or is a piece of text
  kHint,       // auth, pass, credentials: by the value
  kKey,        // of a map or of a lock
  kSignature,  // of an address or of a function
  kAuthorization,
  kCookie,
  kBearer,
};

// By its last word: a `token_file` is a file, an `n_tokens` a number. Words are
// parted by '_', '-', '.' and where lower case ends.
NameMeaning MeaningOfName(std::string_view name);

// Each name that means anything contains one of these, in any case.
std::span<const std::string_view> SecretStems();

// True for variables that may be shown and packed; all others are left out.
bool VariableIsPublic(std::string_view name);

}  // namespace muster
