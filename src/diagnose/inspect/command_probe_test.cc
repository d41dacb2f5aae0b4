// SPDX-License-Identifier: Apache-2.0
#include "diagnose/inspect/command_probe.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace muster::diagnose {
namespace {

class LookingAtTexts : public testing::Test {
 protected:
  LookingAtTexts() { fs_.files["/proc/uptime"] = "10000.00 20000.00\n"; }

  LookedTexts Look() {
    return LookAtTexts({.kernel_log = [this] { return kernel_; },
                        .ask =
                            [this](const std::vector<std::string>& argv) {
                              if (argv[0] == "df") {
                                return space_;
                              }
                              asked_.push_back(argv[0]);
                              return answer_;
                            }},
                       env_, fs_);
  }
  // What the look of this name says that it saw.
  static std::string Seen(const LookedTexts& all, std::string_view from) {
    const auto found =
        std::find_if(all.facts.begin(), all.facts.end(),
                     [&](const Fact& fact) { return fact.by == from; });
    return found == all.facts.end() ? "" : found->Text("text");
  }

  sys::FakeEnv env_;
  sys::FakeFs fs_;
  Result<std::string> kernel_ = std::string();
  Result<Said> space_ = Error(Cause::kProgramNotFound, "no df");
  Result<Said> answer_ = Said{.output = "JobState=TIMEOUT", .trouble = ""};
  std::vector<std::string> asked_;
};

TEST_F(LookingAtTexts, ReadsTheKernelsLastHour) {
  kernel_ = std::string(
      "<4>[  100.000000] Out of memory: Killed process 1\n"
      "<4>[ 9000.000000] Out of memory: Killed process 2\n");
  const auto all = Look();
  ASSERT_EQ(all.texts.size(), 1U);
  EXPECT_EQ(all.texts[0].text,
            "[ 9000.000000] Out of memory: Killed process 2\n");
  EXPECT_EQ(Seen(all, "kernel log"),
            "1 line of the last hour, 1 older not read");
}

TEST_F(LookingAtTexts, SaysWhyTheKernelIsSilent) {
  kernel_ = Error(Cause::kFilePermission, "EPERM");
  EXPECT_NE(Seen(Look(), "kernel log").find("EPERM"), std::string::npos);
}

TEST_F(LookingAtTexts, SeesAFullFileSystem) {
  space_ = Said{.output =
                    "Filesystem 1024-blocks Used Available Capacity Mounted\n"
                    "/dev/sda1 1024 1024 0 100% /\n"
                    "tmpfs 4096 0 4096 0% /dev/shm\n",
                .trouble = ""};
  const auto all = Look();
  const auto full = std::count_if(
      all.facts.begin(), all.facts.end(),
      [](const Fact& fact) { return fact.name == "look.disk_full"; });
  EXPECT_EQ(full, 1);
}

TEST_F(LookingAtTexts, TakesTheDisksThatAreToldWhereAPathIsMissing) {
  space_ =
      Said{.output = "/dev/sda1 1024 1024 0 100% /\n", .trouble = "status 1"};
  const auto all = Look();
  ASSERT_GE(all.facts.size(), 4U);
  EXPECT_EQ(all.facts[1].Text("text"), "/ has 0 B free of 1.0 MiB");
  EXPECT_EQ(all.facts[2].name, "look.disk_full");
  EXPECT_EQ(all.facts[3].Text("text"),
            "could not be told of every path: `df` ended with status 1");
}

TEST_F(LookingAtTexts, ReadsNothingOfAProgramThatFailed) {
  env_.variables["SLURM_JOB_ID"] = "12";
  answer_ = Said{.output = "usage: sacct", .trouble = "status 2"};
  const auto all = Look();
  EXPECT_EQ(all.texts.size(), 1U);  // the kernel's
  EXPECT_EQ(Seen(all, "squeue -h -j 12 -o %i %T %r"),
            "no answer: `squeue` ended with status 2");
}

TEST_F(LookingAtTexts, AsksTheSchedulerInsideOfAJob) {
  EXPECT_NE(Seen(Look(), "Slurm").find("SLURM_JOB_ID"), std::string::npos);
  EXPECT_TRUE(asked_.empty());
  env_.variables["SLURM_JOB_ID"] = "12";
  const auto all = Look();
  EXPECT_EQ(asked_, (std::vector<std::string>{"scontrol", "sacct", "squeue"}));
  EXPECT_EQ(all.texts[1].text, "JobState=TIMEOUT\n");
}

TEST_F(LookingAtTexts, AsksForNoJobThatIsNoNumber) {
  env_.variables["SLURM_JOB_ID"] = "--help";
  Look();
  EXPECT_TRUE(asked_.empty());
}

TEST_F(LookingAtTexts, AsksForThePodInsideOfOne) {
  env_.variables["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
  answer_ = Error(Cause::kProgramNotFound, "`kubectl` is not on the PATH");
  const auto all = Look();
  EXPECT_EQ(asked_, std::vector<std::string>{"kubectl"});
  EXPECT_NE(Seen(all, "kubectl describe pod testhost").find("not on the PATH"),
            std::string::npos);
}

}  // namespace
}  // namespace muster::diagnose
