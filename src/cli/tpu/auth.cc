// SPDX-License-Identifier: Apache-2.0
// `muster tpu auth`: who asks, and whether Google believes it.
#include "base/json.h"
#include "base/text.h"
#include "cli/tpu/tpu.h"
#include "cloud/api/project_zone.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

std::string LastPart(const std::string& scope) {
  return scope.substr(scope.rfind('/') + 1);
}

// A service account signs its own token, which proves nothing: the second is
// of Google's token endpoint.
Result<cloud::Token> TriedToken(cloud::Credentials& credentials,
                                cloud::Sender& sender) {
  MUSTER_ASSIGN(const cloud::Token* token, credentials.Get(sender));
  if (credentials.kind() == "service_account") {
    credentials.Reject();
    MUSTER_ASSIGN(token, credentials.Get(sender));
  }
  return *token;
}

std::string UntilText(const cloud::Token& token, WallTime now) {
  if (token.until == WallTime()) {
    return "unknown: a given token is not checked";
  }
  return ToString(token.until) + ", in " +
         ToString(std::chrono::duration_cast<Duration>(
             std::chrono::floor<std::chrono::seconds>(token.until - now)));
}

}  // namespace

Status TpuAuth(const TpuCall& call) {
  MUSTER_ASSIGN(auto credentials, cloud::Credentials::Find(call.host));
  cloud::Sender sender(call.host, call.request_timeout());
  MUSTER_ASSIGN(const cloud::Token token, TriedToken(credentials, sender));
  const auto project = cloud::FindProject(call.line.cluster.cloud.project,
                                          credentials.project(), call.host);
  if (call.json()) {
    Json document{{"schema", "muster.tpu.auth/1"},
                  {"account", credentials.Who()},
                  {"kind", credentials.kind()},
                  {"source", credentials.source()},
                  {"project", nullptr},
                  {"quota_project", nullptr},
                  {"scopes", token.scopes},
                  {"until", nullptr}};
    if (project) {
      document["project"] = {{"value", project->value},
                             {"source", project->source}};
    }
    if (!credentials.quota_project().empty()) {
      document["quota_project"] = {
          {"value", credentials.quota_project()},
          {"source", credentials.quota_project_source()}};
    }
    if (token.until != WallTime()) {
      document["until"] = ToString(token.until);
    }
    sys::PrintDocument(document);
    return Ok();
  }
  std::vector<std::string> scopes;
  for (const std::string& scope : token.scopes) {
    scopes.push_back(LastPart(scope));
  }
  const std::string& quota = credentials.quota_project();
  sys::PrintResult(TableText(
      {{"account", credentials.Who()},
       {"kind", credentials.kind()},
       {"source", credentials.source()},
       {"project",
        project ? Printable(project->value) + " (" + project->source + ")"
                : "not set: use --project or GOOGLE_CLOUD_PROJECT"},
       {"quota project",
        quota.empty()
            ? "none"
            : quota + " (" + credentials.quota_project_source() + ")"},
       {"scopes", scopes.empty() ? "unknown" : Join(scopes, ", ")},
       {"until", UntilText(token, call.host.clock.WallNow())}}));
  if (sender.ClockIsWrong()) {
    sys::PrintAside("muster: warn " + sender.ClockText() + "\n");
  }
  return Ok();
}

}  // namespace muster::cli
