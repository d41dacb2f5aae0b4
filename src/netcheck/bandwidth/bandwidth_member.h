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

struct BandwidthOptions {
  Cluster cluster;
  MeshIdentity self;  // rank 0 or more
  wire::Signer signer;
  Duration wait = std::chrono::seconds(5);  // for the others to come
  BandwidthBounds bounds;
  MeshTimeouts timeouts;
  // "3 of 28 links", as often as it changes.
  std::function<void(const std::string&)> say;
};

// Loop thread only. `done` is called once: net-port-in-use or another cause of
// PortTaken, where it cannot listen on its own port; deadline-exceeded, where
// nobody came or rank 0 does not take part; peer-died, where rank 0 left.
class BandwidthMember {
 public:
  BandwidthMember(sys::Loop& loop, const sys::Clock& clock,
                  BandwidthOptions options,
                  std::function<void(Result<BandwidthOutcome>)> done);
  BandwidthMember(const BandwidthMember&) = delete;
  BandwidthMember& operator=(const BandwidthMember&) = delete;

 private:
  struct Guest {
    std::unique_ptr<MeshConnection>
        connection;  // until its first frame says what it wants
    int rank = -1;
    std::unique_ptr<BandwidthServer> server;
  };
  using GuestAt = std::list<Guest>::iterator;

  void Enter(MeshGuest guest);
  void Lead();
  void SayHello();
  void Greeted(MeshTried tried);
  void Heard(const wire::Frame& frame);
  void LeadLeft();
  void Await(Duration timeouts);
  void Measure(int other);
  void Dial();
  void Dialled(MeshTried tried);
  void DialAgain(std::string why);
  void Report(LinkBandwidth link);
  // net-name-resolution: its name gave no number this time; launch-env-missing:
  // nobody tells its address.
  Result<std::unique_ptr<MeshTry>> TryOf(int rank,
                                         std::function<void(MeshTried)> done);
  // The next try is at the next number of its name.
  void Turn(int rank);
  void End(Result<BandwidthOutcome> outcome);

  sys::Loop& loop_;
  const sys::Clock& clock_;
  BandwidthOptions options_;
  std::function<void(Result<BandwidthOutcome>)> done_;
  sys::Clock::Steady began_;
  bool ended_ = false;
  std::list<Guest> guests_;
  std::optional<BandwidthLead> lead_;
  // Of a member that follows.
  std::unique_ptr<MeshTry> hello_;
  std::unique_ptr<MeshConnection> leader_;
  bool led_ = false;                 // rank 0 has spoken
  std::optional<Error> unresolved_;  // why rank 0 was not tried last
  sys::Loop::Handle timeout_;
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
  std::unique_ptr<BandwidthMeter> meter_;
  sys::Loop::Handle again_;
  sys::Loop::Handle later_;
  std::optional<MeshListener> listener_;
};

// The same on a loop of its own. Blocks; any thread.
Result<BandwidthOutcome> RunBandwidth(const BandwidthOptions& options,
                                      const sys::Clock& clock);

}  // namespace muster::netcheck
