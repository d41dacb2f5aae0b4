// SPDX-License-Identifier: Apache-2.0
// Part of token_source.h: the service account of this machine, by its metadata
// server; and tokens that are given as they are.
#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "cloud/auth/metadata.h"
#include "cloud/auth/token_source.h"

namespace muster::cloud {
namespace {

class MachineSource : public TokenSource {
 public:
  explicit MachineSource(std::string looked) : looked_(std::move(looked)) {}

  Result<Token> Fetch(Sender& sender) override {
    const sys::Host& host = sender.host();
    const Metadata metadata(host);
    if (const std::string off = metadata.SwitchedOff(); !off.empty()) {
      return Missing(off);
    }
    const std::string account = "instance/service-accounts/default/";
    const auto text = metadata.Get(account + "token");
    if (!text) {
      return Missing("the metadata server is not reachable: " +
                     text.error().message());
    }
    const auto json =
        ParseJson(text->value_or(""), Cause::kCloudAuthMissing, "");
    Token token{.text = Secret(json ? TextOf(*json, "access_token") : "")};
    if (token.text.empty()) {
      return Missing(
          "the metadata server has no token: this machine has no service "
          "account");
    }
    if (const auto life = NumberOf(*json, "expires_in")) {
      token.until = host.clock.WallNow() + std::chrono::seconds(*life);
    }
    if (const auto email = metadata.Get(account + "email"); email && *email) {
      email_ = Printable(**email);
    }
    if (const auto scopes = metadata.Get(account + "scopes");
        scopes && *scopes) {
      for (const std::string& scope : Split(**scopes, '\n')) {
        token.scopes.push_back(Printable(Trim(scope)));
      }
    }
    return token;
  }

  std::string Who() const override {
    return "the service account of this machine" +
           (email_.empty() ? "" : " (" + email_ + ")");
  }

 private:
  Error Missing(const std::string& why) const {
    return Error(Cause::kCloudAuthMissing,
                 "no credentials found: " + looked_ + "; " + why);
  }

  std::string looked_, email_;
};

class GivenSource : public TokenSource {
 public:
  GivenSource(Secret token, std::string who)
      : token_(std::move(token)), who_(std::move(who)) {}

  Result<Token> Fetch(Sender&) override { return Token{.text = token_}; }
  std::string Who() const override { return who_; }

 private:
  Secret token_;
  std::string who_;
};

}  // namespace

TokenSourcePtr MakeMachineSource(std::string looked) {
  return std::make_unique<MachineSource>(std::move(looked));
}

TokenSourcePtr MakeGivenSource(Secret token, std::string who) {
  return std::make_unique<GivenSource>(std::move(token), std::move(who));
}

}  // namespace muster::cloud
