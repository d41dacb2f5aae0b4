// SPDX-License-Identifier: Apache-2.0
// Frames between rank and agent: what is taken off a stream writes itself as
// the bytes it was, and its value may be taken for a membership.
#include <cstdint>
#include <string>

#include "member/membership.h"
#include "tests/fuzz/fuzz.h"
#include "wire/rank_frame.h"

void Fuzz(const std::string& bytes) {
  const std::string& stream = bytes;
  std::string buffer = stream;
  std::string again;
  for (;;) {
    const auto message = muster::wire::TakeMessage(buffer);
    if (!message || !*message) {
      break;
    }
    again += muster::wire::Encode(**message);
    MUSTER_CHECK(again + buffer == stream);
    const auto membership = muster::ParseMembership((*message)->value);
    MUSTER_CHECK(!membership || membership->local_size <= 256);
  }
}
