// SPDX-License-Identifier: Apache-2.0
// Network cards: speed, duplex, errors and drops by the kernel's counters.
#include "base/text.h"
#include "check/check.h"

namespace muster::check::network_interfaces {
namespace {

constexpr char kFolder[] = "/sys/class/net";
// Below: no cluster is meant to train over it.
constexpr std::int64_t kLeastMbit = 1000;
// Some errors come with years of work; a share of packets does not.
constexpr std::int64_t kManyErrors = 1000;
constexpr std::int64_t kPacketsPerError = 10'000;
constexpr std::int64_t kManyDrops = 10'000;
constexpr std::int64_t kPacketsPerDrop = 100;

struct Counters {
  std::int64_t packets = 0, errors = 0, drops = 0;
};

Counters Read(const sys::Fs& fs, const std::string& place) {
  Counters sum;
  for (const char* side : {"rx", "tx"}) {
    const std::string prefix = place + "/statistics/" + side;
    sum.packets += NumberIn(fs, prefix + "_packets").value_or(0);
    sum.errors += NumberIn(fs, prefix + "_errors").value_or(0);
    sum.drops += NumberIn(fs, prefix + "_dropped").value_or(0);
  }
  return sum;
}

// What is wrong with one card; empty: nothing.
std::string Fault(const sys::Fs& fs, const std::string& place) {
  const auto speed = NumberIn(fs, place + "/speed");
  // Virtual cards say -1 or nothing.
  if (speed && *speed > 0 && *speed < kLeastMbit) {
    return "runs at " + std::to_string(*speed) + " Mbit/s";
  }
  if (Trim(fs.Read(place + "/duplex").value_or("")) == "half") {
    return "runs in half duplex";
  }
  const Counters count = Read(fs, place);
  if (count.errors > kManyErrors &&
      count.errors > count.packets / kPacketsPerError) {
    return "had " + std::to_string(count.errors) + " errors in " +
           std::to_string(count.packets) + " packets";
  }
  if (count.drops > kManyDrops &&
      count.drops > count.packets / kPacketsPerDrop) {
    return "dropped " + std::to_string(count.drops) + " of " +
           std::to_string(count.packets) + " packets";
  }
  return "";
}

struct Card {
  std::string name, place, fault;
};

Finding Slow(const Context& context, const Card& card) {
  return MakeProblem(context, Cause::kNetSlowLink,
                     "network card `" + card.name + "` " + card.fault,
                     {{card.fault, card.place}}, Confidence::kLikely);
}

Outcome Run(const Context& context) {
  if (!SeveralHosts(*context.cluster)) {
    return Skip("all members are on this host");
  }
  const sys::Fs& fs = context.host.fs;
  const auto names = fs.List(kFolder);
  if (!names) {
    return Broken(names.error().message());
  }
  std::vector<Finding> findings;
  std::vector<std::string> good;
  for (const std::string& name : *names) {
    const std::string place = sys::JoinPath(kFolder, name);
    // Bridges, loopback and tunnels have no device.
    if (!fs.Exists(place + "/device") ||
        Trim(fs.Read(place + "/operstate").value_or("")) != "up") {
      continue;
    }
    const std::string fault = Fault(fs, place);
    if (fault.empty()) {
      good.push_back(name);
      continue;
    }
    findings.push_back(
        Slow(context, {.name = name, .place = place, .fault = fault}));
  }
  return Judge(std::move(findings),
               good.empty() ? "no network card of this host can be checked"
                            : Join(good, ", "));
}

}  // namespace

extern const Check kCheck;
const Check kCheck{.id = "network.interfaces",
                   .title = "network cards are fast and drop no packets",
                   .needs = "cluster.described",
                   .severity = Severity::kWarning,
                   .before_run = BeforeRun::kSeveralHosts,
                   .run = Run};

}  // namespace muster::check::network_interfaces
