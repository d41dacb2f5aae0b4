// SPDX-License-Identifier: Apache-2.0
// What an answer of one of Google's services that is no success means. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/json_fwd.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "sys/net/http.h"

namespace muster::cloud {

// The cause, and what the service names. What it names is found under
// permission, resource, metric, limit, value, region, zone, type, field,
// project, service, scope or location, as far as it is told.
struct Refusal {
  Cause cause = Cause::kInternalError;
  // A repeat may succeed: the service's trouble, or its limit on requests.
  bool passes = false;
  // How long the service asks to wait before that.
  std::optional<Duration> retry_after;
  int http_status = 0;     // 0: the error of an operation
  std::string status;      // "RESOURCE_EXHAUSTED"; empty: none is told
  std::string reason;      // "IAM_PERMISSION_DENIED"; empty: none is told
  std::string message;     // the service's own, printable
  std::string decided_by;  // reason, quota, message, status, http
  std::map<std::string, std::string> named;

  bool Names(const std::string& key) const { return named.contains(key); }
  // "403 IAM_PERMISSION_DENIED", "429", "operation RESOURCE_EXHAUSTED".
  std::string Code() const;
};

// In this order: ErrorInfo.reason, QuotaFailure, the message, the status, the
// HTTP status. For every status but 200.
Refusal Classify(const sys::HttpResponse& response);
// The error of an operation: google.rpc.Status.
Refusal ClassifyStatus(const Json& status);

// "1.5s" of JSON; nullopt: no duration.
std::optional<Duration> ParseProtoDuration(const std::string& text);

}  // namespace muster::cloud
