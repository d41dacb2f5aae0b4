// SPDX-License-Identifier: Apache-2.0
#include "cloud/tpu/tpu_state.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "accelerator/version_compat.h"
#include "base/json.h"
#include "base/text.h"
#include "cloud/api/api_error.h"

namespace muster::cloud {
namespace {

struct Next {
  std::string_view state, next;
};
constexpr std::array kNext{
    Next{"CREATING", "usually READY within 1 to 10 min, large slices later"},
    Next{"STARTING", "usually READY within minutes"},
    Next{"RESTARTING", "usually READY again within minutes"},
    Next{"REIMAGING", "usually READY again within minutes"},
    Next{"REPAIRING",
         "READY again after the host is repaired: minutes to hours"},
    Next{"STOPPING", "usually STOPPED within a minute"},
    Next{"DELETING", "usually deleted within a few minutes"},
    Next{"ACCEPTED", "fulfilled when capacity is available: minutes to days"},
    Next{"WAITING_FOR_RESOURCES",
         "fulfilled when capacity is available: minutes to days"},
    Next{"PROVISIONING", "usually ACTIVE within 1 to 10 min"},
};

std::string NextOf(const std::string& state) {
  const auto found =
      std::find_if(kNext.begin(), kNext.end(),
                   [&](const Next& one) { return one.state == state; });
  return found == kNext.end() ? "" : std::string(found->next);
}

std::string Command(const char* verb, const std::string& name,
                    const std::string& zone) {
  return "`muster tpu " + std::string(verb) + " " + Printable(name) +
         " --zone " + Printable(zone) + "`";
}

Outlook Lost(const std::string& state, Error error) {
  Outlook outlook{.way = Way::kLost, .state = Printable(state)};
  outlook.error = std::move(error);
  return outlook;
}

std::string Who(const char* kind, const std::string& name,
                const std::string& zone) {
  return std::string(kind) + " `" + Printable(name) + "` of zone " +
         Printable(zone);
}

Outlook ReadyOutlook(const TpuNode& node) {
  if (!node.health.empty() && node.health != "HEALTHY" &&
      node.health != "HEALTH_UNSPECIFIED") {
    return Lost(
        node.state + " and " + node.health,
        Error(Cause::kTpuUnhealthy,
              Who("TPU", node.name, node.zone) +
                  " is READY, but its health is " + Printable(node.health) +
                  (node.health_description.empty()
                       ? ""
                       : " (" + Printable(node.health_description) + ")") +
                  ": wait until the maintenance ends, or " +
                  Command("delete", node.name, node.zone) +
                  " and recreate it"));
  }
  const auto counts = accelerator::HostCounts(node.accelerator_type);
  const auto have = std::ssize(node.endpoints);
  const bool complete = counts.empty() ? have > 0
                                       : std::find(counts.begin(), counts.end(),
                                                   have) != counts.end();
  if (!complete) {
    return {.state = "READY with " + std::to_string(have) + " of " +
                     std::to_string(counts.empty() ? 1 : counts.front()) +
                     " addresses",
            .next = "the other hosts usually follow within a minute"};
  }
  return {.way = Way::kThere, .state = "READY"};
}

}  // namespace

Outlook OutlookOf(const TpuNode& node) {
  const std::string who = Who("TPU", node.name, node.zone);
  if (node.state == "READY") {
    return ReadyOutlook(node);
  }
  if (node.state == "PREEMPTED" || node.state == "TERMINATED") {
    return Lost(node.state,
                Error(Cause::kPreempted,
                      who + " is " + node.state +
                          ": it cannot be restarted, still counts against the "
                          "quota and keeps its name; before retrying: " +
                          Command("delete", node.name, node.zone)));
  }
  if (node.state == "STOPPED" || node.state == "STOPPING") {
    return Lost(node.state, Error(Cause::kUsageInvalid,
                                  who + " is " + node.state + ": " +
                                      Command("start", node.name, node.zone)));
  }
  if (node.state == "DELETING" || node.state == "HIDING" ||
      node.state == "HIDDEN") {
    return Lost(node.state,
                Error(Cause::kTpuNotFound,
                      who + " is " + node.state + ": it does not recover"));
  }
  return {.state = Printable(node.state), .next = NextOf(node.state)};
}

Outlook OutlookOf(const QueuedResource& queued) {
  const std::string who = Who("queued resource", queued.name, queued.zone);
  const std::string again =
      ": it is never queued again and still counts against the quota; before "
      "retrying: " +
      Command("queued delete", queued.name, queued.zone);
  if (queued.state == "ACTIVE") {
    return {.way = Way::kThere, .state = "ACTIVE"};
  }
  if (queued.state == "SUSPENDED" || queued.state == "SUSPENDING") {
    return Lost(queued.state, Error(Cause::kPreempted,
                                    who + " is " + queued.state +
                                        ", its nodes were preempted" + again));
  }
  if (queued.state == "FAILED") {
    const ApiError refusal =
        ClassifyStatus(Json{{"code", queued.code}, {"message", queued.reason}});
    const Cause cause = queued.reason.empty() && queued.code == 0
                            ? Cause::kCloudNoCapacity
                            : refusal.cause;
    return Lost(queued.state,
                Error(cause, who + " has FAILED" +
                                 (queued.reason.empty()
                                      ? ""
                                      : " (" + Printable(queued.reason) + ")") +
                                 again));
  }
  if (queued.state == "DELETING") {
    return Lost(queued.state, Error(Cause::kTpuNotFound,
                                    who + " is DELETING: it does not recover"));
  }
  return {.state = Printable(queued.state), .next = NextOf(queued.state)};
}

std::string ProgressText(const std::string& name, const Outlook& outlook,
                         Duration in_state) {
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(in_state);
  const std::string time = whole.count() < 100
                               ? std::to_string(whole.count()) + " s"
                               : ToString(Duration(whole));
  return "`" + Printable(name) + "` is " + outlook.state +
         (whole.count() > 0 ? " for " + time : "") +
         (outlook.next.empty() ? "" : "; " + outlook.next);
}

}  // namespace muster::cloud
