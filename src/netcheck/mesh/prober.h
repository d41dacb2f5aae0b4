// SPDX-License-Identifier: Apache-2.0
// One member's part in the mesh: it listens where the run will, tries the
// others, and shares what was seen, until all is known or the time is over.
//
// The time. A member tries from its start until every path is well or decided,
// at the longest until `wait` has passed, or 1.5 s after another member was
// heard of for the first time. Then it sends its row to all, asks those that it
// reaches for the rows that it lacks, and goes when nobody needs it any more,
// or after `most` of all.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "channel/worker_pool.h"
#include "muster/cluster.h"
#include "netcheck/mesh/connection.h"
#include "netcheck/mesh/dialer.h"
#include "netcheck/mesh/listener.h"
#include "netcheck/mesh/mesh.h"
#include "sys/time/clock.h"
#include "sys/time/loop.h"

namespace muster::netcheck {

struct MeshOptions {
  Cluster cluster;
  MeshIdentity self;  // rank -1: looks, and does not listen
  wire::Signer signer;
  std::vector<MeshTarget> to_try;
  std::vector<int> borrowed;  // listeners, as of a MeshListener
  Duration wait = std::chrono::milliseconds(2500);
  // Who still owes its row after this is not waited for.
  Duration most = std::chrono::seconds(110);
  MeshTimeouts timeouts;
  std::map<std::string, std::string> versions, files;  // as in a MeshRow
  // Folders in which a peer's mark is not seen. May wait; threads of the pool.
  // Not set: none is looked for.
  std::function<std::vector<std::string>(const std::string& mark)> unseen;
};

// Rows by rank, the own one under the own rank (-1 included).
struct MeshOutcome {
  std::map<int, MeshRow> rows;
  Duration took{};
  // From when the last member was heard of for the first time.
  Duration since_roll_call{};
};

// Loop thread only.
class MeshProber {
 public:
  MeshProber(sys::Loop& loop, const sys::Clock& clock, MeshOptions options,
             std::function<void(MeshOutcome)> done);
  MeshProber(const MeshProber&) = delete;
  MeshProber& operator=(const MeshProber&) = delete;
  ~MeshProber();

 private:
  // A target and how far we are with it.
  struct Aim {
    MeshTarget target;
    Address address;
    std::vector<sys::SocketAddress> numbers;
    std::unique_ptr<MeshTry> attempt;
    PathResult result;  // of the last try that ended
    int tries = 0;
    Path first = Path::kUntried;  // that the first try showed
    sys::Clock::Steady began{};
    sys::Clock::Steady tried_last{};
    bool decided = false;
    sys::Loop::Handle timer;
  };
  // A connection with another member, either way.
  struct Peer {
    std::unique_ptr<MeshConnection> connection;
    MeshIdentity who;
    bool done = false;  // it needs nothing more
    bool told_done = false;
    bool gone = false;
  };
  using PeerAt = std::list<Peer>::iterator;

  void Enter(MeshGuest guest);
  void Take(PeerAt peer, const wire::Frame& frame);
  void TakeRow(const std::string& text);
  void GiveRows(PeerAt peer, const std::string& ranks);
  void Forget(PeerAt peer);
  void Sweep();

  void LookUp(Aim& aim);
  void Named(Aim& aim, Result<std::vector<sys::SocketAddress>> numbers);
  void Try(Aim& aim);
  void Tried(Aim& aim, MeshTried tried);
  void Again(Aim& aim);
  void AskForLife(Aim& aim);

  void Arrived(int rank);
  void Claim(const MeshIdentity& who);
  void LookForMark(const MeshIdentity& who);
  void ProbeSoon();
  void LookAtTime();
  bool AllDecided() const;
  bool CameBefore(const Aim& aim) const;
  void QueryArp();
  void Finish();
  void Share();
  void AskFor(const std::set<int>& lacking);
  bool NobodyNeedsUs() const;
  std::set<int> Lacking() const;
  std::set<int> OutOfReach(std::set<int> ranks) const;
  void End();

  sys::Loop& loop_;
  const sys::Clock& clock_;
  MeshOptions options_;
  std::function<void(MeshOutcome)> done_;
  sys::Clock::Steady began_;
  sys::Clock::Steady end_;
  sys::Clock::Steady called_;
  sys::Clock::Steady looked_;  // at the time, last
  bool starved_ = false;       // between two looks
  MeshRow row_;
  std::map<int, MeshRow> rows_;
  std::map<int, std::string> texts_;  // the same as they are sent on
  std::set<int> present_;
  std::map<int, sys::Clock::Steady> came_;  // when this member heard of them
  std::set<int> marks_;  // of ranks that are being looked for
  std::optional<MeshListener> listener_;
  std::list<Aim> aims_;
  std::list<Peer> peers_;
  // One question a host: does port 22 answer?
  struct Life {
    sys::Dialling dialling;
    std::string sign;
    sys::Loop::Handle ready;
  };
  std::map<std::string, Life> lives_;
  bool ended_ = false;
  sys::Loop::Handle beat_;
  sys::Loop::Handle soon_;
  sys::Clock::Steady ask_next_{};
  sys::Clock::Steady ask_all_{};
  // Destroyed first: its tasks post to this.
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  channel::WorkerPool pool_;
};

// The same on a loop of its own. Blocks; any thread.
Result<MeshOutcome> RunMesh(const MeshOptions& options,
                            const sys::Clock& clock);

}  // namespace muster::netcheck
