// SPDX-License-Identifier: Apache-2.0
// What an agent says of itself, and refusals: a hello that is read writes
// itself as one that reads the same.
#include <cstdint>
#include <string>

#include "channel/handshake.h"
#include "tests/fuzz/fuzz.h"
#include "wire/hello.h"

void Fuzz(const std::string& bytes) {
  const auto hello = muster::wire::ParseHello(bytes);
  if (hello && hello->protocol == muster::wire::kProtocol) {
    const auto again = muster::wire::ParseHello(
        muster::channel::HelloMessage("hello", *hello).body);
    MUSTER_CHECK(again && *again == *hello);
    MUSTER_CHECK(!muster::wire::Incompatible(*hello, *again));
  }
  MUSTER_CHECK(!muster::channel::RefusalFrom(bytes).message().empty());
}
