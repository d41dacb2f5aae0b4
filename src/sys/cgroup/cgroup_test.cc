// SPDX-License-Identifier: Apache-2.0
#include "sys/cgroup/cgroup.h"

#include <gtest/gtest.h>

#include "sys/fake/fake_fs.h"
#include "sys/process/process.h"

namespace muster::sys {
namespace {

constexpr const char* kV1Mounts =
    "30 23 0:26 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
    "31 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup "
    "rw,cpu,cpuacct\n"
    "32 30 0:28 / /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup "
    "rw,memory\n"
    "33 30 0:29 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
constexpr const char* kV2Mounts =
    "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";

FakeFs V1() {
  FakeFs fs;
  fs.files["/proc/self/mountinfo"] = kV1Mounts;
  fs.files["/proc/7/cgroup"] = "4:memory:/jobs/a\n3:cpu,cpuacct:/jobs\n0::/\n";
  return fs;
}

FakeFs V2() {
  FakeFs fs;
  fs.files["/proc/self/mountinfo"] = kV2Mounts;
  fs.files["/proc/7/cgroup"] = "0::/jobs/a\n";
  return fs;
}

TEST(FindCgroup, ListsTheLevelsOfAV1Controller) {
  const auto found = FindCgroup(V1(), "memory", 7);
  EXPECT_FALSE(found.v2);
  EXPECT_EQ(found.directories,
            (std::vector<std::string>{"/sys/fs/cgroup/memory/jobs/a",
                                      "/sys/fs/cgroup/memory/jobs",
                                      "/sys/fs/cgroup/memory"}));
}

TEST(FindCgroup, SeesAContainerFromInside) {
  FakeFs fs;
  fs.files["/proc/self/mountinfo"] =
      "31 30 0:27 /docker/x /sys/fs/cgroup/memory rw - cgroup cgroup "
      "rw,memory\n";
  fs.files["/proc/self/cgroup"] = "4:memory:/docker/x/job\n";
  EXPECT_EQ(FindCgroup(fs, "memory", 0).directories,
            (std::vector<std::string>{"/sys/fs/cgroup/memory/job",
                                      "/sys/fs/cgroup/memory"}));
}

TEST(FindCgroup, FindsNothingWhereNothingIs) {
  EXPECT_TRUE(FindCgroup(FakeFs(), "cpu", 7).directories.empty());
}

TEST(OomKills, ReadsTheCounterOfBothVersions) {
  FakeFs v1 = V1();
  v1.files["/sys/fs/cgroup/memory/jobs/a/memory.oom_control"] =
      "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n";
  EXPECT_EQ(OomKills(v1, 7), 3U);
  FakeFs v2 = V2();
  v2.files["/sys/fs/cgroup/jobs/a/memory.events"] =
      "low 0\nhigh 0\nmax 9\noom 2\noom_kill 2\n";
  EXPECT_EQ(OomKills(v2, 7), 2U);
}

TEST(OomKills, TakesTheCounterOfTheHostOutsideOfGroups) {
  FakeFs v2 = V2();
  EXPECT_EQ(OomKills(v2, 7), std::nullopt);
  v2.files["/proc/vmstat"] = "nr_free_pages 1\noom_kill 4\n";
  EXPECT_EQ(OomKills(v2, 7), 4U);
  EXPECT_FALSE(OomKillsOfGroup(v2, 7)) << "that is the host's";
}

TEST(CpuQuota, TakesTheLeastOfAllLevels) {
  FakeFs v2 = V2();
  v2.files["/sys/fs/cgroup/jobs/a/cpu.max"] = "max 100000\n";
  EXPECT_EQ(CpuQuota(v2, 7), std::nullopt);
  v2.files["/sys/fs/cgroup/jobs/cpu.max"] = "150000 100000\n";
  EXPECT_EQ(CpuQuota(v2, 7), 1.5);
  FakeFs v1 = V1();
  v1.files["/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_quota_us"] = "200000\n";
  v1.files["/sys/fs/cgroup/cpu,cpuacct/jobs/cpu.cfs_period_us"] = "100000\n";
  v1.files["/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us"] = "-1\n";
  v1.files["/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us"] = "100000\n";
  EXPECT_EQ(CpuQuota(v1, 7), 2.0);
}

}  // namespace
}  // namespace muster::sys
