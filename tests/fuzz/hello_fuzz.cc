// SPDX-License-Identifier: Apache-2.0
// What an agent says of itself, and refusals: a hello that is read writes
// itself as one that reads the same.
#include <cstddef>
#include <cstdint>
#include <string>

#include "connect/greeting.h"
#include "connect/hello.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  namespace connect = muster::connect;
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto hello = connect::ParseHello(bytes);
  if (hello && hello->protocol == connect::kProtocol) {
    const auto again =
        connect::ParseHello(connect::HelloMessage("hello", *hello).body);
    MUSTER_CHECK(again && *again == *hello);
    MUSTER_CHECK(!connect::Incompatible(*hello, *again));
  }
  MUSTER_CHECK(!connect::RefusalFrom(bytes).message().empty() || size > 0);
  return 0;
}
