// SPDX-License-Identifier: Apache-2.0
// Servers of others, spoken to in their own protocols by questions that change
// nothing there: who is it, and what does it know?
//
// Adding a protocol: a file NAME.cc in foreign/ that defines
// muster::connect::NAME::kProtocol; the build finds it by its name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "channel/caller.h"

namespace muster::identify {

using muster::ToString;  // those declared here do not hide it

// What came from an address, and whether it ended the connection.
struct ProbeReply {
  std::string bytes;
  bool closed = false;
};

// "UNIMPLEMENTED"; "status 99" for one that gRPC does not have.
std::string NameOfStatus(int code);

// One address. Every call is bounded in time and in what it keeps; one thread.
class ProbeConnection {
 public:
  virtual ~ProbeConnection() = default;
  // What it says by itself, soon after it took the connection.
  virtual ProbeReply Greeting() = 0;
  // Says this on a new connection and listens until `enough` bytes have come;
  // the connection is closed at once.
  virtual ProbeReply Say(std::string_view bytes, std::size_t enough) = 0;
  // One call, all on one channel. nullopt: this program has no gRPC.
  virtual std::optional<channel::CallReply> Call(
      const std::string& method, const std::string& request) = 0;
  // A while later, on a new channel. False: nobody asked for a second look.
  virtual bool Later() = 0;
};

struct ServedDevice {
  std::string name;  // "/job:worker/replica:0/task:1/device:GPU:0"
  std::string type;  // "GPU"
  std::int64_t memory = 0;
  std::uint64_t incarnation = 0;

  bool operator==(const ServedDevice&) const = default;
};
// Chips or GPUs, without the parts of a host that have devices of their own.
int Accelerators(std::span<const ServedDevice> devices);

enum class TaskState {
  kMissing,     // expected, never came
  kRegistered,  // came; it waits for others, or has left
  kConnected,
  kFailed,
};
std::string_view ToString(TaskState state);

struct ServedTask {
  std::string job;
  int index = 0;
  TaskState state = TaskState::kConnected;

  // "task 1 of worker".
  std::string Text() const;
  bool operator==(const ServedTask&) const = default;
};

// Who answers, by its own word.
struct ServerIdentity {
  // Name of the record that knew it; "unknown", "silent" and "closed" for what
  // none knows.
  std::string protocol;
  bool grpc = false;
  bool mute = false;               // it speaks gRPC and answers no call
  bool unasked = false;            // it speaks gRPC, and this program does not
  std::string text;                // "a TensorFlow worker (task 1 of worker)"
  std::optional<ServedTask> self;  // the task that it says it is
  std::vector<ServedDevice> devices;
  std::vector<ServedTask> tasks;  // those it waits for or has
  std::string restarted;          // what changed between two looks
  std::string late;  // what the second look came to, of one that may be well
};

// When a protocol is tried.
enum class Speaks {
  kFirst,    // it greets; what was heard decides
  kAsked,    // to bytes of ours, where nothing greets
  kInCalls,  // over gRPC
};

struct Protocol {
  std::string_view name;   // of the scheme in tf://10.0.0.2:8470
  std::string_view title;  // "a TensorFlow worker"
  std::uint16_t port;      // where it is found; 0: anywhere
  Speaks speaks;
  int order;  // within those that speak so
  // nullopt: it is another one; what it said instead is in `heard`.
  std::optional<ServerIdentity> (*ask)(ProbeConnection& wire,
                                       ProbeReply& heard);
};

// All of foreign/, in their order.
std::span<const Protocol* const> AllProtocols();
// nullptr: there is none of that name.
const Protocol* FindProtocol(std::string_view name);

// Tries one protocol after another until one knows the server; of those to be
// asked, the expected one first.
ServerIdentity Recognize(ProbeConnection& wire, std::string_view expected = {});

}  // namespace muster::identify
