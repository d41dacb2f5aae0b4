// SPDX-License-Identifier: Apache-2.0
#include "muster/collective.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "collective/calls.h"

namespace muster {
namespace {

TEST(Alone, EveryOperationIsCompleteAtOnce) {
  const auto group = MakeAlone();
  EXPECT_EQ(group->size(), 1);
  EXPECT_EQ(group->name(), "alone");
  std::vector<float> values{1, 2, 3};
  std::vector<float> gathered(3);
  const Deadline now = Deadline::After(Duration::zero());
  const Buffer buffer{.data = values.data(), .count = 3};
  EXPECT_TRUE(AllReduce(*group, buffer, now));
  EXPECT_TRUE(Broadcast(*group, buffer, 0, now));
  EXPECT_TRUE(
      AllGather(*group, buffer, {.data = gathered.data(), .count = 3}, now));
  EXPECT_TRUE(Barrier(*group, now));
  EXPECT_EQ(gathered, values);
}

TEST(Alone, ReportsWhatIsNotFinite) {
  const auto group = MakeAlone();
  double value = std::nan("");
  const auto done =
      group
          ->StartAllReduce(
              {.data = &value, .count = 1, .dtype = DType::kFloat64},
              {.check_finite = true})
          .value()
          ->Wait(Deadline::After(Duration::zero()), {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().cause(), Cause::kNumericsNan);
  EXPECT_FALSE(group->StartBarrier());
}

TEST(Alone, GivesZeroedAlignedMemory) {
  const auto group = MakeAlone();
  auto* data = static_cast<char*>(group->Allocate(1000).value());
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0U);
  EXPECT_EQ(std::count(data, data + 1000, 0), 1000);
}

CallRecord Reduce(std::uint64_t count) {
  return {.sequence = 4, .kind = CallKind::kAllReduce, .count = count};
}

TEST(Calls, AgreeWhenAllFieldsDo) {
  EXPECT_FALSE(FindMismatch(std::vector{Reduce(5), Reduce(5), Reduce(5)}));
}

TEST(Calls, StagedDataMayLieAnywhere) {
  auto calls = std::vector{Reduce(5), Reduce(5)};
  calls[1].offset = 64;
  EXPECT_TRUE(FindMismatch(calls));
  calls[1].staged = true;
  EXPECT_FALSE(FindMismatch(calls));
}

TEST(Calls, NameTheFirstRankThatDiffers) {
  const auto mismatch =
      FindMismatch(std::vector{Reduce(5), Reduce(5), Reduce(6)});
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->message(),
            "rank 0 calls all-reduce of 5 F32 (operation 4), rank 2 calls "
            "all-reduce of 6 F32 (operation 4)");
}

TEST(Calls, AnotherRanksBytesAreNotTrusted) {
  auto calls = std::vector{Reduce(5), Reduce(5)};
  calls[1].dtype = static_cast<DType>(200);
  calls[1].kind = static_cast<CallKind>(77);
  const auto mismatch = FindMismatch(calls);
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->cause(), Cause::kCollectiveDesync);
}

TEST(Calls, DeadlineNamesEveryLateRank) {
  const Error error = DeadlineError(
      Reduce(5), {.late = {1, 3}, .waited = std::chrono::seconds(2)});
  EXPECT_EQ(error.message(),
            "ranks 1, 3 have not entered the all-reduce of 5 F32 (operation 4) "
            "within 2.0 s");
  EXPECT_EQ(error.evidence().size(), 1U);
}

}  // namespace
}  // namespace muster
