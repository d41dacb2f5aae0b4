// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/testing.h"

namespace muster::check {
namespace {

using ::testing::HasSubstr;

TEST(OpenFiles, FailsBelowWhatARankNeeds) {
  FakeHost host;
  host.SetLimits("64", "65536", "30000");
  const Outcome outcome = host.Run("host.open-files");
  ASSERT_EQ(Summary(outcome), "fail os-limit");
  EXPECT_THAT(outcome.detail, HasSubstr("can open 64 files"));
  EXPECT_THAT(outcome.findings[0].evidence[0].what, HasSubstr("65536"));
}

TEST(OpenFiles, PassWithTheDefaultOfEveryDistribution) {
  FakeHost host;
  host.SetLimits("1024", "65536", "30000");
  EXPECT_EQ(Summary(host.Run("host.open-files")), "pass");
  host.SetLimits("unlimited", "65536", "30000");
  EXPECT_EQ(Summary(host.Run("host.open-files")), "pass");
}

TEST(OpenFiles, GrowWithTheCluster) {
  FakeHost host;
  host.SetLimits("1024", "65536", "30000");
  host.cluster.size.value = 256;
  EXPECT_EQ(Summary(host.Run("host.open-files")), "fail os-limit");
}

TEST(OpenFiles, AreBrokenNotPassedWhereTheLimitIsUnknown) {
  FakeHost host;
  host.fs.files.erase("/proc/self/limits");
  EXPECT_EQ(Summary(host.Run("host.open-files")), "broken");
}

TEST(LockedMemory, MattersOnlyWhereSomethingPinsIt) {
  FakeHost host;
  EXPECT_EQ(Summary(host.Run("host.locked-memory")), "pass");
  host.fs.directories.insert("/sys/class/infiniband/mlx5_0");
  const Outcome outcome = host.Run("host.locked-memory");
  EXPECT_EQ(Summary(outcome), "fail os-limit");
  EXPECT_THAT(outcome.detail, HasSubstr("mlx5_0"));
  host.SetLimits("1024", "unlimited", "30000");
  EXPECT_EQ(Summary(host.Run("host.locked-memory")), "pass");
}

TEST(Processes, FailBelowWhatTheRanksNeed) {
  FakeHost host;
  host.SetLimits("1024", "65536", "20");
  EXPECT_EQ(Summary(host.Run("host.processes")), "fail os-limit");
}

TEST(Processes, OfRootAreNotBoundByItsOwnLimit) {
  FakeHost host;
  host.SetLimits("1024", "65536", "20");
  host.fs.files["/proc/self/status"] = "Uid:\t0\t0\n";
  EXPECT_EQ(Summary(host.Run("host.processes")), "pass");
}

// The cgroup of a container: its own directory is the root of the mount.
void AddCgroup(FakeHost& host) {
  host.fs.files["/proc/self/cgroup"] = "0::/\n";
  host.fs.files["/proc/self/mountinfo"] =
      "36 35 0:1 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n";
}

TEST(Processes, NameTheCgroupThatIsNearlyFull) {
  FakeHost host;
  AddCgroup(host);
  host.fs.files["/sys/fs/cgroup/pids.max"] = "100\n";
  host.fs.files["/sys/fs/cgroup/pids.current"] = "80\n";
  const Outcome outcome = host.Run("host.processes");
  ASSERT_EQ(Summary(outcome), "fail os-limit");
  EXPECT_EQ(outcome.findings[0].evidence[0].source, "/sys/fs/cgroup");
  host.fs.files["/sys/fs/cgroup/pids.max"] = "max\n";
  EXPECT_EQ(Summary(host.Run("host.processes")), "pass");
}

TEST(Memory, NamesWhoTookIt) {
  FakeHost host;
  host.fs.files["/proc/meminfo"] =
      "MemTotal: 16777216 kB\nMemAvailable: 102400 kB\n";
  host.fs.files["/proc/41/status"] = "VmRSS: 14680064 kB\n";
  host.fs.files["/proc/41/comm"] = "python3\n";
  const Outcome outcome = host.Run("host.memory");
  ASSERT_EQ(Summary(outcome), "fail oom-host");
  EXPECT_THAT(outcome.findings[0].evidence[1].what,
              HasSubstr("python3 (41) 14.0 GiB"));
}

TEST(Memory, OfTheCgroupCountsWithoutItsCache) {
  FakeHost host;
  AddCgroup(host);
  host.fs.files["/sys/fs/cgroup/memory.max"] = "1073741824\n";
  host.fs.files["/sys/fs/cgroup/memory.current"] = "1073000000\n";
  host.fs.files["/sys/fs/cgroup/memory.stat"] = "anon 1\n";
  EXPECT_EQ(Summary(host.Run("host.memory")), "fail oom-host");
  host.fs.files["/sys/fs/cgroup/memory.stat"] = "inactive_file 1000000000\n";
  EXPECT_EQ(Summary(host.Run("host.memory")), "pass");
}

TEST(Memory, OfAV1GroupCountsTheCacheOfAllBelowIt) {
  FakeHost host;
  host.fs.files["/proc/self/cgroup"] = "4:memory:/job/step\n";
  host.fs.files["/proc/self/mountinfo"] =
      "32 30 0:28 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n";
  const std::string job = "/sys/fs/cgroup/memory/job/";
  host.fs.files[job + "memory.limit_in_bytes"] = "68719476736\n";
  host.fs.files[job + "memory.usage_in_bytes"] = "68719000000\n";
  host.fs.files[job + "memory.stat"] =
      "inactive_file 0\ntotal_inactive_file 60000000000\n";
  EXPECT_EQ(Summary(host.Run("host.memory")), "pass");
  host.fs.files[job + "memory.stat"] = "total_inactive_file 0\n";
  EXPECT_EQ(Summary(host.Run("host.memory")), "fail oom-host");
}

TEST(Memory, PassesOnASmallHostWithRoom) {
  FakeHost host;
  host.fs.files["/proc/meminfo"] =
      "MemTotal: 2097152 kB\nMemAvailable: 1048576 kB\n";
  EXPECT_EQ(Summary(host.Run("host.memory")), "pass");
}

TEST(Memory, WarnsWhereLittleOfMuchIsLeft) {
  FakeHost host;
  host.fs.files["/proc/meminfo"] =
      "MemTotal: 1048576000 kB\nMemAvailable: 10485760 kB\n";
  EXPECT_EQ(Summary(host.Run("host.memory")), "warn oom-host");
}

TEST(Cpu, NamesWhoRuns) {
  FakeHost host;
  host.fs.files["/proc/loadavg"] = "9.50 4.00 1.00 5/300 99\n";
  host.fs.files["/proc/41/stat"] = "41 (cc1 (x) plus) R 1 41";
  host.fs.files["/proc/42/stat"] = "42 (sleep) S 1 42";
  const Outcome outcome = host.Run("host.cpu");
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].cause, Cause::kHostOverloaded);
  EXPECT_EQ(outcome.findings[0].evidence[1].what,
            "running now: cc1 (x) plus (41)");
}

TEST(Cpu, JudgesTheLoadOfAMachineByAllOfItsCores) {
  FakeHost host;
  host.env.cores = 1;
  host.fs.files["/proc/loadavg"] = "7.50 7.00 7.00 5/300 99\n";
  EXPECT_EQ(Summary(host.Run("host.cpu")), "pass");
}

TEST(Cpu, IsBrokenWhereTheLoadIsNotTold) {
  FakeHost host;
  host.fs.files.erase("/proc/loadavg");
  EXPECT_EQ(Summary(host.Run("host.cpu")), "broken");
}

constexpr std::uint64_t kMiB = 1ULL << 20;

TEST(SharedMemory, FailsWhenItIsFull) {
  FakeHost host;
  host.machine.spaces["/dev/shm"] = {.bytes = 64 * kMiB, .free_bytes = kMiB};
  const Outcome outcome = host.Run("host.shared-memory");
  ASSERT_EQ(Summary(outcome), "fail shm-too-small");
  EXPECT_THAT(outcome.detail, HasSubstr("1.0 MiB of 64.0 MiB"));
}

TEST(SharedMemory, WarnsOfTheDefaultOfContainers) {
  FakeHost host;
  host.machine.spaces["/dev/shm"] = {.bytes = 64 * kMiB,
                                     .free_bytes = 64 * kMiB};
  EXPECT_EQ(Summary(host.Run("host.shared-memory")), "warn shm-too-small");
}

TEST(SharedMemory, PassesWithTheHalfOfASmallHost) {
  FakeHost host;
  host.machine.spaces["/dev/shm"] = {.bytes = 1024 * kMiB,
                                     .free_bytes = 1000 * kMiB};
  EXPECT_EQ(Summary(host.Run("host.shared-memory")), "pass");
}

TEST(HostClock, FailsBeforeThisProgramWasWritten) {
  FakeHost host;
  host.clock.wall = WallTime(std::chrono::seconds(1000));
  EXPECT_EQ(Summary(host.Run("host.clock")), "fail clock-skew");
}

TEST(HostClock, PassesWithABoundOrWithoutOne) {
  FakeHost host;
  EXPECT_THAT(host.Run("host.clock").detail, HasSubstr("accurate within 5"));
  host.machine.clock->synchronized = false;
  EXPECT_EQ(Summary(host.Run("host.clock")), "pass");
  host.machine.clock.reset();
  EXPECT_EQ(Summary(host.Run("host.clock")), "pass");
}

TEST(HostClock, WarnsOfALargeBound) {
  FakeHost host;
  host.machine.clock->max_error = std::chrono::seconds(90);
  EXPECT_EQ(Summary(host.Run("host.clock")), "warn clock-skew");
}

TEST(Container, SaysWhatSurroundsTheProcess) {
  FakeHost host;
  EXPECT_EQ(host.Run("host.container").detail, "no container detected");
  host.fs.files["/.dockerenv"] = "";
  host.fs.files["/proc/self/status"] = "Seccomp:\t2\n";
  EXPECT_EQ(host.Run("host.container").detail,
            "a Docker container, system calls are filtered");
}

TEST(Memory, OfACoordinatorGrowsWithItsMembers) {
  FakeHost host;
  host.cluster.size.value = 1000;
  host.fs.files["/proc/meminfo"] =
      "MemTotal: 16777216 kB\nMemAvailable: 1048576 kB\n";
  const Outcome outcome = host.Run("host.memory");
  EXPECT_EQ(Summary(outcome), "fail oom-host");
  EXPECT_THAT(outcome.detail, HasSubstr("the coordinator of 1000 members"));
  host.cluster.self = Sourced<int>{1, "test"};
  EXPECT_EQ(Summary(host.Run("host.memory")), "pass");
}

TEST(Container, TellsItsCgroup) {
  FakeHost host;
  host.fs.files["/proc/self/cgroup"] = "0::/kubepods/pod1\n";
  EXPECT_THAT(host.Run("host.container").detail,
              HasSubstr("cgroup v2 /kubepods/pod1"));
  host.fs.files["/proc/self/cgroup"] =
      "5:pids:/a\n4:memory,hugetlb:/docker/b\n0::/c\n";
  EXPECT_THAT(host.Run("host.container").detail,
              HasSubstr("cgroup v1 /docker/b"));
}

}  // namespace
}  // namespace muster::check
