// SPDX-License-Identifier: Apache-2.0
#include "cloud/auth/token_endpoint.h"

#include <algorithm>
#include <iterator>

#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"

namespace muster::cloud {
namespace {

constexpr std::size_t kMaxToken = 1U << 20;

std::string ToForm(
    const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::string text;
  for (const auto& [key, value] : pairs) {
    text += (text.empty() ? "" : "&") + sys::PercentEncode(key) + "=" +
            sys::PercentEncode(value);
  }
  return text;
}

// {"error": "invalid_grant", "error_description": "…"}, and Google's own form.
Error Refused(const TokenRequest& request, const sys::HttpResponse& response,
              const Sender& sender) {
  const auto json =
      ParseJson(response.body, Cause::kCloudAuthMissing, "the response");
  const std::string server = Printable(sys::SplitUrl(request.url).host) + " (" +
                             std::to_string(response.status) + ")";
  const std::string oauth = json ? TextOf(*json, "error") : "";
  const std::string head = request.who + " gets no token from " + server + ": ";
  if (!oauth.empty()) {
    const std::string why = TextOf(*json, "error_description");
    const std::string said = Printable(oauth.substr(0, 80)) +
                             (why.empty() ? "" : ", ") +
                             Printable(why.substr(0, 300));
    if (sender.ClockIsWrong()) {
      return Error(Cause::kClockSkew, head + said + "; " + sender.ClockText());
    }
    return Error(
        Cause::kCloudAuthMissing,
        head + said + (request.again.empty() ? "" : ": " + request.again));
  }
  const ApiError refusal = Classify(response);
  const std::string said =
      refusal.message.empty() ? refusal.Code() : refusal.message;
  // No TPU is looked for here, and what is wrong with the request is in the
  // file.
  const bool of_the_file = refusal.cause == Cause::kTpuNotFound ||
                           refusal.cause == Cause::kUsageInvalid;
  return Error(of_the_file ? Cause::kCloudAuthMissing : refusal.cause,
               head + said);
}

// The host of a plain URL, without its port; empty: it has another scheme, or
// is written in a way that two readers may understand differently.
std::string HostOfPlainHttp(const std::string& url) {
  if (!url.starts_with("http://")) {
    return "";
  }
  std::string host = sys::SplitUrl(url).host;
  const auto colon = host.rfind(':');
  if (colon != host.npos && IsDigits(host.substr(colon + 1))) {
    host.resize(colon);
  }
  return host;
}

}  // namespace

Status CheckTokenUrl(const std::string& what, const std::string& url,
                     PlainHttp allowed) {
  constexpr std::string_view kHere[] = {"127.0.0.1", "[::1]", "localhost"};
  constexpr std::string_view kMetadata[] = {
      "169.254.169.254", "[fd00:ec2::254]", "metadata.google.internal"};
  const std::string host = HostOfPlainHttp(url);
  const auto among = [&](const auto& hosts) {
    return std::find(std::begin(hosts), std::end(hosts), host) !=
           std::end(hosts);
  };
  if (url.starts_with("https://") || among(kHere) ||
      (allowed == PlainHttp::kMetadata && among(kMetadata))) {
    return Ok();
  }
  return Error(
      Cause::kCloudAuthMissing,
      what + " is `" + Printable(url.substr(0, 200)) +
          "`, which would send a secret in clear text: use https "
          "(http is for 127.0.0.1, [::1] and localhost" +
          (allowed == PlainHttp::kMetadata ? ", and for metadata servers)"
                                           : ")"));
}

Result<std::string> Require(const Json& json, const char* key,
                            const CredentialFile& file) {
  std::string value = TextOf(json, key);
  if (value.empty()) {
    return Error(Cause::kCloudAuthMissing, "`" + Printable(file.path) + "` (" +
                                               file.source + ") has no `" +
                                               key + "`");
  }
  return value;
}

Result<Json> AskForToken(const TokenRequest& request, Sender& sender) {
  MUSTER_TRY(CheckTokenUrl("the token URL of " + request.who, request.url));
  sys::HttpRequest post{.url = request.url, .method = "POST"};
  post.most_bytes = kMaxToken;
  post.headers["Content-Type"] = request.json.empty()
                                     ? "application/x-www-form-urlencoded"
                                     : "application/json";
  post.body = request.json.empty() ? ToForm(request.form) : request.json;
  if (!request.authorization.empty()) {
    post.headers["Authorization"] = request.authorization;
  }
  auto response = sender.Send(std::move(post), Repeat::kToken);
  if (!response) {
    return std::move(response).error().While("requesting a token for " +
                                             request.who);
  }
  if (response->status != 200) {
    return Refused(request, *response, sender);
  }
  // Not the parser's own words: they would quote the answer.
  auto json = ParseJson(response->body, Cause::kNetWrongEndpoint, "");
  if (!json || !json->is_object()) {
    return Error(Cause::kNetWrongEndpoint,
                 Printable(sys::SplitUrl(request.url).host) +
                     " did not return JSON for a token of " + request.who);
  }
  return json;
}

Result<Token> TokenOf(const Json& answer, const TokenRequest& request,
                      const sys::Clock& clock) {
  Token token{.text = Secret(TextOf(answer, "access_token"))};
  if (token.text.empty()) {
    return Error(Cause::kCloudAuthMissing,
                 request.who + " gets no token: the response of " +
                     Printable(sys::SplitUrl(request.url).host) +
                     " has no access_token" +
                     (request.again.empty() ? "" : ": " + request.again));
  }
  if (const auto life = NumberOf(answer, "expires_in")) {
    token.until = clock.WallNow() + std::chrono::seconds(*life);
  }
  for (const std::string& scope : Split(TextOf(answer, "scope"), ' ')) {
    token.scopes.push_back(Printable(scope));
  }
  if (token.scopes.empty()) {
    token.scopes.emplace_back(kScope);
  }
  return token;
}

}  // namespace muster::cloud
