// SPDX-License-Identifier: Apache-2.0
// Part of muster/train.h: the life of a step: gradients to zero, the loss, the
// backward pass with sums that begin inside it, the optimizer, progress, now
// and then a checkpoint.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <set>
#include <string>
#include <utility>

#include "base/log.h"
#include "member/step_meter.h"
#include "muster/train.h"
#include "train/gradient_buckets.h"
#include "train/optimizer_state.h"
#include "train/optimizer_step.h"
#include "train/replica_state.h"
#include "train/tensors.h"

namespace muster {
namespace {

// How often the weights are compared with those of some steps ago.
constexpr std::uint64_t kUnchangedLook = 50;
// Samples of one rank in a step of Evaluate.
constexpr std::uint64_t kEvaluateBatch = 512;

// The seed of a rank's random numbers in a step (SplitMix64's finaliser over
// the three). The same whenever the step is repeated after a restart.
std::uint64_t StreamSeed(std::uint64_t seed, int rank, std::uint64_t step) {
  std::uint64_t z = seed;
  for (std::uint64_t word : {static_cast<std::uint64_t>(rank), step}) {
    z += 0x9E3779B97F4A7C15 * (word + 1);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    z ^= z >> 31;
  }
  return z;
}

std::uint64_t NumberIn(const std::map<std::string, std::string>& words,
                       const std::string& name) {
  std::uint64_t value = 0;
  if (auto found = words.find(name); found != words.end()) {
    const std::string& word = found->second;
    std::from_chars(word.data(), word.data() + word.size(), value);
  }
  return value;
}

std::vector<NamedTensor> ParametersOf(const torch::nn::Module& model,
                                      bool trained_only) {
  std::vector<NamedTensor> parameters;
  // A shared module has a name for each of its uses.
  std::set<const void*> seen;
  for (const auto& item : model.named_parameters()) {
    const bool is_new = seen.insert(item.value().unsafeGetTensorImpl()).second;
    if (is_new && (item.value().requires_grad() || !trained_only)) {
      parameters.push_back({item.key(), item.value()});
    }
  }
  return parameters;
}

// Whether each module trains: a frozen one goes back to evaluation.
class Modes {
 public:
  explicit Modes(torch::nn::Module& model)
      : model_(model), training_(model.is_training()) {
    for (const auto& module : model.modules(/*include_self=*/false)) {
      others_.emplace_back(module, module->is_training());
    }
  }
  // The outer ones first: train() is handed on to what is inside.
  void Restore() const {
    model_.train(training_);
    for (const auto& [module, training] : others_) {
      module->train(training);
    }
  }

 private:
  torch::nn::Module& model_;
  bool training_;
  std::vector<std::pair<std::shared_ptr<torch::nn::Module>, bool>> others_;
};

// Tensors over the memory of a batch, which lives as long as any of them.
TensorBatch TensorsOf(Batch batch, std::span<const std::int64_t> sample_shape) {
  auto holder = std::make_shared<Batch>(std::move(batch));
  std::vector<std::int64_t> shape{static_cast<std::int64_t>(holder->count())};
  shape.insert(shape.end(), sample_shape.begin(), sample_shape.end());
  TensorBatch tensors;
  tensors.global_count = holder->global().count;
  tensors.next_position = holder->global().next();
  tensors.waited = holder->waited();
  if (holder->count() == 0) {
    tensors.images = torch::empty(shape);
    tensors.labels = torch::empty({0}, torch::kInt64);
    return tensors;
  }
  tensors.images =
      torch::from_blob(holder->features().data(), shape, [holder](void*) {});
  tensors.labels = torch::from_blob(
      holder->labels().data(), {shape[0]}, [holder](void*) {}, torch::kInt64);
  return tensors;
}

// The optimizer and the gradients' buckets are made for what trains then.
struct ParameterAsMade {
  NamedTensor parameter;
  bool trained;
};

}  // namespace

struct Trainer::Inner {
  Inner(MultiWorkerMirrored& strategy, torch::nn::Module& module,
        torch::optim::Optimizer& optim, TrainerOptions opts)
      : session(strategy.session()),
        group(strategy.group()),
        model(module),
        optimizer(optim),
        options(std::move(opts)),
        meter(session.slot()) {}

  Session& session;
  Collective& group;
  torch::nn::Module& model;
  torch::optim::Optimizer& optimizer;
  TrainerOptions options;
  StepMeter meter;
  std::unique_ptr<GradientBuckets> buckets;
  std::vector<ParameterAsMade> parameters;  // all of the model
  std::optional<ReplicaState> state;
  std::optional<CheckpointStore> store;  // of rank 0
  std::optional<Error> failed;

  std::uint64_t step = 0;
  std::uint64_t resumed = 0;
  std::uint64_t saved = 0;     // step of the newest checkpoint
  std::uint64_t position = 0;  // in samples, over the program's loops
  std::uint64_t planned = 0;   // samples of the loops asked for so far
  std::uint64_t seed = 0;
  std::uint64_t resumed_seed = 0;
  double loss = 0;
  std::uint64_t unchanged = 0;
  std::uint64_t parameter_digest = 0;
  torch::Tensor weight;  // of this rank's share, as the seed of backward()
  double weight_value = 0;

  Peers peers() const {
    return {.group = group,
            .deadline = Deadline::After(options.wait_limit),
            .stop = {}};
  }

  Status Prepare();
  Result<std::optional<Checkpoint>> FindCheckpoint();
  void SaySkipped(const std::vector<Error>& skipped);
  Status Train(const TensorBatch& batch,
               const std::function<torch::Tensor()>& loss_function);
  // usage-invalid: a parameter was frozen, or is no longer, since Prepare.
  Status ProveTrainedAsMade() const;
  Status Backward(const TensorBatch& batch,
                  const std::function<torch::Tensor()>& loss_function);
  Status AfterStep(const TensorBatch& batch);
  Status Save();
  void LookAtParameters();
  // Of this rank's share of an evaluation; counts are exact in a double.
  struct Sums {
    double scores = 0;
    double samples = 0;
  };
  Status SumScores(const Dataset& dataset,
                   const std::function<torch::Tensor(TensorBatch&)>& score,
                   Sums& sums);
  // Keeps the first error and tells the agent.
  const Error& Fail(Error error);
  // Why nothing more can be done, if so.
  std::optional<Error> Ended();
};

// ---- Making ----

Result<Trainer> Trainer::MakeFor(MultiWorkerMirrored& strategy,
                                 torch::nn::Module& model,
                                 torch::optim::Optimizer& optimizer,
                                 TrainerOptions options) {
  auto inner =
      std::make_unique<Inner>(strategy, model, optimizer, std::move(options));
  if (Status status = Catching([&] { return inner->Prepare(); }); !status) {
    return inner->Fail(std::move(status).error().While("preparing to train"));
  }
  return Trainer(std::move(inner));
}

Status Trainer::Inner::Prepare() {
  std::optional<OptimizerState> optimizer_state;
  if (!options.checkpoints.empty()) {
    MUSTER_ASSIGN(optimizer_state,
                  OptimizerState::Make(optimizer, ParametersOf(model, false)));
  }
  MUSTER_ASSIGN(state, ReplicaState::Make(model, std::move(optimizer_state)));
  MUSTER_TRY(state->ProveSameModel(peers()));
  MUSTER_ASSIGN(Progress progress,
                state->FollowRankZero(peers(), FindCheckpoint()));
  MUSTER_TRY(state->ProveEqual(peers()));
  step = resumed = saved = progress.step;
  position = NumberIn(progress.words, "position");
  seed = resumed_seed = NumberIn(progress.words, "seed");
  BucketSizes sizes = SizesFor(group);
  sizes.first = options.first_bucket > 0 ? options.first_bucket : sizes.first;
  sizes.other = options.bucket > 0 ? options.bucket : sizes.other;
  MUSTER_ASSIGN(buckets,
                GradientBuckets::Make(group, ParametersOf(model, true), sizes));
  for (NamedTensor& parameter : ParametersOf(model, false)) {
    const bool is_trained = parameter.tensor.requires_grad();
    parameters.push_back({std::move(parameter), is_trained});
  }
  parameter_digest = state->ParameterDigest();
  meter.Resume(step);
  return Ok();
}

Result<std::optional<Checkpoint>> Trainer::Inner::FindCheckpoint() {
  if (options.checkpoints.empty() || group.rank() != 0) {
    return std::optional<Checkpoint>();
  }
  MUSTER_ASSIGN(store, CheckpointStore::Open({.directory = options.checkpoints,
                                              .keep = options.keep}));
  MUSTER_ASSIGN(LoadOutcome outcome, store->LoadNewest());
  SaySkipped(outcome.skipped);
  if (outcome.checkpoint) {
    MUSTER_LOG(kInfo, "resuming from a checkpoint",
               {{"step", outcome.checkpoint->step},
                {"path", outcome.checkpoint->path}});
    session.Report({.name = "checkpoint.resumed",
                    .fields = {{"step", static_cast<std::int64_t>(
                                            outcome.checkpoint->step)},
                               {"path", outcome.checkpoint->path}},
                    .subject = "rank 0",
                    .by = "rank 0"});
  }
  return std::move(outcome.checkpoint);
}

void Trainer::Inner::SaySkipped(const std::vector<Error>& skipped) {
  for (const Error& error : skipped) {
    MUSTER_LOG(kWarn, "skipping a checkpoint, using the previous one",
               {{"why", error.ToString()}});
    session.Report({.name = "checkpoint.skipped",
                    .fields = {{"cause", std::string(Label(error.cause()))},
                               {"why", error.message()}},
                    .subject = "rank 0",
                    .by = "rank 0"});
  }
}

Trainer::Trainer(std::unique_ptr<Inner> inner) : inner_(std::move(inner)) {}
Trainer::Trainer(Trainer&&) noexcept = default;
Trainer::~Trainer() = default;

std::uint64_t Trainer::step() const {
  return inner_->step;
}
std::uint64_t Trainer::resumed_step() const {
  return inner_->resumed;
}
double Trainer::loss() const {
  return inner_->loss;
}

// ---- Failing ----

const Error& Trainer::Inner::Fail(Error error) {
  if (!failed) {
    failed = std::move(error);
    // A stop is the agent's own doing.
    if (!session.StopRequested()) {
      session.Failed(*failed);
    }
  }
  return *failed;
}

std::optional<Error> Trainer::Inner::Ended() {
  if (!failed && session.StopRequested()) {
    failed = session.StopError();
  }
  return failed;
}

// ---- Stepping ----

Status Trainer::StepWith(TensorBatch& batch,
                         const std::function<torch::Tensor()>& loss) {
  Inner& trainer = *inner_;
  if (auto ended = trainer.Ended()) {
    return *ended;
  }
  Status status = Catching([&] { return trainer.Train(batch, loss); });
  if (!status) {
    return trainer.Fail(std::move(status).error().While(
        "in step " + std::to_string(trainer.step + 1) + " on rank " +
        std::to_string(trainer.group.rank())));
  }
  return Ok();
}

Status Trainer::Inner::Train(
    const TensorBatch& batch,
    const std::function<torch::Tensor()>& loss_function) {
  if (batch.global_count < batch.count() || batch.global_count == 0) {
    return Error(Cause::kUsageInvalid,
                 "the batch has no number of samples over all ranks: use "
                 "Trainer::Batches");
  }
  MUSTER_TRY(ProveTrainedAsMade());
  buckets->Begin();
  buckets->SetLoss(0);
  if (batch.count() > 0) {
    MUSTER_TRY(Backward(batch, loss_function));
  }
  MUSTER_TRY(buckets->Finish(Deadline::After(options.wait_limit), {}));
  loss = buckets->loss();
  StepOptimizer(optimizer);
  if (state->has_buffers()) {
    MUSTER_TRY(state->BroadcastBuffers(peers()));
  }
  return AfterStep(batch);
}

Status Trainer::Inner::ProveTrainedAsMade() const {
  for (const auto& [parameter, was_trained] : parameters) {
    if (parameter.tensor.requires_grad() != was_trained) {
      return Error(
          Cause::kUsageInvalid,
          "`" + parameter.name +
              (was_trained ? "` was frozen after the trainer was created, but "
                             "its momentum would still change it: freeze it "
                             "before Trainer::Make"
                           : "` was unfrozen after the trainer was created, so "
                             "its gradient is not reduced: unfreeze it before "
                             "Trainer::Make"));
    }
  }
  return Ok();
}

Status Trainer::Inner::Backward(
    const TensorBatch& batch,
    const std::function<torch::Tensor()>& loss_function) {
  torch::manual_seed(StreamSeed(seed, group.rank(), step));
  torch::Tensor value = loss_function();
  if (!value.defined() || value.numel() != 1 || !value.requires_grad()) {
    return Error(Cause::kUsageInvalid,
                 "the loss must be a scalar that depends on the parameters, "
                 "the mean over the batch");
  }
  double share = static_cast<double>(batch.count()) /
                 static_cast<double>(batch.global_count);
  if (!weight.defined() || share != weight_value ||
      weight.sizes() != value.sizes() || weight.dtype() != value.dtype()) {
    weight = torch::full_like(value.detach(), share);
    weight_value = share;
  }
  buckets->SetLoss(value.item<double>() * share);
  value.backward(weight);
  return Ok();
}

Status Trainer::Inner::AfterStep(const TensorBatch& batch) {
  ++step;
  position = batch.next_position;
  LookAtParameters();
  meter.EndStep({.step = step,
                 .samples = batch.count(),
                 .input_wait = batch.waited,
                 .loss = loss,
                 .unchanged_steps = unchanged});
  if (!options.checkpoints.empty() && options.every > 0 &&
      step % options.every == 0) {
    return Save();
  }
  return Ok();
}

void Trainer::Inner::LookAtParameters() {
  if (step % kUnchangedLook != 0) {
    return;
  }
  std::uint64_t digest = state->ParameterDigest();
  unchanged = digest == parameter_digest ? unchanged + kUnchangedLook : 0;
  parameter_digest = digest;
}

Status Trainer::Inner::Save() {
  if (saved == step) {
    return Ok();
  }
  meter.Enter(wire::Phase::kCheckpoint);
  MUSTER_TRY(state->ProveEqual(peers()));
  MUSTER_TRY(state->Save(peers(), store ? &*store : nullptr,
                         {.step = step,
                          .words = {{"position", std::to_string(position)},
                                    {"seed", std::to_string(seed)}}}));
  saved = step;
  meter.Checkpointed(step);
  meter.Leave();
  return Ok();
}

Status Trainer::Finish() {
  Inner& trainer = *inner_;
  if (auto ended = trainer.Ended()) {
    return *ended;
  }
  Status status = Catching([&]() -> Status {
    if (!trainer.options.checkpoints.empty()) {
      MUSTER_TRY(trainer.Save());
    }
    // Ranks that ended their loops at different steps meet here.
    return Barrier(trainer.group, Deadline::After(trainer.options.wait_limit));
  });
  if (!status) {
    return trainer.Fail(std::move(status).error().While(
        "finishing after step " + std::to_string(trainer.step)));
  }
  trainer.meter.Finished();
  return Ok();
}

// ---- Batches ----

struct BatchRange::Source {
  Trainer::Inner* trainer = nullptr;
  std::unique_ptr<Loader> loader;
  std::vector<std::int64_t> sample_shape;
  std::uint64_t offset = 0;  // of the loader's positions in the training's
};

BatchRange::BatchRange(std::unique_ptr<Source> source)
    : source_(std::move(source)) {}
BatchRange::BatchRange(BatchRange&&) noexcept = default;
BatchRange::~BatchRange() = default;

BatchRange Trainer::Batches(const Dataset& dataset,
                            const BatchesOptions& options) {
  Inner& trainer = *inner_;
  auto source = std::make_unique<BatchRange::Source>();
  source->trainer = &trainer;
  source->sample_shape = {dataset.sample_shape().begin(),
                          dataset.sample_shape().end()};
  const std::uint64_t before =
      dataset.size() > 0 ? trainer.planned / dataset.size() : 0;
  const std::uint64_t begin = trainer.planned;
  trainer.planned += dataset.size() * options.epochs;
  source->offset = begin - before * dataset.size();
  trainer.seed = options.seed;
  trainer.meter.TellClasses(dataset.classes());
  const std::uint64_t position = std::max(trainer.position, begin);
  // The loop that the checkpoint was made in.
  if (trainer.resumed > 0 && trainer.step == trainer.resumed &&
      position > begin && position < trainer.planned &&
      trainer.resumed_seed != options.seed) {
    MUSTER_LOG(
        kWarn, "the checkpoint was trained with a different seed",
        {{"checkpoint", trainer.resumed_seed}, {"program", options.seed}});
  }
  // Of an empty dataset the loader says what is wrong.
  if (!trainer.failed && (position < trainer.planned || dataset.size() == 0)) {
    auto loader = Loader::Make(
        dataset, {.global_batch = options.global_batch,
                  .epochs = before + options.epochs,
                  .seed = options.seed,
                  .shuffle = options.shuffle,
                  .who = {trainer.group.rank(), trainer.group.size()},
                  .position = position - source->offset});
    if (loader) {
      source->loader = *std::move(loader);
    } else {
      (void)trainer.Fail(
          std::move(loader).error().While("opening the batches"));
    }
  }
  return BatchRange(std::move(source));
}

void BatchRange::Advance() {
  Trainer::Inner& trainer = *source_->trainer;
  current_ = {};
  done_ = true;
  if (!source_->loader || trainer.Ended()) {
    return;
  }
  trainer.meter.BeginStep();
  auto batch =
      source_->loader->Next(Deadline::After(trainer.options.wait_limit));
  if (!batch) {
    (void)trainer.Fail(
        std::move(batch).error().While("reading the next batch"));
    return;
  }
  if (*batch) {
    current_ = TensorsOf(*std::move(*batch), source_->sample_shape);
    current_.next_position += source_->offset;
    done_ = false;
  }
}

// ---- Evaluating ----

Status Trainer::Inner::SumScores(
    const Dataset& dataset,
    const std::function<torch::Tensor(TensorBatch&)>& score, Sums& sums) {
  torch::NoGradGuard no_grad;
  RankOf who{group.rank(), group.size()};
  MUSTER_ASSIGN(auto loader,
                Loader::Make(dataset, {.global_batch =
                                           kEvaluateBatch *
                                           static_cast<std::uint64_t>(who.size),
                                       .shuffle = false,
                                       .who = who}));
  std::vector<std::int64_t> shape(dataset.sample_shape().begin(),
                                  dataset.sample_shape().end());
  while (true) {
    MUSTER_ASSIGN(auto next, loader->Next(Deadline::After(options.wait_limit)));
    if (!next) {
      return Ok();
    }
    TensorBatch batch = TensorsOf(*std::move(next), shape);
    if (batch.count() == 0) {
      continue;
    }
    torch::Tensor scores = score(batch);
    if (scores.numel() != static_cast<std::int64_t>(batch.count())) {
      return Error(Cause::kUsageInvalid,
                   "the score must have one value per sample: " +
                       std::to_string(scores.numel()) + " for " +
                       std::to_string(batch.count()) + " samples");
    }
    sums.scores += scores.to(torch::kFloat64).sum().item<double>();
    sums.samples += static_cast<double>(batch.count());
    meter.Beat();
  }
}

Result<double> Trainer::EvaluateWith(
    const Dataset& dataset,
    const std::function<torch::Tensor(TensorBatch&)>& score) {
  Inner& trainer = *inner_;
  if (auto ended = trainer.Ended()) {
    return *ended;
  }
  trainer.meter.Enter(wire::Phase::kEvaluate);
  const Modes modes(trainer.model);
  trainer.model.eval();
  Inner::Sums sums;
  Status status = Catching([&]() -> Status {
    MUSTER_TRY(trainer.SumScores(dataset, score, sums));
    return AllReduce(trainer.group,
                     {.data = &sums, .count = 2, .dtype = DType::kFloat64},
                     Deadline::After(trainer.options.wait_limit));
  });
  modes.Restore();
  if (!status) {
    return trainer.Fail(std::move(status).error().While("evaluating"));
  }
  trainer.meter.Leave();
  return sums.scores / sums.samples;
}

}  // namespace muster
