// SPDX-License-Identifier: Apache-2.0
// Part of token_source.h: authorized_user and external_account_authorized_user:
// a refresh token for which tokens are given.
#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "cloud/auth/rs256.h"
#include "cloud/auth/token_endpoint.h"

namespace muster::cloud {
namespace {

constexpr const char* kUserTokenUrl = "https://oauth2.googleapis.com/token";
constexpr const char* kLogInAgain =
    "log in again with `gcloud auth application-default login`";

// The account that an id_token tells; its signature does not matter for a name.
std::string EmailOf(const std::string& id_token) {
  const auto parts = Split(id_token, '.');
  const auto claims =
      ParseJson(parts.size() == 3 ? FromBase64Url(parts[1]) : "",
                Cause::kCloudAuthMissing, "");
  return claims ? Printable(TextOf(*claims, "email")) : "";
}

// Base64 as Basic authorization wants it.
std::string Basic(const std::string& user, const std::string& password) {
  std::string text = Base64Url(user + ":" + password);
  for (char& c : text) {
    c = c == '-' ? '+' : c == '_' ? '/' : c;
  }
  text.append((4 - text.size() % 4) % 4, '=');
  return "Basic " + text;
}

class UserSource : public TokenSource {
 public:
  UserSource(TokenRequest request, std::string who)
      : request_(std::move(request)), who_(std::move(who)) {
    request_.who = who_;
  }

  Result<Token> Fetch(Sender& sender) override {
    MUSTER_ASSIGN(const Json answer, AskForToken(request_, sender));
    if (std::string email = EmailOf(TextOf(answer, "id_token"));
        !email.empty()) {
      who_ = std::move(email);
    }
    return TokenOf(answer, request_, sender.host().clock);
  }

  std::string Who() const override { return who_; }

 private:
  TokenRequest request_;
  std::string who_;
};

}  // namespace

Result<TokenSourcePtr> MakeUserSource(const Json& json,
                                      const CredentialFile& file,
                                      const sys::Env& env) {
  TokenRequest request{.form = {{"grant_type", "refresh_token"}},
                       .again = kLogInAgain};
  const bool workforce =
      TextOf(json, "type") == "external_account_authorized_user";
  MUSTER_ASSIGN(const std::string id, Require(json, "client_id", file));
  MUSTER_ASSIGN(const std::string secret, Require(json, "client_secret", file));
  MUSTER_ASSIGN(const std::string refresh,
                Require(json, "refresh_token", file));
  if (workforce) {
    MUSTER_ASSIGN(request.url, Require(json, "token_url", file));
    request.authorization = Basic(id, secret);
  } else {
    const auto other = sys::FirstSet(env, {"CLOUDSDK_AUTH_TOKEN_HOST"});
    request.url = other ? other->value : kUserTokenUrl;
    request.form.emplace_back("client_id", id);
    request.form.emplace_back("client_secret", secret);
  }
  request.form.emplace_back("refresh_token", refresh);
  const std::string account = Printable(TextOf(json, "account"));
  return TokenSourcePtr(std::make_unique<UserSource>(
      std::move(request), account.empty()
                              ? "the user of `" + Printable(file.path) + "`"
                              : account));
}

}  // namespace muster::cloud
