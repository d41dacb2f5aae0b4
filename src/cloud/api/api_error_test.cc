// SPDX-License-Identifier: Apache-2.0
#include "cloud/api/api_error.h"

#include <gmock/gmock.h>

#include "base/json.h"

namespace muster::cloud {
namespace {

using ::testing::Contains;
using ::testing::Pair;

ApiError Of(int status, const std::string& body,
            std::map<std::string, std::string> headers = {}) {
  return Classify(
      {.status = status, .headers = std::move(headers), .body = body});
}

std::string Body(const std::string& status, const std::string& message,
                 const std::string& details = "") {
  return Json{
      {"error",
       {{"status", status},
        {"message", message},
        {"details", details.empty() ? Json::array() : Json::parse(details)}}}}
      .dump();
}

constexpr const char* kInfo =
    R"([{"@type": "type.googleapis.com/google.rpc.ErrorInfo",
         "reason": "IAM_PERMISSION_DENIED",
         "metadata": {"permission": "tpu.nodes.list",
                      "resource": "projects/p/locations/z"}}])";

TEST(ApiError, TheReasonDecidesBeforeTheMessage) {
  const auto refusal =
      Of(403, Body("PERMISSION_DENIED",
                   "Quota limit 'X' has been exceeded. Limit: 0 in region r.",
                   kInfo));
  EXPECT_EQ(refusal.cause, Cause::kCloudPermissionDenied);
  EXPECT_EQ(refusal.decided_by, "reason");
  EXPECT_THAT(refusal.named, Contains(Pair("permission", "tpu.nodes.list")));
  EXPECT_THAT(refusal.named, Contains(Pair("zone", "z")));
  EXPECT_EQ(refusal.Code(), "403 IAM_PERMISSION_DENIED");
}

TEST(ApiError, WhatTheServiceNamesIsPrintable) {
  const auto refusal = Of(403, R"({"error": {"details": [
                   {"@type": "google.rpc.ErrorInfo", "metadata": {
                       "service": "\u001b[2J", "quota_limit": "\u009b"}}]}})");
  EXPECT_THAT(refusal.named, Contains(Pair("service", "\\x1b[2J")));
  EXPECT_THAT(refusal.named, Contains(Pair("limit", "\\xc2\\x9b")));
}

TEST(ApiError, AQuotaFailureDecidesBeforeTheMessage) {
  const auto refusal =
      Of(429, Body("RESOURCE_EXHAUSTED", "no more capacity in the zone \"z\"",
                   R"([{"@type": "google.rpc.QuotaFailure", "violations":
                        [{"subject": "p", "description": "TPUS of r"}]}])"));
  EXPECT_EQ(refusal.cause, Cause::kCloudQuotaExceeded);
  EXPECT_EQ(refusal.decided_by, "quota");
  EXPECT_FALSE(refusal.passes);
}

TEST(ApiError, AStockOutIsNoQuotaWhateverItsStatusSays) {
  const auto refusal = ClassifyStatus(
      {{"code", 8},
       {"message",
        "There is no more capacity in the zone \"us-east5-a\"; you can try"}});
  EXPECT_EQ(refusal.cause, Cause::kCloudNoCapacity);
  EXPECT_EQ(refusal.status, "RESOURCE_EXHAUSTED");
  EXPECT_THAT(refusal.named, Contains(Pair("zone", "us-east5-a")));
  EXPECT_EQ(refusal.Code(), "operation RESOURCE_EXHAUSTED");
}

TEST(ApiError, ALimitOnRequestsPassesAndSaysWhen) {
  const auto refusal =
      Of(429, Body("RESOURCE_EXHAUSTED", "slow down",
                   R"([{"@type": "google.rpc.RetryInfo", "retryDelay": "1.5s"},
                       {"@type": "google.rpc.ErrorInfo",
                        "reason": "RATE_LIMIT_EXCEEDED"}])"));
  EXPECT_TRUE(refusal.passes);
  EXPECT_EQ(refusal.retry_after, std::chrono::milliseconds(1500));
}

TEST(ApiError, TheHeaderSaysWhenBesideAnErrorToo) {
  const auto refusal =
      Of(503, Body("UNAVAILABLE", "try later"), {{"retry-after", "7"}});
  EXPECT_TRUE(refusal.passes);
  EXPECT_EQ(refusal.retry_after, std::chrono::seconds(7));
  // The error itself knows better.
  EXPECT_EQ(Of(503,
               Body("UNAVAILABLE", "try later",
                    R"([{"@type": "google.rpc.RetryInfo",
                         "retryDelay": "2s"}])"),
               {{"retry-after", "7"}})
                .retry_after,
            std::chrono::seconds(2));
}

TEST(ApiError, APageIsNotOfTheService) {
  EXPECT_EQ(Of(403, "<html>log in to the hotel</html>").cause,
            Cause::kNetWrongEndpoint);
  EXPECT_EQ(Of(407, "<html>proxy</html>").cause, Cause::kNetProxy);
}

TEST(ApiError, HttpAloneDecidesLast) {
  const auto refusal = Of(503, "", {{"retry-after", "7"}});
  EXPECT_TRUE(refusal.passes);
  EXPECT_EQ(refusal.decided_by, "http");
  EXPECT_EQ(refusal.retry_after, std::chrono::seconds(7));
}

TEST(ApiError, HostileBodiesAreAnswersToo) {
  for (const char* body :
       {"", "null", "[]", "{\"error\": []}", "{\"error\": {\"details\": 1}}",
        "{\"error\": {\"details\": [1, null, {\"@type\": 5}]}}",
        "{\"error\": {\"code\": 99999999999999999999, \"message\": {}}}",
        R"({"error": {"details": [{"@type": "google.rpc.RetryInfo",
                                   "retryDelay": "-5s"}]}})"}) {
    const auto refusal = Of(418, body);
    EXPECT_EQ(refusal.cause, Cause::kNetWrongEndpoint) << body;
    EXPECT_FALSE(refusal.retry_after) << body;
  }
}

TEST(ApiError, ControlCharactersAreShownNotSent) {
  const auto refusal = Of(404, Body("NOT_FOUND", "\x1b[2Jgone"));
  EXPECT_EQ(refusal.message.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace muster::cloud
