// SPDX-License-Identifier: Apache-2.0
#include "evidence/looks.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace muster::evidence {
namespace {

class Looking : public testing::Test {
 protected:
  // The text of the first fact of this name; empty: none.
  std::string Text(std::string_view name) const {
    const auto facts = LookAround(fs_);
    const auto found =
        std::find_if(facts.begin(), facts.end(),
                     [&](const Fact& fact) { return fact.name == name; });
    return found == facts.end() ? "" : found->Text("text");
  }
  sys::FakeFs fs_;
};

TEST_F(Looking, ListsEachLookEvenWhereNothingCanBeSeen) {
  const auto facts = LookAround(fs_);
  EXPECT_EQ(
      std::count_if(facts.begin(), facts.end(),
                    [](const Fact& fact) { return fact.name == "look.seen"; }),
      5);
}

TEST_F(Looking, SeesThatTheKernelKilledForMemory) {
  fs_.files["/proc/self/cgroup"] = "0::/job\n";
  fs_.files["/proc/self/mountinfo"] =
      "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  fs_.files["/sys/fs/cgroup/job/memory.events"] =
      "low 0\nhigh 0\nmax 9\noom 2\noom_kill 2\n";
  EXPECT_EQ(Text("oom.counter"),
            "the kernel killed for memory 2 times in this group");
}

TEST_F(Looking, SeesASmallSharedMemory) {
  fs_.files["/proc/self/mounts"] = "shm /dev/shm tmpfs rw,size=65536k 0 0\n";
  EXPECT_EQ(Text("look.shm_small"), "/dev/shm has only 64 MiB");
  fs_.files["/proc/self/mounts"] = "shm /dev/shm tmpfs rw,size=8388608k 0 0\n";
  EXPECT_EQ(Text("look.shm_small"), "");
}

TEST_F(Looking, SeesALockThatNobodyHolds) {
  fs_.files["/tmp/libtpu_lockfile"] = "";
  EXPECT_NE(Text("look.lock_without_holder"), "");
  fs_.files["/proc/42/maps"] = "7f00-7f01 rw-s 0 00:05 1 /dev/accel0\n";
  EXPECT_EQ(Text("look.lock_without_holder"), "");
  EXPECT_EQ(Text("look.holder"), "a device is mapped by process 42");
}

TEST_F(Looking, SeesThePortsThatAreListenedOn) {
  fs_.files["/proc/net/tcp"] =
      "  sl  local_address rem_address   st\n"
      "   0: 0100007F:733C 00000000:0000 0A 0:0\n"
      "   1: 0100007F:1F90 0100007F:1F91 01 0:0\n";
  const auto facts = LookAround(fs_);
  EXPECT_EQ(facts.back().Text("text"), "1 port listened on: 29500");
}

TEST_F(Looking, SeesThatThereIsNoAccelerator) {
  EXPECT_NE(Text("look.no_device"), "");
  fs_.files["/dev/nvidia0"] = "";
  EXPECT_EQ(Text("look.no_device"), "");
}

}  // namespace
}  // namespace muster::evidence
