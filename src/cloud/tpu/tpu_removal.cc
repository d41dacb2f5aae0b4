// SPDX-License-Identifier: Apache-2.0
#include "cloud/tpu/tpu_removal.h"

#include <algorithm>

#include "base/text.h"
#include "cloud/api/request_error.h"
#include "cloud/api/sender.h"

namespace muster::cloud {
namespace {

constexpr int kMaxUnanswered = 3;  // looks in a row without an answer

std::string Named(const JournaledTpu& made) {
  return std::string(made.kind == "queued" ? "queued resource" : "TPU") + " `" +
         Printable(made.name) + "` of zone " + Printable(made.zone);
}

// A node that is being made may not be removable yet.
bool IsForLater(const Error& error) {
  const Fact* const refused = FactOf(error, "cloud.refused");
  const std::string status = refused == nullptr ? "" : refused->Text("status");
  return status == "FAILED_PRECONDITION" || status == "ABORTED";
}

}  // namespace

bool MayPass(const Error& error) {
  switch (error.cause()) {
    case Cause::kNetNameResolution:
    case Cause::kNetTimeoutFiltered:
    case Cause::kNetWrongEndpoint:
    case Cause::kDeadlineExceeded:
      return true;
    default:
      return IsRateLimit(error);
  }
}

Duration PollPause(const Waiting& waiting, int looks) {
  const Duration pause =
      std::min(waiting.poll * (4 + std::max(looks, 0)) / 4, waiting.poll * 5);
  return Spread(pause, waiting.dice ? waiting.dice() : 0.5);
}

Result<std::string> TpuRemoval::Look() {
  if (made_.kind == "queued") {
    MUSTER_ASSIGN(const auto queued,
                  api_->QueuedResourceOf(made_.zone, made_.name));
    return queued.request;
  }
  MUSTER_ASSIGN(const auto node, api_->Node(made_.zone, made_.name));
  return node.request;
}

bool TpuRemoval::IsKnown() const {
  return journal_->Find(made_.request) != nullptr;
}

Result<bool> TpuRemoval::Gone(const std::string& why) {
  const Status written = journal_->Write(TpuStep::kGone, made_, why);
  return written || IsKnown() ? Result<bool>(true)
                              : Result<bool>(written.error());
}

Result<bool> TpuRemoval::Advance() {
  if (phase_ != Phase::kSend) {
    const auto request = Look();
    if (!request && request.error().cause() == Cause::kTpuNotFound) {
      return Gone("not found");
    }
    if (!request) {
      return request.error();
    }
    if (*request != made_.request) {
      return Gone("another TPU has the name");
    }
    if (phase_ == Phase::kLook) {
      phase_ = Phase::kSend;
    }
    return false;
  }
  const Status written = journal_->Write(TpuStep::kRemoving, made_);
  if (!written && !IsKnown()) {
    return written.error();
  }
  const auto sent = made_.kind == "queued"
                        ? api_->DeleteQueued(made_.zone, made_.name)
                        : api_->DeleteNode(made_.zone, made_.name);
  if (!sent && sent.error().cause() == Cause::kTpuNotFound) {
    return Gone("not found");
  }
  if (!sent && !IsForLater(sent.error())) {
    return sent.error();
  }
  refused_ = sent ? std::nullopt : std::optional(sent.error());
  phase_ = sent ? Phase::kWatch : Phase::kLook;
  return false;
}

namespace {

Removed Ended(const TpuRemoval& removal, bool over,
              std::optional<Error> error) {
  Removed one{.made = removal.made(), .error = std::move(error)};
  if (over || one.error) {
    return one;
  }
  one.error = removal.refused();
  if (!one.error) {
    one.error =
        Error(Cause::kDeadlineExceeded,
              Named(one.made) + (removal.is_sent()
                                     ? " is being deleted and still exists"
                                     : " could not be deleted yet"));
  }
  return one;
}

}  // namespace

std::vector<Removed> RemoveAll(std::vector<TpuRemoval> removals, TpuApi& api,
                               const Waiting& waiting) {
  std::vector<Removed> ended;
  std::vector<int> silent(removals.size(), 0);
  std::vector<bool> over(removals.size(), false);
  std::vector<std::optional<Error>> errors(removals.size());
  bool goes_on = true;
  for (int looks = 0; goes_on && !waiting.deadline.Expired(); ++looks) {
    bool open = false;
    bool sent = true;  // all that is left is to look
    for (std::size_t i = 0; i < removals.size(); ++i) {
      if (over[i]) {
        continue;
      }
      api.sender().SetDeadline(Deadline::After(waiting.request_timeout));
      const auto gone = removals[i].Advance();
      const bool answered = gone || IsRateLimit(gone.error());
      silent[i] = answered ? 0 : silent[i] + 1;
      errors[i] = gone ? std::nullopt : std::optional(gone.error());
      over[i] =
          gone ? *gone : !MayPass(gone.error()) || silent[i] >= kMaxUnanswered;
      open = open || !over[i];
      sent = sent && (over[i] || removals[i].is_sent());
    }
    // What is known to be there is removed before anything is waited for.
    goes_on = open && ((looks == 0 && !sent) ||
                       waiting.pause(PollPause(waiting, looks)));
  }
  for (std::size_t i = 0; i < removals.size(); ++i) {
    ended.push_back(Ended(removals[i], over[i], std::move(errors[i])));
  }
  return ended;
}

}  // namespace muster::cloud
