// SPDX-License-Identifier: Apache-2.0
// An endpoint of OAuth, which gives a token for something else.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cloud/auth/token_source.h"

namespace muster::cloud {

// A text field that has to be there.
Result<std::string> Require(const Json& json, const char* key,
                            const CredentialFile& file);

// Who may be asked by plain http: this host, or also a metadata server, which
// has no other way (169.254.169.254, fd00:ec2::254, metadata.google.internal).
enum class PlainHttp { kLoopback, kMetadata };
// cloud-auth-missing: a secret would cross a network in clear text. `what`
// names the field and its file.
Status CheckTokenUrl(const std::string& what, const std::string& url,
                     PlainHttp allowed = PlainHttp::kLoopback);

// POST of a form to an endpoint of OAuth, or of JSON. `who` is named in
// errors, nothing of what was sent.
struct TokenRequest {
  std::string url;  // CheckTokenUrl is asked of it
  std::vector<std::pair<std::string, std::string>> form;
  std::string json;           // instead of the form
  std::string authorization;  // header; empty: none
  std::string who;
  std::string again;  // what to do when it is refused for good
};
Result<Json> AskForToken(const TokenRequest& request, Sender& sender);
// {"access_token", "expires_in", "scope"}.
Result<Token> TokenOf(const Json& answer, const TokenRequest& request,
                      const sys::Clock& clock);

}  // namespace muster::cloud
