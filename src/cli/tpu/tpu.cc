// SPDX-License-Identifier: Apache-2.0
#include "cli/tpu/tpu.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "cli/tpu/change.h"
#include "cli/verbs.h"
#include "cloud/api/project_zone.h"
#include "cloud/api/remedies.h"
#include "cloud/auth/metadata.h"
#include "finding/exit_code.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

Result<Sourced<std::string>> Project(const TpuCall& call,
                                     const cloud::Credentials& credentials) {
  const auto known = cloud::FindProject(call.line.cluster.cloud.project,
                                        credentials.project(), call.host);
  if (known) {
    return *known;
  }
  const cloud::Metadata metadata(call.host);
  if (metadata.SwitchedOff().empty()) {
    const auto id = metadata.Get("project/project-id");
    if (id && *id && !(*id)->empty()) {
      return Sourced<std::string>{**id, "metadata project/project-id"};
    }
  }
  return Error(
      Cause::kLaunchEnvMissing,
      "the project is unknown: --project and GOOGLE_CLOUD_PROJECT are not set, "
      "and neither the credentials file nor gcloud's configuration names one");
}

}  // namespace

cloud::RetryLimits TpuCall::request_timeout() const {
  return {.deadline = Deadline::After(settings.request_timeout.value)};
}

Result<cloud::TpuApi> OpenApi(const TpuCall& call) {
  return OpenApi(call, call.request_timeout());
}

Result<cloud::TpuApi> OpenApi(const TpuCall& call,
                              cloud::RetryLimits request_timeout) {
  MUSTER_ASSIGN(auto credentials, cloud::Credentials::Find(call.host));
  MUSTER_ASSIGN(auto project, Project(call, credentials));
  return cloud::TpuApi(call.host, std::move(credentials), std::move(project),
                       std::move(request_timeout));
}

Result<std::optional<Sourced<std::string>>> GivenZone(const TpuCall& call,
                                                      cloud::TpuApi& api) {
  const auto zone = cloud::FindZone(call.line.cluster.cloud.zone, call.host);
  if (!zone || !cloud::IsRegion(zone->value)) {
    return zone;
  }
  MUSTER_ASSIGN(const auto zones, api.Zones());
  std::vector<std::string> of_region;
  for (const std::string& one : zones) {
    if (one.starts_with(zone->value + "-")) {
      of_region.push_back(Printable(one));
    }
  }
  return Error(Cause::kUsageInvalid,
               "`" + Printable(zone->value) + "` (" + zone->source +
                   ") is a region, but a TPU needs a zone: " +
                   (of_region.empty() ? "no zone of this region has TPUs"
                                      : Join(of_region, ", ")));
}

Result<Sourced<std::string>> ZoneOfList(const TpuCall& call,
                                        cloud::TpuApi& api) {
  if (call.flags().all_zones) {
    return Sourced<std::string>{"-", "flag --all-zones"};
  }
  MUSTER_ASSIGN(const auto zone, GivenZone(call, api));
  if (zone) {
    return *zone;
  }
  sys::PrintAside("muster: no --zone given; searching all zones\n");
  return Sourced<std::string>{"-", "default"};
}

std::string TableText(std::vector<std::vector<std::string>> rows) {
  std::vector<std::size_t> widths;
  for (auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = Printable(row[i]);
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    }
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

int TpuRefused(const Error& error, const TpuCall& call) {
  Finding finding = cloud::FindingOf(error, call.host);
  sys::NameHelpOf(call.line.verb->path, finding);
  // Nobody is sent to what was just typed.
  const std::string typed = call.line.verb->Typed();
  std::erase_if(finding.fixes,
                [&](const Fix& fix) { return fix.command == typed; });
  if (call.json()) {
    sys::PrintDocument(ToJson(finding));
  } else {
    sys::PrintAside(RenderText(std::span(&finding, 1),
                               sys::TerminalOptions(call.host.env, 2)));
  }
  return finding.confidence == Confidence::kCertain ? TpuExitCode(error.cause())
                                                    : 3;
}

}  // namespace muster::cli
