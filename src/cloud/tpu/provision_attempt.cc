// SPDX-License-Identifier: Apache-2.0
// What a TpuProvisioner does in one place, step by step.
#include "cloud/tpu/provision_attempt.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "cloud/api/request_error.h"

namespace muster::cloud {
namespace {

constexpr int kMaxSilent = 3;  // looks in a row without an answer
// In polls: the first pause after a stock-out, which doubles up to the last.
constexpr int kFirstBackoff = 15;
constexpr int kLastBackoff = 150;
// A line is repeated after so many polls.
constexpr int kRepeat = 30;

// Another try may go better.
bool IsWorthAnother(const Error& error) {
  return error.cause() == Cause::kCloudNoCapacity ||
         error.cause() == Cause::kPreempted ||
         error.cause() == Cause::kTpuUnhealthy || MayPass(error);
}

bool IsTaken(const Error& error) {
  const Fact* const refused = FactOf(error, "cloud.refused");
  return refused != nullptr && refused->Text("status") == "ALREADY_EXISTS";
}

}  // namespace

std::string PlaceText(const Place& place) {
  return std::string(place.queued ? "queued resource" : "TPU") + " `" +
         Printable(place.name) + "` of zone " + Printable(place.zone);
}

Status TpuProvisioner::Note(TpuStep step, ProvisionAttempt& hunt,
                            const std::string& what) {
  auto written = journal_.Write(step, hunt.made, what);
  if (!written) {
    broken_ = written.error();
    hunt.error = written.error();
    hunt.phase = Phase::kOver;
  }
  return written;
}

void TpuProvisioner::Later(ProvisionAttempt& hunt) {
  hunt.due = Deadline::Clock::now() +
             std::chrono::duration_cast<Deadline::Clock::duration>(
                 PollPause(waiting_, hunt.looks++));
}

void TpuProvisioner::Show(ProvisionAttempt& hunt,
                          const Outlook& outlook) const {
  const auto now = Deadline::Clock::now();
  if (outlook.state != hunt.state) {
    hunt.state = outlook.state;
    hunt.since = now;
    hunt.looks = 0;
  } else if (now - hunt.shown < waiting_.poll * kRepeat) {
    return;
  }
  hunt.shown = now;
  waiting_.say(ProgressText(hunt.place.name, outlook, now - hunt.since) +
               (plan_.places.size() > 1 ? " (" + Printable(hunt.place.zone) +
                                              ", " + hunt.place.scheduling + ")"
                                        : ""));
}

// No answer: asked again, but not for ever. A limit on requests is an answer,
// and is waited out.
void TpuProvisioner::Silent(ProvisionAttempt& hunt, Error error) {
  Later(hunt);
  // One answer that is missing at the end of all time, which cuts it short,
  // says less than the state, or the refusal, before it.
  if (MayPass(error) && hunt.silent == 0 &&
      (!hunt.state.empty() || hunt.error) &&
      waiting_.deadline.when() <= hunt.due) {
    return;
  }
  hunt.error = std::move(error);
  if (IsRateLimit(*hunt.error)) {
    hunt.silent = 0;
  } else if (!MayPass(*hunt.error) || ++hunt.silent >= kMaxSilent) {
    hunt.phase = Phase::kOver;
  }
}

// It will not become usable; what is there of it goes first.
void TpuProvisioner::Fail(ProvisionAttempt& hunt, Error error, bool is_there) {
  hunt.error = std::move(error);
  if (!plan_.create) {
    hunt.phase = Phase::kOver;
    return;
  }
  if (plan_.search) {
    waiting_.say("`" + Printable(hunt.place.name) + "` in " +
                 Printable(hunt.place.zone) + ": " + hunt.error->message());
  }
  if (is_there) {
    hunt.removal.emplace(api_, journal_, hunt.made);
    hunt.phase = Phase::kRemoving;
    hunt.looks = 0;
    return;
  }
  Finish(hunt);
}

// Nothing of it is there: it is over, or begins anew after a pause.
void TpuProvisioner::Finish(ProvisionAttempt& hunt) const {
  hunt.removal.reset();
  if (!plan_.search || !hunt.error || !IsWorthAnother(*hunt.error)) {
    hunt.phase = Phase::kOver;
    return;
  }
  hunt.phase = Phase::kBegin;
  hunt.made.request.clear();
  hunt.made.operation.clear();
  hunt.doubtful = false;
  hunt.state.clear();
  hunt.backoff = std::clamp(hunt.backoff * 2, waiting_.poll * kFirstBackoff,
                            waiting_.poll * kLastBackoff);
  hunt.due =
      Deadline::Clock::now() +
      std::chrono::duration_cast<Deadline::Clock::duration>(hunt.backoff);
}

void TpuProvisioner::Begin(ProvisionAttempt& hunt) {
  if (hunt.made.request.empty()) {
    hunt.made.request = MakeRequestId();
    if (!Note(TpuStep::kAsked, hunt)) {
      return;
    }
  }
  Create(hunt);
}

void TpuProvisioner::Create(ProvisionAttempt& hunt) {
  ++hunt.tries;
  const NewTpu tpu{.zone = hunt.place.zone,
                   .name = hunt.place.name,
                   .type = plan_.type,
                   .version = plan_.version,
                   .scheduling = hunt.place.scheduling,
                   .request = hunt.made.request,
                   .valid = plan_.valid,
                   .like = plan_.like};
  const int repeats = api_.sender().repeats();
  auto operation =
      hunt.place.queued ? api_.CreateQueued(tpu) : api_.CreateNode(tpu);
  if (!operation) {
    Error error = std::move(operation).error();
    hunt.doubtful = hunt.doubtful || api_.sender().repeats() > repeats;
    if (IsTaken(error)) {
      Meet(hunt, error);
    } else if (MayPass(error)) {
      // Nobody knows whether the cloud has it: another try has the same id.
      Silent(hunt, std::move(error));
      hunt.doubtful = true;
      hunt.phase = plan_.search ? hunt.phase : Phase::kOver;
    } else if (hunt.doubtful) {
      Doubt(hunt, std::move(error));
    } else {
      Refuse(hunt, std::move(error));
    }
    return;
  }
  hunt.silent = 0;
  hunt.made.operation = operation->name;
  if (!Note(TpuStep::kMade, hunt)) {
    return;
  }
  hunt.phase = plan_.until_usable ? Phase::kCreating : Phase::kWon;
  hunt.node = {.name = hunt.place.name, .zone = hunt.place.zone};
  Show(hunt, {.state = "CREATING",
              .next = "usually READY within 1 to 10 min, large slices later"});
  Later(hunt);
}

// What has the name of the place.
struct TpuProvisioner::Seen {
  std::string request, about;
};
Result<TpuProvisioner::Seen> TpuProvisioner::Look(
    const ProvisionAttempt& hunt) {
  if (hunt.place.queued) {
    MUSTER_ASSIGN(const auto queued,
                  api_.QueuedResourceOf(hunt.place.zone, hunt.place.name));
    return Seen{queued.request, queued.accelerator_type + ", " + queued.state};
  }
  MUSTER_ASSIGN(const auto node, api_.Node(hunt.place.zone, hunt.place.name));
  return Seen{node.request, node.accelerator_type + ", " + node.state};
}

// No try has made it.
void TpuProvisioner::Refuse(ProvisionAttempt& hunt, Error error) {
  if (Note(TpuStep::kRefused, hunt, error.message())) {
    Fail(hunt, std::move(error), false);
  }
}

// The last try was refused, but one before it may have made what costs: only
// what is surely not there is written down as refused.
void TpuProvisioner::Doubt(ProvisionAttempt& hunt, Error error) {
  const auto seen = Look(hunt);
  const bool is_none = seen ? seen->request != hunt.made.request
                            : seen.error().cause() == Cause::kTpuNotFound;
  if (is_none) {
    Refuse(hunt, std::move(error));
    return;
  }
  hunt.error = error.Reworded(
      error.message() + "; " +
      (seen ? "an earlier attempt created it (" + Printable(seen->about) + ")"
            : "it is unknown whether an earlier attempt created it: " +
                  seen.error().message()));
  hunt.phase = Phase::kOver;
}

// Something had the name, and cannot be looked at.
void TpuProvisioner::Unmet(ProvisionAttempt& hunt, const Error& error,
                           const Error& taken) {
  if (error.cause() != Cause::kTpuNotFound) {
    Silent(hunt, error);
  } else if (Note(TpuStep::kRefused, hunt, "the name was in use")) {
    Fail(hunt, taken, false);
  }
}

// Something has the name: what an earlier try made, or somebody else's.
void TpuProvisioner::Meet(ProvisionAttempt& hunt, const Error& taken) {
  const auto seen = Look(hunt);
  if (!seen) {
    Unmet(hunt, seen.error(), taken);
    return;
  }
  if (seen->request == hunt.made.request) {
    if (!Note(TpuStep::kMade, hunt)) {
      return;
    }
    hunt.phase = !plan_.until_usable            ? Phase::kWon
                 : !hunt.made.operation.empty() ? Phase::kCreating
                 : hunt.place.queued            ? Phase::kQueued
                                                : Phase::kNode;
    hunt.node = {.name = hunt.place.name, .zone = hunt.place.zone};
    return;
  }
  if (!Note(TpuStep::kRefused, hunt, "the name is in use")) {
    return;
  }
  Fail(hunt,
       taken.Reworded(
           PlaceText(hunt.place) + " already exists (" +
           Printable(seen->about) + ")" +
           (journal_.Find(seen->request) != nullptr
                ? ", created from here: `muster tpu wait " +
                      Printable(hunt.place.name) + " --zone " +
                      Printable(hunt.place.zone) +
                      "` waits for it, `muster tpu delete` or `muster tpu "
                      "reap` deletes it"
                : ", and was not created from here: choose another name")),
       false);
}

void TpuProvisioner::WatchOperation(ProvisionAttempt& hunt) {
  const Phase next = hunt.place.queued ? Phase::kQueued : Phase::kNode;
  auto operation = api_.OperationOf(
      hunt.made.operation,
      "`" + Printable(hunt.place.name) + "` (" + Printable(plan_.type) + ")",
      plan_.type);
  if (!operation && operation.error().cause() == Cause::kTpuNotFound) {
    hunt.phase = next;  // forgotten after days: the thing itself tells
    return;
  }
  if (!operation) {
    Silent(hunt, std::move(operation).error());
    return;
  }
  hunt.silent = 0;
  if (!operation->done) {
    Show(hunt,
         {.state = "CREATING",
          .next = "usually READY within 1 to 10 min, large slices later"});
    Later(hunt);
  } else if (operation->error) {
    Fail(hunt, *operation->error, true);
  } else {
    hunt.phase = next;
  }
}

// It is not there any more, or no answer came.
void TpuProvisioner::Unseen(ProvisionAttempt& hunt, const Error& error) {
  if (error.cause() == Cause::kTpuNotFound) {
    Fail(hunt, error, true);
  } else {
    Silent(hunt, error);
  }
}

// It was there. What one search finds lost goes; what is the only one is its
// user's to judge.
void TpuProvisioner::Lose(ProvisionAttempt& hunt, const Error& error) {
  if (plan_.search) {
    Fail(hunt, error, true);
    return;
  }
  hunt.error = error;
  hunt.phase = Phase::kOver;
}

void TpuProvisioner::Watch(ProvisionAttempt& hunt) {
  const auto queued = api_.QueuedResourceOf(hunt.place.zone, hunt.place.name);
  if (!queued) {
    Unseen(hunt, queued.error());
    return;
  }
  hunt.silent = 0;
  const Outlook outlook = OutlookOf(*queued);
  if (outlook.way == Way::kLost) {
    Lose(hunt, *outlook.error);
    return;
  }
  Show(hunt, outlook);
  if (outlook.way == Way::kThere) {
    hunt.node_name = queued->nodes.empty() ? "" : queued->nodes.front();
    hunt.phase = Phase::kNode;
    return;
  }
  Later(hunt);
}

void TpuProvisioner::WatchNode(ProvisionAttempt& hunt) {
  const auto node =
      api_.Node(hunt.place.zone,
                hunt.node_name.empty() ? hunt.place.name : hunt.node_name);
  if (!node) {
    Unseen(hunt, node.error());
    return;
  }
  hunt.silent = 0;
  hunt.node = *node;
  Outlook outlook = OutlookOf(*node);
  if (outlook.way == Way::kLost) {
    Lose(hunt, *outlook.error);
    return;
  }
  if (outlook.way == Way::kThere && plan_.reach) {
    const Status reached = plan_.reach(*node);
    hunt.unreachable = reached ? std::nullopt : std::optional(reached.error());
    if (!reached) {
      outlook = {.state = "READY, but " + reached.error().message()};
    }
  }
  if (outlook.way == Way::kThere) {
    hunt.phase = Phase::kWon;
    return;
  }
  Show(hunt, outlook);
  Later(hunt);
}

void TpuProvisioner::Remove(ProvisionAttempt& hunt) {
  const auto gone = hunt.removal->Advance();
  if (!gone) {
    const Error why = *hunt.error;
    Silent(hunt, gone.error());
    hunt.error = why;
    return;
  }
  hunt.silent = 0;
  if (*gone) {
    Finish(hunt);
  } else {
    Later(hunt);
  }
}

void TpuProvisioner::Advance(ProvisionAttempt& hunt) {
  api_.sender().SetDeadline(
      Deadline::After(waiting_.request_timeout).Sooner(waiting_.deadline));
  switch (hunt.phase) {
    case Phase::kBegin:
      return Begin(hunt);
    case Phase::kCreating:
      return WatchOperation(hunt);
    case Phase::kQueued:
      return Watch(hunt);
    case Phase::kNode:
      return WatchNode(hunt);
    case Phase::kRemoving:
      return Remove(hunt);
    case Phase::kOver:
    case Phase::kWon:
      return;
  }
}

}  // namespace muster::cloud
