// SPDX-License-Identifier: Apache-2.0
// All-reduce over shared memory: median, 99th percentile and bandwidth by size,
// for N processes (default 2), each on a core of its own where there are
// enough.
//
//   collective_bench [--ranks N] [--check] [--outside]
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "collective/shared_memory.h"
#include "sys/memory.h"
#include "sys/process/process.h"
#include "value_or_exit.h"

namespace muster {
namespace {

struct Settings {
  int ranks = 2;
  bool check_finite = false;
  bool outside = false;  // buffers of the program, not of the group
};

using Clock = std::chrono::steady_clock;

void PinTo(int rank) {
  cpu_set_t all;
  CPU_ZERO(&all);
  sched_getaffinity(0, sizeof all, &all);
  const int cpus = CPU_COUNT(&all);
  int seen = 0;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &all) && seen++ == rank % cpus) {
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(cpu, &one);
      sched_setaffinity(0, sizeof one, &one);
    }
  }
}

void Measure(Collective& group, std::size_t bytes, const Settings& settings) {
  const std::size_t count = std::max<std::size_t>(bytes / 4, 1);
  std::vector<float> own(settings.outside ? count : 0);
  void* data =
      settings.outside ? own.data() : ValueOrExit(group.Allocate(bytes));
  const Buffer buffer{.data = data, .count = count};
  const int rounds = bytes <= 65536 ? 4000 : bytes <= (4U << 20) ? 400 : 30;
  const auto deadline = [] { return Deadline::After(std::chrono::minutes(1)); };
  std::vector<double> times;
  for (int round = 0; round < rounds + 10; ++round) {
    ValueOrExit(Barrier(group, deadline()));
    const auto begun = Clock::now();
    auto work = ValueOrExit(
        group.StartAllReduce(buffer, {.check_finite = settings.check_finite}));
    ValueOrExit(work->Wait(deadline(), {}));
    if (round >= 10) {
      times.push_back(
          std::chrono::duration<double, std::micro>(Clock::now() - begun)
              .count());
    }
  }
  if (group.rank() != 0) {
    return;
  }
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  std::printf("%12zu B %12.2f us %12.2f us %10.1f GB/s\n", bytes, median,
              times[times.size() * 99 / 100],
              static_cast<double>(bytes) / median / 1e3);
  std::fflush(stdout);
}

int RunRank(int rank, int segment, wire::ProgressPage& progress_page,
            const Settings& settings) {
  PinTo(rank);
  auto group = ValueOrExit(MakeSharedMemory({.rank = rank,
                                             .size = settings.ranks,
                                             .segment = segment,
                                             .progress_page = &progress_page}));
  for (const std::size_t bytes : {4UL, 4096UL, 65536UL, 407080UL, 1UL << 20,
                                  4UL << 20, 25UL << 20, 100UL << 20}) {
    Measure(*group, bytes, settings);
  }
  return 0;
}

int Run(const Settings& settings) {
  const int segment = ValueOrExit(sys::MakeSharedMemory("bench segment", 0));
  const int page = ValueOrExit(
      sys::MakeSharedMemory("bench board", sizeof(wire::ProgressPage)));
  auto mapping =
      ValueOrExit(sys::Mapping::Map(page, sizeof(wire::ProgressPage)));
  auto* progress_page = new (mapping.data()) wire::ProgressPage;
  std::printf("%d ranks, %s%s\n%14s %15s %15s\n", settings.ranks,
              settings.outside ? "buffers of the program" : "in place",
              settings.check_finite ? ", checked" : "", "size", "median",
              "p99");
  std::fflush(stdout);
  for (int rank = 1; rank < settings.ranks; ++rank) {
    if (fork() == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);  // nobody else would end it
      _exit(RunRank(rank, segment, *progress_page, settings));
    }
  }
  const int code = RunRank(0, segment, *progress_page, settings);
  while (wait(nullptr) > 0) {
  }
  return code;
}

}  // namespace
}  // namespace muster

int main(int argc, char** argv) {
  muster::Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--ranks" && i + 1 < argc) {
      settings.ranks = std::atoi(argv[++i]);
    } else if (flag == "--check") {
      settings.check_finite = true;
    } else if (flag == "--outside") {
      settings.outside = true;
    } else {
      std::fprintf(stderr,
                   "collective_bench [--ranks N] [--check] [--outside]\n");
      return 2;
    }
  }
  return muster::Run(settings);
}
