// SPDX-License-Identifier: Apache-2.0
#include "cloud/tpu/provisioner.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "cloud/tpu/provision_attempt.h"

namespace muster::cloud {
namespace {

// How long the rest is removed for, in polls.
constexpr int kCleaning = 300;

}  // namespace

TpuProvisioner::TpuProvisioner(TpuApi& api, TpuJournal& journal,
                               SearchPlan plan, Waiting waiting)
    : api_(api),
      journal_(journal),
      plan_(std::move(plan)),
      waiting_(std::move(waiting)) {
  for (const Place& place : plan_.places) {
    ProvisionAttempt hunt{.place = place};
    hunt.made = {.kind = place.queued ? "queued" : "node",
                 .project = api_.project().value,
                 .zone = place.zone,
                 .name = place.name,
                 .type = plan_.type,
                 .version = plan_.version,
                 .scheduling = place.scheduling};
    if (!plan_.create) {
      hunt.phase = place.queued ? Phase::kQueued : Phase::kNode;
    }
    hunts_.push_back(std::move(hunt));
  }
}

TpuProvisioner::~TpuProvisioner() = default;

// A creation of the same that was not finished goes on, unless somebody is
// at it: the first of two that ends would remove what the other waits for.
Status TpuProvisioner::TakeUp(ProvisionAttempt& hunt) const {
  for (const JournaledTpu& one : journal_.Unfinished()) {
    const JournaledTpu& made = hunt.made;
    if (one.kind == made.kind && one.project == made.project &&
        one.zone == made.zone && one.name == made.name &&
        one.type == made.type && one.version == made.version &&
        one.scheduling == made.scheduling) {
      if (IsAtWork(one, api_.sender().host()) == AtWork::kYes) {
        return Error(Cause::kUsageInvalid,
                     PlaceText(hunt.place) +
                         " is already being created: " + WriterText(one) +
                         " is still running; `muster tpu wait " +
                         Printable(one.name) + " --zone " +
                         Printable(one.zone) + "` waits for it");
      }
      hunt.made = one;
      hunt.found_again = hunt.doubtful = true;
    }
  }
  if (hunt.found_again) {
    waiting_.say(
        PlaceText(hunt.place) +
        " was requested before, and the request did not complete: resuming");
  }
  return Ok();
}

TpuProvisioner::ProvisionAttempt* TpuProvisioner::Winner() {
  const auto won = std::find_if(
      hunts_.begin(), hunts_.end(),
      [](const ProvisionAttempt& hunt) { return hunt.phase == Phase::kWon; });
  return won == hunts_.end() ? nullptr : &*won;
}

// The one that is due first; nullptr: all are over.
TpuProvisioner::ProvisionAttempt* TpuProvisioner::Next() {
  ProvisionAttempt* next = nullptr;
  for (ProvisionAttempt& hunt : hunts_) {
    if (hunt.phase != Phase::kOver &&
        (next == nullptr || hunt.due < next->due)) {
      next = &hunt;
    }
  }
  return next;
}

Result<Found> TpuProvisioner::Run() {
  bool stopped = false;
  for (ProvisionAttempt& hunt : hunts_) {
    if (plan_.create) {
      MUSTER_TRY(TakeUp(hunt));
    }
  }
  while (Winner() == nullptr && !stopped && !broken_) {
    ProvisionAttempt* const next = Next();
    if (next == nullptr || waiting_.deadline.Expired()) {
      break;
    }
    const Duration pause = std::min(Deadline::At(next->due).Remaining(),
                                    waiting_.deadline.Remaining());
    stopped = !waiting_.pause(pause);
    if (!stopped && Deadline::At(next->due).Expired()) {
      Advance(*next);
    }
  }
  ProvisionAttempt* const winner = Winner();
  if (winner != nullptr &&
      journal_.Find(winner->node.request.empty() ? winner->made.request
                                                 : winner->node.request)) {
    if (winner->made.request.empty()) {
      winner->made = *journal_.Find(winner->node.request);
    }
    // What cannot be written down as kept is there all the same.
    (void)Note(TpuStep::kKept, *winner);
  }
  if (plan_.create && plan_.search) {
    Clean(winner, stopped);
  }
  if (winner == nullptr || broken_) {
    return WhyNot(stopped);
  }
  return Found{.place = winner->place,
               .node = winner->node,
               .found_again = winner->found_again};
}

// All that is there but the winner goes.
void TpuProvisioner::Clean(const ProvisionAttempt* winner, bool stopped) {
  std::vector<TpuRemoval> removals;
  for (const JournaledTpu& made : Left()) {
    if (winner != nullptr && winner->made.request == made.request) {
      continue;
    }
    const auto hunt = std::find_if(hunts_.begin(), hunts_.end(),
                                   [&](const ProvisionAttempt& one) {
                                     return one.made.request == made.request;
                                   });
    removals.push_back(hunt->removal ? *hunt->removal
                                     : TpuRemoval(api_, journal_, made));
    if (!hunt->removal && hunt->HasSomething()) {
      removals.back().Seen();
    }
  }
  if (removals.empty()) {
    return;
  }
  waiting_.say(
      "deleting " + Count(static_cast<std::int64_t>(removals.size()), "other") +
      " that " + (removals.size() == 1 ? "is" : "are") + " not needed");
  Waiting cleaning = waiting_;
  cleaning.deadline = Deadline::After(waiting_.poll * kCleaning);
  if (stopped) {
    // What asked for the stop says so for ever: once through is all there is.
    cleaning.pause = [](Duration) { return false; };
  }
  for (const Removed& one : RemoveAll(std::move(removals), api_, cleaning)) {
    if (one.error && !stopped) {
      waiting_.say(one.error->message());
    }
  }
}

// The first that failed, those without capacity before others.
const TpuProvisioner::ProvisionAttempt& TpuProvisioner::Telling() const {
  const ProvisionAttempt* telling = &hunts_.front();
  for (const ProvisionAttempt& hunt : hunts_) {
    if (hunt.error && (!telling->error ||
                       (hunt.error->cause() == Cause::kCloudNoCapacity &&
                        telling->error->cause() != Cause::kCloudNoCapacity))) {
      telling = &hunt;
    }
  }
  return *telling;
}

Error TpuProvisioner::WhyNot(bool stopped) const {
  if (broken_) {
    return *broken_;
  }
  if (stopped) {
    return Error(Cause::kCancelled, "interrupted");
  }
  const ProvisionAttempt* const telling = &Telling();
  const bool tells =
      telling->error &&
      (plan_.search || telling->silent > 0 || telling->state.empty() ||
       telling->phase == Phase::kOver || telling->phase == Phase::kRemoving);
  if (!tells) {
    if (telling->unreachable) {
      return Error(*telling->unreachable)
          .While("waiting until `" + Printable(telling->place.name) +
                 "` is ready");
    }
    return Error(
        Cause::kDeadlineExceeded,
        PlaceText(telling->place) + " was not ready in time" +
            (telling->state.empty() ? "" : ": it is " + telling->state) +
            "; use --deadline to wait longer");
  }
  if (hunts_.size() == 1) {
    return telling->error->Reworded(
        telling->error->message() +
        (telling->tries > 1
             ? " (tried " + std::to_string(telling->tries) + " times)"
             : ""));
  }
  std::vector<std::string> all;
  for (const ProvisionAttempt& hunt : hunts_) {
    all.push_back(
        Printable(hunt.place.zone) + " (" + hunt.place.scheduling +
        (hunt.tries > 1 ? ", " + std::to_string(hunt.tries) + " tries" : "") +
        "): " +
        (hunt.error           ? hunt.error->message()
         : hunt.state.empty() ? "not tried"
                              : "still " + hunt.state));
  }
  return telling->error->Reworded("none of " +
                                  Count(std::ssize(hunts_), "place") +
                                  " provided a TPU: " + Join(all, "; "));
}

std::vector<JournaledTpu> TpuProvisioner::Left() const {
  std::vector<JournaledTpu> left;
  for (const JournaledTpu& one : journal_.Unfinished()) {
    if (std::any_of(hunts_.begin(), hunts_.end(),
                    [&](const ProvisionAttempt& hunt) {
                      return hunt.made.request == one.request;
                    })) {
      left.push_back(one);
    }
  }
  return left;
}

}  // namespace muster::cloud
