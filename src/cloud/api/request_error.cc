// SPDX-License-Identifier: Apache-2.0
#include "cloud/api/request_error.h"

#include <algorithm>

#include "base/text.h"

namespace muster::cloud {
namespace {

std::string Named(const ApiError& refusal, const char* key,
                  const std::string& otherwise = "") {
  const auto found = refusal.named.find(key);
  return found == refusal.named.end() ? otherwise : found->second;
}

// " (403 IAM_PERMISSION_DENIED): the service's own words".
std::string Said(const ApiError& refusal) {
  return " (" + refusal.Code() + ")" +
         (refusal.message.empty() ? "" : ": " + refusal.message);
}

std::string OfProject(const Question& question) {
  return "project " + Printable(question.project) +
         (question.project_source.empty()
              ? ""
              : " (" + question.project_source + ")");
}

std::string Permission(const ApiError& refusal, const Question& question,
                       const std::string& account) {
  const std::string asks = " for " + question.what;
  if (refusal.reason == "ACCESS_TOKEN_SCOPE_INSUFFICIENT" ||
      refusal.message.find("insufficient authentication scopes") !=
          std::string::npos) {
    return "the token of " + account + " lacks the scope cloud-platform" +
           asks + Said(refusal);
  }
  if (refusal.reason == "BILLING_DISABLED" ||
      refusal.message.find("requires billing") != std::string::npos ||
      refusal.message.find("free-trial billing") != std::string::npos) {
    return "billing is not enabled for " + OfProject(question) + Said(refusal);
  }
  if (refusal.reason == "USER_PROJECT_DENIED") {
    return account + " is not allowed to use the quota project " +
           Named(refusal, "project", "that it sets") +
           ", which requires serviceusage.services.use" + Said(refusal);
  }
  if (refusal.reason.starts_with("CONSUMER_")) {
    return "no valid project " + Named(refusal, "project", question.project) +
           " for " + account + Said(refusal);
  }
  if (!refusal.Names("permission") && refusal.Names("zone") &&
      refusal.message.find("denied on 'locations/") != std::string::npos) {
    return account + " is not allowed to use zone " + Named(refusal, "zone") +
           ", or the zone does not exist" + Said(refusal);
  }
  const std::string permission =
      Named(refusal, "permission", question.permission);
  return account + " lacks " +
         (permission.empty() ? "a permission" : permission) + " on " +
         Named(refusal, "resource", OfProject(question)) + asks + Said(refusal);
}

std::string Quota(const ApiError& refusal, const Question& question) {
  const std::string metric = Named(refusal, "metric", Named(refusal, "limit"));
  if (refusal.passes) {
    return "too many requests for " + question.what +
           (metric.empty() ? "" : ", counted by `" + metric + "`") +
           Said(refusal);
  }
  const std::string limit = Named(refusal, "value");
  const std::string where =
      Named(refusal, "region", Named(refusal, "zone", question.zone));
  return "the quota " + (metric.empty() ? "" : "`" + metric + "` ") + "of " +
         OfProject(question) + (where.empty() ? "" : " in " + where) +
         (limit.empty() ? " is exhausted" : " is " + limit) + Said(refusal);
}

std::string Usage(const ApiError& refusal, const Question& question) {
  if (refusal.status == "ALREADY_EXISTS") {
    return question.what + " already exists" + Said(refusal);
  }
  const std::string field = Named(refusal, "field");
  return "the API rejects " + question.what +
         (field.empty() ? "" : " because of its field `" + field + "`") +
         Said(refusal);
}

std::string NotFound(const ApiError& refusal, const Question& question) {
  return "no " + question.what + " in " + OfProject(question) + Said(refusal);
}

std::string Other(const ApiError& refusal, const Question& question) {
  if (refusal.http_status >= 300 && refusal.http_status < 400) {
    return "the response for " + question.what + " is a redirect (" +
           refusal.Code() + ")" +
           (refusal.Names("location") ? ", to " + Named(refusal, "location")
                                      : "") +
           ": a proxy or portal between here and Google responded";
  }
  return "the API failed for " + question.what + Said(refusal);
}

std::string Message(const ApiError& refusal, const Question& question,
                    const std::string& account) {
  switch (refusal.cause) {
    case Cause::kCloudAuthMissing:
      return "the credentials of " + account + " were rejected for " +
             question.what + Said(refusal);
    case Cause::kCloudApiDisabled:
      return "the API " + Named(refusal, "service", "tpu.googleapis.com") +
             " is not enabled in project " +
             Named(refusal, "project", question.project) + Said(refusal);
    case Cause::kCloudPermissionDenied:
      return Permission(refusal, question, account);
    case Cause::kCloudQuotaExceeded:
      return Quota(refusal, question);
    case Cause::kCloudNoCapacity:
      return "zone " + Named(refusal, "zone", question.zone) +
             " has no capacity for " + question.what + Said(refusal);
    case Cause::kCloudTypeUnsupported:
      return "zone " + Named(refusal, "zone", question.zone) +
             " does not offer " + Named(refusal, "type", question.type) +
             Said(refusal);
    case Cause::kTpuNotFound:
      return NotFound(refusal, question);
    case Cause::kUsageInvalid:
      return Usage(refusal, question);
    case Cause::kNetProxy:
      return "the proxy requires authentication for " + question.what + " (" +
             refusal.Code() + "): add user and password to its URL";
    default:
      return Other(refusal, question);
  }
}

}  // namespace

Error ErrorOf(const ApiError& refusal, const Question& question,
              const std::string& account, const Sender& sender) {
  Fact fact{.name = "cloud.refused",
            .fields = {{"http", std::int64_t{refusal.http_status}},
                       {"status", refusal.status},
                       {"reason", refusal.reason},
                       {"decided_by", refusal.decided_by},
                       {"account", account},
                       {"project", question.project},
                       {"zone", question.zone}},
            .by = "Cloud TPU API",
            .at = sender.host().clock.WallNow()};
  if (refusal.passes) {
    fact.fields["passes"] = true;
  }
  for (const auto& [key, value] : refusal.named) {
    fact.fields[key == "project" ? "named_project" : key] = value;
  }
  if (fact.Text("permission").empty()) {
    fact.fields["permission"] = question.permission;
  }
  if (fact.Text("type").empty() && !question.type.empty()) {
    fact.fields["type"] = question.type;
  }
  fact.fields["text"] =
      refusal.Code() + ", recognized by its " +
      (refusal.decided_by == "http" ? "HTTP status" : refusal.decided_by);
  if (refusal.cause == Cause::kCloudAuthMissing && sender.ClockIsWrong()) {
    return Error(Cause::kClockSkew, Message(refusal, question, account) + "; " +
                                        sender.ClockText())
        .With(std::move(fact));
  }
  return Error(refusal.cause, Message(refusal, question, account))
      .With(std::move(fact));
}

const Fact* FactOf(const Error& error, std::string_view name) {
  const auto fact =
      std::find_if(error.evidence().begin(), error.evidence().end(),
                   [&](const Fact& one) { return one.name == name; });
  return fact == error.evidence().end() ? nullptr : &*fact;
}

bool IsRateLimit(const Error& error) {
  const Fact* const refused = FactOf(error, "cloud.refused");
  return error.cause() == Cause::kCloudQuotaExceeded && refused != nullptr &&
         refused->Has("passes");
}

}  // namespace muster::cloud
