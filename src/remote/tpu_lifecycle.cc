// SPDX-License-Identifier: Apache-2.0
#include "remote/tpu_lifecycle.h"

#include <optional>

#include "base/text.h"
#include "muster/address.h"
#include "sys/net/net.h"
#include "sys/terminal/results.h"

namespace muster::remote {
namespace {

constexpr std::string_view kInterruptedText =
    "\nmuster: stopping after the current request; press Ctrl-C again to stop "
    "now\n";

// Of one worker.
constexpr Duration kDialTime = std::chrono::seconds(3);

std::string HostOf(const std::string& endpoint) {
  const auto address = Address::Parse(endpoint);
  return address ? address->host : endpoint;
}

// By its address outside, where it has one, else by that inside.
Status ReachWorker(const cloud::TpuNode& node, std::size_t worker,
                   std::uint16_t port) {
  std::vector<std::string> hosts;
  if (worker < node.external_addresses.size() &&
      !node.external_addresses[worker].empty()) {
    hosts.push_back(node.external_addresses[worker]);
  }
  hosts.push_back(HostOf(node.endpoints[worker]));
  std::optional<Error> first;
  for (const std::string& host : hosts) {
    const auto dialled =
        sys::Dial({.host = host, .port = port}, Deadline::After(kDialTime));
    if (dialled) {
      return Ok();
    }
    first = first ? first : std::optional(dialled.error());
  }
  return first->Reworded("port " + std::to_string(port) + " of worker " +
                         std::to_string(worker) +
                         " is not reachable: " + first->message());
}

}  // namespace

Status DialWorkers(const cloud::TpuNode& node, std::uint16_t port) {
  for (std::size_t i = 0; i < node.endpoints.size(); ++i) {
    MUSTER_TRY(ReachWorker(node, i, port));
  }
  return Ok();
}

Result<Stoppable> MakeStoppable(const settings::Settings& settings) {
  Stoppable stoppable{
      .waiting = {.deadline = Deadline::After(settings.deadline.value),
                  .poll = settings.poll.value,
                  .dice = cloud::Dice,
                  .request_timeout = settings.request_timeout.value,
                  .say = [](const std::string& line) {
                    sys::PrintAside("muster: " + line + "\n");
                  }}};
  MUSTER_ASSIGN(stoppable.interrupt, sys::Interrupt::Make(kInterruptedText));
  stoppable.waiting.pause = [interrupt =
                                 stoppable.interrupt.get()](Duration pause) {
    return interrupt->Pause(pause);
  };
  return stoppable;
}

std::string NameOf(const cloud::JournaledTpu& made) {
  return std::string(made.kind == "queued" ? "queued resource" : "TPU") + " `" +
         Printable(made.name) + "` of zone " + Printable(made.zone);
}

std::string Described(const cloud::TpuApi& api, const cloud::TpuNode& node) {
  return "TPU `" + Printable(node.name) + "` (" +
         Printable(node.accelerator_type) + ", " + Printable(node.state) +
         ") of zone " + Printable(node.zone) + " of " + OfProject(api);
}

void PrintLeft(const std::vector<cloud::JournaledTpu>& left,
               const std::string& go_on) {
  for (const cloud::JournaledTpu& made : left) {
    sys::PrintAside(
        "muster: " + NameOf(made) +
        " continues in the cloud, and is billed when it exists. To stop it: "
        "muster tpu reap (everything unfinished), or muster tpu " +
        (made.kind == "queued" ? "queued " : "") + "delete " +
        Printable(made.name) + " --zone " + Printable(made.zone) +
        ". To continue: " + go_on + "\n");
  }
}

Status PrintRemoved(const std::vector<cloud::Removed>& removed) {
  std::optional<Error> first;
  for (const cloud::Removed& one : removed) {
    if (one.error) {
      sys::PrintAside("muster: warn " + NameOf(one.made) +
                      " was not deleted: " + one.error->message() + "\n");
      first = first ? first : one.error;
    }
  }
  return first ? Status(*first) : Ok();
}

cloud::JournaledTpu WhatGoes(const cloud::TpuApi& api,
                             const cloud::TpuNode& node) {
  cloud::JournaledTpu made = ToMade(api, node);
  if (!node.queued_resource.empty()) {
    // A node of a queued resource is removed by it alone.
    made.kind = "queued";
    made.name = node.queued_resource;
  }
  return made;
}

Status RemoveSeen(cloud::TpuApi& api, const cloud::JournaledTpu& made,
                  const sys::Host& host, const Stoppable& stoppable) {
  MUSTER_ASSIGN(auto journal, cloud::TpuJournal::Open(host));
  std::vector<cloud::TpuRemoval> removals;
  removals.emplace_back(api, journal, made);
  removals.back().Seen();
  sys::PrintAside("muster: deleting " + NameOf(made) +
                  ", usually within a few minutes\n");
  const auto removed =
      cloud::RemoveAll(std::move(removals), api, stoppable.waiting);
  if (stoppable.interrupt->Came() && removed.front().error) {
    sys::PrintAside("muster: the deletion of " + NameOf(made) +
                    " continues in the cloud and cannot be stopped\n");
    return Error(Cause::kCancelled, "interrupted");
  }
  return removed.front().error ? Status(*removed.front().error) : Ok();
}

std::string OfProject(const cloud::TpuApi& api) {
  return "project " + Printable(api.project().value) + " (" +
         api.project().source + ")";
}

Status DialSsh(const cloud::TpuNode& node) {
  return DialWorkers(node, kSshPort);
}

cloud::JournaledTpu ToMade(const cloud::TpuApi& api,
                           const cloud::TpuNode& node) {
  return {.kind = "node",
          .project = api.project().value,
          .zone = node.zone,
          .name = node.name,
          .request = node.request,
          .type = node.accelerator_type,
          .version = node.runtime_version,
          .scheduling = node.scheduling};
}

cloud::JournaledTpu ToMade(const cloud::TpuApi& api,
                           const cloud::QueuedResource& queued) {
  return {.kind = "queued",
          .project = api.project().value,
          .zone = queued.zone,
          .name = queued.name,
          .request = queued.request,
          .type = queued.accelerator_type,
          .version = queued.runtime_version,
          .scheduling = queued.scheduling};
}

}  // namespace muster::remote
