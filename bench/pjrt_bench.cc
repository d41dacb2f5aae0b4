// SPDX-License-Identifier: Apache-2.0
// Steps per second of PjrtStrategy on a batch that does not change:
//
//   pjrt_bench PLUGIN step.json DEVICES STEPS    prints microseconds of a step
//
// With the fake plug-in, whose programs do nothing, that is what the host adds
// to each step.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "muster/pjrt.h"

namespace muster {
namespace {

using Clock = std::chrono::steady_clock;

Status Measure(const char* plugin, const char* path, int devices, int steps) {
  MUSTER_ASSIGN(const auto session, Session::Join());
  MUSTER_ASSIGN(auto program, StepProgram::Open(path));
  MUSTER_ASSIGN(
      auto strategy,
      PjrtStrategy::Make(*session, std::move(program),
                         {.plugin = plugin,
                          .devices = devices,
                          .create = {{"cpu_device_count", devices}}}));
  MUSTER_TRY(strategy.Initialize(1));
  std::vector<std::vector<std::byte>> bytes;
  std::vector<TensorView> batch;
  for (TensorSpec spec : strategy.program().batch) {
    spec.shape[0] = static_cast<std::int64_t>(strategy.global_batch());
    bytes.emplace_back(BytesOf(spec).value_or(0));  // zeros: images and labels
    batch.push_back({spec, bytes.back()});
  }
  constexpr int kWarmUp = 20;
  std::vector<double> micros;
  for (int i = 0; i < kWarmUp + steps; ++i) {
    const auto began = Clock::now();
    const auto metrics = strategy.Step(batch);
    if (!metrics) {
      return metrics.error();
    }
    micros.push_back(
        std::chrono::duration<double, std::micro>(Clock::now() - began)
            .count());
  }
  const auto middle = micros.begin() + kWarmUp + steps / 2;
  std::nth_element(micros.begin() + kWarmUp, middle, micros.end());
  std::printf("%.1f\n", *middle);
  return Ok();
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: pjrt_bench PLUGIN step.json DEVICES STEPS\n", stderr);
    return 2;
  }
  const auto measured =
      muster::Measure(argv[1], argv[2], std::atoi(argv[3]), std::atoi(argv[4]));
  if (!measured) {
    std::fprintf(stderr, "pjrt_bench: %s\n",
                 measured.error().ToString().c_str());
    return 1;
  }
  return 0;
}
