// SPDX-License-Identifier: Apache-2.0
#include "cloud/api/remedies.h"

#include <algorithm>

#include "base/text.h"
#include "cloud/api/request_error.h"

namespace muster::cloud {
namespace {

// May stand in a command as it is.
bool IsPlain(const std::string& text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.' ||
           c == '@' || c == ':';
  });
}

std::string Or(const std::string& text, const char* otherwise) {
  return IsPlain(text) ? text : otherwise;
}

// "user:me@example.com"; a name that is no address is left to the reader.
std::string Principal(const std::string& account) {
  std::string email = account.substr(0, account.find(','));
  const auto open = email.find('(');
  if (open != std::string::npos) {
    email = email.substr(open + 1, email.rfind(')') - open - 1);
  }
  if (!IsPlain(email) || email.find('@') == std::string::npos) {
    return "user:EMAIL";
  }
  return (email.ends_with(".gserviceaccount.com") ? "serviceAccount:"
                                                  : "user:") +
         email;
}

std::vector<Fix> LogIn(const sys::Host& host) {
  constexpr const char* kKey = "use an uploaded service account key";
  if (sys::IsSet(host.env, "COLAB_RELEASE_TAG") ||
      sys::IsSet(host.env, "COLAB_GPU")) {
    return {{"in a cell, log in with your account",
             "from google.colab import auth; auth.authenticate_user()",
             Safety::kAsks},
            {"in Colab's terminal",
             "gcloud auth application-default login --no-launch-browser",
             Safety::kAsks},
            {kKey, "%env GOOGLE_APPLICATION_CREDENTIALS=/content/key.json",
             Safety::kAsks}};
  }
  if (sys::IsSet(host.env, "KAGGLE_KERNEL_RUN_TYPE")) {
    return {{"link the account under Add-ons, Google Cloud SDK; then in a cell",
             "from kaggle_secrets import UserSecretsClient; "
             "UserSecretsClient().set_gcloud_credentials(project='PROJECT')",
             Safety::kAsks},
            {"store a service account key as a Kaggle secret, write it to a "
             "file, and set",
             "%env GOOGLE_APPLICATION_CREDENTIALS=/kaggle/working/key.json",
             Safety::kAsks},
            {"use a one-hour token from a machine where you are logged in "
             "(`gcloud auth print-access-token`)",
             "%env CLOUDSDK_AUTH_ACCESS_TOKEN=TOKEN", Safety::kAsks}};
  }
  if (sys::IsSet(host.env, "JPY_PARENT_PID")) {
    return {
        {"in a terminal of this notebook",
         "gcloud auth application-default login --no-launch-browser",
         Safety::kAsks},
        {kKey, "%env GOOGLE_APPLICATION_CREDENTIALS=key.json", Safety::kAsks},
        {"use a one-hour token from a machine where you are logged in (`gcloud "
         "auth print-access-token`)",
         "%env CLOUDSDK_AUTH_ACCESS_TOKEN=TOKEN", Safety::kAsks}};
  }
  return {};
}

std::vector<Fix> ForPermission(const Fact& fact) {
  const std::string project = Or(fact.Text("project"), "PROJECT");
  const std::string reason = fact.Text("reason");
  if (reason == "BILLING_DISABLED") {
    return {{"link a billing account to the project",
             "gcloud billing projects link " + project +
                 " --billing-account=ACCOUNT",
             Safety::kCosts}};
  }
  if (reason == "ACCESS_TOKEN_SCOPE_INSUFFICIENT") {
    return {{"stop the VM and add the scope to its service account",
             "gcloud compute instances set-service-account VM "
             "--scopes=cloud-platform",
             Safety::kAsks}};
  }
  if (reason == "USER_PROJECT_DENIED" || reason.starts_with("CONSUMER_")) {
    return {{"bill requests to your project",
             "gcloud auth application-default set-quota-project " + project,
             Safety::kAsks}};
  }
  const std::string permission = fact.Text("permission");
  const bool reads =
      permission.ends_with(".list") || permission.ends_with(".get");
  return {{"ask a project owner to grant the role",
           "gcloud projects add-iam-policy-binding " + project +
               " --member=" + Principal(fact.Text("account")) +
               " --role=" + (reads ? "roles/tpu.viewer" : "roles/tpu.admin"),
           Safety::kAsks},
          {"for a research grant: use exactly the zones, types and project "
           "that the grant names",
           "", Safety::kAsks}};
}

std::vector<Fix> ForDisabled(const Fact& fact) {
  const std::string project = fact.Text("project");
  std::vector<Fix> fixes{
      {"enable it and wait a few minutes",
       "gcloud services enable " +
           (IsPlain(fact.Text("service")) ? fact.Text("service")
                                          : "tpu.googleapis.com") +
           " --project " + Or(project, "PROJECT"),
       Safety::kCosts}};
  // The number of gcloud's own project, for which a login without a quota
  // project is counted.
  if (fact.Text("named_project") == "764086051850") {
    fixes.insert(
        fixes.begin(),
        {"the project number is gcloud's: set the quota project of your login",
         "gcloud auth application-default set-quota-project " +
             Or(project, "PROJECT"),
         Safety::kAsks});
  }
  return fixes;
}

std::vector<Fix> ForNotFound(const Fact& fact) {
  return {{"list the TPUs in all zones",
           "muster tpu list --all-zones --project " +
               Or(fact.Text("project"), "PROJECT"),
           Safety::kSafe}};
}

std::vector<Fix> ForQuota(const Fact& fact) {
  const std::string metric = fact.Text("metric");
  return {{"request more of " + (metric.empty() ? "it" : "`" + metric + "`") +
               ": https://console.cloud.google.com/iam-admin/quotas?project=" +
               Or(fact.Text("project"), "PROJECT") +
               "; spot, on-demand and reserved count separately, and so does "
               "each region",
           "", Safety::kAsks}};
}

std::vector<Fix> ForCapacity(const Fact& fact) {
  const std::string create =
      "muster tpu create NAME --type " + Or(fact.Text("type"), "TYPE");
  return {
      {"try several zones at the same time",
       create + " --any-zone " + Or(fact.Text("zone"), "ZONE") + ",ZONE",
       Safety::kCosts},
      {"wait in the queue of the zone",
       create + " --zone " + Or(fact.Text("zone"), "ZONE") + " --queued --wait",
       Safety::kCosts},
      {"list the zones that offer the type", "muster tpu types --all-zones",
       Safety::kSafe}};
}

std::vector<Fix> ForType(const Fact& fact) {
  return {{"list what the zone offers",
           "muster tpu types --zone " + Or(fact.Text("zone"), "ZONE"),
           Safety::kSafe},
          {"list the zones", "muster tpu types --all-zones", Safety::kSafe}};
}

std::vector<Fix> FixesFor(const Error& error, const sys::Host& host) {
  const Fact* const fact = FactOf(error, "cloud.refused");
  if (error.cause() == Cause::kCloudAuthMissing) {
    return LogIn(host);
  }
  if (error.cause() == Cause::kLaunchEnvMissing) {
    return {{"set it permanently", "gcloud config set project PROJECT",
             Safety::kAsks},
            {"or set it each time", "muster tpu list --project PROJECT",
             Safety::kSafe}};
  }
  if (const Fact* const unlooked = FactOf(error, kUnlooked)) {
    return {{"query the zone",
             "muster tpu list --zone " + Or(unlooked->Text("zone"), "ZONE") +
                 " --project " + Or(unlooked->Text("project"), "PROJECT"),
             Safety::kSafe}};
  }
  if (fact == nullptr) {
    return {};
  }
  switch (error.cause()) {
    case Cause::kCloudPermissionDenied:
      return ForPermission(*fact);
    case Cause::kCloudApiDisabled:
      return ForDisabled(*fact);
    case Cause::kCloudQuotaExceeded:
      return ForQuota(*fact);
    case Cause::kCloudNoCapacity:
      return ForCapacity(*fact);
    case Cause::kCloudTypeUnsupported:
      return ForType(*fact);
    case Cause::kTpuNotFound:
      return ForNotFound(*fact);
    default:
      return {};
  }
}

}  // namespace

Finding FindingOf(const Error& error, const sys::Host& host) {
  Finding finding = FromError(error, FactOf(error, kUnlooked) != nullptr
                                         ? Confidence::kPossible
                                         : Confidence::kCertain);
  if (auto fixes = FixesFor(error, host); !fixes.empty()) {
    finding.fixes = std::move(fixes);
  }
  return finding;
}

}  // namespace muster::cloud
