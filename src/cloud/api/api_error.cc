// SPDX-License-Identifier: Apache-2.0
#include "cloud/api/api_error.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/json.h"
#include "base/json_fields.h"
#include "base/status_code.h"
#include "base/text.h"

namespace muster::cloud {
namespace {

constexpr std::size_t kLongestMessage = 400;

struct Meaning {
  std::string_view word;
  Cause cause;
  bool passes = false;
};

// google/api/error_reason.proto, and those that token checks give.
constexpr std::array kReasons{
    Meaning{"SERVICE_DISABLED", Cause::kCloudApiDisabled},
    Meaning{"BILLING_DISABLED", Cause::kCloudPermissionDenied},
    Meaning{"API_KEY_INVALID", Cause::kCloudAuthMissing},
    Meaning{"CREDENTIALS_MISSING", Cause::kCloudAuthMissing},
    Meaning{"ACCESS_TOKEN_EXPIRED", Cause::kCloudAuthMissing},
    Meaning{"ACCESS_TOKEN_TYPE_UNSUPPORTED", Cause::kCloudAuthMissing},
    Meaning{"ACCOUNT_STATE_INVALID", Cause::kCloudAuthMissing},
    Meaning{"SESSION_COOKIE_INVALID", Cause::kCloudAuthMissing},
    Meaning{"RATE_LIMIT_EXCEEDED", Cause::kCloudQuotaExceeded, true},
    Meaning{"RESOURCE_QUOTA_EXCEEDED", Cause::kCloudQuotaExceeded},
    Meaning{"IAM_PERMISSION_DENIED", Cause::kCloudPermissionDenied},
    Meaning{"ACCESS_TOKEN_SCOPE_INSUFFICIENT", Cause::kCloudPermissionDenied},
    Meaning{"CONSUMER_INVALID", Cause::kCloudPermissionDenied},
    Meaning{"CONSUMER_SUSPENDED", Cause::kCloudPermissionDenied},
    Meaning{"USER_PROJECT_DENIED", Cause::kCloudPermissionDenied},
    Meaning{"SECURITY_POLICY_VIOLATED", Cause::kCloudPermissionDenied},
    Meaning{"LOCATION_POLICY_VIOLATED", Cause::kCloudPermissionDenied},
    Meaning{"ZONE_RESOURCE_POOL_EXHAUSTED", Cause::kCloudNoCapacity},
};

// What the service writes where it gives no reason; the first that is in the
// message counts.
constexpr std::array kMessages{
    Meaning{"no more capacity in the zone", Cause::kCloudNoCapacity},
    Meaning{"nsufficient reserved capacity", Cause::kCloudNoCapacity},
    Meaning{"ZONE_RESOURCE_POOL_EXHAUSTED", Cause::kCloudNoCapacity},
    Meaning{"does not have enough resources available",
            Cause::kCloudNoCapacity},
    Meaning{"per minute", Cause::kCloudQuotaExceeded, true},
    Meaning{"Quota limit '", Cause::kCloudQuotaExceeded},
    Meaning{"Quota '", Cause::kCloudQuotaExceeded},
    Meaning{"has not been used in project", Cause::kCloudApiDisabled},
    Meaning{"SERVICE_DISABLED", Cause::kCloudApiDisabled},
    Meaning{"requires billing to be enabled", Cause::kCloudPermissionDenied},
    Meaning{"free-trial billing account", Cause::kCloudPermissionDenied},
    Meaning{"Permission '", Cause::kCloudPermissionDenied},
    Meaning{"Permission denied on", Cause::kCloudPermissionDenied},
    Meaning{"Read access to project", Cause::kCloudPermissionDenied},
    Meaning{"does not have permission", Cause::kCloudPermissionDenied},
    Meaning{"insufficient authentication scopes",
            Cause::kCloudPermissionDenied},
    Meaning{"invalid authentication credentials", Cause::kCloudAuthMissing},
    Meaning{"missing required authentication", Cause::kCloudAuthMissing},
    Meaning{"the accelerator ", Cause::kCloudTypeUnsupported},
    Meaning{"received an invalid argument", Cause::kUsageInvalid},
};

// google.rpc.Code.
constexpr std::array kStatuses{
    Meaning{"CANCELLED", Cause::kCancelled},
    Meaning{"UNKNOWN", Cause::kNetWrongEndpoint, true},
    Meaning{"INVALID_ARGUMENT", Cause::kUsageInvalid},
    Meaning{"DEADLINE_EXCEEDED", Cause::kDeadlineExceeded, true},
    Meaning{"NOT_FOUND", Cause::kTpuNotFound},
    Meaning{"ALREADY_EXISTS", Cause::kUsageInvalid},
    Meaning{"PERMISSION_DENIED", Cause::kCloudPermissionDenied},
    Meaning{"RESOURCE_EXHAUSTED", Cause::kCloudQuotaExceeded},
    Meaning{"FAILED_PRECONDITION", Cause::kUsageInvalid},
    Meaning{"ABORTED", Cause::kUsageInvalid},
    Meaning{"OUT_OF_RANGE", Cause::kUsageInvalid},
    Meaning{"UNIMPLEMENTED", Cause::kUsageInvalid},
    Meaning{"INTERNAL", Cause::kNetWrongEndpoint, true},
    Meaning{"UNAVAILABLE", Cause::kNetWrongEndpoint, true},
    Meaning{"UNAUTHENTICATED", Cause::kCloudAuthMissing},
};

// What stands between the two; empty when either is missing.
std::string Between(std::string_view text, std::string_view before,
                    std::string_view after) {
  const auto from = text.find(before);
  if (from == std::string_view::npos) {
    return "";
  }
  const auto begin = from + before.size();
  const auto end = text.find(after, begin);
  return end == std::string_view::npos
             ? ""
             : std::string(text.substr(begin, end - begin));
}

void Name(ApiError& refusal, const std::string& key, const std::string& value) {
  if (!value.empty() && value.size() <= 200) {
    refusal.named.emplace(key, Printable(value));
  }
}

// "projects/p/locations/z/nodes/t" names the project and the zone too.
void NameResource(ApiError& refusal, const std::string& resource) {
  Name(refusal, "resource", resource);
  const auto parts = Split(resource, '/');
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    if (parts[i] == "projects") {
      Name(refusal, "project", parts[i + 1]);
    }
    if (parts[i] == "locations" && parts[i + 1] != "-") {
      Name(refusal, "zone", parts[i + 1]);
    }
  }
}

// The words that messages put what they name between.
void NameFromMessage(ApiError& refusal, std::string_view text) {
  Name(refusal, "permission", Between(text, "Permission '", "' denied"));
  NameResource(refusal, Between(text, "denied on '", "'"));
  NameResource(refusal, Between(text, "Resource '", "'"));
  Name(refusal, "project", Between(text, "Read access to project '", "'"));
  Name(refusal, "project", Between(text, "been used in project ", " "));
  Name(refusal, "project", Between(text, "billing on project #", " "));
  Name(refusal, "metric", Between(text, "Quota limit '", "'"));
  Name(refusal, "metric", Between(text, "Quota '", "'"));
  Name(refusal, "metric", Between(text, "for quota metric '", "'"));
  Name(refusal, "limit", Between(text, "and limit '", "'"));
  Name(refusal, "value", Between(text, "Limit: ", " in region"));
  Name(refusal, "region", Between(text, " in region ", "."));
  Name(refusal, "zone", Between(text, "capacity in the zone \"", "\""));
  Name(refusal, "type", Between(text, "the accelerator ", " was not found"));
  Name(refusal, "zone", Between(text, "was not found in zone ", " "));
  Name(refusal, "field", Between(text, "The field \"", "\""));
  Name(refusal, "value", Between(text, "cannot be \"", "\""));
}

void NameFromInfo(ApiError& refusal, const Json& metadata) {
  Name(refusal, "permission", TextOf(metadata, "permission"));
  NameResource(refusal, TextOf(metadata, "resource"));
  Name(refusal, "service", TextOf(metadata, "service"));
  std::string metric = TextOf(metadata, "quota_metric");
  metric = metric.substr(metric.rfind('/') + 1);
  Name(refusal, "metric", metric);
  Name(refusal, "limit", TextOf(metadata, "quota_limit"));
  Name(refusal, "value", TextOf(metadata, "quota_limit_value"));
  Name(refusal, "zone", TextOf(metadata, "zone"));
  Name(refusal, "region", TextOf(metadata, "region"));
  const std::string consumer = TextOf(metadata, "consumer");
  Name(refusal, "project", consumer.substr(consumer.rfind('/') + 1));
}

// What the details of an error hold, whatever their order.
struct Details {
  bool has_quota_failure = false;
};
Details TakeDetails(ApiError& refusal, const Json& error) {
  Details details;
  for (const Json& one : ListOf(error, "details")) {
    const std::string type = TextOf(one, "@type");
    if (type.ends_with("google.rpc.ErrorInfo")) {
      refusal.reason = Printable(TextOf(one, "reason").substr(0, 64));
      NameFromInfo(refusal, At(one, {"metadata"}));
    } else if (type.ends_with("google.rpc.RetryInfo")) {
      const auto delay = ParseProtoDuration(TextOf(one, "retryDelay"));
      refusal.retry_after = delay ? delay : refusal.retry_after;
    } else if (type.ends_with("google.rpc.QuotaFailure")) {
      details.has_quota_failure = true;
      for (const Json& violation : ListOf(one, "violations")) {
        Name(refusal, "metric", TextOf(violation, "quotaMetric"));
        Name(refusal, "limit", TextOf(violation, "description"));
      }
    } else if (type.ends_with("google.rpc.BadRequest")) {
      for (const Json& violation : ListOf(one, "fieldViolations")) {
        Name(refusal, "field", TextOf(violation, "field"));
      }
    }
  }
  return details;
}

template <std::size_t N>
const Meaning* Find(const std::array<Meaning, N>& table,
                    std::string_view word) {
  const auto found =
      std::find_if(table.begin(), table.end(),
                   [&](const Meaning& one) { return one.word == word; });
  return found == table.end() ? nullptr : &*found;
}

// What HTTP alone tells.
Meaning OfHttpStatus(int status) {
  switch (status) {
    case 400:
      return {"", Cause::kUsageInvalid};
    case 401:
      return {"", Cause::kCloudAuthMissing};
    case 403:
      return {"", Cause::kCloudPermissionDenied};
    case 404:
      return {"", Cause::kTpuNotFound};
    case 407:
      return {"", Cause::kNetProxy};
    case 408:
      return {"", Cause::kNetTimeoutFiltered, true};
    case 429:
      return {"", Cause::kCloudQuotaExceeded, true};
    default:
      return {"", Cause::kNetWrongEndpoint,
              status == 500 || status == 502 || status == 503 || status == 504};
  }
}

// The first step that knows the answer decides.
void Decide(ApiError& refusal, const Details& details) {
  const auto take = [&](const Meaning& meaning, const char* by) {
    refusal.cause = meaning.cause;
    refusal.passes = meaning.passes;
    refusal.decided_by = by;
  };
  if (const Meaning* by = Find(kReasons, refusal.reason)) {
    return take(*by, "reason");
  }
  const Meaning* said = nullptr;
  for (const Meaning& one : kMessages) {
    if (said == nullptr &&
        refusal.message.find(one.word) != std::string::npos) {
      said = &one;
    }
  }
  if (details.has_quota_failure) {
    // A limit on requests says how long to wait, or that it is one.
    const bool rate = refusal.retry_after || (said != nullptr && said->passes);
    return take({"", Cause::kCloudQuotaExceeded, rate}, "quota");
  }
  if (said != nullptr) {
    return take(*said, "message");
  }
  if (const Meaning* by = Find(kStatuses, refusal.status)) {
    take(*by, "status");
    refusal.passes = refusal.passes || refusal.retry_after.has_value();
    return;
  }
  take(OfHttpStatus(refusal.http_status), "http");
}

std::optional<Duration> RetryAfter(const sys::HttpResponse& response) {
  const auto wait = ParseInt(response.Header("retry-after"));
  return wait && *wait >= 0 && *wait <= 86400
             ? std::optional<Duration>(std::chrono::seconds(*wait))
             : std::nullopt;
}

// A page comes from something in between, not from the service.
bool IsPage(const sys::HttpResponse& response) {
  return response.Header("content-type").starts_with("text/html") ||
         Trim(response.body).starts_with("<");
}

// `asked`: what the answer's header says of the wait.
ApiError OfError(const Json& error, int http_status,
                 std::optional<Duration> asked = std::nullopt) {
  ApiError refusal{.retry_after = asked,
                   .http_status = http_status,
                   .status = Printable(TextOf(error, "status").substr(0, 64))};
  refusal.message =
      Printable(TextOf(error, "message").substr(0, kLongestMessage));
  const auto code = NumberOf(error, "code");
  if (refusal.status.empty() && code) {
    refusal.status = NameOfStatusCode(*code).value_or("");
  }
  const Details details = TakeDetails(refusal, error);
  NameFromMessage(refusal, refusal.message);
  Decide(refusal, details);
  return refusal;
}

}  // namespace

std::string ApiError::Code() const {
  const std::string& word = reason.empty() ? status : reason;
  const std::string number =
      http_status == 0 ? "operation" : std::to_string(http_status);
  return word.empty() ? number : number + " " + word;
}

ApiError Classify(const sys::HttpResponse& response) {
  const auto json =
      ParseJson(response.body, Cause::kNetWrongEndpoint, "the response");
  if (json && At(*json, {"error"}).is_object() &&
      !At(*json, {"error"}).empty()) {
    return OfError(At(*json, {"error"}), response.status, RetryAfter(response));
  }
  const Meaning meaning = OfHttpStatus(response.status);
  ApiError refusal{.cause = meaning.cause,
                   .passes = meaning.passes,
                   .http_status = response.status,
                   .decided_by = "http"};
  if (json) {
    refusal.message =
        Printable(TextOf(*json, "message").substr(0, kLongestMessage));
  }
  const bool foreign =
      response.status < 500 && response.status != 407 && IsPage(response);
  if (foreign) {
    refusal.cause = Cause::kNetWrongEndpoint;
    refusal.passes = false;
  }
  Name(refusal, "location", response.Header("location"));
  refusal.retry_after = RetryAfter(response);
  return refusal;
}

ApiError ClassifyStatus(const Json& status) {
  return OfError(status, 0);
}

std::optional<Duration> ParseProtoDuration(const std::string& text) {
  if (!text.ends_with('s')) {
    return std::nullopt;
  }
  const auto seconds = ParseDuration(text);
  return seconds && *seconds >= Duration::zero() ? seconds : std::nullopt;
}

}  // namespace muster::cloud
