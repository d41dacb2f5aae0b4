// SPDX-License-Identifier: Apache-2.0
#include "program/fit/fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::program {
namespace {

using ::testing::HasSubstr;

constexpr double kGiB = 1 << 30;

FitRequest Request(const char* optimizer, const char* dtype,
                   const char* activations) {
  return {.params = 1e9,
          .optimizer = optimizer,
          .dtype = dtype,
          .activations = activations};
}

// Bytes of a term, by its name.
double TermOf(const Fit& fit, std::string_view name) {
  for (const FitTerm& term : fit.terms) {
    if (term.name == name) {
      return term.bytes;
    }
  }
  return -1;
}

TEST(ParseParams, ReadsUnits) {
  EXPECT_EQ(ParseParams("1.3B").value(), 1.3e9);
  EXPECT_EQ(ParseParams("350m").value(), 350e6);
  EXPECT_EQ(ParseParams("12").value(), 12);
  for (const char* text : {"", "B", "1.2.3B", "-1", "1e9", "0", "9999999T"}) {
    EXPECT_FALSE(ParseParams(text)) << text;
  }
}

TEST(EstimateFit, AddsWhatAdamInF32Keeps) {
  const auto fit = EstimateFit(Request("adam", "f32", "1000000000"), 8);
  ASSERT_TRUE(fit) << fit.error().ToString();
  EXPECT_EQ(TermOf(*fit, "weights"), 4e9);
  EXPECT_EQ(TermOf(*fit, "gradients"), 4e9);
  EXPECT_EQ(TermOf(*fit, "optimizer states"), 8e9);
  EXPECT_EQ(TermOf(*fit, "activations"), 1e9);
  EXPECT_DOUBLE_EQ(fit->bytes, 17e9 * 1.05);
}

TEST(EstimateFit, DividesStateAndNotActivations) {
  FitRequest request = Request("adam", "mixed", "1000000000");
  request.sharded = true;
  const auto fit = EstimateFit(request, 4);
  ASSERT_TRUE(fit);
  EXPECT_EQ(TermOf(*fit, "weights"), 1e9);
  EXPECT_EQ(TermOf(*fit, "weights' copy"), 0.5e9);
  EXPECT_EQ(TermOf(*fit, "activations"), 1e9);
}

TEST(EstimateFit, KnowsWhatATransformerKeeps) {
  const char* shape =
      "layers=24,hidden=1024,heads=16,sequence=1024,batch=8,vocab=32000";
  const auto all = EstimateFit(Request("sgd", "bf16", shape), 1);
  ASSERT_TRUE(all) << all.error().ToString();
  EXPECT_NEAR(TermOf(*all, "activations"), 33.8e9, 0.2e9);
  const auto remat = EstimateFit(
      Request("sgd", "bf16", (std::string(shape) + ",remat").c_str()), 1);
  ASSERT_TRUE(remat);
  EXPECT_LT(TermOf(*remat, "activations"), 5e9);
}

TEST(EstimateFit, SaysWhatIsWrong) {
  EXPECT_THAT(EstimateFit(Request("adamm", "f32", "1"), 1).error().message(),
              HasSubstr("--optimizer is `adamm`"));
  EXPECT_FALSE(EstimateFit(Request("adam", "f8", "1"), 1));
  EXPECT_THAT(
      EstimateFit(Request("adam", "f32", "layers=2"), 1).error().message(),
      HasSubstr("it has no hidden"));
  EXPECT_FALSE(EstimateFit(Request("adam", "f32", "many"), 1));
}

TEST(SmallestThatFits, IsTheFirstWithEnough) {
  EXPECT_EQ(SmallestThatFits(1)->memory, 8'034'172'928);
  EXPECT_GE(SmallestThatFits(40 * kGiB)->memory, 40 * kGiB);
  EXPECT_EQ(SmallestThatFits(1e15), nullptr);
}

TEST(DevicesThatFit, GrowUntilTheShareFits) {
  const accelerator::Specs* v5e = accelerator::FindSpecs("v5e");
  const FitRequest request{
      .params = 7e9, .dtype = "bf16", .activations = "4000000000"};
  EXPECT_EQ(DevicesThatFit(request, *v5e).value(), std::optional(8));
  const FitRequest never{
      .params = 1, .dtype = "bf16", .activations = "40000000000"};
  EXPECT_EQ(DevicesThatFit(never, *v5e).value(), std::nullopt);
}

}  // namespace
}  // namespace muster::program
