// SPDX-License-Identifier: Apache-2.0
// What an agent says of itself: a hello that is read writes itself as one that
// reads the same.
#include <string>

#include "base/json.h"
#include "tests/fuzz/fuzz.h"
#include "wire/hello.h"

void Fuzz(const std::string& bytes) {
  namespace wire = muster::wire;
  const auto hello = wire::ParseHello(bytes);
  if (hello && hello->protocol == wire::kProtocol &&
      hello->messages == wire::kMessageVersion) {
    const auto again = wire::ParseHello(muster::Dump(ToJson(*hello)));
    MUSTER_CHECK(again && *again == *hello);
    MUSTER_CHECK(!wire::Incompatible(*hello, *again));
  }
}
