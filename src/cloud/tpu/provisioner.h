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
class TpuSearch {
 public:
  TpuSearch(TpuApi& api, TpuJournal& journal, SearchPlan plan, Waiting waiting);
  ~TpuSearch();
  Result<Found> Run();

  // What this search has made or tried to make that may still be there and is
  // not kept.
  std::vector<MadeTpu> Left() const;

 private:
  struct Hunt;
  void Advance(Hunt& hunt);
  Status TakeUp(Hunt& hunt) const;
  void Begin(Hunt& hunt);
  void Create(Hunt& hunt);
  struct Seen;
  Result<Seen> Look(const Hunt& hunt);
  void Meet(Hunt& hunt, const Error& taken);
  void Refuse(Hunt& hunt, Error error);
  void Doubt(Hunt& hunt, Error error);
  void Unmet(Hunt& hunt, const Error& error, const Error& taken);
  void WatchOperation(Hunt& hunt);
  void Watch(Hunt& hunt);
  void WatchNode(Hunt& hunt);
  void Remove(Hunt& hunt);
  void Unseen(Hunt& hunt, const Error& error);
  void Lose(Hunt& hunt, const Error& error);
  void Fail(Hunt& hunt, Error error, bool is_there);
  void Finish(Hunt& hunt) const;
  void Silent(Hunt& hunt, Error error);
  void Show(Hunt& hunt, const Outlook& outlook) const;
  void Later(Hunt& hunt);
  void Clean(const Hunt* winner, bool stopped);
  Hunt* Next();
  Hunt* Winner();
  const Hunt& Telling() const;
  Error WhyNot(bool stopped) const;
  Status Note(TpuStep step, Hunt& hunt, const std::string& what = "");

  TpuApi& api_;
  TpuJournal& journal_;
  SearchPlan plan_;
  Waiting waiting_;
  std::vector<Hunt> hunts_;
  std::optional<Error> broken_;  // nothing can be written down any more
};

}  // namespace muster::cloud
