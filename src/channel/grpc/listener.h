// SPDX-License-Identifier: Apache-2.0
// The listening end of the gRPC transport: the service muster.v1.Agent at an
// address. Seen by the gRPC transport only.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>

#include "channel/security/certificate_store.h"
#include "channel/transport.h"
#include "muster/error.h"
#include "sys/net/net.h"
#include "sys/time/clock.h"
#include "sys/time/loop.h"
#include "wire/hello.h"

namespace muster::channel {

class Streams;

// What a listener works with.
struct Serving {
  sys::Loop* loop = nullptr;         // outlives it
  sys::Clock* clock = nullptr;       // outlives it
  std::shared_ptr<Keyring> keyring;  // null: clear text
  std::shared_ptr<Streams> streams;  // of its links
  sys::Listening listening;
  std::shared_ptr<grpc::ServerCredentials> credentials;
  wire::Hello identity;       // that Identify answers
  Transport::OnLink on_link;  // on the loop; empty: links are refused
};

// internal-error: gRPC does not start.
Result<std::unique_ptr<Listener>> ServeAgents(Serving serving);

}  // namespace muster::channel
