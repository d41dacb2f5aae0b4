// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <mutex>
#include <string>
#include <vector>

#include "muster/train.h"
#include "train/testing.h"

namespace muster {
namespace {

using testing::HasSubstr;

// What a training of the toy data is made of.
struct Toy {
  int workers = 1;
  std::uint64_t samples = 100;
  std::uint64_t global_batch = 12;
  std::uint64_t epochs = 3;
  std::uint64_t stop_after = ~std::uint64_t{0};  // steps
  TrainerOptions options;
};

struct Curve {
  std::vector<double> losses;  // as rank 0 saw them
  std::vector<Error> errors;   // of all ranks
};

using LossOf = std::function<torch::Tensor(Mlp&, TensorBatch&, int rank,
                                           std::uint64_t step)>;

torch::Tensor PlainLoss(Mlp& model, TensorBatch& batch, int, std::uint64_t) {
  return CrossEntropy(model->forward(batch.images), batch.labels);
}

Status TrainRank(MultiWorkerMirrored& strategy, const Dataset& data, Mlp model,
                 const Toy& toy, const LossOf& loss,
                 std::vector<double>& losses) {
  torch::optim::Adam optimizer(model->parameters(), 1e-2);
  MUSTER_ASSIGN(auto trainer,
                Trainer::Make(strategy, model, optimizer, toy.options));
  for (auto& batch : trainer.Batches(data, {.global_batch = toy.global_batch,
                                           .epochs = toy.epochs,
                                           .seed = 3})) {
    MUSTER_TRY(trainer.Step(batch, [&](auto& b) {
      return loss(model, b, strategy.rank(), trainer.step());
    }));
    losses.push_back(trainer.loss());
    if (trainer.step() == toy.stop_after) {
      return Ok();
    }
  }
  return trainer.Finish();
}

Curve TrainOn(const Dataset& data, const Toy& toy, const LossOf& loss,
              const std::function<Mlp()>& make) {
  Curve curve;
  std::mutex mutex;
  ThreadCluster(toy.workers).Run([&](MultiWorkerMirrored& strategy) {
    std::vector<double> losses;
    Status status = TrainRank(strategy, data, make(), toy, loss, losses);
    std::lock_guard lock(mutex);
    if (!status) {
      curve.errors.push_back(status.error());
    }
    if (strategy.rank() == 0) {
      curve.losses = losses;
    }
  });
  return curve;
}

Curve Train(const Toy& toy, const LossOf& loss = PlainLoss) {
  return TrainOn(ToyDataset(toy.samples), toy, loss,
                 [] { return MakeModel(12, {16}, 3); });
}

void ExpectClose(const Curve& one, const Curve& other, double relative) {
  ASSERT_TRUE(one.errors.empty()) << one.errors[0].ToString();
  ASSERT_TRUE(other.errors.empty()) << other.errors[0].ToString();
  ASSERT_EQ(one.losses.size(), other.losses.size());
  for (std::size_t i = 0; i < one.losses.size(); ++i) {
    ASSERT_NEAR(one.losses[i], other.losses[i], relative * one.losses[i])
        << "step " << i + 1;
  }
}

std::string Bytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Model and manifest of the newest checkpoint in a folder.
std::string NewestCheckpoint(const std::string& folder) {
  std::string newest;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    newest = std::max(newest, entry.path().string());
  }
  std::string bytes = Bytes(newest + "/model.safetensors");
  EXPECT_FALSE(bytes.empty()) << folder;
  return bytes + Bytes(newest + "/manifest.json");
}

// ---- The result does not depend on the number of workers ----

TEST(Trainer, GivesOneLossCurveForOneTwoAndFourWorkers) {
  auto images =
      FashionMnist::Open(FashionMnist::kDebianDirectory, Split::kTrain);
  ASSERT_TRUE(images) << images.error().ToString();
  auto train = [&](int workers) {
    return TrainOn(*images,
                   {.workers = workers, .global_batch = 128, .stop_after = 100},
                   PlainLoss, [] { return MakeModel(784, {128}, 10); });
  };
  Curve one = train(1);
  ASSERT_EQ(one.losses.size(), 100U);
  EXPECT_LT(one.losses.back(), 1.0);
  ExpectClose(one, train(2), 1e-5);
  ExpectClose(one, train(4), 1e-5);
}

TEST(Trainer, WeighsThePartialLastBatchAndEmptyShares) {
  // 7 samples in batches of 5: the second batch of an epoch has 2, so that of
  // four ranks two have nothing.
  Toy toy{.samples = 7, .global_batch = 5, .epochs = 20};
  Curve one = Train(toy);
  toy.workers = 4;
  ExpectClose(one, Train(toy), 1e-5);
}

TEST(Trainer, TakesADatasetThatIsSmallerThanTheBatch) {
  Toy toy{.samples = 3, .global_batch = 128, .epochs = 5};
  Curve one = Train(toy);
  EXPECT_EQ(one.losses.size(), 5U);
  toy.workers = 4;
  ExpectClose(one, Train(toy), 1e-5);
}

TEST(Trainer, CutsGradientsIntoAnyBuckets) {
  Toy toy{.workers = 2};
  Curve one_bucket = Train(toy);
  toy.options.first_bucket = toy.options.bucket = 64;
  Curve many = Train(toy);
  ExpectClose(one_bucket, many, 1e-12);
}

TEST(Trainer, TwoWorkersOfTheCnnReachTheAccuracyOfOne) {
  auto images =
      FashionMnist::Open(FashionMnist::kDebianDirectory, Split::kTrain);
  auto test = FashionMnist::Open(FashionMnist::kDebianDirectory, Split::kTest);
  ASSERT_TRUE(images && test);
  std::vector<double> accuracies;
  for (int workers : {1, 2}) {
    ThreadCluster(workers).Run([&](MultiWorkerMirrored& strategy) {
      Cnn model = Seeded([] { return Cnn(10); });
      torch::optim::Adam optimizer(model->parameters());
      auto trainer = Trainer::Make(strategy, model, optimizer);
      ASSERT_TRUE(trainer) << trainer.error().ToString();
      FirstOf some(*images, 12800);
      for (auto& batch : trainer->Batches(some, {.global_batch = 128})) {
        ASSERT_TRUE(trainer->Step(batch, [&](auto& b) {
          return CrossEntropy(model->forward(b.images), b.labels);
        }));
      }
      ASSERT_TRUE(trainer->Finish());
      auto accuracy = trainer->Evaluate(*test, [&](auto& b) {
        return model->forward(b.images).argmax(1) == b.labels;
      });
      ASSERT_TRUE(accuracy) << accuracy.error().ToString();
      if (strategy.rank() == 0) {
        accuracies.push_back(*accuracy);
      }
    });
  }
  EXPECT_GT(accuracies[0], 0.7);
  EXPECT_NEAR(accuracies[0], accuracies[1], 0.005);
}

// ---- Resuming ----

TEST(Trainer, ResumesToTheSameBytesWhereverItWasInterrupted) {
  TemporaryFolder calm;
  Toy toy{.workers = 2, .options = {.checkpoints = calm.path(), .every = 5}};
  ASSERT_TRUE(Train(toy).errors.empty());
  std::string wanted = NewestCheckpoint(calm.path());
  for (std::uint64_t steps : {3U, 5U, 14U, 26U}) {
    TemporaryFolder folder;
    toy.options.checkpoints = folder.path();
    toy.stop_after = steps;
    ASSERT_TRUE(Train(toy).errors.empty());
    toy.stop_after = ~std::uint64_t{0};
    Curve rest = Train(toy);
    ASSERT_TRUE(rest.errors.empty()) << rest.errors[0].ToString();
    EXPECT_EQ(rest.losses.size(), 27 - steps / 5 * 5);
    EXPECT_EQ(NewestCheckpoint(folder.path()), wanted) << steps;
  }
}

TEST(Trainer, RepeatsTheRandomNumbersOfAStepAfterAResume) {
  auto with_dropout = [](Mlp& model, TensorBatch& batch, int, std::uint64_t) {
    return CrossEntropy(model->forward(torch::dropout(batch.images, 0.5, true)),
                        batch.labels);
  };
  TemporaryFolder calm;
  TemporaryFolder broken;
  Toy toy{.options = {.checkpoints = calm.path(), .every = 4}};
  Curve whole = Train(toy, with_dropout);
  toy.options.checkpoints = broken.path();
  toy.stop_after = 10;
  ASSERT_TRUE(Train(toy, with_dropout).errors.empty());
  toy.stop_after = ~std::uint64_t{0};
  Curve rest = Train(toy, with_dropout);
  ASSERT_EQ(rest.losses.size() + 8, whole.losses.size());
  EXPECT_TRUE(std::equal(rest.losses.begin(), rest.losses.end(),
                         whole.losses.begin() + 8));
}

TEST(Trainer, GoesOnFromTheSameSampleWithAnotherNumberOfWorkers) {
  TemporaryFolder folder;
  Toy toy{.workers = 2};
  Curve whole = Train(toy);
  toy.options = {.checkpoints = folder.path(), .every = 5};
  toy.stop_after = 12;
  ASSERT_TRUE(Train(toy).errors.empty());
  toy.stop_after = ~std::uint64_t{0};
  toy.workers = 1;
  Curve rest = Train(toy);
  whole.losses.erase(whole.losses.begin(), whole.losses.begin() + 10);
  ExpectClose(whole, rest, 1e-5);
}

TEST(Trainer, DoesNothingMoreWhenTheTrainingWasFinished) {
  TemporaryFolder folder;
  Toy toy{.workers = 2, .options = {.checkpoints = folder.path()}};
  ASSERT_TRUE(Train(toy).errors.empty());
  Curve again = Train(toy);
  EXPECT_TRUE(again.errors.empty());
  EXPECT_TRUE(again.losses.empty());
}

// The losses of a training in loops of one epoch each, as of rank 0.
std::vector<double> TrainEpochByEpoch(const TrainerOptions& options,
                                      std::uint64_t stop_after,
                                      const std::function<int(int)>& seed_of) {
  std::vector<double> losses;
  ThreadCluster(1).Run([&](MultiWorkerMirrored& strategy) {
    ToyDataset data(100);
    Mlp model = MakeModel(12, {16}, 3);
    torch::optim::Adam optimizer(model->parameters(), 1e-2);
    auto trainer = Trainer::Make(strategy, model, optimizer, options);
    ASSERT_TRUE(trainer) << trainer.error().ToString();
    for (int epoch = 0; epoch < 3; ++epoch) {
      for (auto& batch : trainer->Batches(
               data, {.global_batch = 12,
                     .seed = static_cast<std::uint64_t>(seed_of(epoch))})) {
        ASSERT_TRUE(trainer->Step(
            batch, [&](auto& b) { return PlainLoss(model, b, 0, 0); }));
        losses.push_back(trainer->loss());
        if (trainer->step() == stop_after) {
          return;
        }
      }
    }
    EXPECT_TRUE(trainer->Finish());
  });
  return losses;
}

TEST(Trainer, LoopsOfOneEpochAreTheTrainingOfOneLoop) {
  Curve whole = Train({.samples = 100, .global_batch = 12, .epochs = 3});
  ASSERT_TRUE(whole.errors.empty());
  EXPECT_EQ(TrainEpochByEpoch({}, 0, [](int) { return 3; }), whole.losses);
}

TEST(Trainer, ASeedForEachEpochIsNoOtherSeedAfterAResume) {
  TemporaryFolder folder;
  const TrainerOptions options{.checkpoints = folder.path(), .every = 5};
  const auto own_seed = [](int epoch) { return 100 + epoch; };
  const auto whole = TrainEpochByEpoch({}, 0, own_seed);
  ASSERT_EQ(whole.size(), 27U);
  TrainEpochByEpoch(options, 16, own_seed);
  testing::internal::CaptureStderr();
  const auto rest = TrainEpochByEpoch(options, 0, own_seed);
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              Not(HasSubstr("a different seed")));
  EXPECT_EQ(rest, std::vector(whole.begin() + 15, whole.end()));
  TemporaryFolder other;
  const TrainerOptions into_other{.checkpoints = other.path(), .every = 5};
  TrainEpochByEpoch(into_other, 16, own_seed);
  testing::internal::CaptureStderr();
  TrainEpochByEpoch(into_other, 0, [](int) { return -1; });
  EXPECT_THAT(testing::internal::GetCapturedStderr(),
              HasSubstr("a different seed"));
}

TEST(Trainer, PassesOverACorruptCheckpoint) {
  TemporaryFolder folder;
  Toy toy{.options = {.checkpoints = folder.path(), .every = 9}};
  ASSERT_TRUE(Train(toy).errors.empty());
  std::ofstream(folder.path() + "/step-0000000027/model.safetensors",
                std::ios::binary | std::ios::in)
      .seekp(-3, std::ios::end)
      .write("xyz", 3);
  Curve rest = Train(toy);
  ASSERT_TRUE(rest.errors.empty()) << rest.errors[0].ToString();
  EXPECT_EQ(rest.losses.size(), 9U);
}

TEST(Trainer, NamesTheFirstTensorThatACheckpointHasOtherwise) {
  TemporaryFolder folder;
  Toy toy{.workers = 2, .options = {.checkpoints = folder.path()}};
  ASSERT_TRUE(Train(toy).errors.empty());
  Curve other = TrainOn(ToyDataset(100), toy, PlainLoss,
                        [] { return MakeModel(12, {17}, 3); });
  ASSERT_EQ(other.errors.size(), 2U);
  for (const Error& error : other.errors) {
    EXPECT_EQ(error.cause(), Cause::kCkptMismatch) << error.ToString();
    EXPECT_THAT(error.message(), HasSubstr("layers0.bias"));
  }
}

TEST(Trainer, TellsEveryRankThatRankZeroCannotWrite) {
  TemporaryFolder folder;
  std::ofstream(folder.path() + "/file") << "in the way";
  Toy toy{.workers = 2, .options = {.checkpoints = folder.path() + "/file/c"}};
  Curve curve = Train(toy);
  ASSERT_EQ(curve.errors.size(), 2U);
  EXPECT_EQ(curve.errors[0].cause(), curve.errors[1].cause());
  EXPECT_THAT(curve.errors[1].message(), HasSubstr("file"));
}

// ---- Equal replicas ----

TEST(Trainer, MakesAllRanksEqualToRankZero) {
  ThreadCluster(2).Run([](MultiWorkerMirrored& strategy) {
    Mlp model = MakeModel(12, {4}, 3);
    {
      torch::NoGradGuard no_grad;
      model->parameters()[0].add_(strategy.rank());
    }
    torch::optim::Adam optimizer(model->parameters());
    ASSERT_TRUE(Trainer::Make(strategy, model, optimizer));
    EXPECT_TRUE(torch::equal(model->parameters()[0],
                             MakeModel(12, {4}, 3)->parameters()[0]));
  });
}

TEST(Trainer, NamesTheTensorThatHasDivergedAtACheckpoint) {
  TemporaryFolder folder;
  Toy toy{.workers = 2, .options = {.checkpoints = folder.path(), .every = 4}};
  Curve curve = Train(
      toy, [](Mlp& model, TensorBatch& batch, int rank, std::uint64_t step) {
        if (rank == 1 && step == 2) {
          torch::NoGradGuard no_grad;
          model->parameters()[2].add_(1e-6);
        }
        return PlainLoss(model, batch, rank, step);
      });
  ASSERT_EQ(curve.errors.size(), 2U);
  EXPECT_EQ(curve.errors[0].cause(), Cause::kReplicaDivergence);
  EXPECT_THAT(curve.errors[0].message(), HasSubstr("layers1.weight"));
  EXPECT_THAT(curve.errors[0].message(), HasSubstr("rank 1"));
}

TEST(Trainer, NamesTheFirstTensorOfAnotherModel) {
  ThreadCluster(2).Run([](MultiWorkerMirrored& strategy) {
    Mlp model = MakeModel(12, {4, strategy.rank() == 0 ? 5 : 6}, 3);
    torch::optim::Adam optimizer(model->parameters());
    auto trainer = Trainer::Make(strategy, model, optimizer);
    ASSERT_FALSE(trainer);
    EXPECT_EQ(trainer.error().cause(), Cause::kReplicaDivergence);
    EXPECT_THAT(trainer.error().message(), HasSubstr("layers1.weight"));
  });
}

TEST(Trainer, KeepsBuffersAsRankZeroHasThem) {
  TemporaryFolder folder;
  ThreadCluster(2).Run([&](MultiWorkerMirrored& strategy) {
    auto model = Seeded([] {
      return torch::nn::Sequential(torch::nn::Linear(12, 4),
                                   torch::nn::BatchNorm1d(4),
                                   torch::nn::Linear(4, 3));
    });
    torch::optim::SGD optimizer(model->parameters(), 0.1);
    auto trainer = Trainer::Make(strategy, model, optimizer,
                                 {.checkpoints = folder.path()});
    ASSERT_TRUE(trainer) << trainer.error().ToString();
    ToyDataset data(60);
    for (auto& batch : trainer->Batches(data, {.global_batch = 20})) {
      ASSERT_TRUE(trainer->Step(batch, [&](auto& b) {
        return CrossEntropy(model->forward(b.images), b.labels);
      }));
    }
    EXPECT_TRUE(trainer->Finish());  // proves them equal
  });
}

// ---- Gradients stay in their place ----

TEST(Trainer, SurvivesEveryKindOfZeroGrad) {
  Curve plain = Train({.workers = 2});
  auto with = [](const std::function<void(Mlp&)>& clear) {
    return Train({.workers = 2}, [&](Mlp& model, TensorBatch& batch, int rank,
                                     std::uint64_t step) {
      clear(model);
      return PlainLoss(model, batch, rank, step);
    });
  };
  ExpectClose(plain, with([](Mlp& model) { model->zero_grad(); }), 1e-12);
  ExpectClose(plain, with([](Mlp& model) {
                for (auto& parameter : model->parameters()) {
                  parameter.mutable_grad() = torch::Tensor();
                }
              }),
              1e-12);
  ExpectClose(plain, with([](Mlp& model) {
                torch::optim::SGD(model->parameters(), 0.1).zero_grad();
              }),
              1e-12);
}

// ---- Failing ----

TEST(Trainer, NamesStepAndRankOfALossThatIsNotANumber) {
  Curve curve = Train({.workers = 2}, [](Mlp& model, TensorBatch& batch,
                                         int rank, std::uint64_t step) {
    auto loss = PlainLoss(model, batch, rank, step);
    return rank == 1 && step == 4
               ? loss * std::numeric_limits<float>::quiet_NaN()
               : loss;
  });
  ASSERT_EQ(curve.errors.size(), 2U);
  for (const Error& error : curve.errors) {
    EXPECT_EQ(error.cause(), Cause::kNumericsNan);
    EXPECT_THAT(error.ToString(), HasSubstr("rank 1"));
    EXPECT_THAT(error.ToString(), HasSubstr("step 5"));
  }
}

TEST(Trainer, TurnsAnExceptionOfTheLossIntoAnError) {
  Curve curve =
      Train({}, [](Mlp& model, TensorBatch& batch, int, std::uint64_t) {
        return CrossEntropy(model->forward(batch.images.narrow(1, 0, 5)),
                            batch.labels);
      });
  ASSERT_EQ(curve.errors.size(), 1U);
  EXPECT_EQ(curve.errors[0].cause(), Cause::kAppException);
  EXPECT_THAT(curve.errors[0].ToString(), HasSubstr("step 1"));
}

TEST(Trainer, RefusesALossThatIsNotOneNumber) {
  Curve curve =
      Train({}, [](Mlp& model, TensorBatch& batch, int, std::uint64_t) {
        return model->forward(batch.images);
      });
  ASSERT_EQ(curve.errors.size(), 1U);
  EXPECT_EQ(curve.errors[0].cause(), Cause::kUsageInvalid);
}

TEST(Trainer, NamesADesyncWhenOneRankEndsItsLoopEarly) {
  ThreadCluster(2).Run([](MultiWorkerMirrored& strategy) {
    Mlp model = MakeModel(12, {4}, 3);
    torch::optim::Adam optimizer(model->parameters());
    auto trainer = Trainer::Make(strategy, model, optimizer);
    ASSERT_TRUE(trainer);
    ToyDataset data(100);
    for (auto& batch : trainer->Batches(data, {.global_batch = 10})) {
      if (strategy.rank() == 1 && trainer->step() == 3) {
        break;
      }
      (void)trainer->Step(batch, [&](auto& b) {
        return CrossEntropy(model->forward(b.images), b.labels);
      });
    }
    Status end = trainer->Finish();
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().cause(), Cause::kCollectiveDesync)
        << end.error().ToString();
  });
}

TEST(Trainer, EndsWithTheCauseThatTheAgentWroteOnTheBoard) {
  ThreadCluster cluster(2);
  cluster.Run([&](MultiWorkerMirrored& strategy) {
    std::vector<double> losses;
    Status status = TrainRank(
        strategy, ToyDataset(100), MakeModel(12, {4}, 3), {},
        [&](Mlp& model, TensorBatch& batch, int rank, std::uint64_t step) {
          if (rank == 0 && step == 2) {
            cluster.progress_page().stop =
                1 + static_cast<std::uint32_t>(Cause::kPeerDied);
          }
          return PlainLoss(model, batch, rank, step);
        },
        losses);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().cause(), Cause::kPeerDied);
  });
}

TEST(Trainer, KeepsItsFirstErrorAndGivesItAtTheEnd) {
  ThreadCluster(1).Run([](MultiWorkerMirrored& strategy) {
    Mlp model = MakeModel(12, {4}, 3);
    torch::optim::Adam optimizer(model->parameters());
    auto trainer = Trainer::Make(strategy, model, optimizer);
    ToyDataset nothing(0);
    for (auto& batch : trainer->Batches(nothing, {.global_batch = 10})) {
      ADD_FAILURE() << batch.count();
    }
    auto end = trainer->Finish();
    ASSERT_FALSE(end);
    EXPECT_EQ(end.error().cause(), Cause::kUsageInvalid);
  });
}

TEST(Trainer, RefusesAnOptimizerThatCannotBeSaved) {
  TemporaryFolder folder;
  ThreadCluster(1).Run([&](MultiWorkerMirrored& strategy) {
    Mlp model = MakeModel(12, {4}, 3);
    torch::optim::LBFGS optimizer(model->parameters());
    auto trainer = Trainer::Make(strategy, model, optimizer,
                                 {.checkpoints = folder.path()});
    ASSERT_FALSE(trainer);
    EXPECT_EQ(trainer.error().cause(), Cause::kUsageInvalid);
  });
}

}  // namespace
}  // namespace muster
