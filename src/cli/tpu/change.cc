// SPDX-License-Identifier: Apache-2.0
// `muster tpu start`, `stop`, `delete` and `queued delete`.
#include "cli/tpu/change.h"

#include "base/json.h"
#include "base/text.h"
#include "cli/tpu/show.h"
#include "cloud/tpu/tpu_state.h"
#include "sys/terminal/confirm.h"
#include "sys/terminal/results.h"

namespace muster::cli {
namespace {

void PrintDone(const TpuCall& call, const cloud::JournaledTpu& made,
               const std::string& how) {
  if (call.json()) {
    sys::PrintDocument({{"schema", "muster.tpu.changed/1"},
                        {"kind", made.kind},
                        {"name", made.name},
                        {"zone", made.zone},
                        {"project", made.project},
                        {"done", how}});
    return;
  }
  sys::PrintResult(remote::NameOf(made) + " is " + how + "\n");
}

// The pause before the next poll of what starts or stops.
Status PauseForChange(const remote::Stoppable& stoppable, int polls,
                      const std::string& what) {
  if (!stoppable.waiting.pause(PollPause(stoppable.waiting, polls))) {
    sys::PrintAside(
        "muster: " + what +
        " continues in the cloud; `muster tpu describe` shows its progress\n");
    return Error(Cause::kCancelled, "interrupted");
  }
  if (stoppable.waiting.deadline.Expired()) {
    return Error(
        Cause::kDeadlineExceeded,
        what + " did not complete in time; use --deadline to wait longer");
  }
  return Ok();
}

// Starting and stopping: until the operation is done.
Status WaitForOperation(cloud::TpuApi& api, const cloud::Operation& begun,
                        const std::string& what,
                        const remote::Stoppable& stoppable) {
  cloud::Operation operation = begun;
  for (int polls = 0; !operation.done; ++polls) {
    MUSTER_TRY(PauseForChange(stoppable, polls, what));
    api.sender().SetDeadline(
        Deadline::After(stoppable.waiting.request_timeout));
    MUSTER_ASSIGN(operation, api.OperationOf(begun.name, what));
  }
  return operation.error ? Status(*operation.error) : Ok();
}

struct Change {
  const char* verb;   // "stop"
  const char* going;  // "stopping"
  const char* done;   // "stopped"
  const char* means;  // what is lost or costs
  // The state on the way, and that at the end: "STOPPING", "STOPPED".
  const char* passing;
  const char* end;
};

// The cloud may have taken the change on though its answer says otherwise, or
// none came: the state tells. `lost` where it shows no change.
Status WaitForState(cloud::TpuApi& api, const cloud::TpuNode& node,
                    const Change& change, const Error& lost,
                    const remote::Stoppable& stoppable) {
  for (int polls = 0;; ++polls) {
    api.sender().SetDeadline(
        Deadline::After(stoppable.waiting.request_timeout));
    const auto now = api.Node(node.zone, node.name);
    if (!now) {
      return Error(lost).Then(now.error());
    }
    if (now->state == change.end) {
      return Ok();
    }
    if (now->state != change.passing) {
      const auto outlook = cloud::OutlookOf(*now);
      return polls > 0 && outlook.error ? *outlook.error : lost;
    }
    MUSTER_TRY(PauseForChange(
        stoppable, polls,
        std::string(change.going) + " `" + Printable(node.name) + "`"));
  }
}

Status ChangeOne(const TpuCall& call, const Change& change) {
  MUSTER_ASSIGN(auto found, OpenApi(call));
  MUSTER_ASSIGN(const auto node, FindNode(call, found));
  if (node.endpoints.size() > 1) {
    return Error(Cause::kUsageInvalid,
                 remote::Described(found, node) + " has " +
                     Count(std::ssize(node.endpoints), "host") +
                     ", but only a single-host TPU can be started and stopped: "
                     "delete it instead");
  }
  MUSTER_TRY(Confirm(call, std::string(change.verb) + " " +
                               remote::Described(found, node) + ": " +
                               change.means));
  MUSTER_ASSIGN(const auto stoppable, remote::MakeStoppable(call.settings));
  MUSTER_ASSIGN(auto api, OpenApi(call, stoppable));
  MUSTER_ASSIGN(auto journal, cloud::TpuJournal::Open(call.host));
  const cloud::JournaledTpu made = remote::ToMade(api, node);
  MUSTER_TRY(journal.Write(cloud::TpuStep::kChanging, made, change.verb));
  const int repeats = api.sender().repeats();
  const auto begun = api.ChangeNode(node.zone, node.name, change.verb);
  // A refused repeat says nothing of the try before it.
  const bool doubtful = !begun && (api.sender().repeats() > repeats ||
                                   cloud::MayPass(begun.error()));
  const std::string what =
      std::string(change.going) + " " + remote::NameOf(made);
  if (begun) {
    sys::PrintAside("muster: " + what + ", usually within a minute\n");
  }
  const Status done =
      begun      ? WaitForOperation(api, *begun, what, stoppable)
      : doubtful ? WaitForState(api, node, change, begun.error(), stoppable)
                 : Status(begun.error());
  MUSTER_TRY(journal.Write(cloud::TpuStep::kChanged, made,
                           done ? change.done : done.error().message()));
  MUSTER_TRY(done);
  PrintDone(call, made, change.done);
  return Ok();
}

}  // namespace

Status Confirm(const TpuCall& call, const std::string& what) {
  if (call.flags().yes) {
    return Ok();
  }
  const auto yes = sys::AskPerson("This will " + what + "\nContinue?");
  if (!yes) {
    return Error(Cause::kUsageInvalid,
                 "not done, because there is no terminal to ask for "
                 "confirmation and --yes is not set: " +
                     what);
  }
  return *yes ? Ok()
              : Status(Error(Cause::kCancelled,
                             "not confirmed: nothing was done"));
}

Result<cloud::TpuApi> OpenApi(const TpuCall& call,
                              const remote::Stoppable& stoppable) {
  cloud::RetryLimits request_timeout = call.request_timeout();
  request_timeout.pause = stoppable.waiting.pause;
  return OpenApi(call, std::move(request_timeout));
}

Status TpuStop(const TpuCall& call) {
  return ChangeOne(call, {.verb = "stop",
                          .going = "stopping",
                          .done = "stopped",
                          .means = "all programs on it end; its disk is kept "
                                   "and billed, its chips are not",
                          .passing = "STOPPING",
                          .end = "STOPPED"});
}

Status TpuStart(const TpuCall& call) {
  return ChangeOne(call, {.verb = "start",
                          .going = "starting",
                          .done = "started",
                          .means = "it is billed from then on",
                          .passing = "STARTING",
                          .end = "READY"});
}

Status TpuDelete(const TpuCall& call) {
  MUSTER_ASSIGN(auto found, OpenApi(call));
  MUSTER_ASSIGN(const auto node, FindNode(call, found));
  const cloud::JournaledTpu made = remote::WhatGoes(found, node);
  const std::string also = node.queued_resource.empty()
                               ? ""
                               : ", with the queued resource `" +
                                     Printable(node.queued_resource) +
                                     "` that it belongs to and all its nodes";
  MUSTER_TRY(Confirm(
      call, "delete " + remote::Described(found, node) + also +
                ": all programs on it end and all data on its disk is lost"));
  MUSTER_ASSIGN(const auto stoppable, remote::MakeStoppable(call.settings));
  MUSTER_ASSIGN(auto api, OpenApi(call, stoppable));
  MUSTER_TRY(remote::RemoveSeen(api, made, call.host, stoppable));
  PrintDone(call, made, "deleted");
  return Ok();
}

Status TpuQueuedDelete(const TpuCall& call) {
  MUSTER_ASSIGN(auto found, OpenApi(call));
  MUSTER_ASSIGN(const auto queued, FindQueued(call, found));
  const bool active =
      queued.state == "ACTIVE" || queued.state == "PROVISIONING";
  MUSTER_TRY(Confirm(
      call,
      "delete queued resource `" + Printable(queued.name) + "` (" +
          Printable(queued.accelerator_type) + ", " + Printable(queued.state) +
          ") of zone " + Printable(queued.zone) + " of " +
          remote::OfProject(found) +
          (active ? ": its TPUs (" + Printable(Join(queued.nodes, ", ")) +
                        ") are deleted with it, with all data on their disks"
                  : ": its place in the queue is lost")));
  MUSTER_ASSIGN(const auto stoppable, remote::MakeStoppable(call.settings));
  MUSTER_ASSIGN(auto api, OpenApi(call, stoppable));
  const cloud::JournaledTpu made = remote::ToMade(api, queued);
  MUSTER_TRY(remote::RemoveSeen(api, made, call.host, stoppable));
  PrintDone(call, made, "deleted");
  return Ok();
}

}  // namespace muster::cli
