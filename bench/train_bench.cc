// SPDX-License-Identifier: Apache-2.0
// The training that `make bench` measures: the loop of examples/fashion_mnist,
// ended after so many steps, with the times of its steps written down.
//
//   train_bench --trace DIR [--model mlp|cnn] [--steps N] [--global-batch N]
//               [--checkpoints DIR] [--every STEPS]
//
// Each rank writes DIR/rankN: a line "PID STEP SECONDS" (CLOCK_MONOTONIC) after
// its first step and after every 20th, as bench/peers/ddp_train.py does.
#include <muster/train.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace {

using muster::MultiWorkerMirrored;
using muster::Status;
using muster::Trainer;
using torch::nn::functional::cross_entropy;

constexpr std::uint64_t kTraceEvery = 20;

struct Settings {
  std::string model = "mlp";
  std::uint64_t steps = 1000;
  std::uint64_t global_batch = 128;
  std::string trace;
  std::string checkpoints;
  std::uint64_t every = 100;
};

// False for a flag that does not exist or has no value.
bool Read(int argc, char** argv, Settings& settings) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (i + 1 == argc) {
      return false;
    }
    const char* value = argv[i + 1];
    const auto number = [&] { return std::strtoull(value, nullptr, 10); };
    if (flag == "--model") {
      settings.model = value;
    } else if (flag == "--steps") {
      settings.steps = number();
    } else if (flag == "--global-batch") {
      settings.global_batch = number();
    } else if (flag == "--trace") {
      settings.trace = value;
    } else if (flag == "--checkpoints") {
      settings.checkpoints = value;
    } else if (flag == "--every") {
      settings.every = number();
    } else {
      return false;
    }
  }
  return !settings.trace.empty() &&
         (settings.model == "mlp" || settings.model == "cnn");
}

// Writes when steps were done.
class Trace {
 public:
  Trace(const std::string& folder, int rank) {
    std::error_code ignored;  // opening the file tells
    std::filesystem::create_directories(folder, ignored);
    const std::string path = folder + "/rank" + std::to_string(rank);
    file_.reset(std::fopen(path.c_str(), "a"));
    if (!file_) {
      std::perror(path.c_str());
      std::_Exit(1);
    }
  }

  void Step(std::uint64_t step) {
    if (++done_ != 1 && step % kTraceEvery != 0) {
      return;
    }
    const std::chrono::duration<double> now =
        std::chrono::steady_clock::now().time_since_epoch();
    std::fprintf(file_.get(), "%d %llu %.6f\n", getpid(),
                 static_cast<unsigned long long>(step), now.count());
    std::fflush(file_.get());
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, Close> file_;
  std::uint64_t done_ = 0;
};

// How images lie in memory between a model's layers.
template <typename Model>
std::string_view LayoutOf(const Model& model) {
  if constexpr (requires { model.layout(); }) {
    return model.layout();
  }
  return "contiguous";
}

template <typename Model>
Status Train(MultiWorkerMirrored& strategy, Model model,
             const Settings& settings) {
  MUSTER_ASSIGN(auto images, muster::FashionMnist::Open(
                                 muster::FashionMnist::kDebianDirectory,
                                 muster::Split::kTrain));
  torch::optim::Adam optimizer(model->parameters());
  MUSTER_ASSIGN(auto trainer,
                Trainer::Make(strategy, model, optimizer,
                              {.checkpoints = settings.checkpoints,
                               .every = settings.every}));
  Trace trace(settings.trace, strategy.rank());
  for (auto& batch : trainer.Batches(
           images, {.global_batch = settings.global_batch,
                   .epochs = settings.steps,  // more than are needed
                    .seed = 1})) {
    MUSTER_TRY(trainer.Step(batch, [&](auto& b) {
      return cross_entropy(model->forward(b.images), b.labels);
    }));
    trace.Step(trainer.step());
    if (trainer.step() >= settings.steps) {
      break;
    }
  }
  MUSTER_TRY(trainer.Finish());
  if (strategy.rank() == 0) {
    std::printf("step %llu, loss %.4f\nlayout: %s\n",
                static_cast<unsigned long long>(trainer.step()), trainer.loss(),
                std::string(LayoutOf(*model)).c_str());
  }
  return muster::Ok();
}

Status Run(const Settings& settings) {
  MUSTER_ASSIGN(auto strategy, MultiWorkerMirrored::Join());
  torch::manual_seed(1);
  return strategy.Run([&]() -> Status {
    return settings.model == "mlp"
               ? Train(strategy, muster::Mlp(784, {128}, 10), settings)
               : Train(strategy, muster::Cnn(10), settings);
  });
}

}  // namespace

int main(int argc, char** argv) {
  Settings settings;
  if (!Read(argc, argv, settings)) {
    std::fputs(
        "usage: train_bench --trace DIR [--model mlp|cnn] [--steps N]\n"
        "                   [--global-batch N] [--checkpoints DIR]\n"
        "                   [--every STEPS]\n",
        stderr);
    return 2;
  }
  const Status status = Run(settings);
  if (!status) {
    std::fprintf(stderr, "train_bench: %s\n",
                 status.error().ToString().c_str());
    return 1;
  }
  return 0;
}
