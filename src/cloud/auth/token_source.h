// SPDX-License-Identifier: Apache-2.0
// One file for each way of getting a token.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/secret.h"
#include "cloud/api/sender.h"

namespace muster::cloud {

inline constexpr const char* kScope =
    "https://www.googleapis.com/auth/cloud-platform";

// What a request is sent with.
struct Token {
  Secret text;
  WallTime until{};                 // epoch: not told
  std::vector<std::string> scopes;  // as they were given, else as asked for
};

// One thread at a time.
class TokenSource {
 public:
  virtual ~TokenSource() = default;
  // A new token. cloud-auth-missing: refused, and why; clock-skew: refused, and
  // this machine's clock is off; cloud-permission-denied: may not impersonate;
  // what sys::Http says.
  virtual Result<Token> Fetch(Sender& sender) = 0;
  // Whom the cloud sees: "me@example.com", "the user of `/home/x/adc.json`".
  // May know more after Fetch.
  virtual std::string Who() const = 0;
};
using TokenSourcePtr = std::unique_ptr<TokenSource>;

// Where credentials were read: the JSON object of a file, its path and who
// named it.
struct CredentialFile {
  std::string path;
  std::string source;  // "env GOOGLE_APPLICATION_CREDENTIALS"
};

// A token that somebody gives: of a variable or of the request.
TokenSourcePtr MakeGivenSource(Secret token, std::string who);
// The service account of this machine; `looked` is where nothing was found
// before, for the error when there is none.
TokenSourcePtr MakeMachineSource(std::string looked);

// cloud-auth-missing: a field is missing, named without its value.
Result<TokenSourcePtr> MakeUserSource(const Json& json,
                                      const CredentialFile& file,
                                      const sys::Env& env);
// Signs its own token, and exchanges a signed text at token_uri after a
// Fetch whose token was refused.
Result<TokenSourcePtr> MakeServiceAccountSource(const Json& json,
                                                const CredentialFile& file);
// `source` gives the token that is allowed to impersonate.
Result<TokenSourcePtr> MakeImpersonatedSource(TokenSourcePtr source,
                                              const std::string& url,
                                              const Json& json);
Result<TokenSourcePtr> MakeExternalSource(const Json& json,
                                          const CredentialFile& file,
                                          const sys::Env& env);
// Of any type that a file may have.
Result<TokenSourcePtr> MakeFileSource(const Json& json,
                                      const CredentialFile& file,
                                      const sys::Env& env);

}  // namespace muster::cloud
