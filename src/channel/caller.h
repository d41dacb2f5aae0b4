// SPDX-License-Identifier: Apache-2.0
// Calls of gRPC to servers whose messages are not compiled in.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "muster/address.h"
#include "muster/deadline.h"

namespace muster::channel {

// What a call of gRPC came to.
struct CallReply {
  int code = 0;  // grpc-status
  std::string message;
  std::string body;
};

// The statuses that tell something here.
inline constexpr int kCallOk = 0;
inline constexpr int kCallDeadline = 4;
inline constexpr int kCallNotFound = 5;
inline constexpr int kCallDenied = 7;
inline constexpr int kCallUnimplemented = 12;
inline constexpr int kCallUnavailable = 14;
inline constexpr int kCallUnauthenticated = 16;

// One channel in clear text to one number, past every proxy; one thread.
class Caller {
 public:
  virtual ~Caller() = default;
  // kCallDeadline at the deadline, kCallUnavailable where no channel can be
  // made, whatever the peer does. A reply of more than 1 MiB is refused.
  virtual CallReply Call(const std::string& method, const std::string& request,
                         Deadline deadline) = 0;
};

using MakeCaller = std::function<std::unique_ptr<Caller>(const Address&)>;

// Empty in a build without gRPC.
MakeCaller GrpcCallers();

}  // namespace muster::channel
