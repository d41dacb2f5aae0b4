// SPDX-License-Identifier: Apache-2.0
// A transport without sockets: agents of one process, for the tests of
// everything that stands above a transport.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <utility>

#include "channel/transport.h"
#include "sys/time/loop.h"

namespace muster::channel {

// Who listens where. An address at which nobody listens refuses, unless a
// fault says what else it shows. Outlives its transports; one loop.
class InProcessNetwork {
 public:
  struct Door {
    wire::Hello identity;
    Transport::OnLink on_link;
  };

  // kNoAnswer and kSilent show at the deadline, others at once.
  std::map<Address, Sighting> faults;
  std::map<Address, std::shared_ptr<Door>> doors;
  std::uint16_t next_port = 40'000;  // for port 0
};

class InProcessTransport : public Transport {
 public:
  InProcessTransport(sys::Loop& loop, InProcessNetwork& network)
      : loop_(loop), network_(network) {}

  Result<std::unique_ptr<Listener>> Listen(const Address& address,
                                           wire::Hello identity,
                                           OnLink on_link) override;
  void Dial(const Address& address, Deadline deadline,
            std::function<void(Result<std::unique_ptr<Link>>)> done) override;
  void Identify(const Address& address, Deadline deadline,
                std::function<void(Sighting)> done) override;

 private:
  void Later(Duration delay, std::function<void()> task);
  Sighting Look(const Address& address) const;

  sys::Loop& loop_;
  InProcessNetwork& network_;
  // What was asked for and is not answered: goes with the transport.
  std::map<int, sys::Loop::Handle> pending_;
  int next_ = 0;
};

}  // namespace muster::channel
