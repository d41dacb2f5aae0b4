// SPDX-License-Identifier: Apache-2.0
// The transport between hosts: gRPC, service muster.v1.Agent.
#pragma once

#include <memory>

#include "connect/transport.h"
#include "muster/error.h"
#include "sys/clock.h"
#include "sys/loop.h"

namespace muster::connect {

// Agents talk in clear text so far and prove to nobody who they are. So this
// transport listens and speaks on the loopback interface only: elsewhere Listen
// and Dial give usage-invalid, and Identify shows kClosed for an address that
// can be reached. References outlive it. It ends within a second or, while an
// address is looked at that gives no answer, when that look has ended (2 s).
//
// usage-invalid in a build without gRPC.
Result<std::unique_ptr<Transport>> MakeGrpcTransport(sys::Loop& loop,
                                                     sys::Clock& clock);

}  // namespace muster::connect
