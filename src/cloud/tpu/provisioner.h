// SPDX-License-Identifier: Apache-2.0
// Getting a TPU: in one place, or in several at once until one is there.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cloud/tpu/tpu_removal.h"
#include "cloud/tpu/tpu_state.h"

namespace muster::cloud {

// One place and way to get it.
struct Place {
  std::string zone, name;
  std::string scheduling;  // "on-demand", "spot", "reserved"
  bool queued = false;
};

struct SearchPlan {
  std::vector<Place> places;
  std::string type, version;
  // False: it is there already, and only waited for; nothing is removed.
  bool create = true;
  // A place without capacity is tried again until the deadline, and in the end
  // all but the one that was got is removed. Else there is one place, which is
  // tried once and left as it is when the time is up.
  bool search = false;
  // False: it ends once the cloud has taken the creation on.
  bool until_usable = true;
  Duration valid{};  // of queued resources; zero: for ever
  std::string like;  // TpuNode::chosen of another; empty: as is usual
  // Whether the workers can be reached; absent: it is not asked.
  std::function<Status(const TpuNode&)> reach;
};

struct Found {
  Place place;
  // Empty but for name and zone where its end was not waited for.
  TpuNode node;
  bool found_again = false;  // of a creation that was not finished before
};

// Errors: usage-invalid where another process is at the same creation, which
// is left to it; what the last answer of the only place means; of several
// places that of one without capacity, else of the first, with all of them
// named; deadline-exceeded; cancelled; what TpuJournal says where nothing more
// can be written down: of several places all but what was got is removed still.
// What was made and is not gone is then unfinished in the journal, and Left()
// names it. One thread.
class TpuProvisioner {
 public:
  TpuProvisioner(TpuApi& api, TpuJournal& journal, SearchPlan plan,
                 Waiting waiting);
  ~TpuProvisioner();
  Result<Found> Run();

  // What this search has made or tried to make that may still be there and is
  // not kept.
  std::vector<JournaledTpu> Left() const;

 private:
  struct ProvisionAttempt;
  void Advance(ProvisionAttempt& hunt);
  Status TakeUp(ProvisionAttempt& hunt) const;
  void Begin(ProvisionAttempt& hunt);
  void Create(ProvisionAttempt& hunt);
  struct Seen;
  Result<Seen> Look(const ProvisionAttempt& hunt);
  void Meet(ProvisionAttempt& hunt, const Error& taken);
  void Refuse(ProvisionAttempt& hunt, Error error);
  void Doubt(ProvisionAttempt& hunt, Error error);
  void Unmet(ProvisionAttempt& hunt, const Error& error, const Error& taken);
  void WatchOperation(ProvisionAttempt& hunt);
  void Watch(ProvisionAttempt& hunt);
  void WatchNode(ProvisionAttempt& hunt);
  void Remove(ProvisionAttempt& hunt);
  void Unseen(ProvisionAttempt& hunt, const Error& error);
  void Lose(ProvisionAttempt& hunt, const Error& error);
  void Fail(ProvisionAttempt& hunt, Error error, bool is_there);
  void Finish(ProvisionAttempt& hunt) const;
  void Silent(ProvisionAttempt& hunt, Error error);
  void Show(ProvisionAttempt& hunt, const Outlook& outlook) const;
  void Later(ProvisionAttempt& hunt);
  void Clean(const ProvisionAttempt* winner, bool stopped);
  ProvisionAttempt* Next();
  ProvisionAttempt* Winner();
  const ProvisionAttempt& Telling() const;
  Error WhyNot(bool stopped) const;
  Status Note(TpuStep step, ProvisionAttempt& hunt,
              const std::string& what = "");

  TpuApi& api_;
  TpuJournal& journal_;
  SearchPlan plan_;
  Waiting waiting_;
  std::vector<ProvisionAttempt> hunts_;
  std::optional<Error> broken_;  // nothing can be written down any more
};

}  // namespace muster::cloud
