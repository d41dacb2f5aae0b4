// SPDX-License-Identifier: Apache-2.0
// Training with libtorch: the same program on every rank of a cluster.
//
//   Status Train(MultiWorkerMirrored& strategy) {
//     MUSTER_ASSIGN(auto images, FashionMnist::Open(folder, Split::kTrain));
//     auto model = Mlp(784, {128}, 10);  // any torch::nn::Module
//     torch::optim::Adam optimizer(model->parameters());
//     MUSTER_ASSIGN(auto trainer, Trainer::Make(strategy, model, optimizer,
//                       {.checkpoints = "ckpt", .every = 100}));
//     for (auto& batch : trainer.Batches(
//              images, {.global_batch = 128, .epochs = 10, .seed = 1})) {
//       MUSTER_TRY(trainer.Step(batch, [&](auto& b) {
//         return cross_entropy(model->forward(b.images), b.labels);
//       }));
//     }
//     return trainer.Finish();
//   }
//
// Started by `muster run -n 2 -- PROGRAM` it trains on two ranks and survives
// the loss of one; started alone it is a cluster of one. The result does not
// depend on the number of ranks.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "muster/checkpoint.h"
#include "muster/cluster.h"
#include "muster/collective.h"
#include "muster/dataset.h"
#include "muster/deadline.h"
#include "muster/error.h"
#include "muster/session.h"

namespace muster {

// How Reduce combines the values of the replicas.
enum class ReduceOp { kSum, kMean };

// Synchronous data-parallel training: every rank holds the whole model and
// works on its share of each global batch. One per process; join early, before
// the first operation of libtorch. One thread.
class MultiWorkerMirrored {
 public:
  // Joins the agent (Session::Join, with its errors) and connects the ranks:
  // through shared memory if all are on one host, otherwise or with
  // MUSTER_COLLECTIVE=gloo through Gloo. Also configures libtorch for this
  // process: its threads (OMP_NUM_THREADS) and an allocator that keeps its
  // pages. usage-invalid: another value of MUSTER_COLLECTIVE.
  static Result<MultiWorkerMirrored> Join();
  // With an existing session and group; rank and size are the group's.
  static MultiWorkerMirrored Over(std::unique_ptr<Session> session,
                                  std::unique_ptr<Collective> group);

  MultiWorkerMirrored(MultiWorkerMirrored&&) noexcept;
  MultiWorkerMirrored& operator=(MultiWorkerMirrored&&) noexcept;
  ~MultiWorkerMirrored();

  // Of this process.
  int rank() const;
  // Ranks that train in step.
  int num_replicas_in_sync() const;
  // Spec() gives what TensorFlow calls cluster_spec.
  const Cluster& cluster() const;
  // To the agent.
  Session& session() const;
  // What Reduce and the trainer use.
  Collective& group() const;

  // Calls fn() on this replica and gives what it returned (nothing, a value, a
  // Status or a Result). An error, or an exception (app-exception), is reported
  // to the agent, so that the run's verdict is its cause. For custom loops, or
  // around a whole program.
  template <typename Fn>
  auto Run(Fn&& fn);

  // The sum or mean of `value` over all replicas, on every replica. All of them
  // call it, in the same order, with equal shapes and dtypes.
  Result<torch::Tensor> Reduce(ReduceOp op, const torch::Tensor& value);

 private:
  friend class Trainer;
  struct Inner;
  explicit MultiWorkerMirrored(std::unique_ptr<Inner> inner);
  Status Guard(const std::function<Status()>& call);

  std::unique_ptr<Inner> inner_;
};

// This rank's share of a global batch, as tensors over the loader's memory.
struct TensorBatch {
  torch::Tensor images;  // samples x sample_shape, float32
  torch::Tensor labels;  // samples, int64
  // Samples of the step over all ranks: the weight of this rank's gradients.
  std::uint64_t global_count = 0;
  // Where the training is after this batch, in samples.
  std::uint64_t next_position = 0;
  Duration waited{};  // for the input

  // Samples of this rank; may be 0.
  std::uint64_t count() const {
    return labels.defined() ? static_cast<std::uint64_t>(labels.size(0)) : 0;
  }
};

// Checkpoints, waits and buckets of a Trainer.
struct TrainerOptions {
  // Directory of the checkpoints; empty: none are written. Only rank 0 reads
  // and writes it, so no disk needs to be shared.
  std::string checkpoints;
  std::uint64_t every = 0;  // steps between two; 0: only at the end
  int keep = 3;             // complete checkpoints to keep
  // Of a wait for other ranks; longer than writing a checkpoint or an
  // evaluation takes. The agent reports ranks that died or hang much earlier.
  Duration wait_limit = std::chrono::minutes(10);
  // Bytes of the first gradient bucket; 0: the default of the group.
  std::size_t first_bucket = 0;
  // Bytes of the other buckets; 0: the default of the group.
  std::size_t bucket = 0;
};

// Options of Trainer::Batches.
struct BatchesOptions {
  std::uint64_t global_batch = 0;  // samples per step, over all ranks
  std::uint64_t epochs = 1;        // passes over the dataset
  std::uint64_t seed = 0;  // of the order, and of random numbers in a step
  bool shuffle = true;     // false: the order of the dataset
};

// The batches of a training loop, for a range-for. An error ends the loop and
// is returned by Trainer::Finish.
class BatchRange {
 public:
  // An input iterator.
  class Iterator {
   public:
    // The batch.
    TensorBatch& operator*() const { return range_->current_; }
    // To the next batch.
    Iterator& operator++() {
      range_->Advance();
      return *this;
    }
    // Whether there is no batch.
    bool operator==(std::default_sentinel_t) const { return range_->done_; }

   private:
    friend class BatchRange;
    explicit Iterator(BatchRange* range) : range_(range) {}
    BatchRange* range_;
  };

  BatchRange(BatchRange&&) noexcept;
  ~BatchRange();
  // The next batch; call it once.
  Iterator begin() {
    Advance();
    return Iterator(this);
  }
  // After the last batch.
  std::default_sentinel_t end() const { return {}; }

 private:
  friend class Trainer;
  struct Source;
  explicit BatchRange(std::unique_ptr<Source> source);
  void Advance();

  std::unique_ptr<Source> source_;
  TensorBatch current_;
  bool done_ = false;
};

// Drives the steps of a training: gradients are summed over the ranks while the
// backward pass still runs, progress is reported, checkpoints are written and
// resumed from. All ranks make the same calls in the same order. The strategy,
// the model and the optimizer must outlive it. One thread.
class Trainer {
 public:
  // Resumes from the newest complete checkpoint, then makes all ranks equal to
  // rank 0 and verifies it. Errors: those of CheckpointStore, ckpt-mismatch
  // (the first tensor that differs), replica-divergence (the ranks hold
  // different models), usage-invalid (the optimizer trains a tensor that is not
  // the model's, or cannot be saved).
  template <typename Model>
  static Result<Trainer> Make(MultiWorkerMirrored& strategy, Model& model,
                              torch::optim::Optimizer& optimizer,
                              const TrainerOptions& options = {}) {
    return MakeFor(strategy, *model, optimizer, options);
  }
  // The same for a module itself.
  static Result<Trainer> MakeFor(MultiWorkerMirrored& strategy,
                                 torch::nn::Module& model,
                                 torch::optim::Optimizer& optimizer,
                                 TrainerOptions options);
  Trainer(Trainer&&) noexcept;
  ~Trainer();

  // The remaining batches. After a resume, the loops of the program continue at
  // the checkpoint: a finished loop yields nothing, an unfinished one the rest.
  // Epochs are counted over the loops, so that ten loops of one epoch have the
  // same order as one loop of ten. The dataset must outlive the range.
  BatchRange Batches(const Dataset& dataset, const BatchesOptions& options);

  // One step of the whole cluster. loss(batch) is the mean over the batch's
  // samples, a tensor of one element; a rank with an empty share does not call
  // it and participates with weight 0. Errors: numerics-nan with step and rank,
  // app-exception (loss threw), usage-invalid (a parameter was frozen after
  // Make, or unfrozen), those of Work::Wait; after an error, every later call
  // returns it again.
  template <typename Loss>
  Status Step(TensorBatch& batch, Loss&& loss) {
    return StepWith(batch, [&] { return loss(batch); });
  }

  // The mean of score(batch), one value per sample, over all samples: each rank
  // works on its share, sums are exact for counts. The model is in evaluation
  // mode and no gradient is kept meanwhile.
  //
  //   trainer.Evaluate(test, [&](auto& b) {
  //     return model->forward(b.images).argmax(1) == b.labels; });
  template <typename Score>
  Result<double> Evaluate(const Dataset& dataset, Score&& score) {
    return EvaluateWith(dataset,
                        [&](TensorBatch& batch) { return score(batch); });
  }

  // The end of the training: the first error of loops and steps, else the last
  // checkpoint.
  Status Finish();

  std::uint64_t step() const;          // done, over restarts
  std::uint64_t resumed_step() const;  // start of this process; 0: the first
  double loss() const;                 // of the last step, over all ranks

 private:
  friend class BatchRange;
  struct Inner;
  explicit Trainer(std::unique_ptr<Inner> inner);
  Status StepWith(TensorBatch& batch,
                  const std::function<torch::Tensor()>& loss);
  Result<double> EvaluateWith(
      const Dataset& dataset,
      const std::function<torch::Tensor(TensorBatch&)>& score);

  std::unique_ptr<Inner> inner_;
};

// A network of fully connected layers with ReLU between them.
class MlpNet : public torch::nn::Module {
 public:
  // `hidden`: the width of each hidden layer.
  MlpNet(std::int64_t inputs, std::vector<std::int64_t> hidden,
         std::int64_t outputs);
  torch::Tensor forward(torch::Tensor x);  // N x …, flattened

 private:
  std::vector<torch::nn::Linear> layers_;
};
// An MlpNet, held as libtorch holds modules.
class Mlp : public torch::nn::ModuleHolder<MlpNet> {
 public:
  // As MlpNet.
  Mlp(std::int64_t inputs, std::vector<std::int64_t> hidden,
      std::int64_t outputs)
      : ModuleHolder(
            std::make_shared<MlpNet>(inputs, std::move(hidden), outputs)) {}
};

// conv 3x3x32, pool, conv 3x3x64, pool, dense 128, dense: for 28 x 28 images.
class CnnNet : public torch::nn::Module {
 public:
  // `outputs`: the number of classes.
  explicit CnnNet(std::int64_t outputs);
  // How images lie in memory between its convolutions: "oneDNN blocked" where
  // this libtorch has oneDNN, else "contiguous".
  static std::string_view layout();
  torch::Tensor forward(torch::Tensor x);  // N x 1 x 28 x 28

 private:
  torch::nn::Conv2d first_, second_;
  torch::nn::Linear dense_, last_;
};
// A CnnNet, held as libtorch holds modules.
class Cnn : public torch::nn::ModuleHolder<CnnNet> {
 public:
  // As CnnNet.
  explicit Cnn(std::int64_t outputs)
      : ModuleHolder(std::make_shared<CnnNet>(outputs)) {}
};

// ---- implementation of the templates ----

namespace internal {
template <typename T>
inline constexpr bool kIsResult = false;
template <typename T>
inline constexpr bool kIsResult<Result<T>> = true;
}  // namespace internal

template <typename Fn>
auto MultiWorkerMirrored::Run(Fn&& fn) {
  using Value = std::invoke_result_t<Fn>;
  if constexpr (std::is_void_v<Value>) {
    return Guard([&] {
      fn();
      return Ok();
    });
  } else {
    std::optional<Value> value;
    Status status = Guard([&]() -> Status {
      value.emplace(fn());
      if constexpr (internal::kIsResult<Value>) {
        return *value ? Ok() : Status(value->error());
      }
      return Ok();
    });
    using Answer =
        std::conditional_t<internal::kIsResult<Value>, Value, Result<Value>>;
    return status ? Answer(std::move(*value))
                  : Answer(std::move(status).error());
  }
}

}  // namespace muster
