// SPDX-License-Identifier: Apache-2.0
// Which TPU `muster check tpu` looks at.
#include <algorithm>
#include <array>

#include "accelerator/tpu_type.h"
#include "base/text.h"
#include "cli/verbs.h"

namespace muster::cli {
namespace {

// Sources of hosts whose programs open the chips themselves.
constexpr std::array<std::string_view, 5> kOwnChips{
    "gce-tpu-vm", "gke-tpu", "local-tpu", "kaggle", "colab"};

// Workers of a list are numbered as TPUClusterResolver numbers them.
std::vector<identify::Target> Numbered(std::vector<identify::Target> targets) {
  int index = 0;
  for (identify::Target& target : targets) {
    target.protocol = "tf";
    target.task = identify::ForeignTask{.job = "worker", .index = index++};
  }
  return targets;
}

void AddHosts(const Cluster& cluster, check::TpuSetup& tpu) {
  for (const Member& member : cluster.members) {
    if (member.address && tpu.hosts.size() == identify::kMostTargets) {
      ++tpu.left_out;
    } else if (member.address) {
      Address address = member.address->value;
      address.port = address.port == 0 ? 8476 : address.port;
      tpu.hosts.push_back(
          {.text = ToText(address), .address = address, .protocol = "tcp"});
    }
  }
}

// What the name of its type promises.
void Expect(const resolve::Claim& claim, std::size_t hosts,
            check::TpuSetup& tpu) {
  if (claim.chips_per_host && claim.chips_per_host->value > 0) {
    tpu.chips_here = claim.chips_per_host;
  }
  const auto type =
      claim.accelerator_type
          ? accelerator::ParseTpuType(claim.accelerator_type->value)
          : std::nullopt;
  if (!type) {
    return;
  }
  const int chips = type->count / accelerator::CoresPerChip(*type);
  const std::string source =
      type->text + " of " + claim.accelerator_type->source;
  tpu.devices =
      Sourced<int>{chips * accelerator::DevicesPerChip(*type), source};
  if (!tpu.chips_here && hosts > 0 &&
      static_cast<std::size_t>(chips) % hosts == 0) {
    tpu.chips_here = Sourced<int>{chips / static_cast<int>(hosts), source};
  }
}

}  // namespace

check::TpuSetup TpuOf(const CommandLine& line,
                      const std::vector<identify::Target>& targets,
                      const resolve::Resolved* resolved, const sys::Fs& fs) {
  check::TpuSetup tpu;
  if (!targets.empty()) {
    tpu.source = "flag --target";
    tpu.workers = Numbered(targets);
  } else if (resolved != nullptr && !resolved->claims.empty()) {
    const resolve::Claim& claim = resolved->claims.front();
    const Cluster& cluster = resolved->cluster;
    const bool own_chips =
        std::find(kOwnChips.begin(), kOwnChips.end(), claim.source) !=
            kOwnChips.end() ||
        (claim.source != "tpu" && !check::TpuDevices(fs).empty()) ||
        (claim.master && claim.master->value.empty());
    auto workers = identify::TargetsOfFramework(cluster, "tf");
    if (own_chips) {
      tpu.source = "source " + claim.source;
      AddHosts(cluster, tpu);
    } else if (workers) {
      tpu.source = "source " + claim.source;
      tpu.workers = *std::move(workers);
    } else {
      tpu.unasked = std::move(workers).error();
    }
    Expect(claim, std::max<std::size_t>(1, cluster.members.size()), tpu);
  }
  if (line.replicas) {
    tpu.devices = Sourced<int>{*line.replicas, "flag --replicas"};
  }
  return tpu;
}

}  // namespace muster::cli
