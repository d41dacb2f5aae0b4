// SPDX-License-Identifier: Apache-2.0
#include "resolve/credentials.h"

#include "base/json.h"
#include "base/text.h"
#include "resolve/api.h"
#include "resolve/metadata.h"
#include "resolve/variables.h"

namespace muster::resolve {
namespace {

constexpr const char* kTokenUrl = "https://oauth2.googleapis.com/token";
constexpr const char* kInstead =
    "give a token: CLOUDSDK_AUTH_ACCESS_TOKEN=\"$(gcloud auth "
    "print-access-token)\"";

Error Missing(const std::string& what) {
  return Error(Cause::kCloudAuthMissing, what);
}

struct KeyFile {
  std::string path;
  std::string source;  // "env GOOGLE_APPLICATION_CREDENTIALS"
};

// The file that is named must be there; gcloud's own may be absent.
Result<std::optional<KeyFile>> FindKeyFile(const sys::Host& host) {
  constexpr const char* kName = "GOOGLE_APPLICATION_CREDENTIALS";
  if (const Text named = TextVariable(host.env, kName)) {
    if (!host.fs.Exists(named->value)) {
      return Missing(std::string(kName) + " is `" + Printable(named->value) +
                     "`, which does not exist");
    }
    return std::optional(KeyFile{named->value, named->source});
  }
  const Text config = TextVariable(host.env, "CLOUDSDK_CONFIG");
  const Text home = TextVariable(host.env, "HOME");
  if (!config && !home) {
    return std::optional<KeyFile>();
  }
  const std::string folder =
      config ? config->value : home->value + "/.config/gcloud";
  const std::string path = folder + "/application_default_credentials.json";
  return host.fs.Exists(path)
             ? std::optional(KeyFile{path, "gcloud's own file"})
             : std::optional<KeyFile>();
}

// Nothing of the file's text goes into an error: it holds a key.
Result<Json> ReadKeyFile(const KeyFile& file, const sys::Host& host) {
  const auto text = host.fs.Read(file.path, 1U << 20);
  if (!text) {
    return Missing("`" + Printable(file.path) + "` (" + file.source +
                   ") cannot be read: " + text.error().message());
  }
  auto json = ParseJson(*text, Cause::kCloudAuthMissing, "");
  if (!json || !json->is_object()) {
    return Missing("`" + Printable(file.path) + "` (" + file.source +
                   ") is no JSON object");
  }
  return json;
}

// A refresh token of a user, for which a token is given.
Result<Credentials> OfUser(const Json& json, const KeyFile& file,
                           const sys::Host& host) {
  Credentials user{.identity = "the user of `" + Printable(file.path) + "`",
                   .quota_project = TextOf(json, "quota_project_id")};
  sys::HttpRequest request{.url = kTokenUrl, .method = "POST"};
  request.headers["Content-Type"] = "application/x-www-form-urlencoded";
  request.body = "grant_type=refresh_token";
  for (const char* key : {"client_id", "client_secret", "refresh_token"}) {
    request.body +=
        std::string("&") + key + "=" + sys::PercentEncode(TextOf(json, key));
  }
  auto answer = Ask({.request = request,
                     .what = "a token of " + user.identity,
                     .is_public = true},
                    host);
  if (!answer) {
    return std::move(answer).error();
  }
  user.token = *answer ? TextOf(**answer, "access_token") : "";
  if (user.token.empty()) {
    return Missing(user.identity +
                   " gets no token: log in again with `gcloud "
                   "auth application-default login`");
  }
  return user;
}

Result<Credentials> OfFile(const KeyFile& file, const sys::Host& host) {
  MUSTER_ASSIGN(const Json json, ReadKeyFile(file, host));
  const std::string kind = TextOf(json, "type");
  if (kind == "authorized_user") {
    return OfUser(json, file, host);
  }
  const std::string who = TextOf(json, "client_email");
  return Missing("`" + Printable(file.path) + "` (" + file.source +
                 ") holds credentials of the kind `" + Printable(kind) + "`" +
                 (who.empty() ? "" : " of " + Printable(who)) +
                 ", which muster cannot use yet: " + kInstead);
}

Credentials OfMachine(const sys::Host& host) {
  const Metadata metadata(host);
  if (!metadata.SwitchedOff().empty()) {
    return {};
  }
  const std::string account = "instance/service-accounts/default/";
  const auto text = metadata.Get(account + "token");
  if (!text || !*text) {
    return {};
  }
  const auto json = ParseJson(**text, Cause::kCloudAuthMissing, "");
  const std::string token = json ? TextOf(*json, "access_token") : "";
  if (token.empty()) {
    return {};
  }
  const auto email = metadata.Get(account + "email");
  return {.token = token,
          .identity = "the service account of this machine" +
                      (email && *email ? " (" + Printable(**email) + ")" : "")};
}

}  // namespace

Result<Credentials> GoogleCredentials(const Request& request,
                                      const sys::Host& host) {
  if (request.cloud.access_token) {
    return Credentials{*request.cloud.access_token, "the token of the request",
                       ""};
  }
  for (const char* name :
       {"CLOUDSDK_AUTH_ACCESS_TOKEN", "GOOGLE_OAUTH_ACCESS_TOKEN"}) {
    if (const Text token = TextVariable(host.env, name)) {
      return Credentials{token->value, std::string("the token of ") + name, ""};
    }
  }
  MUSTER_ASSIGN(const auto file, FindKeyFile(host));
  Credentials found;
  if (file) {
    MUSTER_ASSIGN(found, OfFile(*file, host));
  } else {
    found = OfMachine(host);
  }
  if (const Text quota = TextVariable(host.env, "GOOGLE_CLOUD_QUOTA_PROJECT")) {
    found.quota_project = quota->value;
  }
  return found;
}

sys::HttpRequest WithCredentials(sys::HttpRequest request,
                                 const Credentials& credentials) {
  if (!credentials.token.empty()) {
    request.headers["Authorization"] = "Bearer " + credentials.token;
  }
  if (!credentials.quota_project.empty()) {
    request.headers["x-goog-user-project"] = credentials.quota_project;
  }
  return request;
}

}  // namespace muster::resolve
