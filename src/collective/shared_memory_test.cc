// SPDX-License-Identifier: Apache-2.0
#include "collective/shared_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "collective/conformance.h"
#include "sys/file/fd.h"
#include "sys/memory.h"
#include "sys/process/process.h"

namespace muster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

sys::Fd NewSegment() {
  return sys::Fd(sys::MakeSharedMemory("test segment", 0).value());
}

CollectiveKind SharedMemoryKind(std::string name, Duration spin) {
  return {.name = std::move(name),
          .share = [](int) { return std::make_shared<sys::Fd>(NewSegment()); },
          .make =
              [spin](int rank, int size, void* shared,
                     wire::ProgressPage& progress_page) {
                return MakeSharedMemory(
                    {.rank = rank,
                     .size = size,
                     .segment = static_cast<sys::Fd*>(shared)->get(),
                     .progress_page = &progress_page,
                     .spin = spin});
              }};
}

INSTANTIATE_TEST_SUITE_P(
    SharedMemory, CollectiveConformance,
    testing::Values(SharedMemoryKind("Spinning", std::chrono::microseconds(50)),
                    SharedMemoryKind("Sleeping", Duration::zero())),
    NameOfKind);

// A group in one thread, for what needs no peers to move.
struct Pair {
  sys::Fd segment = NewSegment();
  wire::ProgressPage progress_page;

  Result<std::unique_ptr<Collective>> Join(int rank, int size = 2) {
    return MakeSharedMemory({.rank = rank,
                             .size = size,
                             .segment = segment.get(),
                             .progress_page = &progress_page});
  }
};

TEST(SharedMemory, RefusesASecondProcessOfOneRank) {
  Pair pair;
  auto first = pair.Join(1);
  ASSERT_TRUE(first);
  auto second = pair.Join(1);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().cause(), Cause::kDuplicateIdentity);
  EXPECT_THAT(second.error().message(), HasSubstr("rank 1"));
}

TEST(SharedMemory, NamesRanksThatDisagreeAboutTheSize) {
  Pair pair;
  auto small = pair.Join(0, 2).value();
  auto large = pair.Join(1, 3).value();
  auto work = small->StartBarrier().value();
  auto other = large->StartBarrier().value();
  EXPECT_TRUE(work->Poll());
  const auto done = work->Wait(Deadline::After(seconds(1)), {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().cause(), Cause::kRankWorldMismatch);
}

TEST(SharedMemory, TellsHowMuchMemoryIsLacking) {
  Pair pair;
  auto group = MakeSharedMemory({.size = 1,
                                 .segment = pair.segment.get(),
                                 .progress_page = &pair.progress_page,
                                 .arena_bytes = 1 << 20})
                   .value();
  ASSERT_TRUE(group->Allocate(1 << 19));
  auto more = group->Allocate(1 << 20);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().cause(), Cause::kShmTooSmall);
  EXPECT_THAT(more.error().message(), HasSubstr("1.0 MiB"));
  EXPECT_TRUE(group->Allocate(1 << 10));
}

// In a child: without the check it dies of SIGXFSZ.
TEST(SharedMemory, NamesALimitOfFileSizes) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{.rlim_cur = 1 << 30, .rlim_max = 1 << 30};
    setrlimit(RLIMIT_FSIZE, &limit);
    Pair pair;
    const auto group = pair.Join(0, 1);
    const auto memory = (*group)->Allocate(64);
    const bool named =
        !memory && memory.error().cause() == Cause::kOsLimit &&
        memory.error().message().find("ulimit -f") != std::string::npos;
    _exit(named ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(SharedMemory, NamesBucketsThatAreReducedInAnotherOrder) {
  Pair pair;
  std::vector<std::unique_ptr<Collective>> groups;
  std::vector<std::unique_ptr<Work>> works;
  for (const int rank : {0, 1}) {
    groups.push_back(pair.Join(rank).value());
    void* a = groups.back()->Allocate(64).value();
    void* b = groups.back()->Allocate(64).value();
    works.push_back(
        groups.back()
            ->StartAllReduce({.data = rank == 0 ? a : b, .count = 16}, {})
            .value());
  }
  const auto done = works[0]->Wait(Deadline::After(seconds(1)), {});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().cause(), Cause::kCollectiveDesync);
  EXPECT_THAT(done.error().message(), HasSubstr("different buffers"));
}

TEST(SharedMemory, KeepsCountOfMoreCallsThanTheRingHolds) {
  Pair pair;
  auto a = pair.Join(0).value();
  auto b = pair.Join(1).value();
  for (int round = 0; round < 3000; ++round) {
    auto first = a->StartBarrier().value();
    auto second = b->StartBarrier().value();
    first->Poll();
    ASSERT_TRUE(second->Wait(Deadline::After(seconds(10)), {}));
    ASSERT_TRUE(first->Wait(Deadline::After(seconds(10)), {}));
  }
}

TEST(SharedMemory, RefusesMoreCallsInFlightThanItCanHold) {
  Pair pair;
  auto group = pair.Join(0).value();
  std::vector<std::unique_ptr<Work>> works;
  for (int i = 0; i < 512; ++i) {
    works.push_back(group->StartBarrier().value());
  }
  auto more = group->StartBarrier();
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().cause(), Cause::kUsageInvalid);
}

TEST(SharedMemory, SaysWhoCameButDidNotDoItsPart) {
  Pair pair;
  auto a = pair.Join(0).value();
  auto b = pair.Join(1).value();
  auto first = a->StartBarrier().value();
  auto second = b->StartBarrier().value();
  const auto done = first->Wait(Deadline::After(milliseconds(20)), {});
  ASSERT_FALSE(done);
  EXPECT_THAT(
      done.error().message(),
      HasSubstr(
          "rank 1 has entered but not completed the barrier (operation 1)"));
}

// ---- Real processes ----

// The progress page and the segment of processes that are forked from this one.
class Processes {
 public:
  Processes()
      : progress_page_memory_(
            sys::Mapping::Map(Memfd(), sizeof(wire::ProgressPage)).value()),
        progress_page_(new (progress_page_memory_.data()) wire::ProgressPage) {}
  ~Processes() {
    if (child_ > 0) {
      kill(child_, SIGKILL);
      waitpid(child_, nullptr, 0);
    }
  }

  wire::ProgressPage& progress_page() { return *progress_page_; }
  std::unique_ptr<Collective> Join(int rank) {
    return MakeSharedMemory({.rank = rank,
                             .size = 2,
                             .segment = segment_.get(),
                             .progress_page = progress_page_})
        .value();
  }

  // Starts rank 1: it takes part in `rounds` barriers and then waits for ever.
  int StartPeer(int rounds) {
    child_ = fork();
    if (child_ == 0) {
      auto group = Join(1);
      for (int i = 0; i < rounds; ++i) {
        if (!Barrier(*group, Deadline::After(seconds(60)))) {
          _exit(1);
        }
      }
      for (;;) {
        pause();
      }
    }
    return child_;
  }

 private:
  static int Memfd() {
    static std::vector<sys::Fd> kept;
    kept.emplace_back(
        sys::MakeSharedMemory("test board", sizeof(wire::ProgressPage))
            .value());
    return kept.back().get();
  }

  sys::Mapping progress_page_memory_;
  wire::ProgressPage* progress_page_;
  sys::Fd segment_ = NewSegment();
  int child_ = -1;
};

TEST(SharedMemoryProcesses, AKilledPeerEndsTheWaitAsSoonAsTheAgentSaysSo) {
  Processes processes;
  const int peer = processes.StartPeer(3);
  auto group = processes.Join(0);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(Barrier(*group, Deadline::After(seconds(30))));
  }
  // What the agent does when it sees a rank die.
  const std::jthread agent([&] {
    kill(peer, SIGKILL);
    siginfo_t info;
    waitid(P_PID, static_cast<id_t>(peer), &info, WEXITED | WNOWAIT);
    wire::ProgressPage& progress_page = processes.progress_page();
    progress_page.stop = 1 + static_cast<std::uint32_t>(Cause::kPeerDied);
    progress_page.event += 1;
    sys::FutexWakeAll(progress_page.event);
  });
  const auto done = Barrier(*group, Deadline::After(seconds(30)));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().cause(), Cause::kPeerDied);
}

TEST(SharedMemoryProcesses, AStoppedPeerIsNamedAtTheDeadline) {
  Processes processes;
  const int peer = processes.StartPeer(1);
  auto group = processes.Join(0);
  ASSERT_TRUE(Barrier(*group, Deadline::After(seconds(30))));
  kill(peer, SIGSTOP);
  std::vector<float> values(100);
  const auto done =
      AllReduce(*group, {.data = values.data(), .count = values.size()},
                Deadline::After(milliseconds(300)));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().cause(), Cause::kDeadlineExceeded);
  EXPECT_THAT(done.error().message(),
              HasSubstr("rank 1 has not entered the all-reduce of 100 F32 "
                        "(operation 2) within"));
  kill(peer, SIGCONT);
}

}  // namespace
}  // namespace muster
