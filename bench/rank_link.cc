// SPDX-License-Identifier: Apache-2.0
// What it costs a rank to report a step: on the board (a shared page, as it is
// done) and by a frame over the Unix socket to its agent, with the agent on
// another core and on the rank's own. Behind docs/adr/0003.
//
// Blocks of steps of 20 us without a report, with the board and with frames
// take turns. Printed are medians of the CPU time that a report adds per step,
// in the rank and in its agent: on one core the rank waits for both. CPU time,
// so that a busy machine does not count.
//
//   rank_link
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "member/step_meter.h"
#include "sys/memory.h"
#include "sys/process/process.h"
#include "value_or_exit.h"
#include "wire/progress_page.h"
#include "wire/rank_frame.h"

namespace muster {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kSteps = 500;  // of a block
constexpr int kRounds = 200;
constexpr auto kStep = std::chrono::microseconds(20);

std::vector<std::size_t> Cores() {
  cpu_set_t all;
  CPU_ZERO(&all);
  sched_getaffinity(0, sizeof all, &all);
  std::vector<std::size_t> cores;
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &all)) {
      cores.push_back(cpu);
    }
  }
  return cores;
}

void PinTo(std::size_t core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  sched_setaffinity(0, sizeof one, &one);
}

// The agent: reads every frame as it comes, and the board five times a second.
[[noreturn]] void ReadFrames(int socket) {
  std::string buffer;
  std::array<char, 4096> chunk{};
  for (;;) {
    const ssize_t got = read(socket, chunk.data(), chunk.size());
    if (got <= 0) {
      _exit(0);
    }
    buffer.append(chunk.data(), static_cast<std::size_t>(got));
    while (ValueOrExit(wire::TakeMessage(buffer))) {
    }
  }
}

[[noreturn]] void SampleBoard(const wire::ProgressPage& progress_page) {
  std::uint64_t sum = 0;
  for (;;) {
    sum += wire::ReadSlot(progress_page.slots[0]).step;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (sum == 1) {  // keeps the reads
      _exit(1);
    }
  }
}

// A step's work, without a look at the clock: the same however long it takes.
class Work {
 public:
  Work() {
    const auto begun = Clock::now();
    constexpr int kTrial = 10'000'000;
    Spin(kTrial);
    const auto took = Clock::now() - begun;
    turns_ = static_cast<int>(kTrial *
                              (kStep / std::chrono::duration<double>(took)));
  }

  void Do() { Spin(turns_); }

 private:
  void Spin(int turns) {
    for (int i = 0; i < turns; ++i) {
      state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    }
  }

  volatile std::uint64_t state_ = 1;
  int turns_ = 1;
};

// Nanoseconds of CPU time.
double CpuOf(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e9 +
         static_cast<double>(now.tv_nsec);
}

// CPU nanoseconds per step.
struct Cost {
  double rank = 0;
  double agent = 0;
};

// What the steps of a block cost the rank (this process) and an agent.
template <typename Report>
Cost Block(Work& work, clockid_t agent, Report&& report) {
  const double rank_begun = CpuOf(CLOCK_PROCESS_CPUTIME_ID);
  const double agent_begun = CpuOf(agent);
  for (int i = 0; i < kSteps; ++i) {
    work.Do();
    report();
  }
  return {(CpuOf(CLOCK_PROCESS_CPUTIME_ID) - rank_begun) / kSteps,
          (CpuOf(agent) - agent_begun) / kSteps};
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// What reports add, block by block.
class Added {
 public:
  void Add(const Cost& with, const Cost& without) {
    rank_.push_back(with.rank - without.rank);
    agent_.push_back(with.agent - without.agent);
  }

  void Print(const char* how, const char* where) const {
    std::printf("%-7s%-24s %6.0f ns %6.0f ns\n", how, where, Median(rank_),
                Median(agent_));
    std::fflush(stdout);
  }

 private:
  std::vector<double> rank_;
  std::vector<double> agent_;
};

// A process of the agent, on a core of its own; ends with its owner, also when
// that is killed.
class Agent {
 public:
  template <typename Body>
  Agent(std::size_t core, Body&& body) : pid_(fork()) {
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      PinTo(core);
      body();
    }
    clock_getcpuclockid(pid_, &clock_);
  }
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;
  ~Agent() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

  clockid_t clock() const { return clock_; }

 private:
  pid_t pid_;
  clockid_t clock_ = 0;
};

void SendFrame(int socket, std::uint64_t step) {
  const std::string frame =
      wire::Encode({.op = wire::RankOp::kFact,
                    .number = static_cast<std::int64_t>(step),
                    .value = "0.123456"});
  if (write(socket, frame.data(), frame.size()) < 0) {
    std::perror("write");
    std::_Exit(1);
  }
}

void Measure(const char* where, std::size_t rank_core, std::size_t agent_core) {
  const int page = ValueOrExit(
      sys::MakeSharedMemory("bench board", sizeof(wire::ProgressPage)));
  auto mapping =
      ValueOrExit(sys::Mapping::Map(page, sizeof(wire::ProgressPage)));
  close(page);
  auto* progress_page = new (mapping.data()) wire::ProgressPage;
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    std::perror("socketpair");
    std::_Exit(1);
  }
  const Agent sampler(agent_core, [&] { SampleBoard(*progress_page); });
  const Agent reader(agent_core, [&] { ReadFrames(ends[1]); });
  PinTo(rank_core);

  Work work;
  StepMeter meter(progress_page->slots[0]);
  std::uint64_t step = 0;
  Added by_board;
  Added by_frame;
  for (int round = 0; round < kRounds; ++round) {
    by_board.Add(Block(work, sampler.clock(),
                       [&] { meter.EndStep({.step = ++step, .samples = 64}); }),
                 Block(work, sampler.clock(), [] {}));
    by_frame.Add(
        Block(work, reader.clock(), [&] { SendFrame(ends[0], ++step); }),
        Block(work, reader.clock(), [] {}));
  }
  for (const int end : ends) {
    close(end);
  }
  by_board.Print("board", where);
  by_frame.Print("frame", where);
}

int Run() {
  const auto cores = Cores();
  std::printf("%-31s %9s %9s\n", "a report adds", "rank", "agent");
  Measure("agent on the same core", cores.front(), cores.front());
  if (cores.size() > 1) {
    Measure("agent on another core", cores.front(), cores.back());
  }
  return 0;
}

}  // namespace
}  // namespace muster

int main() {
  return muster::Run();
}
