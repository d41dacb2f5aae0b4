// SPDX-License-Identifier: Apache-2.0
#include "train/optimizer_step.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace muster {
namespace {

using torch::optim::Adam;
using torch::optim::AdamOptions;
using torch::optim::AdamW;
using torch::optim::AdamWOptions;

// Two equal sets of parameters: one stepped by torch, one by us.
template <typename Optimizer, typename Options>
void ExpectTheSameSteps(const Options& options) {
  torch::manual_seed(7);
  const std::vector<torch::Tensor> starts = {
      torch::randn({37, 5}), torch::randn({3}),
      torch::randn({4, 6, 3, 3}).contiguous(torch::MemoryFormat::ChannelsLast)};
  std::vector<torch::Tensor> theirs;
  std::vector<torch::Tensor> ours;
  for (const torch::Tensor& start : starts) {
    theirs.push_back(start.clone().requires_grad_());
    ours.push_back(start.clone().requires_grad_());
  }
  Optimizer torch_optimizer(theirs, options);
  Optimizer our_optimizer(ours, options);
  ASSERT_TRUE(IsFused(our_optimizer));
  for (int step = 0; step < 50; ++step) {
    for (std::size_t i = 0; i < starts.size(); ++i) {
      const torch::Tensor gradient = torch::randn_like(starts[i]);
      theirs[i].mutable_grad() = gradient.clone();
      ours[i].mutable_grad() = gradient.clone();
    }
    torch_optimizer.step();
    StepOptimizer(our_optimizer);
  }
  for (std::size_t i = 0; i < starts.size(); ++i) {
    EXPECT_TRUE(torch::allclose(theirs[i], ours[i], 1e-5, 1e-6)) << i;
    EXPECT_FALSE(torch::equal(starts[i], ours[i])) << i;
  }
}

TEST(StepOptimizer, StepsAsTorchsAdam) {
  ExpectTheSameSteps<Adam>(AdamOptions(1e-2));
  ExpectTheSameSteps<Adam>(
      AdamOptions(1e-2).betas({0.8, 0.99}).eps(1e-3).weight_decay(0.1));
}

TEST(StepOptimizer, StepsAsTorchsAdamW) {
  ExpectTheSameSteps<AdamW>(AdamWOptions(1e-2).weight_decay(0.1));
}

TEST(StepOptimizer, LeavesTheStateThatTorchGoesOnWith) {
  auto parameter = torch::ones({4}).requires_grad_();
  Adam optimizer({parameter}, AdamOptions(0.1));
  parameter.mutable_grad() = torch::ones({4});
  const auto version = parameter._version();
  StepOptimizer(optimizer);
  EXPECT_GT(parameter._version(), version);
  optimizer.step();
  ASSERT_EQ(optimizer.state().size(), 1U);
  const auto& state = static_cast<torch::optim::AdamParamState&>(
      *optimizer.state().begin()->second);
  EXPECT_EQ(state.step(), 2);
  EXPECT_TRUE(torch::allclose(parameter, torch::full({4}, 0.8)));
}

TEST(StepOptimizer, PassesOverParametersWithoutAGradient) {
  auto with = torch::ones({2}).requires_grad_();
  auto without = torch::ones({2}).requires_grad_();
  Adam optimizer({without, with}, AdamOptions(0.1));
  with.mutable_grad() = torch::ones({2});
  StepOptimizer(optimizer);
  EXPECT_TRUE(torch::equal(without, torch::ones({2})));
  EXPECT_TRUE(torch::allclose(with, torch::full({2}, 0.9)));
}

// Another step() than Adam's must be called.
class Mine : public Adam {
 public:
  using Adam::Adam;
  torch::Tensor step(LossClosure) override {
    ++steps;
    return {};
  }
  int steps = 0;
};

TEST(StepOptimizer, LeavesTheRestToTorch) {
  auto single = torch::ones({2}).requires_grad_();
  auto wide = torch::ones({2}, torch::kFloat64).requires_grad_();
  EXPECT_FALSE(IsFused(Adam({single}, AdamOptions().amsgrad(true))));
  EXPECT_FALSE(IsFused(Adam({single, wide}, AdamOptions())));
  EXPECT_FALSE(IsFused(torch::optim::SGD({single}, 0.5)));
  Mine mine({single}, AdamOptions());
  EXPECT_FALSE(IsFused(mine));
  StepOptimizer(mine);
  EXPECT_EQ(mine.steps, 1);

  torch::optim::SGD sgd({single}, 0.5);
  single.mutable_grad() = torch::ones({2});
  StepOptimizer(sgd);
  EXPECT_TRUE(torch::equal(single, torch::full({2}, 0.5)));

  Adam adam({wide}, AdamOptions(0.1));
  wide.mutable_grad() = torch::ones({2}, torch::kFloat64);
  StepOptimizer(adam);
  EXPECT_TRUE(torch::allclose(wide, torch::full({2}, 0.9, torch::kFloat64)));
}

}  // namespace
}  // namespace muster
