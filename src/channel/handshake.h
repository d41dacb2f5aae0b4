// SPDX-License-Identifier: Apache-2.0
// The first messages of a link and the calls of the coordinator.
//
//   agent -> coordinator   identity (Hello)
//   coordinator -> agent   welcome (Hello of the coordinator), or
//                          refused {"cause", "message", "evidence": [Fact]},
//                          after which the link is closed
//   coordinator -> agent   call {"attempt": N}
//   agent -> coordinator   hello (Hello)
//
// All versions of the protocol begin so, that they can say why they part.
#pragma once

#include "channel/link.h"
#include "muster/error.h"
#include "wire/hello.h"

namespace muster::channel {

inline constexpr const char* kIdentity = "identity";
inline constexpr const char* kWelcome = "welcome";
inline constexpr const char* kRefused = "refused";
inline constexpr const char* kCall = "call";
inline constexpr const char* kHello = "hello";

// Bytes that are no UTF-8 (a host name, a command) are replaced.
Envelope HelloMessage(const char* kind, const wire::Hello& hello);
Envelope CallMessage(int attempt);
Envelope Refusal(const Error& error);
// The error that a refusal tells; net-wrong-endpoint when it is none.
Error RefusalFrom(const std::string& body);

}  // namespace muster::channel
