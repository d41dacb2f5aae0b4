// SPDX-License-Identifier: Apache-2.0
// `muster tpu wait`: until a TPU can really be used.
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "cli/tpu/change.h"
#include "cli/tpu/show.h"
#include "cloud/tpu/provisioner.h"
#include "muster/address.h"
#include "sys/net/net.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

constexpr std::uint16_t kAgent = 8476;

// The place of a TPU, or of what it is queued as.
Result<cloud::Place> PlaceOf(const TpuCall& call, cloud::TpuApi& api) {
  const auto node = FindNode(call, api);
  if (node) {
    return cloud::Place{
        .zone = node->zone, .name = node->name, .scheduling = node->scheduling};
  }
  if (node.error().cause() != Cause::kTpuNotFound) {
    return node.error();
  }
  const auto queued = FindQueued(call, api);
  if (!queued) {
    return node.error();
  }
  return cloud::Place{.zone = queued->zone,
                      .name = queued->name,
                      .scheduling = queued->scheduling,
                      .queued = true};
}

}  // namespace

Result<std::function<Status(const cloud::TpuNode&)>> ReachAsked(
    const TpuCall& call) {
  using Reach = std::function<Status(const cloud::TpuNode&)>;
  const std::string& asked = call.flags().reach;
  const auto number = ParseInt(asked);
  std::uint16_t port = remote::kSshPort;
  if (asked == "none") {
    return Reach();
  }
  if (asked == "agent") {
    port = kAgent;
  } else if (number && *number > 0 && *number <= 65535) {
    port = static_cast<std::uint16_t>(*number);
  } else if (!asked.empty() && asked != "ssh") {
    return Error(Cause::kUsageInvalid,
                 "flag --reach is `" + Printable(asked) +
                     "`, expected ssh, agent, a port, or none");
  }
  return Reach([port](const cloud::TpuNode& node) {
    return remote::DialWorkers(node, port);
  });
}

void PrintUsable(const TpuCall& call, const cloud::TpuApi& api,
                 const cloud::TpuNode& node, const char* schema) {
  if (call.json()) {
    sys::PrintDocument({{"schema", schema}, {"tpu", ToJson(node)}});
    return;
  }
  const std::string place =
      Printable(node.name) + " --zone " + Printable(node.zone);
  if (call.flags().quiet) {
    sys::PrintResult(Printable(node.name) + " " + Printable(node.zone) + "\n");
    return;
  }
  sys::PrintResult(
      "TPU `" + Printable(node.name) +
      "` is ready: " + Printable(node.accelerator_type) + " (" +
      Count(std::ssize(node.endpoints), "host") + ", " + node.scheduling +
      ") with " + Printable(node.runtime_version) + " in zone " +
      Printable(node.zone) + " of " + remote::OfProject(api) +
      "\nbilled until you delete it: muster tpu delete " + place + "\n");
}

Status TpuWait(const TpuCall& call) {
  MUSTER_ASSIGN(auto reach, ReachAsked(call));
  MUSTER_ASSIGN(const auto stoppable, remote::MakeStoppable(call.settings));
  MUSTER_ASSIGN(auto api, OpenApi(call, stoppable));
  MUSTER_ASSIGN(const auto place, PlaceOf(call, api));
  MUSTER_ASSIGN(auto journal, cloud::TpuJournal::Open(call.host));
  cloud::TpuProvisioner search(
      api, journal,
      {.places = {place}, .create = false, .reach = std::move(reach)},
      stoppable.waiting);
  const auto found = search.Run();
  if (!found && found.error().cause() == Cause::kCancelled) {
    sys::PrintAside("muster: the operation on `" + Printable(place.name) +
                    "` continues in the cloud, and so does billing; to stop "
                    "it: muster tpu " +
                    (place.queued ? "queued " : "") + "delete " +
                    Printable(place.name) + " --zone " + Printable(place.zone) +
                    "\n");
  }
  MUSTER_TRY(found);
  PrintUsable(call, api, found->node, "muster.tpu.usable/1");
  return Ok();
}

}  // namespace muster::cli
