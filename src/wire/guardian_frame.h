// SPDX-License-Identifier: Apache-2.0
// What the process and its guardian say to each other over their socket, in the
// frames of wire/frame.h. Both ends are one program, so the bytes are trusted
// to be whole; what does not parse is a bug.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "muster/deadline.h"
#include "muster/fact.h"

namespace muster::wire {

enum class GuardianOp : std::uint8_t {
  kStart = 1,       // to the guardian: StartRequest, descriptors beside it
  kSignal = 2,      // to the guardian: SignalRequest
  kKillAll = 3,     // to the guardian: id
  kStarted = 4,     // StartReply, a pidfd beside it where the kernel has them
  kNotStarted = 5,  // StartFailure
  kExited = 6,      // Exit
  kKilled = 7,      // KillReply
};

struct StartRequest {
  std::int64_t id = 0;
  std::vector<std::string> argv;
  std::vector<std::string> environment;  // "NAME=value"
  std::vector<std::string> programs;     // to be tried in this order
  std::string directory;
  std::vector<std::int64_t> targets;  // numbers of the descriptors beside it
  std::vector<std::int64_t> cores;
};

struct SignalRequest {
  std::int64_t pid = 0;
  std::int64_t signal = 0;
};

struct StartReply {
  std::int64_t id = 0;
  std::int64_t pid = 0;
  std::int64_t pidfd = 0;           // 1: one comes beside it
  std::int64_t affinity_errno = 0;  // the cores could not be set
  std::int64_t cgroup_errno = 0;    // it could not enter its cgroup
};

// What a child was doing when it failed.
enum class StartStage : std::uint8_t {
  kFork,
  kDescriptors,
  kDirectory,
  kExec,
  kInterpreter,  // the file is there, what its first line names is not
};

struct StartFailure {
  std::int64_t id = 0;
  StartStage stage{};
  std::int64_t error_number = 0;
  std::int64_t program = 0;  // which of `programs`
};

// How a process ended.
struct Exit {
  int pid = 0;
  int wait_status = 0;  // of waitpid(2)
  WallTime at{};
  double user_s = 0;
  double system_s = 0;
  std::int64_t max_rss_bytes = 0;
  // Not sent: its guardian was killed by this signal, and it with that.
  int guardian_signal = 0;

  bool exited() const;  // by itself
  int code() const;     // when exited
  std::optional<int> signal() const;
};

struct KillReply {
  std::int64_t id = 0;
  std::int64_t killed = 0;
  std::int64_t remaining = 0;  // do not end, whatever they are sent
};

struct GuardianFrame {
  GuardianOp op{};
  std::string body;
};

std::string Pack(const StartRequest& message);
std::string Pack(const SignalRequest& message);
std::string PackKillAll(std::int64_t id);
std::string Pack(const StartReply& message);
std::string Pack(const StartFailure& message);
std::string Pack(const Exit& message);
std::string Pack(const KillReply& message);

StartRequest UnpackStart(std::string_view body);
SignalRequest UnpackSignal(std::string_view body);
std::int64_t UnpackKillAll(std::string_view body);
StartReply UnpackStarted(std::string_view body);
StartFailure UnpackNotStarted(std::string_view body);
Exit UnpackExited(std::string_view body);
KillReply UnpackKilled(std::string_view body);

// Takes one frame off the front of the buffer; nullopt: it is not whole yet.
std::optional<GuardianFrame> TakeFrame(std::string& buffer);

}  // namespace muster::wire
