// SPDX-License-Identifier: Apache-2.0
// One link measured: the end that asks, and the end that answers.
//
//   meter -> server   kPing, n times, each after the kPong of the one before
//   meter -> server   chunks for `pour`, kPoured; <- kCounted
//   meter -> server   kAsk; <- chunks for `pour`, kPoured
//
// Little waits in the kernel for its first sending, so that a stream ends soon
// after its time is over, however slow the link is.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "netcheck/bandwidth/bandwidth.h"
#include "netcheck/mesh/connection.h"
#include "sys/net/tcp.h"
#include "sys/process/process.h"
#include "sys/time/clock.h"
#include "sys/time/loop.h"

namespace muster::netcheck {

// What this thread has of a core from now on. A value; stays on its thread.
class CoreWatch {
 public:
  explicit CoreWatch(const sys::Clock& clock);
  CoreShare Share() const;

 private:
  const sys::Clock* clock_;
  sys::Clock::Steady began_;
  sys::CoreTime before_;
};

// Pours into a talk until the time or the volume is used up, then sends kPoured
// with what TCP_INFO says. Loop thread only; the owner calls More when the talk
// is drained.
class StreamSender {
 public:
  struct Until {
    Duration pour{};
    std::uint64_t most = 0;
  };
  StreamSender(const sys::Clock& clock, MeshConnection& connection,
               Until until);
  void More();
  // Segments of this stream so far, and the share of a core that it had.
  ByteStream State() const;

 private:
  const sys::Clock& clock_;
  MeshConnection& connection_;
  Until until_;
  sys::Clock::Steady began_;
  sys::Clock::Steady chunk_began_;
  std::size_t chunk_;
  std::uint64_t sent_ = 0;
  sys::TcpState before_;
  CoreWatch core_;
};

// Counts what comes. A value; any thread.
class StreamCounter {
 public:
  void Count(sys::Clock::Steady now, std::uint64_t bytes);
  // Bytes and time of the steady part; `now`: all has come.
  ByteStream Steady(sys::Clock::Steady now) const;

 private:
  std::uint64_t bytes_ = 0;
  // (after the first bytes, bytes so far), a millisecond apart or more.
  std::vector<std::pair<Duration, std::uint64_t>> samples_;
  sys::Clock::Steady first_{};
};

// Loop thread only. Destroyed before it is done, it says nothing.
class BandwidthMeter {
 public:
  // `done` has no ranks in it: who started it knows them.
  BandwidthMeter(sys::Loop& loop, const sys::Clock& clock,
                 std::unique_ptr<MeshConnection> connection,
                 const BandwidthBounds& bounds,
                 std::function<void(LinkBandwidth)> done);

 private:
  void Ping();
  void Heard(const wire::Frame& frame);
  void Ponged();
  void Done(std::string stopped);

  enum class Stage { kPinging, kPouring, kAsking, kOver };

  sys::Loop& loop_;
  const sys::Clock& clock_;
  std::unique_ptr<MeshConnection> connection_;
  BandwidthBounds bounds_;
  std::function<void(LinkBandwidth)> done_;
  Stage stage_ = Stage::kPinging;
  LinkBandwidth link_;
  std::vector<Duration> pings_;
  sys::Clock::Steady began_;
  sys::Clock::Steady pinged_{};
  std::unique_ptr<StreamSender> sender_;
  StreamCounter counter_;
  CoreWatch core_;  // since it began, or asked
  sys::Loop::Handle timer_;
};

// The other end, for as long as the talk lasts. Loop thread only. Whatever it
// is asked for, it pours at most 2 s and 1 GiB at a time.
class BandwidthServer {
 public:
  BandwidthServer(const sys::Clock& clock,
                  std::unique_ptr<MeshConnection> connection);
  BandwidthServer(const BandwidthServer&) = delete;
  BandwidthServer& operator=(const BandwidthServer&) = delete;

  bool open() const { return connection_->open(); }

 private:
  void Heard(const wire::Frame& frame);
  void Poured();
  void Asked(const std::string& body);

  const sys::Clock& clock_;
  std::unique_ptr<MeshConnection> connection_;
  std::unique_ptr<StreamSender> sender_;
  StreamCounter counter_;
  std::optional<CoreWatch> core_;  // while it counts
};

}  // namespace muster::netcheck
