// SPDX-License-Identifier: Apache-2.0
// The transport between hosts: gRPC, service muster.v1.Agent.
#pragma once

#include <memory>

#include "channel/security/certificate_store.h"
#include "channel/transport.h"
#include "muster/error.h"
#include "sys/time/clock.h"
#include "sys/time/loop.h"

namespace muster::channel {

// With a keyring agents prove to each other who they are (mutual TLS). Without
// one they talk in clear text, so this transport listens and speaks on the
// loopback interface only: elsewhere Listen and Dial give usage-invalid, and
// Identify shows kClosed for an address that can be reached. References outlive
// it. It ends within a second or, while an address is looked at that gives no
// answer, when that look has ended (2 s).
//
// usage-invalid in a build without gRPC.
Result<std::unique_ptr<Transport>> MakeGrpcTransport(
    sys::Loop& loop, sys::Clock& clock,
    std::shared_ptr<Keyring> keyring = nullptr);

}  // namespace muster::channel
