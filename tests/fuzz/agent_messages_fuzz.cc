// SPDX-License-Identifier: Apache-2.0
// Messages between agents: a line with the kind, then the body. What one side
// reads writes itself as a message that reads and writes the same.
#include <string>

#include "tests/fuzz/fuzz.h"
#include "wire/agent_messages.h"

namespace {

namespace wire = muster::wire;

wire::Envelope Written(const auto& message) {
  return wire::Dispatch(message,
                        [](const auto& one) { return wire::Encode(one); });
}

template <auto kParse>
void Try(const wire::Envelope& message) {
  const auto read = kParse(message);
  if (!read) {
    return CheckError(read.error());
  }
  const auto written = Written(*read);
  const auto again = kParse(written);
  MUSTER_CHECK(again && written.kind == message.kind);
  MUSTER_CHECK(Written(*again).body == written.body);
  if constexpr (std::is_same_v<std::decay_t<decltype(*read)>, wire::ToAgent>) {
    if (const auto* refused = std::get_if<wire::Refused>(&*read)) {
      MUSTER_CHECK(!wire::ErrorOf(*refused).message().empty());
    }
  }
}

}  // namespace

void Fuzz(const std::string& bytes) {
  const auto line = bytes.find('\n');
  if (line != std::string::npos) {
    const wire::Envelope message{.kind = bytes.substr(0, line),
                                 .body = bytes.substr(line + 1)};
    Try<wire::ParseToAgent>(message);
    Try<wire::ParseToCoordinator>(message);
  }
}
