// SPDX-License-Identifier: Apache-2.0
// Part of token_source.h: service_account: a key that signs.
#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "cloud/auth/rs256.h"
#include "cloud/auth/token_endpoint.h"

namespace muster::cloud {
namespace {

constexpr const char* kTokenUrl = "https://oauth2.googleapis.com/token";
constexpr const char* kJwtGrant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
constexpr std::chrono::seconds kLife{3600};

class ServiceAccountSource : public TokenSource {
 public:
  ServiceAccountSource(SigningKey key, std::string email, std::string url)
      : key_(std::move(key)), email_(std::move(email)), url_(std::move(url)) {}

  // The first is signed here, which asks nobody; one that was refused is
  // followed by one of the token endpoint, which says why.
  Result<Token> Fetch(Sender& sender) override {
    return std::exchange(signed_one_, true) ? Exchange(sender)
                                            : OwnToken(sender);
  }

  std::string Who() const override { return Printable(email_); }

 private:
  Json Claims(WallTime now) const {
    const auto issued =
        std::chrono::floor<std::chrono::seconds>(now).time_since_epoch();
    return {{"iss", email_},
            {"iat", issued.count()},
            {"exp", (issued + kLife).count()},
            {"scope", kScope}};
  }

  Result<Token> OwnToken(const Sender& sender) const {
    const WallTime now = sender.host().clock.WallNow();
    Json claims = Claims(now);
    claims["sub"] = email_;
    MUSTER_ASSIGN(Secret text, SignedText(key_, claims));
    return Token{
        .text = std::move(text), .until = now + kLife, .scopes = {kScope}};
  }

  Result<Token> Exchange(Sender& sender) const {
    Json claims = Claims(sender.host().clock.WallNow());
    claims["aud"] = url_;
    MUSTER_ASSIGN(const Secret assertion, SignedText(key_, claims));
    const TokenRequest request{
        .url = url_,
        .form = {{"grant_type", kJwtGrant}, {"assertion", assertion.Reveal()}},
        .who = Who(),
        .again =
            "create a new key: `gcloud iam service-accounts keys create "
            "key.json --iam-account=" +
            Who() + "`"};
    MUSTER_ASSIGN(const Json answer, AskForToken(request, sender));
    return TokenOf(answer, request, sender.host().clock);
  }

  SigningKey key_;
  std::string email_, url_;
  bool signed_one_ = false;
};

}  // namespace

Result<TokenSourcePtr> MakeServiceAccountSource(const Json& json,
                                                const CredentialFile& file) {
  MUSTER_ASSIGN(std::string email, Require(json, "client_email", file));
  MUSTER_ASSIGN(std::string pem, Require(json, "private_key", file));
  std::string url = TextOf(json, "token_uri");
  return TokenSourcePtr(std::make_unique<ServiceAccountSource>(
      SigningKey{.pem = Secret(std::move(pem)),
                 .id = Printable(TextOf(json, "private_key_id"))},
      std::move(email), url.empty() ? kTokenUrl : std::move(url)));
}

}  // namespace muster::cloud
