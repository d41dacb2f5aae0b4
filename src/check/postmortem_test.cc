// SPDX-License-Identifier: Apache-2.0
// The checks that tell of a failure that has happened.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/facts/recorded_text.h"
#include "check/testing.h"

namespace muster::check {
namespace {

using ::testing::HasSubstr;

TEST(Postmortem, IsMadeByNobodyWhoDoesNotAsk) {
  int postmortem = 0;
  for (const Check* one : AllChecks()) {
    if (one->group() == "postmortem") {
      EXPECT_TRUE(one->on_request && one->after_failure) << one->id;
      EXPECT_EQ(one->before_run, BeforeRun::kNever) << one->id;
      ++postmortem;
    }
  }
  EXPECT_EQ(postmortem, 5);
}

TEST(Postmortem, HasAnAnswerEvenWhereNothingCanBeSeen) {
  sys::FakeEnv env;
  sys::FakeClock clock;
  sys::FakeFs fs;
  const sys::FakeMachine machine;
  const sys::Host host{env, clock, fs};
  for (const Check* one : AllChecks()) {
    if (one->after_failure) {
      const Outcome outcome = one->run({.host = host, .machine = machine});
      EXPECT_NE(outcome.detail, "") << one->id;
    }
  }
}

class KernelLog : public testing::Test {
 protected:
  KernelLog() { host_.fs.files["/proc/uptime"] = "10000.00 20000.00\n"; }
  FakeHost host_;
};

TEST_F(KernelLog, IsReadForTheLastHour) {
  host_.machine.kernel_log = std::string(
      "<4>[  100.000000] Out of memory: Killed process 1\n"
      "<4>[ 9000.000000] Out of memory: Killed process 2\n");
  const Outcome outcome = host_.Run("postmortem.kernel-log");
  EXPECT_EQ(outcome.detail, "1 line in the last hour, 1 older not read");
  const auto texts = TextsOf(outcome);
  ASSERT_EQ(texts.size(), 1U);
  EXPECT_EQ(texts[0].name, "kernel log");
  EXPECT_EQ(texts[0].text, "[ 9000.000000] Out of memory: Killed process 2\n");
  EXPECT_EQ(outcome.lines.back(),
            "  [ 9000.000000] Out of memory: Killed process 2");
}

TEST_F(KernelLog, SaysWhyItIsNotReadable) {
  host_.machine.kernel_log = Error(Cause::kFilePermission, "EPERM");
  const Outcome outcome = host_.Run("postmortem.kernel-log");
  EXPECT_EQ(Summary(outcome), "skip");
  EXPECT_THAT(outcome.detail, HasSubstr("EPERM"));
}

TEST(OomKills, AreThoseOfTheCgroup) {
  FakeHost host;
  EXPECT_EQ(Summary(host.Run("postmortem.oom-kills")), "skip");
  host.fs.files["/proc/self/cgroup"] = "0::/job\n";
  host.fs.files["/proc/self/mountinfo"] =
      "30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  std::string& events = host.fs.files["/sys/fs/cgroup/job/memory.events"];
  events = "low 0\nhigh 0\nmax 9\noom 0\noom_kill 0\n";
  EXPECT_EQ(Summary(host.Run("postmortem.oom-kills")), "pass");
  events = "low 0\nhigh 0\nmax 9\noom 2\noom_kill 2\n";
  const Outcome outcome = host.Run("postmortem.oom-kills");
  EXPECT_EQ(outcome.detail, "the OOM killer acted 2 times in this cgroup");
  EXPECT_EQ(outcome.findings.front().cause, Cause::kOomHost);
  EXPECT_EQ(outcome.findings.front().evidence.front().source,
            "/sys/fs/cgroup/job/memory.events");
}

class Scheduler : public testing::Test {
 protected:
  Outcome Run() { return host_.Run("postmortem.scheduler"); }
  FakeHost host_;
};

TEST_F(Scheduler, IsAskedInsideOfAJob) {
  EXPECT_THAT(Run().detail, HasSubstr("SLURM_JOB_ID"));
  host_.env.variables["SLURM_JOB_ID"] = "12";
  host_.machine.programs["scontrol show job 12"] = "JobState=TIMEOUT";
  host_.machine.programs["squeue -h -j 12 -o %i %T %r"] = "";
  const Outcome outcome = Run();
  const auto texts = TextsOf(outcome);
  ASSERT_EQ(texts.size(), 2U);
  EXPECT_EQ(texts[0].name, "scontrol show job 12");
  EXPECT_EQ(texts[0].text, "JobState=TIMEOUT\n");
  EXPECT_THAT(outcome.detail,
              HasSubstr("MaxRSS: no response: `sacct` is not installed"));
}

TEST_F(Scheduler, IsNotReadWhereItsProgramFails) {
  host_.env.variables["SLURM_JOB_ID"] = "12";
  host_.machine.failing["squeue -h -j 12 -o %i %T %r"] = "status 2";
  const Outcome outcome = Run();
  EXPECT_EQ(Summary(outcome), "skip");
  EXPECT_TRUE(TextsOf(outcome).empty());
  EXPECT_THAT(outcome.detail, HasSubstr("`squeue` ended with status 2"));
}

TEST_F(Scheduler, IsAskedForNoJobThatIsNoNumber) {
  host_.env.variables["SLURM_JOB_ID"] = "--help";
  EXPECT_THAT(Run().detail, HasSubstr("not in a Slurm job"));
}

TEST_F(Scheduler, IsAskedForThePodInsideOfOne) {
  host_.env.variables["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
  EXPECT_EQ(
      Run().detail,
      "kubectl describe pod w-0: no response: `kubectl` is not installed");
  host_.machine.programs["kubectl describe pod w-0"] = "Reason: OOMKilled";
  EXPECT_EQ(TextsOf(Run()).at(0).text, "Reason: OOMKilled\n");
}

class TpuLock : public testing::Test {
 protected:
  TpuLock() { host_.fs.files[kLock] = ""; }
  Outcome Run() { return host_.Run("postmortem.tpu-lock"); }

  static constexpr char kLock[] = "/tmp/libtpu_lockfile";
  FakeHost host_;
};

TEST_F(TpuLock, IsStaleWhereNobodyHoldsIt) {
  host_.fs.directories = {"/proc/1/fd", "/proc/42/fd"};
  EXPECT_EQ(Summary(Run()), "fail device-lock-stale");
  host_.machine.holders[kLock] = {{42, "python3"}};
  const Outcome held = Run();
  EXPECT_EQ(Summary(held), "pass");
  EXPECT_EQ(held.detail,
            "the TPU or its lock file is open in process 42 (python3)");
}

TEST_F(TpuLock, IsNoneWhereThereIsNoFile) {
  host_.fs.files.erase(kLock);
  EXPECT_EQ(Summary(Run()), "skip");
}

TEST_F(TpuLock, IsHeldByWhoHasTheTpuOpen) {
  host_.fs.directories = {"/proc/1/fd"};
  host_.fs.files["/dev/accel0"] = "";
  host_.machine.holders["/dev/accel0"] = {{7, "python3"}};
  EXPECT_THAT(Run().detail, HasSubstr("process 7 (python3)"));
}

TEST_F(TpuLock, IsSoughtInEveryProcess) {
  for (int pid = 1; pid < 2000; ++pid) {
    host_.fs.directories.insert("/proc/" + std::to_string(pid) + "/fd");
  }
  EXPECT_EQ(Summary(Run()), "fail device-lock-stale");
  host_.fs.fail["/proc/1999/fd"] = Cause::kFilePermission;
  EXPECT_EQ(Summary(Run()), "skip");
  EXPECT_THAT(Run().detail, HasSubstr("open files of 1 process"));
}

TEST_F(TpuLock, IsNotStaleWhereProcessesAreHidden) {
  host_.fs.directories = {"/proc/42/fd"};
  EXPECT_EQ(Summary(Run()), "skip");
  EXPECT_THAT(Run().detail, HasSubstr("other users are not visible"));
}

TEST_F(TpuLock, IsNotStaleWhereAnotherContainerMayHoldIt) {
  host_.fs.directories = {"/proc/1/fd"};
  host_.fs.files["/proc/self/mounts"] = "/dev/sda1 /tmp ext4 rw 0 0\n";
  EXPECT_EQ(Summary(Run()), "skip");
  EXPECT_THAT(Run().detail, HasSubstr("other containers"));
  host_.fs.files["/proc/2/comm"] = "kthreadd\n";
  EXPECT_EQ(Summary(Run()), "fail device-lock-stale");
}

TEST_F(TpuLock, IsNotHeldByAProcessThatEnded) {
  host_.fs.directories = {"/proc/1/fd", "/proc/42"};
  EXPECT_EQ(Summary(Run()), "fail device-lock-stale");
}

class Listeners : public testing::Test {
 protected:
  Outcome Run() { return host_.Run("postmortem.listeners"); }
  FakeHost host_;
};

TEST_F(Listeners, AreThePortsOfBothTables) {
  host_.fs.files["/proc/net/tcp"] =
      "  sl  local_address rem_address   st\n"
      "   0: 0100007F:733C 00000000:0000 0A 0:0\n"
      "   1: 0100007F:1F90 0100007F:1F91 01 0:0\n";
  EXPECT_EQ(Run().detail, "1 port in use: 29500");
  host_.fs.files["/proc/net/tcp6"] = "   0: 0100007F:733D 00000000:0 0A 0:0\n";
  EXPECT_EQ(Run().detail, "2 ports in use: 29500, 29501");
}

TEST_F(Listeners, AreThoseOfOneTableWhereTheOtherIsNotReadable) {
  host_.fs.fail["/proc/net/tcp"] = Cause::kFileCorrupt;
  EXPECT_EQ(Summary(Run()), "broken");
  EXPECT_THAT(Run().detail, HasSubstr("not readable"));
  host_.fs.files["/proc/net/tcp6"] = "   0: 0100007F:733D 00000000:0 0A 0:0\n";
  EXPECT_THAT(Run().detail, HasSubstr("1 port in use: 29501; not readable"));
}

TEST(AfterFailure, SaysWhatIsNotReadable) {
  FakeHost host;
  host.fs.fail["/proc/self/limits"] = Cause::kFilePermission;
  host.fs.fail["/dev"] = Cause::kFilePermission;
  host.fs.files.erase("/proc/meminfo");
  for (const char* id :
       {"host.open-files", "host.locked-memory", "host.processes",
        "accelerator.devices", "host.memory"}) {
    EXPECT_EQ(Summary(host.Run(id)), "broken") << id;
  }
}

}  // namespace
}  // namespace muster::check
