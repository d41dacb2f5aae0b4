// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/testing.h"

namespace muster::check {
namespace {

using ::testing::HasSubstr;

constexpr char kLock[] = "/tmp/libtpu_lockfile";

TEST(AcceleratorFree, NamesWhoHoldsTheTpu) {
  FakeHost host;
  host.AddTpu();
  host.machine.holders["/dev/accel0"] = {{41, "python3"}};
  const Outcome outcome = host.Run("accelerator.free");
  ASSERT_EQ(Summary(outcome), "fail device-busy");
  EXPECT_THAT(outcome.detail, HasSubstr("process 41 (python3)"));
}

TEST(AcceleratorFree, FindsTheLockOfSomebodyWhoIsGone) {
  FakeHost host;
  host.AddTpu();
  host.fs.files[kLock] = "";
  host.machine.denied[kLock] = Cause::kFilePermission;
  EXPECT_EQ(Summary(host.Run("accelerator.free")), "fail device-lock-stale");
}

TEST(AcceleratorFree, DoesNotMindALockThatThisUserMayTake) {
  FakeHost host;
  host.AddTpu();
  host.fs.files[kLock] = "";
  EXPECT_EQ(Summary(host.Run("accelerator.free")), "pass");
}

TEST(AcceleratorFree, DoesNotCallALockStaleWhoseHolderLives) {
  FakeHost host;
  host.AddTpu();
  host.fs.files[kLock] = "";
  host.machine.denied[kLock] = Cause::kFilePermission;
  host.machine.holders[kLock] = {{41, "python3"}};
  EXPECT_EQ(Summary(host.Run("accelerator.free")), "pass");
}

TEST(AcceleratorFree, WarnsOfGpusInUseButNotOfTheirDaemons) {
  FakeHost host;
  host.fs.files["/dev/nvidia0"] = "";
  host.machine.holders["/dev/nvidia0"] = {{7, "nvidia-persiste"}};
  EXPECT_EQ(Summary(host.Run("accelerator.free")), "pass");
  host.machine.holders["/dev/nvidia0"].push_back({41, "python3"});
  EXPECT_EQ(Summary(host.Run("accelerator.free")), "warn device-busy");
}

TEST(AcceleratorFree, IsSkippedWithoutOne) {
  FakeHost host;
  EXPECT_EQ(Summary(host.Run("accelerator.free")), "skip");
}

TEST(AcceleratorPresent, FailsWhereAnAbsentOneIsAskedFor) {
  FakeHost host;
  host.env.variables["PJRT_DEVICE"] = "TPU";
  EXPECT_EQ(Summary(host.Run("accelerator.present")), "fail device-missing");
  for (const char* platforms : {"cuda", "tpu,cpu", "cpu,cuda"}) {
    host.env.variables = {{"JAX_PLATFORMS", platforms}};
    EXPECT_EQ(Summary(host.Run("accelerator.present")), "fail device-missing");
  }
}

TEST(AcceleratorPresent, PassesWhereItIsThere) {
  FakeHost host;
  EXPECT_EQ(Summary(host.Run("accelerator.present")), "skip");
  host.env.variables["JAX_PLATFORMS"] = "cpu";
  EXPECT_EQ(Summary(host.Run("accelerator.present")), "skip");
  host.env.variables["JAX_PLATFORMS"] = "tpu,cpu";
  host.AddTpu();
  EXPECT_EQ(Summary(host.Run("accelerator.present")), "pass");
}

void AddPci(FakeHost& host, const std::string& vendor,
            const std::string& device) {
  const std::string place = "/sys/bus/pci/devices/0000:00:05.0";
  host.fs.files[place + "/vendor"] = vendor + "\n";
  host.fs.files[place + "/device"] = device + "\n";
}

TEST(AcceleratorPresent, WarnsOfAChipWithoutADeviceFile) {
  FakeHost host;
  AddPci(host, "0x1ae0", "0x0063");
  const Outcome outcome = host.Run("accelerator.present");
  EXPECT_EQ(Summary(outcome), "warn device-missing");
  EXPECT_THAT(outcome.detail, HasSubstr("1 TPU chip"));
  host.fs.files["/dev/vfio/0"] = "";
  EXPECT_EQ(Summary(host.Run("accelerator.present")), "pass");
}

TEST(AcceleratorPresent, DoesNotTakeANetworkCardOfGoogleForAChip) {
  FakeHost host;
  AddPci(host, "0x1ae0", "0x0042");
  host.fs.files["/dev/vfio/0"] = "";
  EXPECT_EQ(host.Run("accelerator.present").detail,
            "none found, none required");
}

void AddDriver(FakeHost& host) {
  host.fs.files["/dev/nvidia0"] = "";
  host.fs.files["/proc/driver/nvidia/version"] =
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19\n"
      "GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04)\n";
}

TEST(Driver, OfAnotherVersionThanItsLibraryIsNamedWithBoth) {
  FakeHost host;
  AddDriver(host);
  host.fs.files["/usr/lib/x86_64-linux-gnu/libcuda.so.535.129.03"] = "";
  host.fs.files["/usr/lib/x86_64-linux-gnu/libcuda.so.1"] = "";
  const Outcome outcome = host.Run("accelerator.driver");
  EXPECT_EQ(Summary(outcome), "fail device-driver-state");
  EXPECT_THAT(outcome.detail,
              HasSubstr("version 535.104.05, the user library is 535.129.03"));
}

TEST(Driver, PassesWithTheRightLibraryBesideAnOldOne) {
  FakeHost host;
  EXPECT_EQ(Summary(host.Run("accelerator.driver")), "skip");
  AddDriver(host);
  EXPECT_EQ(Summary(host.Run("accelerator.driver")), "pass");
  host.fs.files["/usr/lib/x86_64-linux-gnu/libcuda.so.525.60.13"] = "";
  host.fs.files["/usr/lib64/libcuda.so.535.104.05"] = "";
  EXPECT_EQ(Summary(host.Run("accelerator.driver")), "pass");
}

TEST(Driver, IsNoMatterInAContainerWithoutTheGpu) {
  FakeHost host;
  AddDriver(host);
  host.fs.files["/usr/lib64/libcuda.so.525.60.13"] = "";
  host.fs.files.erase("/dev/nvidia0");
  EXPECT_EQ(Summary(host.Run("accelerator.driver")), "skip");
}

TEST(HugePages, AreAWarningOnATpuOnly) {
  FakeHost host;
  EXPECT_EQ(Summary(host.Run("accelerator.huge-pages")), "skip");
  host.AddTpu();
  EXPECT_EQ(Summary(host.Run("accelerator.huge-pages")), "pass");
  host.fs.files["/sys/kernel/mm/transparent_hugepage/enabled"] =
      "always [madvise] never\n";
  const Outcome outcome = host.Run("accelerator.huge-pages");
  ASSERT_EQ(outcome.findings.size(), 1U);
  EXPECT_EQ(outcome.findings[0].cause, Cause::kHeartbeatMissed);
}

class GpuMemoryTest : public testing::Test {
 protected:
  GpuMemoryTest() { host_.fs.files["/dev/nvidia0"] = ""; }
  void SetUsed(const std::string& rows, const std::string& processes = "") {
    host_.machine.programs = {
        {kSmi + "--query-gpu=index,uuid,memory.used,memory.total" + kFormat,
         rows},
        {kSmi +
             "--query-compute-apps=gpu_uuid,pid,used_gpu_memory,process_name" +
             kFormat,
         processes}};
  }
  const std::string kSmi = "nvidia-smi ";
  const std::string kFormat = " --format=csv,noheader,nounits";
  FakeHost host_;
};

TEST_F(GpuMemoryTest, ThatTheDriverAloneTakesIsFree) {
  SetUsed("0, GPU-a, 614, 81559\n1, GPU-b, 0, 81559\n");
  EXPECT_EQ(Summary(host_.Run("accelerator.memory")), "pass");
}

TEST_F(GpuMemoryTest, IsTakenBySomebodyWhoIsNamed) {
  SetUsed("0, GPU-a, 614, 81559\n1, GPU-b, 40000, 81559\n",
          "GPU-b, 41, 39000, python3\n");
  const Outcome outcome = host_.Run("accelerator.memory");
  ASSERT_EQ(Summary(outcome), "fail device-busy");
  EXPECT_EQ(outcome.findings[0].subjects, std::vector<std::string>{"GPU 1"});
  EXPECT_THAT(outcome.findings[0].evidence[1].what,
              ::testing::HasSubstr("python3 (41) 39000 MiB"));
}

TEST_F(GpuMemoryTest, MayBeTakenFromOutsideOfTheContainer) {
  SetUsed("0, GPU-a, 40000, 81559\n");
  EXPECT_THAT(
      host_.Run("accelerator.memory").findings.at(0).evidence.at(1).what,
      ::testing::HasSubstr("no visible process"));
}

TEST_F(GpuMemoryTest, IsUnknownNotFreeWhereNobodyTells) {
  EXPECT_EQ(Summary(host_.Run("accelerator.memory")), "skip");
  SetUsed("0, GPU-a, [N/A], [N/A]\n");
  EXPECT_EQ(Summary(host_.Run("accelerator.memory")), "broken");
  EXPECT_EQ(Summary(FakeHost().Run("accelerator.memory")), "skip");
}

}  // namespace
}  // namespace muster::check
