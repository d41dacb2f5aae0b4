// SPDX-License-Identifier: Apache-2.0
#include "train/optimizer_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>

namespace muster {
namespace {

using Make = std::function<std::unique_ptr<torch::optim::Optimizer>(
    std::vector<torch::Tensor>)>;

struct Sample {
  std::string name;
  Make make;
};

std::string NameOf(const testing::TestParamInfo<Sample>& info) {
  return info.param.name;
}

template <typename Optimizer, typename Options>
Sample For(std::string name, Options options) {
  return {std::move(name), [options](std::vector<torch::Tensor> parameters) {
            return std::make_unique<Optimizer>(std::move(parameters), options);
          }};
}

class OptimizerStateOf : public testing::TestWithParam<Sample> {};

// A parameter, its optimizer and a few steps.
struct Training {
  torch::Tensor weight = torch::ones({4}, torch::requires_grad());
  std::unique_ptr<torch::optim::Optimizer> optimizer;
  explicit Training(const Make& make) : optimizer(make({weight})) {}
  OptimizerState State() {
    return OptimizerState::Make(*optimizer, {{"weight", weight}}).value();
  }
  void Step(int times) {
    for (int i = 0; i < times; ++i) {
      weight.mutable_grad() = weight.detach() * 0.5 + 0.1;
      optimizer->step();
    }
  }
};

std::vector<TensorSpec> SpecsOf(const std::vector<NamedTensor>& tensors) {
  std::vector<TensorSpec> specs;
  for (const NamedTensor& named : tensors) {
    specs.push_back(SpecOf(named, DTypeOf(named).value()));
  }
  return specs;
}

TEST_P(OptimizerStateOf, GoesOnWhereAnotherOneStopped) {
  Training whole(GetParam().make);
  whole.Step(5);
  Training first(GetParam().make);
  first.Step(3);
  std::vector<NamedTensor> saved = first.State().Tensors();

  Training rest(GetParam().make);
  rest.weight.set_data(first.weight.detach().clone());
  OptimizerState state = rest.State();
  ASSERT_TRUE(state.Expect(SpecsOf(saved)));
  std::vector<NamedTensor> places = state.Tensors();
  ASSERT_EQ(places.size(), saved.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    EXPECT_EQ(places[i].name, saved[i].name);
    places[i].tensor.copy_(saved[i].tensor);
  }
  state.Put(places);
  rest.Step(2);
  EXPECT_TRUE(torch::equal(rest.weight, whole.weight));
}

INSTANTIATE_TEST_SUITE_P(
    All, OptimizerStateOf,
    testing::Values(
        For<torch::optim::Adam>("Adam", torch::optim::AdamOptions(0.1)),
        For<torch::optim::Adam>("Amsgrad",
                                torch::optim::AdamOptions(0.1).amsgrad(true)),
        For<torch::optim::AdamW>("AdamW", torch::optim::AdamWOptions(0.1)),
        For<torch::optim::SGD>("Sgd", torch::optim::SGDOptions(0.1)),
        For<torch::optim::SGD>("Momentum",
                               torch::optim::SGDOptions(0.1).momentum(0.9)),
        For<torch::optim::RMSprop>(
            "RMSprop", torch::optim::RMSpropOptions(0.1).momentum(0.9)),
        For<torch::optim::Adagrad>("Adagrad",
                                   torch::optim::AdagradOptions(0.1))),
    NameOf);

Make PlainAdam() {
  return For<torch::optim::Adam>("", torch::optim::AdamOptions(0.25)).make;
}

TEST(OptimizerState, NamesAFieldThatItDoesNotHave) {
  Training run(PlainAdam());
  Status status =
      run.State().Expect({{{.name = "optimizer/weight/momentum_buffer",
                            .dtype = DType::kFloat32,
                            .shape = {4}}}});
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().cause(), Cause::kCkptMismatch);
  EXPECT_THAT(status.error().message(),
              testing::HasSubstr("optimizer/weight/momentum_buffer"));
}

TEST(OptimizerState, RefusesTensorsThatAreNotTheModels) {
  Training run(PlainAdam());
  auto state = OptimizerState::Make(*run.optimizer, {});
  ASSERT_FALSE(state);
  EXPECT_EQ(state.error().cause(), Cause::kUsageInvalid);
}

TEST(OptimizerState, CarriesTheLearningRateExactly) {
  Training from(PlainAdam());
  from.optimizer->param_groups()[0].options().set_lr(0.1 + 0.2);
  Training to(PlainAdam());
  to.State().PutWords(from.State().Words(), false);
  EXPECT_EQ(to.optimizer->param_groups()[0].options().get_lr(), 0.1 + 0.2);
}

}  // namespace
}  // namespace muster
