// SPDX-License-Identifier: Apache-2.0
#include "cli/host_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "check/testing.h"
#include "diagnose/verdict/answer.h"

namespace muster::cli {
namespace {

using testing::HasSubstr;

class HostFacts : public testing::Test {
 protected:
  // The facts that the checks of these ids lead to.
  std::vector<Fact> Of(const std::vector<std::string>& ids) {
    std::vector<check::Answer> answers;
    for (const std::string& id : ids) {
      answers.push_back(
          {.check = &check::CheckOf(id), .outcome = host_.Run(id)});
    }
    static const diagnose::Matcher kMatcher;  // takes a second to make
    return FactsOf(answers, kMatcher);
  }
  // The text of the first fact of this name; empty: none.
  std::string Text(const std::string& id, std::string_view name) {
    const auto facts = Of({id});
    const auto found =
        std::find_if(facts.begin(), facts.end(),
                     [&](const Fact& fact) { return fact.name == name; });
    return found == facts.end() ? "" : found->Text("text");
  }

  check::FakeHost host_;
};

TEST_F(HostFacts, ListWhatEachCheckSaw) {
  const auto facts = Of({"host.open-files", "host.clock"});
  ASSERT_EQ(facts.size(), 2U);
  EXPECT_EQ(facts[0].name, "host.seen");
  EXPECT_EQ(facts[0].by, "host.open-files");
  EXPECT_EQ(facts[0].Text("text"), "4096");
}

TEST_F(HostFacts, HaveTheSmallSharedMemory) {
  host_.machine.spaces["/dev/shm"] = {.bytes = 64U << 20,
                                      .free_bytes = 64U << 20};
  EXPECT_THAT(Text("host.shared-memory", "host.shm_small"),
              HasSubstr("/dev/shm is small"));
  host_.machine.spaces["/dev/shm"] = {.bytes = 8ULL << 30,
                                      .free_bytes = 8ULL << 30};
  EXPECT_EQ(Text("host.shared-memory", "host.shm_small"), "");
}

TEST_F(HostFacts, HaveTheFullDiskAndNoOtherOne) {
  host_.checkpoints = {"/"};
  host_.machine.spaces["/"] = {.bytes = 1ULL << 40, .free_bytes = 300U << 20};
  EXPECT_EQ(Text("storage.space", "host.disk_full"), "");
  EXPECT_NE(Text("storage.space", "host.seen"), "");
  host_.machine.spaces["/"].free_bytes = 0;
  EXPECT_THAT(Text("storage.space", "host.disk_full"), HasSubstr("0 B of"));
}

TEST_F(HostFacts, HaveWhatTheKernelKilledForMemory) {
  host_.fs.files["/proc/self/cgroup"] = "0::/job\n";
  host_.fs.files["/proc/self/mountinfo"] =
      "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  host_.fs.files["/sys/fs/cgroup/job/memory.events"] = "oom_kill 2\n";
  EXPECT_EQ(Text("postmortem.oom-kills", "oom.counter"),
            "the OOM killer acted 2 times in this cgroup");
}

TEST_F(HostFacts, HaveTheLockWithoutAHolder) {
  host_.fs.files["/tmp/libtpu_lockfile"] = "";
  host_.fs.directories.insert("/proc/1/fd");
  EXPECT_NE(Text("postmortem.tpu-lock", "host.lock_without_holder"), "");
  host_.machine.holders["/tmp/libtpu_lockfile"] = {{42, "python3"}};
  EXPECT_EQ(Text("postmortem.tpu-lock", "host.lock_without_holder"), "");
}

TEST_F(HostFacts, SayThatThereIsNoAccelerator) {
  EXPECT_NE(Text("accelerator.devices", "host.no_device"), "");
  host_.fs.files["/dev/nvidia0"] = "";
  EXPECT_EQ(Text("accelerator.devices", "host.no_device"), "");
  host_.fs.files.erase("/dev/nvidia0");
  host_.fs.fail["/dev"] = Cause::kFilePermission;
  EXPECT_EQ(Text("accelerator.devices", "host.no_device"), "");
}

TEST_F(HostFacts, NameWhoHasADeviceOpen) {
  host_.AddTpu();
  host_.machine.holders["/dev/accel0"] = {{7, "python3"}};
  const auto facts = Of({"accelerator.devices"});
  ASSERT_GE(facts.size(), 2U);
  EXPECT_THAT(facts[1].Text("text"), HasSubstr("process 7 (python3)"));
}

TEST_F(HostFacts, HaveWhatTheKernelLogSaysBehindAllLogs) {
  host_.fs.files["/proc/uptime"] = "10000.00 20000.00\n";
  host_.machine.kernel_log = std::string(
      "<4>[ 9000.000000] Out of memory: Killed process 3494 (python3)\n");
  const auto facts = Of({"postmortem.kernel-log"});
  const auto kill = std::find_if(
      facts.begin(), facts.end(),
      [](const Fact& fact) { return fact.by.starts_with("kernel log"); });
  ASSERT_NE(kill, facts.end());
  EXPECT_GT(kill->Number("order"), 1'000'000);
  EXPECT_EQ(diagnose::Explain(facts).findings.front().cause, Cause::kOomHost);
}

TEST_F(HostFacts, HaveNoEndOfTheTraining) {
  host_.fs.files["/proc/uptime"] = "10000.00 20000.00\n";
  host_.machine.kernel_log = std::string("<4>[ 9000.000000] eth0: link up\n");
  for (const Fact& fact : Of({"postmortem.kernel-log"})) {
    EXPECT_NE(fact.name, "log.end");
  }
}

}  // namespace
}  // namespace muster::cli
