// SPDX-License-Identifier: Apache-2.0
#include "channel/in_process.h"

#include <gtest/gtest.h>

#include "channel/transport_conformance.h"

namespace muster::channel {
namespace {

struct InProcessHosts : TransportUnderTest {
  explicit InProcessHosts(sys::Loop& loop)
      : first(loop, network), second(loop, network) {}
  Transport& one() override { return first; }
  Transport& other() override { return second; }

  InProcessNetwork network;
  InProcessTransport first;
  InProcessTransport second;
};

INSTANTIATE_TEST_SUITE_P(InProcess, TransportTest,
                         ::testing::Values(TransportKind{
                             "in_process",
                             [](sys::Loop& loop) {
                               return std::make_unique<InProcessHosts>(loop);
                             }}),
                         [](const auto& kind) { return kind.param.name; });

TEST(InProcessTransport, ShowsAFaultAndASilentOneAtTheDeadline) {
  auto loop = std::move(*sys::Loop::Make());
  InProcessNetwork network;
  InProcessTransport transport(*loop, network);
  const Address address{"127.0.0.1", 9};
  network.faults[address] =
      Unlike(Sight::kSilent, Error(Cause::kNetWrongEndpoint, "says nothing"));
  const auto deadline = Deadline::After(std::chrono::milliseconds(20));
  std::optional<Sighting> seen;
  bool early = false;
  transport.Identify(address, deadline, [&](Sighting sighting) {
    early = !deadline.Expired();
    seen = std::move(sighting);
  });
  ASSERT_TRUE(
      channel::testing::RunUntil(*loop, [&] { return seen.has_value(); }));
  EXPECT_EQ(seen->what, Sight::kSilent);
  EXPECT_FALSE(early);
}

}  // namespace
}  // namespace muster::channel
