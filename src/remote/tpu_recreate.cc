// SPDX-License-Identifier: Apache-2.0
#include "remote/tpu_recreate.h"

#include <optional>
#include <utility>

#include "base/text.h"
#include "cloud/tpu/provisioner.h"
#include "cloud/tpu/tpu_state.h"
#include "cloud/tpu/worker_address.h"
#include "remote/tpu_lifecycle.h"
#include "sys/net/curl_http.h"
#include "sys/terminal/confirm.h"
#include "sys/terminal/results.h"

namespace muster::remote {

// What the API has of a TPU that was lost.
struct Recreator::Left {
  std::optional<cloud::TpuNode> node;
  std::optional<cloud::QueuedResource> queued;  // that it belongs to
  Cause cause = Cause::kTpuNotFound;            // of its loss
  std::string state;                            // for a person
  std::optional<Error> by_person;               // who stopped it
};

namespace {

void Say(const std::string& text) {
  sys::PrintAside("muster: " + text + "\n");
}

// nullopt: there is none.
template <typename T>
Result<std::optional<T>> IfThere(Result<T> asked) {
  if (asked) {
    return std::optional<T>(*std::move(asked));
  }
  return asked.error().cause() == Cause::kTpuNotFound
             ? Result<std::optional<T>>(std::optional<T>())
             : asked.error();
}

// The command that makes the same, for when this one does not.
std::string ByHand(const cloud::TpuNode& node) {
  return "`" + CreateCommand(node) + "`, then the same command again";
}

std::string WillText(const cloud::TpuApi& api, const cloud::TpuNode& node,
                     const std::string& state) {
  return "delete the remains of TPU `" + Printable(node.name) + "` (" + state +
         "), with all data on its disk, and recreate it: " +
         Printable(node.accelerator_type) + " (" + node.scheduling +
         (node.queued_resource.empty() ? "" : ", queued") + ") with " +
         Printable(node.runtime_version) + " in zone " + Printable(node.zone) +
         " of " + OfProject(api) +
         ". Billed from creation until you delete it: " + kTpuPrices;
}

}  // namespace

Recreator::Recreator(const settings::RunFlags& flags, const sys::Host& host)
    : Recreator(flags, host, {.http = sys::MakeCurlHttp(), .reach = DialSsh}) {}

Recreator::Recreator(const settings::RunFlags& flags, const sys::Host& host,
                     Outside outside)
    : flags_(flags), outside_(std::move(outside)), host_(host) {
  host_.http = outside_.http.get();
}

Result<cloud::TpuApi> Recreator::Open(
    const resolve::TpuNode& lost, std::function<bool(Duration)> pause) const {
  MUSTER_ASSIGN(auto credentials, cloud::Credentials::Find(host_));
  return cloud::TpuApi(
      host_, std::move(credentials),
      Sourced<std::string>{lost.place.project, lost.place.project_source},
      {.deadline = Deadline::After(flags_.settings.request_timeout.value),
       .pause = std::move(pause)});
}

Result<Recreator::Left> Recreator::Look(const resolve::TpuNode& lost,
                                        cloud::TpuApi& api) const {
  Left left;
  MUSTER_ASSIGN(left.node, IfThere(api.Node(lost.place.zone, lost.name)));
  if (left.node && left.node->id != lost.id) {
    return Error(Cause::kUsageInvalid, "another TPU now has the name `" +
                                           Printable(lost.name) + "` (" +
                                           Printable(left.node->state) +
                                           "), and is not changed");
  }
  if (!lost.queued_resource.empty()) {
    MUSTER_ASSIGN(left.queued, IfThere(api.QueuedResourceOf(
                                   lost.place.zone, lost.queued_resource)));
  }
  left.state = left.node ? Printable(left.node->state) : "not found";
  if (left.queued) {
    const auto outlook = cloud::OutlookOf(*left.queued);
    if (outlook.error && outlook.error->cause() == Cause::kPreempted) {
      left.cause = Cause::kPreempted;
      left.state = "queued resource " + outlook.state;
      return left;
    }
  }
  if (left.node) {
    const auto outlook = cloud::OutlookOf(*left.node);
    left.cause = outlook.error ? outlook.error->cause() : Cause::kTpuUnhealthy;
    left.state = outlook.state;
    if (left.cause == Cause::kUsageInvalid) {
      left.by_person = outlook.error;
    }
  }
  return left;
}

bool Recreator::MayGoOn(const Left& left, const std::string& what) const {
  if (left.cause == Cause::kPreempted || flags_.yes) {
    Say("will " + what);
    return true;
  }
  const auto yes = sys::AskPerson("This will " + what + "\nContinue?");
  if (!yes) {
    Say("not recreated, because there is no terminal to ask for confirmation "
        "and --yes is not set: it would " +
        what);
  }
  return yes.value_or(false);
}

Status Recreator::Make(const resolve::TpuNode& lost, const Left& left) {
  MUSTER_ASSIGN(const auto stoppable, MakeStoppable(flags_.settings));
  MUSTER_ASSIGN(auto api, Open(lost, stoppable.waiting.pause));
  const std::string go_on = ByHand(lost);
  if (left.node || left.queued) {
    Status removed = RemoveSeen(api, WhatGoes(api, lost), host_, stoppable);
    if (!removed) {
      Say("to continue later: " + go_on);
      return removed;
    }
  }
  MUSTER_ASSIGN(auto journal, cloud::TpuJournal::Open(host_));
  cloud::TpuProvisioner search(
      api, journal,
      {.places = {{.zone = lost.place.zone,
                   .name = lost.name,
                   .scheduling = lost.scheduling,
                   .queued = !lost.queued_resource.empty()}},
       .type = lost.accelerator_type,
       .version = lost.runtime_version,
       .search = true,
       .valid = flags_.settings.deadline.value,
       .like = lost.chosen,
       .reach = outside_.reach},
      stoppable.waiting);
  const auto found = search.Run();
  PrintLeft(search.Left(), go_on);
  if (!found && search.Left().empty()) {
    Say("nothing remains in the cloud; to continue later: " + go_on);
  }
  MUSTER_TRY(found);
  Say("TPU `" + Printable(lost.name) +
      "` is ready again; billed until you delete it: muster tpu delete " +
      Printable(lost.name) + " --zone " + Printable(lost.place.zone));
  return Ok();
}

Result<bool> Recreator::Replace(const resolve::TpuNode& lost) {
  if (!flags_.reach.recreate) {
    Say("with --recreate, muster would delete it, recreate it and restart the "
        "run there, which is billed");
    return false;
  }
  const int most = flags_.settings.max_recreates.value;
  if (made_ >= most) {
    Say("it was already recreated " + std::to_string(made_) + " times (" +
        flags_.settings.max_recreates.source +
        "), so it is not recreated again");
    return false;
  }
  MUSTER_ASSIGN(auto api, Open(lost, nullptr));
  MUSTER_ASSIGN(const Left left, Look(lost, api));
  if (left.by_person) {
    return *left.by_person;
  }
  if (left.queued && left.queued->nodes.size() > 1) {
    return Error(Cause::kUsageInvalid,
                 "the queued resource `" + Printable(left.queued->name) +
                     "` has " + Count(std::ssize(left.queued->nodes), "node") +
                     ", which would be deleted with it: it is not recreated");
  }
  if (!MayGoOn(left, WillText(api, lost, left.state))) {
    return false;
  }
  ++made_;
  MUSTER_TRY(Make(lost, left));
  return true;
}

}  // namespace muster::remote
