// SPDX-License-Identifier: Apache-2.0
#include "cloud/api/get_json.h"

#include "base/json.h"
#include "base/text.h"
#include "cloud/api/api_error.h"
#include "cloud/api/sender.h"

namespace muster::cloud {
namespace {

constexpr std::size_t kMaxDocument = 16U << 20;

Error Refused(const ApiCall& call, const sys::HttpResponse& response) {
  const ApiError refusal = Classify(response);
  const std::string code = std::to_string(response.status);
  const std::string said =
      (call.identity.empty() ? "" : ", called as " + call.identity) +
      (refusal.message.empty() ? "" : ": " + refusal.message);
  switch (refusal.cause) {
    case Cause::kCloudAuthMissing:
      return Error(refusal.cause,
                   "the server did not authenticate the request for " +
                       call.what + " (" + code + ")" + said);
    case Cause::kCloudApiDisabled:
      return Error(refusal.cause, "the API for " + call.what +
                                      " is not enabled (" + code + ")" + said);
    case Cause::kCloudPermissionDenied:
      return Error(refusal.cause,
                   "no permission to read " + call.what + " (" + code + ")" +
                       said + (call.needs.empty() ? "" : ": " + call.needs));
    case Cause::kCloudQuotaExceeded:
      return Error(refusal.cause, "too many requests for " + call.what + " (" +
                                      code + ")" + said);
    case Cause::kNetProxy:
      return Error(refusal.cause, "the proxy requires authentication for " +
                                      call.what + " (" + code +
                                      "): add user and password to its URL");
    default:
      return Error(Cause::kNetWrongEndpoint,
                   "the server returned " + code + " for " + call.what + said);
  }
}

// The world's services by Sender; others exactly as the request says.
Result<sys::HttpResponse> Send(const ApiCall& call, const sys::Host& host) {
  sys::HttpRequest request = call.request;
  request.most_bytes = kMaxDocument;
  if (call.is_public) {
    return Sender(host, RetryLimits::Hasty())
        .Send(std::move(request), Repeat::kRead);
  }
  auto response = host.http->Send(request);
  if (response && response->status >= 500) {
    if (auto again = host.http->Send(request)) {
      return again;
    }
  }
  return response;
}

}  // namespace

Result<std::optional<Json>> Ask(const ApiCall& call, const sys::Host& host) {
  using Answer = std::optional<Json>;
  if (host.http == nullptr) {
    return Error(Cause::kNetWrongEndpoint,
                 call.what + " was not requested: network access is disabled");
  }
  auto response = Send(call, host);
  if (!response) {
    return std::move(response).error().While("requesting " + call.what);
  }
  if (response->status == 404) {
    return Answer();
  }
  if (response->status != 200) {
    return Refused(call, *response);
  }
  auto json =
      ParseJson(response->body, Cause::kNetWrongEndpoint,
                "the response of " + sys::SplitUrl(call.request.url).host +
                    " for " + call.what);
  if (!json) {
    return std::move(json).error();
  }
  return Answer(*std::move(json));
}

}  // namespace muster::cloud
