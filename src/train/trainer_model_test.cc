// SPDX-License-Identifier: Apache-2.0
// What a trainer does with the modules of a model: shared, frozen, evaluated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <utility>
#include <vector>

#include "muster/train.h"
#include "train/testing.h"

namespace muster {
namespace {

using testing::HasSubstr;

// A module that stands in a model twice has one gradient, however often it is
// named.
TEST(Trainer, SumsTheGradientOfASharedModuleOnce) {
  ToyDataset data(96);
  std::vector<torch::Tensor> weights;
  for (const int workers : {1, 2}) {
    std::mutex mutex;
    ThreadCluster(workers).Run([&](MultiWorkerMirrored& strategy) {
      auto [shared, last] = Seeded([] {
        return std::pair(torch::nn::Linear(12, 12), torch::nn::Linear(12, 3));
      });
      torch::nn::Sequential model(shared, torch::nn::ReLU(), shared, last);
      auto parameters = shared->parameters();
      for (const torch::Tensor& parameter : last->parameters()) {
        parameters.push_back(parameter);
      }
      torch::optim::SGD optimizer(parameters, 0.1);
      TrainerOptions options;
      options.first_bucket = options.bucket = 64;
      auto trainer = Trainer::Make(strategy, model, optimizer, options);
      ASSERT_TRUE(trainer) << trainer.error().ToString();
      for (auto& batch : trainer->Batches(data, {.global_batch = 24})) {
        ASSERT_TRUE(trainer->Step(batch, [&](auto& b) {
          return CrossEntropy(model->forward(b.images.flatten(1)), b.labels);
        }));
      }
      std::lock_guard lock(mutex);
      if (strategy.rank() == 0) {
        weights.push_back(shared->weight.detach().clone());
      }
    });
  }
  ASSERT_EQ(weights.size(), 2U);
  EXPECT_TRUE(torch::allclose(weights[0], weights[1], 1e-4, 1e-6));
}

TEST(Trainer, LeavesAFrozenModuleInEvaluation) {
  ToyDataset data(64);
  ThreadCluster(1).Run([&](MultiWorkerMirrored& strategy) {
    Mlp model = MakeModel(12, {4}, 3);
    torch::optim::Adam optimizer(model->parameters());
    auto trainer = Trainer::Make(strategy, model, optimizer);
    ASSERT_TRUE(trainer);
    const auto frozen = model->modules(false).front();
    frozen->eval();
    ASSERT_TRUE(trainer->Evaluate(
        data, [](TensorBatch& batch) { return batch.labels == 1; }));
    EXPECT_TRUE(model->is_training());
    EXPECT_FALSE(frozen->is_training());
  });
}

TEST(Trainer, EvaluatesExactlyOnAnyNumberOfWorkers) {
  ToyDataset data(1543);
  for (int workers : {1, 2, 3}) {
    ThreadCluster(workers).Run([&](MultiWorkerMirrored& strategy) {
      Mlp model = MakeModel(12, {4}, 3);
      torch::optim::Adam optimizer(model->parameters());
      auto trainer = Trainer::Make(strategy, model, optimizer);
      ASSERT_TRUE(trainer);
      auto share = trainer->Evaluate(
          data, [](TensorBatch& batch) { return batch.labels == 1; });
      ASSERT_TRUE(share) << share.error().ToString();
      EXPECT_EQ(*share, 514.0 / 1543.0);
      EXPECT_TRUE(model->is_training());
    });
  }
}

TEST(Trainer, RefusesAParameterThatIsFrozenOrFreedOnTheWay) {
  for (const bool frozen_first : {false, true}) {
    ThreadCluster(2).Run([&](MultiWorkerMirrored& strategy) {
      Mlp model = MakeModel(12, {4}, 3);
      torch::Tensor first = model->parameters()[0];
      first.set_requires_grad(!frozen_first);
      torch::optim::SGD optimizer(model->parameters(), 0.1);
      auto trainer = Trainer::Make(strategy, model, optimizer);
      ASSERT_TRUE(trainer) << trainer.error().ToString();
      ToyDataset data(100);
      Status last = Ok();
      for (auto& batch : trainer->Batches(data, {.global_batch = 10})) {
        first.set_requires_grad((trainer->step() < 3) != frozen_first);
        last = trainer->Step(batch, [&](auto& b) {
          return CrossEntropy(model->forward(b.images), b.labels);
        });
        if (!last) {
          break;
        }
      }
      EXPECT_EQ(trainer->step(), 3U);
      ASSERT_FALSE(last);
      EXPECT_EQ(last.error().cause(), Cause::kUsageInvalid);
      EXPECT_THAT(last.error().message(), HasSubstr("layers0.weight"));
    });
  }
}

}  // namespace
}  // namespace muster
