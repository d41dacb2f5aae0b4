// SPDX-License-Identifier: Apache-2.0
#include "resolve/api.h"

#include "base/json.h"
#include "base/text.h"
#include "sys/proxy.h"

namespace muster::resolve {
namespace {

constexpr std::size_t kMostBytes = 16U << 20;

// The message and reason of {"error": {"message", "details": [{"reason"}]}} or
// of a Kubernetes status.
std::string MessageOf(const std::string& body) {
  const auto json = ParseJson(body, Cause::kInternalError, "the answer");
  if (!json || !json->is_object()) {
    return "";
  }
  const std::string google = TextOf(At(*json, {"error"}), "message");
  const std::string text = google.empty() ? TextOf(*json, "message") : google;
  return text.empty() ? "" : ": " + Printable(text.substr(0, 300));
}

bool IsDisabled(const std::string& body) {
  return body.find("SERVICE_DISABLED") != std::string::npos ||
         body.find("has not been used in project") != std::string::npos;
}

Error Refused(const ApiCall& call, const sys::HttpResponse& response) {
  const int status = response.status;
  const std::string code = std::to_string(status);
  const std::string said =
      (call.identity.empty() ? "" : ", asked as " + call.identity) +
      MessageOf(response.body);
  if (status == 401) {
    return Error(
        Cause::kCloudAuthMissing,
        "the server does not know who asks for " + call.what + " (401)" + said);
  }
  if (status == 403 && IsDisabled(response.body)) {
    return Error(Cause::kCloudApiDisabled,
                 "the API of " + call.what + " is not enabled (403)" + said);
  }
  if (status == 403) {
    return Error(Cause::kCloudPermissionDenied,
                 "not allowed to read " + call.what + " (403)" + said +
                     (call.needs.empty() ? "" : ": " + call.needs));
  }
  if (status == 429) {
    return Error(Cause::kCloudQuotaExceeded,
                 "too many requests for " + call.what + " (429)" + said);
  }
  if (status == 407) {
    return Error(Cause::kNetProxy,
                 "the proxy wants to know who asks for " + call.what +
                     " (407): put user and password into its address");
  }
  return Error(Cause::kNetWrongEndpoint,
               "the server answered " + code + " for " + call.what + said);
}

}  // namespace

std::string TextOf(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  return found != json.end() && found->is_string() ? found->get<std::string>()
                                                   : "";
}

std::optional<int> NumberOf(const Json& json, const char* key) {
  const auto found = json.is_object() ? json.find(key) : json.end();
  std::optional<std::int64_t> number;
  if (found != json.end() && found->is_number_integer()) {
    number = found->get<std::int64_t>();
  } else if (found != json.end() && found->is_string()) {
    number = ParseInt(found->get<std::string>());
  }
  const bool fits =
      number && *number >= -1'000'000'000 && *number <= 1'000'000'000;
  return fits ? std::optional(static_cast<int>(*number)) : std::nullopt;
}

const Json& At(const Json& json, std::initializer_list<const char*> keys) {
  static const Json* const nothing = new Json(Json::object());
  const Json* at = &json;
  for (const char* key : keys) {
    if (!at->is_object()) {
      return *nothing;
    }
    const auto found = at->find(key);
    if (found == at->end()) {
      return *nothing;
    }
    at = &*found;
  }
  return *at;
}

Result<std::optional<Json>> Ask(const ApiCall& call, const sys::Host& host) {
  using Answer = std::optional<Json>;
  if (host.http == nullptr) {
    return Error(Cause::kNetWrongEndpoint,
                 call.what + " was not asked for: the network is not asked");
  }
  sys::HttpRequest request = call.request;
  request.most_bytes = kMostBytes;
  const auto proxy =
      call.is_public ? sys::ProxyForUrl(request.url, host.env) : std::nullopt;
  if (proxy) {
    request.proxy = proxy->address;
  }
  auto response = host.http->Send(request);
  if (!response) {
    return std::move(response).error().While(
        "asking for " + call.what +
        (proxy ? " as env " + proxy->variable + " says" : ""));
  }
  if (response->status >= 500) {
    auto again = host.http->Send(request);
    if (again) {
      response = std::move(again);
    }
  }
  if (response->status == 404) {
    return Answer();
  }
  if (response->status != 200) {
    return Refused(call, *response);
  }
  auto json = ParseJson(
      response->body, Cause::kNetWrongEndpoint,
      "the answer of " + sys::SplitUrl(request.url).host + " for " + call.what);
  if (!json) {
    return std::move(json).error();
  }
  return Answer(*std::move(json));
}

}  // namespace muster::resolve
