// SPDX-License-Identifier: Apache-2.0
// One try of a member at a port of another: connect, say hello, hear who
// answers, send something large.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_fwd.h"
#include "netcheck/mesh/connection.h"
#include "netcheck/mesh/mesh.h"
#include "sys/net/name_lookup.h"
#include "sys/net/tcp.h"
#include "sys/time/clock.h"
#include "sys/time/loop.h"

namespace muster::netcheck {

// How long each part of a try may take.
struct MeshTimeouts {
  Duration connect = std::chrono::milliseconds(700);
  Duration answer = std::chrono::milliseconds(900);
  Duration large = std::chrono::milliseconds(1500);
};

// Who a member is, as hello and welcome say it.
struct MeshIdentity {
  int rank = -1;
  std::string host;
  int pid = 0;
  std::string version;
  // The member list by rank, one line each (Place of cluster/members.h). Empty
  // in what a peer says whose list is equal, as its digest tells.
  std::vector<std::string> members;
  std::string list_digest;
  // What it came for: "" to see who is there, "speed" to measure. A door takes
  // no guests of another purpose: that member is not as far, or further.
  std::string purpose;
  // What it left for others to see is told from theirs by this; empty: nothing.
  std::string mark;

  // "host b, pid 77".
  std::string Who() const;
};
// With the list where `peers_digest` is another than its own.
Json ToJson(const MeshIdentity& identity, std::string_view peers_digest);
Result<MeshIdentity> MeshIdentityFromJson(const Json& json);

// What a member answers: who it is, and how it sees who calls.
struct MeshWelcome {
  MeshIdentity who;
  std::string nonce;
  std::string seen_from;  // "10.0.0.7:41034"
  WallTime clock{};
};
// net-wrong-endpoint names the field that is wrong.
Result<MeshWelcome> WelcomeFromJson(const Json& json);

// A text of at most 64 bytes in what a peer sent; nullopt: there is none.
std::optional<std::string> TextIn(const Json& json, const char* name);
// 16 random bytes in hex.
std::string MakeNonce();

// What came of a try. `who` when a member answered; `talk` stays open when the
// path is well.
struct MeshTried {
  PathResult result;
  std::optional<MeshIdentity> who;
  std::unique_ptr<MeshConnection> connection;
};

// Loop thread only. Destroyed before it is done, it says nothing.
class MeshTry {
 public:
  struct Options {
    MeshTarget target;
    sys::SocketAddress number;
    const MeshIdentity* self = nullptr;  // outlives it
    wire::Signer signer;
    MeshTimeouts timeouts;
  };
  MeshTry(sys::Loop& loop, const sys::Clock& clock, Options options,
          std::function<void(MeshTried)> done);

  // What it is up to now, for when the time is over before it is told.
  PathResult SoFar() const;

 private:
  void Connected();
  void Heard(const wire::Frame& frame);
  void Welcomed(const wire::Frame& frame);
  void Ended(ConnectionEnd end);
  void Late();
  void Await(Duration timeout);
  void Done(Path path, std::string seen);
  void FromErrno(int why);
  PathResult Judge(Path path, std::string seen) const;

  enum class Stage { kConnecting, kSayingHello, kSendingLarge, kOver };

  sys::Loop& loop_;
  const sys::Clock& clock_;
  Options options_;
  std::function<void(MeshTried)> done_;
  Stage stage_ = Stage::kConnecting;
  sys::Dialling dialling_;
  std::unique_ptr<MeshConnection> connection_;
  std::string nonce_;
  std::optional<MeshIdentity> who_;
  PathResult result_;
  sys::Clock::Steady asked_{};
  WallTime asked_wall_{};
  sys::Clock::Steady due_{};
  bool starved_ = false;
  sys::Loop::Handle ready_;
  sys::Loop::Handle timer_;
};

}  // namespace muster::netcheck
