// SPDX-License-Identifier: Apache-2.0
#include "diagnose/inspect/host_probe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace muster::diagnose {
namespace {

using testing::HasSubstr;

class Looking : public testing::Test {
 protected:
  // The text of the first fact of this name; empty: none.
  std::string Text(std::string_view name) const {
    const auto facts = LookAround(fs_, machine_);
    const auto found =
        std::find_if(facts.begin(), facts.end(),
                     [&](const Fact& fact) { return fact.name == name; });
    return found == facts.end() ? "" : found->Text("text");
  }
  // What the look at this says that it saw.
  std::string Seen(std::string_view from) const {
    const auto facts = LookAround(fs_, machine_);
    const auto found =
        std::find_if(facts.begin(), facts.end(), [&](const Fact& fact) {
          return fact.name == "look.seen" && fact.by == from;
        });
    return found == facts.end() ? "" : found->Text("text");
  }
  sys::FakeFs fs_;
  sys::FakeMachine machine_;
};

TEST_F(Looking, ListsEachLookEvenWhereNothingCanBeSeen) {
  const auto facts = LookAround(fs_, machine_);
  EXPECT_EQ(
      std::count_if(facts.begin(), facts.end(),
                    [](const Fact& fact) { return fact.name == "look.seen"; }),
      6);
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
  fs_.directories = {"/proc/1/fd", "/proc/42/fd"};
  EXPECT_NE(Text("look.lock_without_holder"), "");
  machine_.holders["/tmp/libtpu_lockfile"] = {{42, "python3"}};
  EXPECT_EQ(Text("look.lock_without_holder"), "");
  EXPECT_THAT(Text("look.lock"), HasSubstr("process 42 (python3)"));
  EXPECT_EQ(Text("look.holder"),
            "a device or its lock is open in process 42 (python3)");
}

TEST_F(Looking, LooksAtEveryProcessForTheHolderOfALock) {
  fs_.files["/tmp/libtpu_lockfile"] = "";
  for (int pid = 1; pid < 2000; ++pid) {
    fs_.directories.insert("/proc/" + std::to_string(pid) + "/fd");
  }
  EXPECT_NE(Text("look.lock_without_holder"), "");
  fs_.fail["/proc/1999/fd"] = Cause::kFilePermission;
  EXPECT_EQ(Text("look.lock_without_holder"), "");
  EXPECT_THAT(Text("look.lock"), HasSubstr("open in 1 of the processes"));
}

TEST_F(Looking, CallsNoLockStaleWhereProcessesAreHidden) {
  fs_.files["/tmp/libtpu_lockfile"] = "";
  fs_.directories = {"/proc/42/fd"};
  EXPECT_EQ(Text("look.lock_without_holder"), "");
  EXPECT_THAT(Text("look.lock"), HasSubstr("hidden from us"));
}

TEST_F(Looking, CallsNoLockStaleThatAnotherContainerMayHold) {
  fs_.files["/tmp/libtpu_lockfile"] = "";
  fs_.directories = {"/proc/1/fd"};
  fs_.files["/proc/self/mounts"] = "/dev/sda1 /tmp ext4 rw 0 0\n";
  EXPECT_EQ(Text("look.lock_without_holder"), "");
  EXPECT_THAT(Text("look.lock"), HasSubstr("other containers"));
  fs_.files["/proc/2/comm"] = "kthreadd\n";
  EXPECT_NE(Text("look.lock_without_holder"), "");
}

TEST_F(Looking, TakesAProcessThatEndedForNoHolder) {
  fs_.files["/tmp/libtpu_lockfile"] = "";
  fs_.directories = {"/proc/1/fd", "/proc/42"};
  EXPECT_NE(Text("look.lock_without_holder"), "");
}

TEST_F(Looking, SeesWhoHasADeviceOpen) {
  fs_.files["/dev/accel0"] = "";
  machine_.holders["/dev/accel0"] = {{7, "python3"}};
  EXPECT_THAT(Text("look.holder"), HasSubstr("process 7 (python3)"));
}

TEST_F(Looking, SeesThePortsThatAreListenedOn) {
  fs_.files["/proc/net/tcp"] =
      "  sl  local_address rem_address   st\n"
      "   0: 0100007F:733C 00000000:0000 0A 0:0\n"
      "   1: 0100007F:1F90 0100007F:1F91 01 0:0\n";
  const auto facts = LookAround(fs_, machine_);
  EXPECT_EQ(facts.back().Text("text"), "1 port listened on: 29500");
}

TEST_F(Looking, SaysWhatCouldNotBeRead) {
  for (const char* place :
       {"/proc/self/mounts", "/proc/self/limits", "/dev", "/proc/net/tcp"}) {
    fs_.fail[place] = Cause::kFilePermission;
    EXPECT_THAT(Seen(place), HasSubstr("could not be read")) << place;
  }
  EXPECT_EQ(Text("look.no_device"), "");
}

TEST_F(Looking, SaysWhichPortsItKnowsWhereATableIsMissing) {
  fs_.files["/proc/net/tcp"] = "   0: 0100007F:733C 00000000:0000 0A 0:0\n";
  EXPECT_EQ(Seen("/proc/net/tcp"), "1 port listened on: 29500");
  fs_.fail["/proc/net/tcp"] = Cause::kFileCorrupt;
  fs_.files["/proc/net/tcp6"] = "   0: 0100007F:733D 00000000:0000 0A 0:0\n";
  EXPECT_EQ(Seen("/proc/net/tcp"), "1 port listened on: 29501");
  EXPECT_THAT(LookAround(fs_, machine_).back().Text("text"),
              HasSubstr("could not be read"));
}

TEST_F(Looking, SeesThatThereIsNoAccelerator) {
  fs_.files["/dev/null"] = "";
  EXPECT_NE(Text("look.no_device"), "");
  fs_.files["/dev/nvidia0"] = "";
  EXPECT_EQ(Text("look.no_device"), "");
}

}  // namespace
}  // namespace muster::diagnose
