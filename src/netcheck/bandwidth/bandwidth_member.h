// SPDX-License-Identifier: Apache-2.0
// One member's part in measuring links. Rank 0 leads (mesh_speed_lead.h); every
// other joins it, measures the links that it is told to, answers those who
// measure it, and is told the speed of all at the end.
#pragma once

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "muster/cluster.h"
#include "netcheck/bandwidth/bandwidth.h"
#include "netcheck/bandwidth/bandwidth_leader.h"
#include "netcheck/bandwidth/bandwidth_meter.h"
#include "netcheck/mesh/dialer.h"
#include "netcheck/mesh/listener.h"
#include "sys/net/name_lookup.h"
#include "sys/time/clock.h"
#include "sys/time/loop.h"

namespace muster::netcheck {

struct SpeedOptions {
  Cluster cluster;
  MeshIdentity self;  // rank 0 or more
  wire::Signer signer;
  Duration wait = std::chrono::seconds(5);  // for the others to come
  SpeedBounds bounds;
  MeshPatience patience;
  // "3 of 28 links", as often as it changes.
  std::function<void(const std::string&)> say;
};

// Loop thread only. `done` is called once: net-port-in-use or another cause of
// PortTaken, where it cannot listen on its own port; deadline-exceeded, where
// nobody came or rank 0 does not take part; peer-died, where rank 0 left.
class SpeedMember {
 public:
  SpeedMember(sys::Loop& loop, const sys::Clock& clock, SpeedOptions options,
              std::function<void(Result<SpeedOutcome>)> done);
  SpeedMember(const SpeedMember&) = delete;
  SpeedMember& operator=(const SpeedMember&) = delete;

 private:
  struct Guest {
    std::unique_ptr<MeshTalk> talk;  // until its first frame says what it wants
    int rank = -1;
    std::unique_ptr<SpeedServer> server;
  };
  using GuestAt = std::list<Guest>::iterator;

  void Enter(MeshGuest guest);
  void Lead();
  void SayHello();
  void Greeted(MeshTried tried);
  void Heard(const wire::Frame& frame);
  void LeadLeft();
  void Await(Duration patience);
  void Measure(int other);
  void Dial();
  void Dialled(MeshTried tried);
  void DialAgain(std::string why);
  void Report(LinkSpeed link);
  // net-name-resolution: its name gave no number this time; launch-env-missing:
  // nobody tells its address.
  Result<std::unique_ptr<MeshTry>> TryOf(int rank,
                                         std::function<void(MeshTried)> done);
  // The next try is at the next number of its name.
  void Turn(int rank);
  void End(Result<SpeedOutcome> outcome);

  sys::Loop& loop_;
  const sys::Clock& clock_;
  SpeedOptions options_;
  std::function<void(Result<SpeedOutcome>)> done_;
  sys::Clock::Steady began_;
  bool ended_ = false;
  std::list<Guest> guests_;
  std::optional<SpeedLead> lead_;
  // Of a member that follows.
  std::unique_ptr<MeshTry> hello_;
  std::unique_ptr<MeshTalk> leader_;
  bool led_ = false;                 // rank 0 has spoken
  std::optional<Error> unresolved_;  // why rank 0 was not tried last
  sys::Loop::Handle patience_;
  // The link that is measured from here.
  int other_ = -1;
  int tries_ = 0;
  // What names lead to, and which of them is tried.
  struct Numbers {
    std::vector<sys::SocketAddress> all;
    std::size_t turn = 0;
  };
  std::map<int, Numbers> numbers_;
  std::unique_ptr<MeshTry> dialling_;
  std::unique_ptr<SpeedMeter> meter_;
  sys::Loop::Handle again_;
  sys::Loop::Handle later_;
  std::optional<MeshDoor> door_;
};

// The same on a loop of its own. Blocks; any thread.
Result<SpeedOutcome> RunSpeed(const SpeedOptions& options,
                              const sys::Clock& clock);

}  // namespace muster::netcheck
