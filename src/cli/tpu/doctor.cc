// SPDX-License-Identifier: Apache-2.0
// `muster tpu doctor`: what would stop the creation of a TPU.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "cli/tpu/change.h"
#include "cloud/api/remedies.h"
#include "cloud/tpu/doctor.h"
#include "finding/exit_code.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

using cloud::Diagnosis;
using cloud::Health;

const char* MarkOf(Health health) {
  switch (health) {
    case Health::kPass:
      return "ok";
    case Health::kFail:
      return "FAIL";
    case Health::kSkip:
      return "skip";
    case Health::kBroken:
      break;
  }
  return "broken";
}

// In JSON, as `muster check` says it.
const char* Word(Health health) {
  return health == Health::kPass   ? "pass"
         : health == Health::kFail ? "fail"
                                   : MarkOf(health);
}

void PrintText(const TpuCall& call, const std::vector<Diagnosis>& all) {
  std::vector<std::vector<std::string>> rows;
  std::string text;
  std::vector<Finding> findings;
  const auto options = sys::TerminalOptions(call.host.env, 1);
  for (const Diagnosis& one : all) {
    rows.push_back(
        {MarkOf(one.health), one.id,
         one.error ? std::string(Label(one.error->cause())) : one.detail});
    if (one.error) {
      findings.push_back(cloud::FindingOf(*one.error, call.host));
      text += "\n" + RenderText(findings.back(), options);
      text += one.link.empty() ? "" : "  see       " + one.link + "\n";
    }
  }
  sys::PrintResult(TableText(rows) + text + SafetyText(findings, options));
}

void PrintJson(const TpuCall& call, const cloud::TpuApi& api,
               const std::vector<Diagnosis>& all) {
  Json checks = Json::array();
  for (const Diagnosis& one : all) {
    checks.push_back({{"id", one.id},
                      {"outcome", Word(one.health)},
                      {"detail", one.detail},
                      {"link", one.link},
                      {"finding", nullptr}});
    if (one.error) {
      checks.back()["finding"] =
          ToJson(cloud::FindingOf(*one.error, call.host));
    }
  }
  sys::PrintDocument(
      {{"schema", "muster.tpu.doctor/1"},
       {"project",
        {{"value", api.project().value}, {"source", api.project().source}}},
       {"checks", std::move(checks)}});
}

// Switches the API on where it is off, and waits until it is.
Status Enable(const TpuCall& call, cloud::TpuApi& api) {
  MUSTER_ASSIGN(bool enabled, cloud::ApiIsEnabled(api));
  if (enabled) {
    return Ok();
  }
  MUSTER_TRY(Confirm(call, "enable the API tpu.googleapis.com in " +
                               remote::OfProject(api) +
                               ", which is free of charge"));
  MUSTER_ASSIGN(const auto stoppable, remote::MakeStoppable(call.settings));
  // However long the person thought.
  api.sender().SetDeadline(
      Deadline::After(call.settings.request_timeout.value));
  MUSTER_TRY(cloud::EnableApi(api));
  for (int looks = 0; !enabled; ++looks) {
    api.sender().SetDeadline(
        Deadline::After(call.settings.request_timeout.value));
    MUSTER_ASSIGN(enabled, cloud::ApiIsEnabled(api));
    if (enabled) {
      break;
    }
    if (stoppable.waiting.deadline.Expired()) {
      return Error(Cause::kDeadlineExceeded,
                   "the API tpu.googleapis.com was not enabled in time; "
                   "enabling continues in the cloud");
    }
    if (!stoppable.waiting.pause(PollPause(stoppable.waiting, looks))) {
      return Error(Cause::kCancelled, "interrupted");
    }
  }
  sys::PrintAside("muster: the API tpu.googleapis.com is enabled in " +
                  remote::OfProject(api) +
                  "; it may take minutes to take effect everywhere\n");
  return Ok();
}

}  // namespace

Result<int> TpuDoctor(const TpuCall& call) {
  MUSTER_ASSIGN(auto api, OpenApi(call));
  if (call.flags().enable) {
    MUSTER_TRY(Enable(call, api));
    api.sender().SetDeadline(
        Deadline::After(call.settings.request_timeout.value));
  }
  MUSTER_ASSIGN(const auto zone, GivenZone(call, api));
  const auto all = cloud::Examine(
      api, zone ? zone->value : "",
      {.type = call.flags().type, .version = call.flags().version});
  if (call.json()) {
    PrintJson(call, api, all);
  } else {
    PrintText(call, all);
  }
  int code = 0;
  for (const Diagnosis& one : all) {
    if (one.error) {
      const int own =
          one.health == Health::kBroken ? 3 : TpuExitCode(one.error->cause());
      // What is refused for good says more than what passes.
      code = code == 0 || code == 75 || own == 1 ? own : code;
    }
  }
  return code;
}

}  // namespace muster::cli
