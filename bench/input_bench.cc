// SPDX-License-Identifier: Apache-2.0
// What a batch of Fashion-MNIST costs: filling it, and getting it from a loader
// that shares one core with a step of a given length.
//
//   input_bench [--batch 64] [--step-us 600] [--ahead 8]
#include <sched.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "muster/dataset.h"
#include "value_or_exit.h"

namespace muster {
namespace {

using Clock = std::chrono::steady_clock;

struct Settings {
  std::uint64_t batch = 64;
  long step_us = 600;
  std::size_t ahead = 8;
};

double Microseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

void BenchFill(const Dataset& data, std::uint64_t batch) {
  Sampler sampler =
      ValueOrExit(Sampler::Make({.size = data.size(), .global_batch = batch}));
  std::vector<float> features(batch * ElementsOf(data));
  std::vector<std::int64_t> labels(batch);
  std::vector<double> times;
  for (std::uint64_t first = 0; first + batch <= data.size(); first += batch) {
    const auto indices = sampler.Indices(0, {.first = first, .count = batch});
    const auto begun = Clock::now();
    ValueOrExit(data.Fill(indices, features, labels));
    times.push_back(Microseconds(Clock::now() - begun));
  }
  std::sort(times.begin(), times.end());
  std::printf("fill: %.1f us median for %llu samples\n",
              times[times.size() / 2], static_cast<unsigned long long>(batch));
  const auto begun = Clock::now();
  (void)sampler.Indices(1, {.count = 1});
  std::printf("order of an epoch: %.0f us\n",
              Microseconds(Clock::now() - begun));
}

// User and system time of the process, microseconds.
double CpuTime() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto us = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) * 1e6 + static_cast<double>(t.tv_usec);
  };
  return us(usage.ru_utime) + us(usage.ru_stime);
}

void BenchLoader(const Dataset& data, const Settings& settings) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(0, &one);
  sched_setaffinity(0, sizeof one, &one);
  auto loader = ValueOrExit(Loader::Make(
      data,
      {.global_batch = settings.batch, .epochs = 4, .ahead = settings.ahead}));
  std::uint64_t steps = 0;
  const double cpu = CpuTime();
  const auto begun = Clock::now();
  while (const auto batch = ValueOrExit(
             loader->Next(Deadline::After(std::chrono::minutes(1))))) {
    const auto until =
        Clock::now() + std::chrono::microseconds(settings.step_us);
    while (Clock::now() < until) {
    }
    ++steps;
  }
  const double n = static_cast<double>(steps);
  std::printf(
      "loader on one core, step %ld us: %.1f us a step in all, input wait "
      "%.2f us a step, %.1f us CPU a step\n",
      settings.step_us, Microseconds(Clock::now() - begun) / n,
      Microseconds(
          std::chrono::duration_cast<Clock::duration>(loader->input_wait())) /
          n,
      (CpuTime() - cpu) / n);
}

Settings ReadSettings(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view flag = argv[i];
    const long value = std::atol(argv[i + 1]);
    if (flag == "--batch") {
      settings.batch = static_cast<std::uint64_t>(value);
    } else if (flag == "--step-us") {
      settings.step_us = value;
    } else if (flag == "--ahead") {
      settings.ahead = static_cast<std::size_t>(value);
    }
  }
  return settings;
}

int Run(const Settings& settings) {
  const auto begun = Clock::now();
  const auto data = ValueOrExit(
      FashionMnist::Open(FashionMnist::kDebianDirectory, Split::kTrain));
  std::printf("open: %.0f ms\n", Microseconds(Clock::now() - begun) / 1e3);
  BenchFill(data, settings.batch);
  BenchLoader(data, settings);
  return 0;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  return muster::Run(muster::ReadSettings(argc, argv));
}
