// SPDX-License-Identifier: Apache-2.0
#include "accelerator/device_files.h"
#include "sys/fake/fake_fs.h"

#include <gtest/gtest.h>

namespace muster::accelerator {
namespace {

TEST(NumberedFiles, LeavesOutWhatBearsNoNumber) {
  sys::FakeFs fs;
  for (const char* const name :
       {"nvidia0", "nvidia11", "nvidiactl", "nvidia-uvm", "nvidia"}) {
    fs.files[sys::JoinPath("/dev", name)] = "";
  }
  EXPECT_EQ(NumberedFiles(fs, "/dev", "nvidia"),
            (std::vector<std::string>{"/dev/nvidia0", "/dev/nvidia11"}));
  EXPECT_TRUE(NumberedFiles(fs, "/no/such/folder", "nvidia").empty());
}

TEST(PciDevices, AreReadFromTheirAttributes) {
  sys::FakeFs fs;
  const std::string place = "/sys/bus/pci/devices/0000:00:04.0/";
  fs.files[place + "vendor"] = "0x1ae0\n";
  fs.files[place + "device"] = "0x0063\n";
  fs.files[place + "class"] = "0x120000\n";
  const auto devices = PciDevices(fs);
  ASSERT_TRUE(devices);
  ASSERT_EQ(devices->size(), 1U);
  EXPECT_EQ(devices->front().kind, "0x120000");
  EXPECT_EQ(devices->front().subsystem, "");
  EXPECT_EQ(TpuByPci(devices->front())->name, "v5e");
}

TEST(PciDevices, AreUnknownWithoutABus) {
  EXPECT_FALSE(PciDevices(sys::FakeFs()));
}

TEST(TpuByPci, SeparatesV2FromV3ByTheSubsystem) {
  const auto generation = [](std::string_view subsystem) {
    return TpuByPci({.vendor = "0x1ae0",
                     .device = "0x0027",
                     .kind = "0xff0000",
                     .subsystem = std::string(subsystem)})
        ->name;
  };
  EXPECT_EQ(generation("0x004e"), "v2");
  EXPECT_EQ(generation("0x004f"), "v3");
}

TEST(TpuByPci, KnowsNoneForANetworkCardOfTheSameVendor) {
  EXPECT_EQ(TpuByPci({.vendor = "0x1ae0",
                      .device = "0x0042",
                      .kind = "0x020000",
                      .subsystem = ""}),
            nullptr);
}

TEST(IsNvidiaGpu, LeavesOutTheSoundOfACard) {
  const auto is_gpu = [](std::string_view kind) {
    return IsNvidiaGpu({.vendor = "0x10de",
                        .device = "0x2336",
                        .kind = std::string(kind),
                        .subsystem = ""});
  };
  EXPECT_TRUE(is_gpu("0x030200"));
  EXPECT_TRUE(is_gpu("0x030000"));
  EXPECT_FALSE(is_gpu("0x040300"));
}

void AddPci(sys::FakeFs& fs, const std::string& address,
            const std::string& vendor, const std::string& device,
            const std::string& kind) {
  const std::string place = "/sys/bus/pci/devices/" + address;
  fs.files[place + "/vendor"] = vendor + "\n";
  fs.files[place + "/device"] = device + "\n";
  fs.files[place + "/class"] = kind + "\n";
}

std::vector<std::string> FoundOn(const sys::FakeFs& fs) {
  std::vector<std::string> lines;
  for (const LocalAccelerator& one : FindAccelerators(fs)) {
    lines.push_back(one.path + "|" + one.kind + "|" + one.address + "|" +
                    one.driver);
  }
  return lines;
}

TEST(FindAccelerators, PutsAChipAndItsFileTogether) {
  sys::FakeFs fs;
  AddPci(fs, "0000:00:05.0", "0x1ae0", "0x005e", "0x120000");
  AddPci(fs, "0000:00:04.0", "0x1ae0", "0x005e", "0x120000");
  fs.directories = {"/sys/bus/pci/devices/0000:00:04.0/accel/accel1",
                    "/sys/bus/pci/devices/0000:00:05.0/accel/accel0",
                    "/sys/bus/pci/drivers/gasket/0000:00:05.0"};
  fs.files["/dev/accel0"] = fs.files["/dev/accel1"] = "";
  EXPECT_EQ(FoundOn(fs),
            (std::vector<std::string>{"/dev/accel0|TPU v4|0000:00:05.0|gasket",
                                      "/dev/accel1|TPU v4|0000:00:04.0|"}));
}

TEST(FindAccelerators, FindsTheGroupOfAChipUnderVfio) {
  sys::FakeFs fs;
  AddPci(fs, "0000:00:05.0", "0x1ae0", "0x0063", "0x120000");
  fs.directories = {"/sys/kernel/iommu_groups/7/devices/0000:00:05.0",
                    "/sys/bus/pci/drivers/vfio-pci/0000:00:05.0"};
  EXPECT_EQ(FoundOn(fs),
            (std::vector<std::string>{"|TPU v5e|0000:00:05.0|vfio-pci"}));
  fs.files["/dev/vfio/7"] = fs.files["/dev/vfio/vfio"] = "";
  EXPECT_EQ(
      FoundOn(fs),
      (std::vector<std::string>{"/dev/vfio/7|TPU v5e|0000:00:05.0|vfio-pci"}));
}

TEST(FindAccelerators, TakesTheModelOfAGpuFromItsDriver) {
  sys::FakeFs fs;
  AddPci(fs, "0000:03:00.0", "0x10de", "0x2330", "0x030200");
  fs.files["/dev/nvidia0"] = "";
  fs.files["/proc/driver/nvidia/gpus/0000:03:00.0/information"] =
      "Model: \t\t NVIDIA H100 80GB HBM3\nDevice Minor: \t 0\n";
  EXPECT_EQ(FoundOn(fs),
            (std::vector<std::string>{
                "/dev/nvidia0|NVIDIA H100 80GB HBM3|0000:03:00.0|"}));
}

TEST(FindAccelerators, CountsAFileWhoseBusIsHidden) {
  sys::FakeFs fs;
  fs.files["/dev/nvidia1"] = fs.files["/dev/accel0"] = "";
  fs.files["/dev/vfio/3"] = "";  // of a network card, as far as is known
  EXPECT_EQ(FoundOn(fs),
            (std::vector<std::string>{"/dev/accel0|TPU||",
                                      "/dev/nvidia1|NVIDIA GPU||"}));
}

TEST(FindAccelerators, CountsAChipAndItsFileOnceWhereNothingJoinsThem) {
  sys::FakeFs fs;
  AddPci(fs, "0000:00:04.0", "0x1ae0", "0x005e", "0x120000");
  AddPci(fs, "0000:00:05.0", "0x1ae0", "0x005e", "0x120000");
  fs.files["/dev/accel0"] = "";
  EXPECT_EQ(FoundOn(fs), (std::vector<std::string>{"/dev/accel0|TPU v4||",
                                                   "|TPU v4|0000:00:05.0|"}));
}

TEST(NvidiaModuleVersion, IsTheFirstWordWithDots) {
  sys::FakeFs fs;
  EXPECT_EQ(NvidiaModuleVersion(fs), "");
  fs.files["/proc/driver/nvidia/version"] =
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19\n"
      "GCC version:  gcc version 11.4.0\n";
  EXPECT_EQ(NvidiaModuleVersion(fs), "535.104.05");
}

}  // namespace
}  // namespace muster::accelerator
