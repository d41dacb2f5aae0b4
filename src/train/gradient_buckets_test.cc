// SPDX-License-Identifier: Apache-2.0
#include "train/gradient_buckets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "train/testing.h"

namespace muster {
namespace {

// y = (a * x).sum() + (b * x).sum(), so that each gradient is x.
struct Lines {
  torch::Tensor a = torch::ones({3}, torch::requires_grad());
  torch::Tensor b = torch::ones({3}, torch::requires_grad());
  std::unique_ptr<Collective> group = MakeAlone();
  std::unique_ptr<GradientBuckets> buckets;

  explicit Lines(std::size_t bucket_bytes = 1024) {
    auto made = GradientBuckets::Make(*group, {{"a", a}, {"b", b}},
                                      {bucket_bytes, bucket_bytes});
    EXPECT_TRUE(made) << made.error().ToString();
    buckets = *std::move(made);
  }
  Status Backward(const torch::Tensor& x) {
    buckets->Begin();
    ((a * x).sum() + (b * x).sum()).backward();
    return Finish();
  }
  Status Finish() {
    return buckets->Finish(Deadline::After(std::chrono::seconds(10)), {});
  }
};

TEST(GradientBuckets, KeepGradientsInOnePlace) {
  Lines lines;
  const void* place = nullptr;
  for (float value : {1.0F, 2.0F, 3.0F}) {
    ASSERT_TRUE(lines.Backward(torch::full({3}, value)));
    EXPECT_TRUE(torch::equal(lines.a.grad(), torch::full({3}, value)));
    EXPECT_TRUE(place == nullptr || place == lines.a.grad().data_ptr());
    place = lines.a.grad().data_ptr();
  }
}

TEST(GradientBuckets, LayParametersInReverseBesideEachOther) {
  Lines lines;
  lines.buckets->Begin();
  auto* a = static_cast<std::byte*>(lines.a.grad().data_ptr());
  auto* b = static_cast<std::byte*>(lines.b.grad().data_ptr());
  EXPECT_EQ(a - b, 64);
  EXPECT_EQ(lines.buckets->buckets(), 1U);
  EXPECT_EQ(Lines(64).buckets->buckets(), 2U);
}

TEST(GradientBuckets, BringHomeAGradientThatWasReplaced) {
  Lines lines;
  lines.buckets->Begin();
  const void* place = lines.a.grad().data_ptr();
  lines.a.mutable_grad() = torch::Tensor();
  (lines.a * torch::full({3}, 5.0)).sum().backward();
  ASSERT_TRUE(lines.Finish());
  EXPECT_EQ(lines.a.grad().data_ptr(), place);
  EXPECT_TRUE(torch::equal(lines.a.grad(), torch::full({3}, 5.0)));
}

TEST(GradientBuckets, CountAMissingGradientAsZero) {
  Lines lines;
  ASSERT_TRUE(lines.Backward(torch::ones({3})));
  lines.buckets->Begin();
  (lines.a * 2).sum().backward();
  ASSERT_TRUE(lines.Finish());
  EXPECT_TRUE(torch::equal(lines.b.grad(), torch::zeros({3})));
}

TEST(GradientBuckets, RefuseASecondBackwardInOneStep) {
  Lines lines;
  lines.buckets->Begin();
  (lines.a * 2).sum().backward();
  (lines.a * 2).sum().backward();
  Status status = lines.Finish();
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().cause(), Cause::kUsageInvalid);
}

TEST(GradientBuckets, IgnoreABackwardOutsideOfAStep) {
  Lines lines;
  ASSERT_TRUE(lines.Backward(torch::ones({3})));
  (lines.a * 2).sum().backward();
  (lines.a * 2).sum().backward();
  EXPECT_TRUE(lines.Backward(torch::ones({3})));
}

TEST(GradientBuckets, TakeTheirHooksOffAtTheEnd) {
  Lines lines;
  lines.buckets->Begin();
  lines.buckets.reset();
  (lines.a * 2).sum().backward();
  EXPECT_TRUE(torch::equal(lines.a.grad(), torch::full({3}, 2.0)));
}

TEST(GradientBuckets, CarryEveryFloatingTypeAndTheLoss) {
  auto group = MakeAlone();
  torch::Tensor half = torch::ones({2}, torch::kBFloat16).requires_grad_();
  torch::Tensor full = torch::ones({2}, torch::kFloat64).requires_grad_();
  auto buckets =
      GradientBuckets::Make(*group, {{"half", half}, {"full", full}}, {9, 9});
  ASSERT_TRUE(buckets) << buckets.error().ToString();
  (*buckets)->Begin();
  (*buckets)->SetLoss(0.1);
  (half.sum().to(torch::kFloat64) + full.sum()).backward();
  ASSERT_TRUE((*buckets)->Finish(Deadline::After(std::chrono::seconds(1)), {}));
  EXPECT_EQ((*buckets)->loss(), 0.1);
  EXPECT_EQ(half.grad().scalar_type(), torch::kBFloat16);
}

TEST(GradientBuckets, SumOverRanksAsIfTheyWereOne) {
  ThreadCluster(3).Run([](MultiWorkerMirrored& strategy) {
    torch::Tensor a = torch::ones({1000}, torch::requires_grad());
    auto buckets =
        GradientBuckets::Make(strategy.group(), {{"a", a}}, {512, 512});
    ASSERT_TRUE(buckets);
    (*buckets)->Begin();
    (*buckets)->SetLoss(strategy.rank());
    (a * (strategy.rank() + 1)).sum().backward();
    ASSERT_TRUE(
        (*buckets)->Finish(Deadline::After(std::chrono::seconds(10)), {}));
    EXPECT_TRUE(torch::equal(a.grad(), torch::full({1000}, 6.0)));
    EXPECT_EQ((*buckets)->loss(), 3.0);
  });
}

TEST(GradientBuckets, NameATensorThatCannotBeReduced) {
  auto group = MakeAlone();
  torch::Tensor z = torch::ones({2}, torch::kComplexFloat).requires_grad_();
  auto buckets = GradientBuckets::Make(*group, {{"z", z}}, {64, 64});
  ASSERT_FALSE(buckets);
  EXPECT_THAT(buckets.error().message(), testing::HasSubstr("`z`"));
}

}  // namespace
}  // namespace muster
