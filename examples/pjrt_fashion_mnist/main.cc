// SPDX-License-Identifier: Apache-2.0
// Trains a network on Fashion-MNIST on all devices of a PJRT plug-in. The step
// was exported once by ../export/fashion_mnist.py; no Python runs here.
//
//   muster run -n 1 -- pjrt_fashion_mnist --plugin xla_cpu_pjrt.so --devices 4
#include <muster/dataset.h>
#include <muster/pjrt.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace {

using muster::Batch;
using muster::CheckpointStore;
using muster::Deadline;
using muster::DType;
using muster::Loader;
using muster::PjrtStrategy;
using muster::Result;
using muster::Split;
using muster::Status;
using muster::TensorView;

constexpr const char* kUsage =
    "usage: pjrt_fashion_mnist --plugin FILE [--step step.json] [--devices N]\n"
    "         [--epochs N] [--steps N] [--seed N] [--shuffle 0|1]\n"
    "         [--data DIR] [--checkpoints DIR] [--every STEPS] [--losses "
    "FILE]\n";

struct Settings {
  std::string plugin;
  std::string step = "examples/pjrt_fashion_mnist/conv/step.json";
  int devices = 0;  // all
  std::uint64_t epochs = 2;
  std::uint64_t steps = 0;  // ends sooner; 0: after the epochs
  std::int32_t seed = 42;
  bool shuffle = true;
  std::string data = muster::FashionMnist::kDebianDirectory;
  std::string checkpoints;
  std::uint64_t every = 0;
  std::string losses;  // a line for each step
};

// False for a flag that does not exist or has no value.
bool Read(int argc, char** argv, Settings& settings) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (i + 1 == argc) {
      return false;
    }
    const char* value = argv[i + 1];
    if (flag == "--plugin") {
      settings.plugin = value;
    } else if (flag == "--step") {
      settings.step = value;
    } else if (flag == "--devices") {
      settings.devices = std::atoi(value);
    } else if (flag == "--epochs") {
      settings.epochs = std::strtoull(value, nullptr, 10);
    } else if (flag == "--steps") {
      settings.steps = std::strtoull(value, nullptr, 10);
    } else if (flag == "--seed") {
      settings.seed = std::atoi(value);
    } else if (flag == "--shuffle") {
      settings.shuffle = std::atoi(value) != 0;
    } else if (flag == "--data") {
      settings.data = value;
    } else if (flag == "--checkpoints") {
      settings.checkpoints = value;
    } else if (flag == "--every") {
      settings.every = std::strtoull(value, nullptr, 10);
    } else if (flag == "--losses") {
      settings.losses = value;
    } else {
      return false;
    }
  }
  return !settings.plugin.empty();
}

// A batch as the exported step takes it: labels are int32 there. Samples that
// are missing to a whole batch get the label -1, which no answer matches.
class Tensors {
 public:
  Tensors(const PjrtStrategy& strategy, const Batch& batch) {
    const auto samples = static_cast<std::int64_t>(strategy.global_batch());
    labels_.assign(strategy.global_batch(), -1);
    std::copy(batch.labels().begin(), batch.labels().end(), labels_.begin());
    std::span<const float> images = batch.features();
    if (batch.count() < strategy.global_batch()) {
      padded_.assign(images.begin(), images.end());
      padded_.resize(strategy.global_batch() * 784);
      images = padded_;
    }
    views_ = {{{"images", DType::kFloat32, {samples, 1, 28, 28}},
               std::as_bytes(images)},
              {{"labels", DType::kInt32, {samples}},
               std::as_bytes(std::span(labels_))}};
  }
  Tensors(const Tensors&) = delete;
  Tensors& operator=(const Tensors&) = delete;

  std::span<const TensorView> views() const { return views_; }

 private:
  std::vector<std::int32_t> labels_;
  std::vector<float> padded_;
  std::vector<TensorView> views_;
};

// `position`: where to begin, in samples.
Result<std::unique_ptr<Loader>> Load(const muster::Dataset& dataset,
                                     const PjrtStrategy& strategy,
                                     const Settings& settings,
                                     std::uint64_t epochs,
                                     std::uint64_t position) {
  return Loader::Make(dataset,
                      {.global_batch = strategy.global_batch(),
                       .epochs = epochs,
                       .seed = static_cast<std::uint64_t>(settings.seed),
                       .shuffle = settings.shuffle,
                       .who = {},
                       .position = position});
}

// Prints the part of the test images that the network names right.
Status Test(PjrtStrategy& strategy, const Settings& settings) {
  MUSTER_ASSIGN(const auto images,
                muster::FashionMnist::Open(settings.data, Split::kTest));
  MUSTER_ASSIGN(auto loader, Load(images, strategy, settings, 1, 0));
  double right = 0;
  while (true) {
    MUSTER_ASSIGN(const auto batch,
                  loader->Next(Deadline::After(std::chrono::minutes(1))));
    if (!batch) {
      break;
    }
    MUSTER_ASSIGN(const auto scores,
                  strategy.Evaluate(Tensors(strategy, *batch).views()));
    right += scores[0];
  }
  std::printf("test accuracy %.4f after %llu steps on %d replicas\n",
              right / static_cast<double>(images.size()),
              static_cast<unsigned long long>(strategy.step()),
              strategy.num_replicas_in_sync());
  return muster::Ok();
}

constexpr const char* kPosition = "position";

// Goes on from the newest checkpoint, or begins. Gives the sample to go on
// from: with another number of devices a step has another number of them.
Result<std::uint64_t> Begin(PjrtStrategy& strategy,
                            std::optional<CheckpointStore>& store,
                            const Settings& settings) {
  if (!settings.checkpoints.empty()) {
    MUSTER_ASSIGN(store, CheckpointStore::Open(
                             {.directory = settings.checkpoints, .keep = 3}));
    MUSTER_ASSIGN(const auto found, store->LoadNewest());
    if (found.checkpoint) {
      std::printf("continuing after step %llu\n",
                  static_cast<unsigned long long>(found.checkpoint->step));
      MUSTER_TRY(strategy.Restore(*found.checkpoint));
      const auto& words = found.checkpoint->metadata;
      const auto position = words.find(kPosition);
      if (position == words.end()) {
        return muster::Error(muster::Cause::kCkptMismatch,
                             "the checkpoint does not say at which sample it "
                             "was made");
      }
      return std::strtoull(position->second.c_str(), nullptr, 10);
    }
  }
  MUSTER_TRY(strategy.Initialize(settings.seed));
  return std::uint64_t{0};
}

Status Train(PjrtStrategy& strategy, const Settings& settings) {
  std::optional<CheckpointStore> store;
  MUSTER_ASSIGN(std::uint64_t position, Begin(strategy, store, settings));
  MUSTER_ASSIGN(const auto images,
                muster::FashionMnist::Open(settings.data, Split::kTrain));
  const auto close = [](std::FILE* file) { std::fclose(file); };
  std::unique_ptr<std::FILE, decltype(close)> losses(
      settings.losses.empty() ? nullptr
                              : std::fopen(settings.losses.c_str(), "w"),
      close);
  const auto save = [&] {
    return strategy.Save(*store, {{kPosition, std::to_string(position)}});
  };
  MUSTER_ASSIGN(auto loader,
                Load(images, strategy, settings, settings.epochs, position));
  while (settings.steps == 0 || strategy.step() < settings.steps) {
    MUSTER_ASSIGN(auto batch,
                  loader->Next(Deadline::After(std::chrono::minutes(1))));
    if (!batch) {
      break;
    }
    // Whole batches only: the step was exported for their size.
    if (batch->count() < strategy.global_batch()) {
      continue;
    }
    MUSTER_ASSIGN(
        const auto metrics,
        strategy.Step(Tensors(strategy, *batch).views(), batch->waited()));
    const muster::GlobalBatch& done = batch->global();
    position = done.next();
    if (losses) {
      std::fprintf(losses.get(), "%.9g\n", static_cast<double>(metrics[0]));
    }
    if (done.first + done.count + strategy.global_batch() > images.size()) {
      const unsigned long long epoch = done.epoch + 1;
      std::printf("epoch %llu of %llu: loss %.4f\n", epoch,
                  static_cast<unsigned long long>(settings.epochs),
                  static_cast<double>(metrics[0]));
      std::fflush(stdout);
    }
    if (store && settings.every > 0 && strategy.step() % settings.every == 0) {
      MUSTER_TRY(save());
    }
  }
  MUSTER_TRY(strategy.ProveReplicasEqual());
  if (store) {
    MUSTER_TRY(save());
  }
  return Test(strategy, settings);
}

Status Run(const Settings& settings) {
  MUSTER_ASSIGN(const auto session, muster::Session::Join());
  MUSTER_ASSIGN(auto program, muster::StepProgram::Open(settings.step));
  MUSTER_ASSIGN(
      auto strategy,
      PjrtStrategy::Make(
          *session, std::move(program),
          {.plugin = settings.plugin,
           .devices = settings.devices,
           // Of the CPU's plug-in; others have the devices that they have.
           .create =
               settings.devices > 0 &&
                       settings.plugin.find("cpu") != std::string::npos
                   ? std::map<std::string, std::int64_t>{{"cpu_device_count",
                                                          settings.devices}}
                   : std::map<std::string, std::int64_t>{}}));
  return Train(strategy, settings);
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  if (!Read(argc, argv, settings)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  const Status status = Run(settings);
  if (!status) {
    std::fprintf(stderr, "pjrt_fashion_mnist: %s\n",
                 status.error().ToString().c_str());
    return 1;
  }
  return 0;
}
