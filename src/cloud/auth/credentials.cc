// SPDX-License-Identifier: Apache-2.0
#include "cloud/auth/credentials.h"

#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"

namespace muster::cloud {
namespace {

// As Google's own clients: tokens are replaced so long before their end.
constexpr std::chrono::seconds kBeforeEnd{225};
constexpr const char* kColabFile = "/content/.adc/adc.json";

Error Missing(const std::string& what) {
  return Error(Cause::kCloudAuthMissing, what);
}

// gcloud's own file; empty: there is no place for one.
std::string GcloudFile(const sys::Env& env) {
  const auto config = sys::FirstSet(env, {"CLOUDSDK_CONFIG"});
  const auto home = sys::FirstSet(env, {"HOME"});
  const std::string folder = config ? config->value
                             : home ? home->value + "/.config/gcloud"
                                    : "";
  return folder.empty() ? "" : folder + "/application_default_credentials.json";
}

// Where nothing was.
std::string Looked(const sys::Env& env) {
  const std::string own = GcloudFile(env);
  return std::string(
             "CLOUDSDK_AUTH_ACCESS_TOKEN and GOOGLE_APPLICATION_CREDENTIALS "
             "are not set") +
         (own.empty() ? "" : ", `" + Printable(own) + "` does not exist");
}

// The file that is named must be there; gcloud's own and Colab's may be absent.
Result<std::optional<CredentialFile>> FindFile(const sys::Host& host) {
  using Found = std::optional<CredentialFile>;
  const auto named =
      sys::FirstSet(host.env, {"GOOGLE_APPLICATION_CREDENTIALS"});
  if (named) {
    if (!host.fs.Exists(named->value)) {
      return Missing(named->name + " is `" + Printable(named->value) +
                     "`, which does not exist");
    }
    return Found({named->value, "env " + named->name});
  }
  const std::string own = GcloudFile(host.env);
  if (!own.empty() && host.fs.Exists(own)) {
    return Found({own, "gcloud's file"});
  }
  if (host.fs.Exists(kColabFile)) {
    return Found({kColabFile, "Colab's file"});
  }
  return Found();
}

// Nothing of the file's text goes into an error: it holds a key.
Result<Json> ReadFile(const CredentialFile& file, const sys::Host& host) {
  const auto text = host.fs.Read(file.path, 1U << 20);
  if (!text) {
    return Missing("`" + Printable(file.path) + "` (" + file.source +
                   ") cannot be read: " + text.error().message());
  }
  auto json = ParseJson(*text, Cause::kCloudAuthMissing, "");
  if (!json || !json->is_object()) {
    return Missing("`" + Printable(file.path) + "` (" + file.source +
                   ") is not a JSON object");
  }
  return json;
}

}  // namespace

Result<Credentials> Credentials::Find(const sys::Host& host) {
  Credentials found;
  const auto variable = sys::FirstSet(
      host.env, {"CLOUDSDK_AUTH_ACCESS_TOKEN", "GOOGLE_OAUTH_ACCESS_TOKEN"});
  const auto quota = sys::FirstSet(host.env, {"GOOGLE_CLOUD_QUOTA_PROJECT"});
  if (variable) {
    found.kind_ = "token";
    found.source_ = "env " + variable->name;
    found.tokens_ = MakeGivenSource(Secret(variable->value),
                                    "the token of " + variable->name);
  } else {
    MUSTER_ASSIGN(const auto file, FindFile(host));
    if (file) {
      MUSTER_ASSIGN(const Json json, ReadFile(*file, host));
      MUSTER_ASSIGN(found.tokens_, MakeFileSource(json, *file, host.env));
      found.kind_ = TextOf(json, "type");
      found.source_ = file->source + " (`" + Printable(file->path) + "`)";
      found.project_ = Printable(TextOf(json, "project_id"));
      found.quota_project_ = Printable(TextOf(json, "quota_project_id"));
      found.quota_source_ = found.quota_project_.empty() ? "" : "the file";
    } else {
      found.kind_ = found.source_ = "metadata server";
      found.tokens_ = MakeMachineSource(Looked(host.env));
    }
  }
  if (quota) {
    found.quota_project_ = quota->value;
    found.quota_source_ = "env " + quota->name;
  }
  return found;
}

Result<const Token*> Credentials::Get(Sender& sender) {
  const WallTime now = sender.host().clock.WallNow();
  const bool ends = token_ && token_->until != WallTime() &&
                    token_->until - kBeforeEnd <= now;
  if (!token_ || ends) {
    MUSTER_ASSIGN(token_, tokens_->Fetch(sender));
  }
  return &*token_;
}

bool Credentials::Reject() {
  token_.reset();
  return kind_ != "token";
}

Result<Bearer> BearerOf(const sys::Host& host) {
  MUSTER_ASSIGN(Credentials credentials, Credentials::Find(host));
  Sender sender(host, RetryLimits::Hasty());
  auto token = credentials.Get(sender);
  if (!token && credentials.IsMachine()) {
    return Bearer{};
  }
  if (!token) {
    return std::move(token).error();
  }
  return Bearer{.token = (*token)->text,
                .who = credentials.Who(),
                .quota_project = credentials.quota_project()};
}

sys::HttpRequest WithBearer(sys::HttpRequest request, const Bearer& bearer) {
  if (!bearer.token.empty()) {
    request.headers["Authorization"] = "Bearer " + bearer.token.Reveal();
  }
  if (!bearer.quota_project.empty()) {
    request.headers["x-goog-user-project"] = bearer.quota_project;
  }
  return request;
}

}  // namespace muster::cloud
