// SPDX-License-Identifier: Apache-2.0
// Trains a small network on Fashion-MNIST, on as many ranks as it is started
// with:
//
//   muster run -n 2 -- fashion_mnist --epochs 10
#include <muster/train.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace {

using muster::MultiWorkerMirrored;
using muster::Split;
using muster::Status;
using muster::Trainer;
using torch::nn::functional::cross_entropy;

constexpr const char* kUsage =
    "usage: fashion_mnist [--model mlp|cnn] [--epochs N] [--global-batch N]\n"
    "                     [--seed N] [--learning-rate X] [--data DIR]\n"
    "                     [--checkpoints DIR] [--every STEPS] [--keep N]\n";

struct Settings {
  std::string model = "mlp";
  std::uint64_t epochs = 10;
  std::uint64_t global_batch = 128;
  std::uint64_t seed = 42;
  double learning_rate = 1e-3;
  std::string data = muster::FashionMnist::kDebianDirectory;
  std::string checkpoints;
  std::uint64_t every = 0;
  int keep = 3;
};

// False for a flag that does not exist or has no value.
bool Read(int argc, char** argv, Settings& settings) {
  for (int i = 1; i < argc; i += 2) {
    std::string_view flag = argv[i];
    if (i + 1 == argc) {
      return false;
    }
    const char* value = argv[i + 1];
    auto number = [&] { return std::strtoull(value, nullptr, 10); };
    if (flag == "--model") {
      settings.model = value;
    } else if (flag == "--epochs") {
      settings.epochs = number();
    } else if (flag == "--global-batch") {
      settings.global_batch = number();
    } else if (flag == "--seed") {
      settings.seed = number();
    } else if (flag == "--learning-rate") {
      settings.learning_rate = std::strtod(value, nullptr);
    } else if (flag == "--data") {
      settings.data = value;
    } else if (flag == "--checkpoints") {
      settings.checkpoints = value;
    } else if (flag == "--every") {
      settings.every = number();
    } else if (flag == "--keep") {
      settings.keep = std::atoi(value);
    } else {
      return false;
    }
  }
  return settings.model == "mlp" || settings.model == "cnn";
}

template <typename Model>
Status Train(MultiWorkerMirrored& strategy, Model model,
             const Settings& settings) {
  MUSTER_ASSIGN(auto images,
                muster::FashionMnist::Open(settings.data, Split::kTrain));
  MUSTER_ASSIGN(auto test,
                muster::FashionMnist::Open(settings.data, Split::kTest));
  torch::optim::Adam optimizer(model->parameters(), settings.learning_rate);
  MUSTER_ASSIGN(auto trainer,
                Trainer::Make(strategy, model, optimizer,
                              {.checkpoints = settings.checkpoints,
                               .every = settings.every,
                               .keep = settings.keep}));
  for (auto& batch :
       trainer.Batches(images, {.global_batch = settings.global_batch,
                               .epochs = settings.epochs,
                               .seed = settings.seed})) {
    MUSTER_TRY(trainer.Step(batch, [&](auto& b) {
      return cross_entropy(model->forward(b.images), b.labels);
    }));
    if (batch.next_position % images.size() == 0 && strategy.rank() == 0) {
      std::printf(
          "epoch %llu of %llu, step %llu: loss %.4f\n",
          static_cast<unsigned long long>(batch.next_position / images.size()),
          static_cast<unsigned long long>(settings.epochs),
          static_cast<unsigned long long>(trainer.step()), trainer.loss());
      std::fflush(stdout);
    }
  }
  MUSTER_TRY(trainer.Finish());
  MUSTER_ASSIGN(double accuracy, trainer.Evaluate(test, [&](auto& b) {
    return model->forward(b.images).argmax(1) == b.labels;
  }));
  if (strategy.rank() == 0) {
    std::printf("test accuracy %.4f after %llu epochs\n", accuracy,
                static_cast<unsigned long long>(settings.epochs));
  }
  return muster::Ok();
}

Status Run(const Settings& settings) {
  MUSTER_ASSIGN(auto strategy, MultiWorkerMirrored::Join());
  torch::manual_seed(settings.seed);
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
    std::fputs(kUsage, stderr);
    return 2;
  }
  Status status = Run(settings);
  if (!status) {
    std::fprintf(stderr, "fashion_mnist: %s\n",
                 status.error().ToString().c_str());
    return 1;
  }
  return 0;
}
