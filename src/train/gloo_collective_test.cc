// SPDX-License-Identifier: Apache-2.0
#include "train/gloo_collective.h"

#include <torch/torch.h>

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include <thread>

#include "collective/conformance.h"

namespace muster {
namespace {

using c10::intrusive_ptr;

CollectiveKind GlooKind() {
  return {.name = "Gloo",
          .share =
              [](int) {
                return std::make_shared<intrusive_ptr<c10d::Store>>(
                    c10::make_intrusive<c10d::HashStore>());
              },
          .make =
              [](int rank, int size, void* shared, wire::Board& board) {
                return MakeGlooOver(
                    *static_cast<intrusive_ptr<c10d::Store>*>(shared),
                    {.rank = rank,
                     .size = size,
                     .host = "127.0.0.1",
                     .board = &board},
                    Deadline::After(std::chrono::seconds(30)));
              },
          .names_mismatches = false};
}

INSTANTIATE_TEST_SUITE_P(Gloo, CollectiveConformance,
                         testing::Values(GlooKind()), NameOfKind);

TEST(Gloo, SaysWithWhomItCouldNotConnect) {
  auto group = MakeGlooOver(c10::make_intrusive<c10d::HashStore>(),
                            {.rank = 1, .size = 2, .host = "127.0.0.1"},
                            Deadline::After(std::chrono::milliseconds(200)));
  ASSERT_FALSE(group);
  EXPECT_EQ(group.error().cause(), Cause::kDeadlineExceeded)
      << group.error().ToText();
  EXPECT_THAT(group.error().message(), testing::HasSubstr("rank 0"));
}

// A rank may be long at something else, a checkpoint, while others wait.
TEST(Gloo, AWaitMayTakeLongerThanConnecting) {
  constexpr std::chrono::seconds kConnecting(2);
  const auto store = c10::make_intrusive<c10d::HashStore>();
  auto join = [&](int rank, std::chrono::seconds busy) -> Status {
    MUSTER_ASSIGN(
        auto group,
        MakeGlooOver(store, {.rank = rank, .size = 2, .host = "127.0.0.1"},
                     Deadline::After(kConnecting)));
    std::this_thread::sleep_for(busy);  // the checkpoint
    return Barrier(*group, Deadline::After(std::chrono::seconds(30)));
  };
  Status late = Ok();
  std::thread other([&] { late = join(1, kConnecting + kConnecting / 2); });
  const Status waits = join(0, std::chrono::seconds(0));
  other.join();
  EXPECT_TRUE(waits) << waits.error().ToText();
  EXPECT_TRUE(late) << late.error().ToText();
}

}  // namespace
}  // namespace muster
