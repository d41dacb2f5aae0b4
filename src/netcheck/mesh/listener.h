// SPDX-License-Identifier: Apache-2.0
// The listening end of the mesh: takes connections on the own ports, hears who
// calls and says who answers.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "muster/cluster.h"
#include "netcheck/mesh/connection.h"
#include "netcheck/mesh/dialer.h"
#include "netcheck/mesh/mesh.h"
#include "sys/net/net.h"
#include "sys/time/clock.h"
#include "sys/time/loop.h"

namespace muster::netcheck {

// Who came in: of the own key and with the same purpose.
struct MeshGuest {
  std::unique_ptr<MeshTalk> talk;
  MeshIdentity who;
};

// Loop thread only. Who says nothing within `answer` is sent away, and so is
// who comes while 256 others have not said who they are.
class MeshDoor {
 public:
  struct Options {
    const Cluster* cluster = nullptr;    // outlives it
    const MeshIdentity* self = nullptr;  // outlives it; its rank is 0 or more
    wire::Signer signer;
    Duration answer{};
    // Listeners of others that are to be taken from instead of own ones; the
    // program that gets their ports later may bind without SO_REUSEADDR, so
    // that nothing of this may be left there. They outlive it.
    std::vector<int> borrowed;
  };
  MeshDoor(sys::Loop& loop, const sys::Clock& clock, Options options,
           std::function<void(MeshGuest)> enters);
  MeshDoor(const MeshDoor&) = delete;
  MeshDoor& operator=(const MeshDoor&) = delete;

  // Own ports that cannot be listened on: mostly somebody else holds them.
  const std::vector<PortTaken>& taken() const { return taken_; }

 private:
  struct Caller {
    std::unique_ptr<MeshTalk> talk;
    std::string from;
    bool gone = false;
    sys::Loop::Handle timer;
  };
  using CallerAt = std::list<Caller>::iterator;

  void Listen();
  void Attend(int listener);
  void Accept(int listener);
  void Hello(CallerAt caller, const wire::Frame& frame);
  void Forget(CallerAt caller);

  sys::Loop& loop_;
  const sys::Clock& clock_;
  Options options_;
  std::function<void(MeshGuest)> enters_;
  std::vector<PortTaken> taken_;
  std::vector<sys::Listening> listeners_;
  std::vector<sys::Loop::Handle> accepting_;
  std::list<Caller> callers_;
  sys::Loop::Handle sweep_;
};

}  // namespace muster::netcheck
