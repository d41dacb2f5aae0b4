// SPDX-License-Identifier: Apache-2.0
// A cluster of threads, small data and temporary folders for the tests of this
// room.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "collective/shared_memory.h"
#include "muster/train.h"
#include "sys/env.h"
#include "sys/fake/fake_env.h"
#include "sys/file/fd.h"
#include "sys/memory.h"
#include "sys/process/process.h"
#include "sys/testing.h"
#include "wire/progress_page.h"

namespace muster {

// Ranks that share memory as processes do, each on a thread of its own. The
// progress page is the agent's side.
class ThreadCluster {
 public:
  explicit ThreadCluster(int size)
      : size_(size),
        segment_(sys::MakeSharedMemory("test segment", 0).value()) {}

  // Runs body(strategy) on every rank and returns when all have ended.
  void Run(const std::function<void(MultiWorkerMirrored&)>& body) {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size_; ++rank) {
      threads.emplace_back([&, rank] {
        at::set_num_threads(1);
        auto session = Session::JoinFrom(sys::FakeEnv());
        ASSERT_TRUE(session) << session.error().ToString();
        auto group = size_ == 1
                         ? Result<std::unique_ptr<Collective>>(MakeAlone())
                         : MakeSharedMemory({.rank = rank,
                                             .size = size_,
                                             .segment = segment_.get(),
                                             .progress_page = &progress_page_});
        ASSERT_TRUE(group) << group.error().ToString();
        auto strategy =
            MultiWorkerMirrored::Over(*std::move(session), *std::move(group));
        body(strategy);
      });
    }
  }

  wire::ProgressPage& progress_page() { return progress_page_; }

 private:
  int size_;
  sys::Fd segment_;
  wire::ProgressPage progress_page_;
};

// Samples that are a function of their index: 12 numbers, 3 classes.
class ToyDataset : public Dataset {
 public:
  explicit ToyDataset(std::uint64_t size) : size_(size) {}
  std::uint64_t size() const override { return size_; }
  std::span<const std::int64_t> sample_shape() const override { return shape_; }
  int classes() const override { return 3; }
  Status Fill(std::span<const std::uint64_t> indices, std::span<float> features,
              std::span<std::int64_t> labels) const override {
    for (std::size_t i = 0; i < indices.size(); ++i) {
      labels[i] = static_cast<std::int64_t>(indices[i] % 3);
      for (std::size_t j = 0; j < 12; ++j) {
        features[i * 12 + j] = std::sin(static_cast<float>(
            indices[i] * 7 + j * static_cast<std::size_t>(labels[i] + 1)));
      }
    }
    return Ok();
  }

 private:
  std::uint64_t size_;
  std::vector<std::int64_t> shape_{12};
};

// The first samples of another dataset, which must outlive it.
class FirstOf : public Dataset {
 public:
  FirstOf(const Dataset& whole, std::uint64_t size)
      : whole_(whole), size_(size) {}
  std::uint64_t size() const override { return size_; }
  std::span<const std::int64_t> sample_shape() const override {
    return whole_.sample_shape();
  }
  int classes() const override { return whole_.classes(); }
  Status Fill(std::span<const std::uint64_t> indices, std::span<float> features,
              std::span<std::int64_t> labels) const override {
    return whole_.Fill(indices, features, labels);
  }

 private:
  const Dataset& whole_;
  std::uint64_t size_;
};

using sys::TemporaryFolder;

// make() with the same random numbers on every rank: threads share torch's
// generator.
template <typename Make>
auto Seeded(Make&& make) {
  static std::mutex one_generator;
  std::lock_guard lock(one_generator);
  torch::manual_seed(5);
  return make();
}

inline Mlp MakeModel(std::int64_t inputs, std::vector<std::int64_t> hidden,
                     std::int64_t classes) {
  return Seeded([&] { return Mlp(inputs, std::move(hidden), classes); });
}

inline torch::Tensor CrossEntropy(const torch::Tensor& logits,
                                  const torch::Tensor& labels) {
  return torch::nn::functional::cross_entropy(logits, labels);
}

}  // namespace muster
