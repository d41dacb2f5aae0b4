// SPDX-License-Identifier: Apache-2.0
// Who asks Google's APIs: Application Default Credentials.
#pragma once

#include <optional>
#include <string>

#include "cloud/auth/token_source.h"
#include "muster/error.h"
#include "sys/host.h"

namespace muster::cloud {

// Credentials that were found, and the token that they have now. One thread at
// a time.
class Credentials {
 public:
  // CLOUDSDK_AUTH_ACCESS_TOKEN, GOOGLE_OAUTH_ACCESS_TOKEN, the file that
  // GOOGLE_APPLICATION_CREDENTIALS names, gcloud's own, Colab's own, the
  // metadata server. Asks nobody.
  //
  // cloud-auth-missing: the named file is missing, is no JSON, lacks a field
  // or is of a kind that muster cannot use; nothing of its content is told.
  static Result<Credentials> Find(const sys::Host& host);

  // The token, a new one from 3 min 45 s before the old one's end on. What
  // TokenSource::Fetch says.
  Result<const Token*> Get(Sender& sender);
  // The server did not accept it (401): the next Get fetches a new one. False
  // when that cannot help. Who asks does so once for a request, lest a server
  // that accepts none is asked for ever.
  bool Reject();

  // Only the metadata server is left to ask: nothing else was found.
  bool IsMachine() const { return kind_ == "metadata server"; }
  const std::string& kind() const { return kind_; }      // "authorized_user"
  const std::string& source() const { return source_; }  // who named it
  std::string Who() const { return tokens_->Who(); }

  // Header x-goog-user-project; empty: none.
  const std::string& quota_project() const { return quota_project_; }
  const std::string& quota_project_source() const { return quota_source_; }
  // What the file says of the project; empty: nothing.
  const std::string& project() const { return project_; }

 private:
  std::string kind_, source_;
  std::string quota_project_, quota_source_;
  std::string project_;
  TokenSourcePtr tokens_;
  std::optional<Token> token_;
};

// What one request is sent with: the token of credentials for a look beside
// other work. Empty where there are none.
struct Bearer {
  Secret token;
  std::string who;  // whom a refusal names
  std::string quota_project;
};
Result<Bearer> BearerOf(const sys::Host& host);
sys::HttpRequest WithBearer(sys::HttpRequest request, const Bearer& bearer);

}  // namespace muster::cloud
