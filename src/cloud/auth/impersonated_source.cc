// SPDX-License-Identifier: Apache-2.0
// Part of token_source.h: a service account for which another account gets
// tokens.
#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "cloud/api/timestamp.h"
#include "cloud/auth/token_endpoint.h"

namespace muster::cloud {
namespace {

class ImpersonatedSource : public TokenSource {
 public:
  ImpersonatedSource(TokenSourcePtr source, std::string url, Json delegates)
      : source_(std::move(source)),
        url_(std::move(url)),
        delegates_(std::move(delegates)) {
    const auto slash = url_.rfind('/') + 1;
    account_ = Printable(url_.substr(slash, url_.rfind(':') - slash));
  }

  Result<Token> Fetch(Sender& sender) override {
    MUSTER_ASSIGN(const Token own, source_->Fetch(sender));
    const Json body{
        {"delegates", delegates_}, {"scope", {kScope}}, {"lifetime", "3600s"}};
    const TokenRequest request{.url = url_,
                               .json = Dump(body),
                               .authorization = "Bearer " + own.text.Reveal(),
                               .who = Who()};
    auto answer = AskForToken(request, sender);
    if (!answer) {
      auto error = std::move(answer).error();
      if (error.cause() != Cause::kCloudPermissionDenied) {
        return error;
      }
      return std::move(error).While(
          "impersonating " + account_ + ", which requires that " +
          source_->Who() + " has roles/iam.serviceAccountTokenCreator");
    }
    Token token{.text = Secret(TextOf(*answer, "accessToken")),
                .scopes = {kScope}};
    if (token.text.empty()) {
      return Error(Cause::kCloudAuthMissing,
                   Who() + " gets no token: the response has no accessToken");
    }
    if (const auto until = ParseTimestamp(TextOf(*answer, "expireTime"))) {
      token.until = *until;
    }
    return token;
  }

  std::string Who() const override {
    return account_ + ", impersonated by " + source_->Who();
  }

 private:
  TokenSourcePtr source_;
  std::string url_;
  Json delegates_;
  std::string account_;
};

}  // namespace

Result<TokenSourcePtr> MakeImpersonatedSource(TokenSourcePtr source,
                                              const std::string& url,
                                              const Json& json) {
  MUSTER_TRY(CheckTokenUrl("`service_account_impersonation_url`", url));
  if (!url.ends_with(":generateAccessToken")) {
    return Error(Cause::kCloudAuthMissing,
                 "`service_account_impersonation_url` is `" +
                     Printable(url.substr(0, 200)) +
                     "`, expected https://…:generateAccessToken");
  }
  return TokenSourcePtr(std::make_unique<ImpersonatedSource>(
      std::move(source), url, ListOf(json, "delegates")));
}

}  // namespace muster::cloud
