// SPDX-License-Identifier: Apache-2.0
// Part of token_source.h: which kind of credentials a file holds.
#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "cloud/auth/token_endpoint.h"

namespace muster::cloud {

Result<TokenSourcePtr> MakeFileSource(const Json& json,
                                      const CredentialFile& file,
                                      const sys::Env& env) {
  const std::string type = TextOf(json, "type");
  if (type == "authorized_user" || type == "external_account_authorized_user") {
    return MakeUserSource(json, file, env);
  }
  if (type == "service_account") {
    return MakeServiceAccountSource(json, file);
  }
  if (type == "external_account") {
    return MakeExternalSource(json, file, env);
  }
  if (type == "impersonated_service_account") {
    MUSTER_ASSIGN(const std::string url,
                  Require(json, "service_account_impersonation_url", file));
    const Json& inner = At(json, {"source_credentials"});
    if (TextOf(inner, "type") == "impersonated_service_account") {
      return Error(
          Cause::kCloudAuthMissing,
          "`" + Printable(file.path) +
              "`: source_credentials are impersonated credentials themselves");
    }
    MUSTER_ASSIGN(TokenSourcePtr source, MakeFileSource(inner, file, env));
    return MakeImpersonatedSource(std::move(source), url, json);
  }
  const std::string who = TextOf(json, "client_email");
  return Error(
      Cause::kCloudAuthMissing,
      "`" + Printable(file.path) + "` (" + file.source +
          ") holds credentials of the kind `" + Printable(type) + "`" +
          (who.empty() ? "" : " of " + Printable(who)) +
          ", which muster does not support: set a token: "
          "CLOUDSDK_AUTH_ACCESS_TOKEN=\"$(gcloud auth print-access-token)\"");
}

}  // namespace muster::cloud
