// SPDX-License-Identifier: Apache-2.0
#include "cloud/tpu/doctor.h"

#include <algorithm>
#include <array>

#include "accelerator/table.h"
#include "base/json.h"
#include "base/json_fields.h"
#include "base/text.h"
#include "cloud/api/project_zone.h"

namespace muster::cloud {
namespace {

constexpr const char* kConsole = "https://console.cloud.google.com/";
constexpr const char* kTpu = "tpu.googleapis.com";

// What each action needs. Queued resources have no rights of their own: those
// of nodes are asked (cloud.google.com/iam/docs/roles-permissions/tpu).
struct Right {
  const char* action;
  const char* permission;
};
constexpr std::array kRights{
    Right{"list", "tpu.nodes.list"},
    Right{"describe", "tpu.nodes.get"},
    Right{"create", "tpu.nodes.create"},
    Right{"delete", "tpu.nodes.delete"},
    Right{"start", "tpu.nodes.start"},
    Right{"stop", "tpu.nodes.stop"},
    Right{"create --wait", "tpu.operations.get"},
    Right{"types", "tpu.acceleratortypes.list"},
    Right{"versions", "tpu.runtimeversions.list"},
    Right{"list --zone REGION", "tpu.locations.list"},
};

// Where one of Google's services is, or what stands in for it.
std::string Service(const TpuApi& api, const char* variable,
                    const char* usual) {
  const auto other = sys::FirstSet(
      api.sender().host().env,
      {std::string("CLOUDSDK_API_ENDPOINT_OVERRIDES_") + variable});
  std::string url = other ? other->value : usual;
  return url + (url.ends_with('/') ? "" : "/");
}

std::string UsageUrl(const TpuApi& api, const char* version) {
  return Service(api, "SERVICEUSAGE", "https://serviceusage.googleapis.com/") +
         version + "/projects/" + sys::PercentEncode(api.project().value) +
         "/services/" + kTpu;
}

Question AboutApi(const TpuApi& api, const char* permission) {
  return {.what = "state of the Cloud TPU API",
          .permission = permission,
          .project = api.project().value,
          .project_source = api.project().source};
}

// Asking is not refused for what is asked about, but for the question.
bool IsOfTheQuestion(const Error& error) {
  return error.cause() == Cause::kCloudPermissionDenied ||
         error.cause() == Cause::kCloudApiDisabled;
}

class Doctor {
 public:
  Doctor(TpuApi& api, std::string zone, accelerator::TpuNodeSpec wanted)
      : api_(api), zone_(std::move(zone)), wanted_(std::move(wanted)) {}

  std::vector<Diagnosis> Run() {
    using Step = Diagnosis (Doctor::*)();
    const std::array<std::pair<const char*, Step>, 8> steps{{
        {"credentials", &Doctor::CheckCredentials},
        {"project", &Doctor::CheckProject},
        {"api", &Doctor::CheckApi},
        {"billing", &Doctor::CheckBilling},
        {"permissions", &Doctor::CheckPermissions},
        {"type", &Doctor::CheckType},
        {"version", &Doctor::CheckRuntime},
        {"quota", &Doctor::CheckQuota},
    }};
    std::vector<Diagnosis> all;
    for (const auto& [id, step] : steps) {
      Diagnosis one = stopped_by_.empty()
                          ? (this->*step)()
                          : Skip("because " + stopped_by_ + " failed");
      one.id = id;
      // Without these the rest would only say the same again.
      const bool stops = one.id == "credentials" || one.id == "project";
      if (stops &&
          (one.health == Health::kFail || one.health == Health::kBroken)) {
        stopped_by_ = one.id;
      }
      type_failed_ =
          type_failed_ || (one.id == "type" && one.health == Health::kFail);
      all.push_back(std::move(one));
    }
    return all;
  }

 private:
  static Diagnosis Pass(std::string detail) {
    return {.health = Health::kPass, .detail = std::move(detail)};
  }
  static Diagnosis Skip(std::string why) {
    return {.health = Health::kSkip, .detail = std::move(why)};
  }
  Diagnosis Fail(Error error, const std::string& page = "") const {
    Diagnosis one{.health = Health::kFail, .detail = error.message()};
    if (!page.empty()) {
      one.link = kConsole + page + "?project=" + Printable(project());
    }
    one.error = std::move(error);
    return one;
  }
  static Diagnosis Broken(Error error) {
    Diagnosis one{.health = Health::kBroken, .detail = error.message()};
    one.error = std::move(error);
    return one;
  }
  // A question that may not be asked is skipped, one without answer broken.
  static Diagnosis Unanswered(Error error) {
    return IsOfTheQuestion(error) ? Skip(error.message())
                                  : Broken(std::move(error));
  }

  const std::string& project() const { return api_.project().value; }

  std::string Manager() const {
    return Service(api_, "CLOUDRESOURCEMANAGER",
                   "https://cloudresourcemanager.googleapis.com/") +
           "v1/projects/" + sys::PercentEncode(project());
  }

  Question About(std::string what, std::string permission) const {
    return {.what = std::move(what),
            .permission = std::move(permission),
            .project = project(),
            .project_source = api_.project().source,
            .zone = zone_,
            .type = wanted_.type};
  }
  // An error as if the API itself had refused.
  Error Refused(Cause cause, const std::string& reason,
                const Question& question) {
    return ErrorOf({.cause = cause, .reason = reason, .decided_by = "state"},
                   question, api_.credentials().Who(), api_.sender());
  }

  Diagnosis CheckCredentials() {
    const auto token = api_.credentials().Get(api_.sender());
    if (!token) {
      return Fail(token.error());
    }
    return Pass(api_.credentials().Who() + ", by " +
                api_.credentials().source());
  }

  Diagnosis CheckProject() {
    const Question question =
        About("project " + project(), "resourcemanager.projects.get");
    const auto answer = api_.Send({.url = Manager()}, Repeat::kRead, question);
    if (!answer) {
      const Error& error = answer.error();
      return error.cause() == Cause::kCloudApiDisabled ? Skip(error.message())
             : error.cause() == Cause::kCloudPermissionDenied ||
                     error.cause() == Cause::kTpuNotFound ||
                     error.cause() == Cause::kCloudAuthMissing ||
                     error.cause() == Cause::kClockSkew
                 ? Fail(error, "cloud-resource-manager")
                 : Broken(error);
    }
    const std::string state = TextOf(*answer, "lifecycleState");
    if (!state.empty() && state != "ACTIVE") {
      return Fail(Error(Cause::kCloudPermissionDenied,
                        "the project " + Printable(project()) + " is " +
                            Printable(state)),
                  "cloud-resource-manager");
    }
    return Pass(Printable(project()) + " (" + api_.project().source +
                "), number " + Printable(TextOf(*answer, "projectNumber")));
  }

  Diagnosis CheckApi() {
    const auto enabled = ApiIsEnabled(api_);
    if (!enabled) {
      return Unanswered(enabled.error());
    }
    if (!*enabled) {
      return Fail(Refused(Cause::kCloudApiDisabled, "SERVICE_DISABLED",
                          AboutApi(api_, "serviceusage.services.get")),
                  std::string("apis/library/") + kTpu);
    }
    return Pass(std::string(kTpu) + " is enabled");
  }

  Diagnosis CheckBilling() {
    const Question question =
        About("billing of the project", "resourcemanager.projects.get");
    const std::string url =
        Service(api_, "CLOUDBILLING", "https://cloudbilling.googleapis.com/") +
        "v1/projects/" + sys::PercentEncode(project()) + "/billingInfo";
    const auto answer = api_.Send({.url = url}, Repeat::kRead, question);
    if (!answer) {
      return Unanswered(answer.error());
    }
    const Json& enabled = At(*answer, {"billingEnabled"});
    if (!enabled.is_boolean() || !enabled.get<bool>()) {
      return Fail(
          Refused(Cause::kCloudPermissionDenied, "BILLING_DISABLED", question),
          "billing/linkedaccount");
    }
    return Pass("linked to " +
                Printable(TextOf(*answer, "billingAccountName")));
  }

  Diagnosis CheckPermissions() {
    Json asked = Json::array();
    for (const Right& right : kRights) {
      asked.push_back(right.permission);
    }
    sys::HttpRequest post{.url = Manager() + ":testIamPermissions",
                          .method = "POST"};
    post.headers["Content-Type"] = "application/json";
    post.body = Dump(Json{{"permissions", asked}});
    Question question = About("permissions in the project", "");
    // It only tells: a repeat changes nothing.
    const auto answer = api_.Send(std::move(post), Repeat::kRead, question);
    if (!answer) {
      return Unanswered(answer.error());
    }
    const Json& held = ListOf(*answer, "permissions");
    std::vector<std::string> lacking;
    bool changes = false;  // one of them is for more than looking
    for (const Right& right : kRights) {
      if (std::find(held.begin(), held.end(), right.permission) == held.end()) {
        const std::string_view name = right.permission;
        changes =
            changes || !(name.ends_with(".list") || name.ends_with(".get"));
        lacking.push_back(std::string(right.permission) + " (for `" +
                          right.action + "`)");
      }
    }
    if (lacking.empty()) {
      return Pass("all permissions that muster uses");
    }
    question.permission = changes ? "tpu.nodes.create" : "tpu.nodes.list";
    Error error = Refused(Cause::kCloudPermissionDenied,
                          "IAM_PERMISSION_DENIED", question);
    Error told(error.cause(), api_.credentials().Who() + " lacks " +
                                  Join(lacking, ", ") + " in project " +
                                  Printable(project()));
    return Fail(std::move(told).With(error.evidence().front()),
                "iam-admin/iam");
  }

  Diagnosis CheckType() {
    if (wanted_.type.empty() || zone_.empty()) {
      return Skip("set --zone and --type");
    }
    if (const Status fits =
            accelerator::CheckRuntimeVersion({.type = wanted_.type});
        !fits) {
      return Fail(fits.error());
    }
    const auto types = api_.Types(zone_);
    if (!types) {
      return Unanswered(types.error());
    }
    std::vector<std::string> names;
    for (const AcceleratorType& one : types->items) {
      if (one.name == wanted_.type) {
        return Pass(Printable(wanted_.type) + " (" +
                    Printable(Join(one.topologies, ", ")) + ") is offered in " +
                    Printable(zone_));
      }
      names.push_back(Printable(one.name));
    }
    const Error error =
        Refused(Cause::kCloudTypeUnsupported, "", About("", ""));
    return Fail(
        error.Reworded("zone " + Printable(zone_) + " does not offer " +
                       Printable(wanted_.type) + "; it offers " +
                       (names.empty() ? "no types" : Join(names, ", "))));
  }

  Diagnosis CheckRuntime() {
    if (wanted_.type.empty() || zone_.empty()) {
      return Skip("set --zone and --type");
    }
    if (type_failed_) {
      return Skip("because type failed");
    }
    const bool chosen = !wanted_.version.empty();
    if (!chosen) {
      const auto usual = accelerator::DefaultRuntimeVersion(wanted_.type);
      if (!usual) {
        return Skip("the generation of " + Printable(wanted_.type) +
                    " is unknown: set --version");
      }
      wanted_.version = *usual;
    }
    if (const Status fits = accelerator::CheckRuntimeVersion(wanted_); !fits) {
      return Fail(fits.error());
    }
    const auto versions = api_.Versions(zone_);
    if (!versions) {
      return Unanswered(versions.error());
    }
    const bool there = std::any_of(
        versions->items.begin(), versions->items.end(),
        [&](const RuntimeVersion& one) { return one.name == wanted_.version; });
    if (!there) {
      return Fail(Error(
          Cause::kUsageInvalid,
          "zone " + Printable(zone_) + " has no runtime version `" +
              Printable(wanted_.version) + "`: `muster tpu versions --zone " +
              Printable(zone_) + "` lists the available ones"));
    }
    return Pass(Printable(wanted_.version) +
                (chosen ? "" : ", the default for " + Printable(wanted_.type)));
  }

  Diagnosis CheckQuota();

  TpuApi& api_;
  std::string zone_;
  accelerator::TpuNodeSpec wanted_;
  std::string stopped_by_;
  bool type_failed_ = false;
};

// Spot, reserved and on demand are counted apart.
std::string WayOf(const std::string& metric) {
  return metric.find("preempt") != std::string::npos ||
                 metric.find("spot") != std::string::npos
             ? "spot"
         : metric.find("reserv") != std::string::npos ? "reserved"
                                                      : "on-demand";
}

bool IsOfGeneration(const std::string& metric, const std::string& generation) {
  const auto has = [&](std::string_view words) {
    return metric.find(words) != std::string::npos;
  };
  // Of v5litepod they have "v5lite" or "v5e".
  const accelerator::Specs* specs = accelerator::FindApiType(generation);
  return has(generation.substr(0, generation.find("pod"))) ||
         (specs != nullptr && has(specs->name));
}

struct Limit {
  std::string metric, way;
  std::string value;  // "-1": without a limit
};
// The limits of a generation that hold in the zone or its region.
std::vector<Limit> LimitsOf(const Json& answer, const std::string& generation,
                            const std::string& zone) {
  const std::string region = zone.substr(0, zone.rfind('-'));
  std::vector<Limit> limits;
  for (const Json& metric : ListOf(answer, "metrics")) {
    std::string name = TextOf(metric, "metric");
    name = name.substr(name.rfind('/') + 1);
    if (!IsOfGeneration(Lower(name), generation)) {
      continue;
    }
    for (const Json& one : ListOf(metric, "consumerQuotaLimits")) {
      for (const Json& bucket : ListOf(one, "quotaBuckets")) {
        const Json& at = At(bucket, {"dimensions"});
        if (TextOf(at, "region") == region || TextOf(at, "zone") == zone) {
          limits.push_back({.metric = Printable(name),
                            .way = WayOf(Lower(name)),
                            .value = TextOf(bucket, "effectiveLimit")});
        }
      }
    }
  }
  return limits;
}

Diagnosis Doctor::CheckQuota() {
  if (wanted_.type.empty() || zone_.empty()) {
    return Skip("set --zone and --type");
  }
  if (type_failed_) {
    return Skip("because type failed");
  }
  Json all{{"metrics", Json::array()}};
  std::string page;
  // Far above what the service has.
  for (int pages = 0; pages < 100; ++pages) {
    const auto answer = api_.Send(
        {.url = UsageUrl(api_, "v1beta1") + "/consumerQuotaMetrics?view=FULL" +
                (page.empty() ? "" : "&pageToken=" + sys::PercentEncode(page))},
        Repeat::kRead,
        About("quotas of the project", "serviceusage.quotas.get"));
    if (!answer) {
      return Unanswered(answer.error());
    }
    for (const Json& one : ListOf(*answer, "metrics")) {
      all["metrics"].push_back(one);
    }
    page = TextOf(*answer, "nextPageToken");
    if (page.empty()) {
      break;
    }
  }
  const auto limits =
      LimitsOf(all, accelerator::GenerationOf(wanted_.type), zone_);
  if (limits.empty()) {
    return Skip("the service has no quota for " + Printable(wanted_.type) +
                " and " + Printable(zone_) + ": see " + kConsole +
                "iam-admin/quotas?project=" + Printable(project()));
  }
  std::vector<std::string> told;
  bool some = false;
  for (const Limit& one : limits) {
    some = some || one.value != "0";
    told.push_back(one.way + " " +
                   (one.value == "-1" ? "unlimited" : Printable(one.value)) +
                   " (`" + one.metric + "`)");
  }
  if (some) {
    return Pass(Join(told, ", "));
  }
  return Fail(Error(Cause::kCloudQuotaExceeded,
                    "the quota of " + Printable(wanted_.type) + " in " +
                        Printable(zone_) +
                        " is 0 for every capacity type: " + Join(told, ", ")),
              "iam-admin/quotas");
}

}  // namespace

std::vector<Diagnosis> Examine(TpuApi& api, const std::string& zone,
                               accelerator::TpuNodeSpec wanted) {
  return Doctor(api, zone, std::move(wanted)).Run();
}

Result<bool> ApiIsEnabled(TpuApi& api) {
  MUSTER_ASSIGN(const Json answer,
                api.Send({.url = UsageUrl(api, "v1")}, Repeat::kRead,
                         AboutApi(api, "serviceusage.services.get")));
  return TextOf(answer, "state") == "ENABLED";
}

Status EnableApi(TpuApi& api) {
  sys::HttpRequest post{.url = UsageUrl(api, "v1") + ":enable",
                        .method = "POST"};
  post.headers["Content-Type"] = "application/json";
  post.body = "{}";
  MUSTER_TRY(api.Send(std::move(post), Repeat::kOnce,
                      AboutApi(api, "serviceusage.services.enable")));
  return Ok();
}

}  // namespace muster::cloud
