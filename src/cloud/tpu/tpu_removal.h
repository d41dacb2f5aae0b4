// SPDX-License-Identifier: Apache-2.0
// Removing a node or a queued resource until the cloud has it no more.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cloud/tpu/tpu_api.h"
#include "cloud/tpu/tpu_journal.h"

namespace muster::cloud {

// How something that takes minutes is waited for.
struct Waiting {
  Deadline deadline;
  // Between two looks, which grows fivefold; a quarter more or less by `dice`.
  Duration poll = std::chrono::seconds(2);
  // 0 to 1, so that many who wait do not ask at once. Absent: 0.5.
  std::function<double()> dice;
  // Of one look, with its repeats.
  Duration patience = std::chrono::seconds(60);
  // Waits so long; false when a stop was asked for.
  std::function<bool(Duration)> pause;
  // One line of what goes on, for a person.
  std::function<void(const std::string&)> say;
};

// One removal, a request at a time. What has the name and another request id
// is not it, and stays. What the journal names as made from here costs and
// goes even where nothing more can be written down: `reap` finds that it has.
class TpuRemoval {
 public:
  TpuRemoval(TpuApi& api, TpuJournal& journal, MadeTpu made)
      : api_(&api), journal_(&journal), made_(std::move(made)) {}

  // It was just seen: the first step is to remove it.
  void Seen() { phase_ = Phase::kSend; }
  // The next request. True: it is gone. False: more is to be done, later where
  // the cloud cannot remove it yet. What TpuApi says.
  Result<bool> Advance();

  const MadeTpu& made() const { return made_; }
  // The cloud has taken the removal on.
  bool is_sent() const { return phase_ == Phase::kWatch; }
  // Why the cloud could not remove it yet.
  const std::optional<Error>& refused() const { return refused_; }

 private:
  enum class Phase { kLook, kSend, kWatch };
  // Its request id; empty: none. tpu-not-found: it is gone.
  Result<std::string> Look();
  Result<bool> Gone(const std::string& why);
  bool IsKnown() const;  // to the journal, as made from here

  TpuApi* api_;
  TpuJournal* journal_;
  MadeTpu made_;
  Phase phase_ = Phase::kLook;
  std::optional<Error> refused_;
};

// Removes all of them at once; what is left at the deadline or when a stop was
// asked for has its error.
struct Removed {
  MadeTpu made;
  std::optional<Error> error;
};
std::vector<Removed> RemoveAll(std::vector<TpuRemoval> removals, TpuApi& api,
                               const Waiting& waiting);

// Asks again later: no answer, the service's trouble or its limit on requests.
bool MayPass(const Error& error);
// The pause before look number `looks`.
Duration PollPause(const Waiting& waiting, int looks);

}  // namespace muster::cloud
