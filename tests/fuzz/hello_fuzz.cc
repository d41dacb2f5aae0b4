// SPDX-License-Identifier: Apache-2.0
// What an agent says of itself, and refusals: a hello that is read writes
// itself as one that reads the same.
#include <cstdint>
#include <string>

#include "channel/handshake.h"
#include "tests/fuzz/fuzz.h"
#include "wire/hello.h"

void Fuzz(const std::string& bytes) {
  namespace connect = muster::connect;
  const auto hello = connect::ParseHello(bytes);
  if (hello && hello->protocol == connect::kProtocol) {
    const auto again =
        connect::ParseHello(connect::HelloMessage("hello", *hello).body);
    MUSTER_CHECK(again && *again == *hello);
    MUSTER_CHECK(!connect::Incompatible(*hello, *again));
  }
  MUSTER_CHECK(!connect::RefusalFrom(bytes).message().empty());
}
