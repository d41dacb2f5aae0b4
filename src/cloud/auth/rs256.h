// SPDX-License-Identifier: Apache-2.0
// Signed texts (JWT, RS256) of a service account.
#pragma once

#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "base/secret.h"
#include "muster/error.h"

namespace muster::cloud {

// The key of a service account's file.
struct SigningKey {
  Secret pem;      // PKCS #8 or PKCS #1
  std::string id;  // private_key_id
};

// "head.claims.signature". cloud-auth-missing: the key is none that RSA can
// sign with; nothing of it is in the message.
Result<Secret> SignedText(const SigningKey& key, const Json& claims);

// base64url without padding.
std::string Base64Url(std::string_view bytes);
// Back, with or without padding; empty when it is none.
std::string FromBase64Url(std::string_view text);

}  // namespace muster::cloud
