// SPDX-License-Identifier: Apache-2.0
#include "muster/error.h"

#include <gtest/gtest.h>

#include "muster/retry.h"

namespace muster {
namespace {

Result<int> Half(int n) {
  if (n % 2 != 0) {
    return Error(Cause::kUsageInvalid, std::to_string(n) + " is odd");
  }
  return n / 2;
}

Result<int> Quarter(int n) {
  MUSTER_ASSIGN(const int half, Half(n));
  MUSTER_ASSIGN(const int quarter, Half(half));
  return quarter;
}

TEST(Result, CarriesTheValueThroughAssign) {
  EXPECT_EQ(*Quarter(8), 2);
}

TEST(Result, CarriesTheFirstErrorThroughAssign) {
  auto result = Quarter(6);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().cause(), Cause::kUsageInvalid);
  EXPECT_EQ(result.error().message(), "3 is odd");
}

TEST(ResultDeathTest, AbortsWhenAFailedOneIsRead) {
  EXPECT_DEATH({ (void)Half(3).value(); }, "usage-invalid: 3 is odd");
}

TEST(Error, IsToldInOtherWordsWithAllThatIsKnown) {
  const auto error = Error(Cause::kPeerDied, "rank 3 is gone")
                         .With({.name = "exit.signal", .subject = "rank 3"})
                         .While("training");
  const Error told = error.Reworded("worker 3 is gone");
  EXPECT_EQ(told.ToString(), "peer-died: worker 3 is gone (training)");
  ASSERT_EQ(told.evidence().size(), 1);
  EXPECT_EQ(told.evidence().front().name, "exit.signal");
}

TEST(Error, NamesCauseMessageAndContext) {
  auto error = Error(Cause::kPeerDied, "rank 3 is gone")
                   .While("reducing bucket 0")
                   .Then(Error(Cause::kCancelled, "stopped"));
  EXPECT_EQ(error.cause(), Cause::kPeerDied);
  EXPECT_EQ(error.ToString(),
            "peer-died: rank 3 is gone (reducing bucket 0) "
            "(then cancelled: stopped)");
}

TEST(Cause, LabelLeadsBackToTheCause) {
  for (Cause cause : AllCauses()) {
    EXPECT_EQ(CauseFromLabel(Label(cause)), cause) << Label(cause);
  }
  EXPECT_EQ(CauseFromLabel("no-such-cause"), std::nullopt);
}

TEST(RetryTransient, RepeatsATransientCauseUntilItHeals) {
  int calls = 0;
  auto result = RetryTransient(
      Deadline::After(std::chrono::seconds(10)), [&]() -> Result<int> {
        if (++calls < 3) {
          return Error(Cause::kNetPortInUse, "port 1 is taken");
        }
        return calls;
      });
  EXPECT_EQ(*result, 3);
}

TEST(RetryTransient, DoesNotRepeatWhatNeedsAChange) {
  int calls = 0;
  auto result = RetryTransient(
      Deadline::After(std::chrono::seconds(10)), [&]() -> Status {
        ++calls;
        return Error(Cause::kAppException, "exit status 1");
      });
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(result.error().cause(), Cause::kAppException);
}

TEST(RetryTransient, EndsAtOnceOnAStop) {
  std::stop_source stop;
  stop.request_stop();
  int calls = 0;
  auto result = RetryTransient(
      Deadline::After(std::chrono::hours(1)),
      [&]() -> Status {
        ++calls;
        return Error(Cause::kPeerDied, "gone");
      },
      stop.get_token());
  EXPECT_EQ(calls, 1);
  EXPECT_FALSE(result);
}

}  // namespace
}  // namespace muster
