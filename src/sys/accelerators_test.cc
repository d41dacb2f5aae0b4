// SPDX-License-Identifier: Apache-2.0
#include "sys/accelerators.h"

#include <gtest/gtest.h>

namespace muster::sys {
namespace {

TEST(NumberedFiles, LeavesOutWhatBearsNoNumber) {
  FakeFs fs;
  for (const char* const name :
       {"nvidia0", "nvidia11", "nvidiactl", "nvidia-uvm", "nvidia"}) {
    fs.files[JoinPath("/dev", name)] = "";
  }
  EXPECT_EQ(NumberedFiles(fs, "/dev", "nvidia"),
            (std::vector<std::string>{"/dev/nvidia0", "/dev/nvidia11"}));
  EXPECT_TRUE(NumberedFiles(fs, "/no/such/folder", "nvidia").empty());
}

TEST(PciDevices, AreReadFromTheirAttributes) {
  FakeFs fs;
  const std::string place = "/sys/bus/pci/devices/0000:00:04.0/";
  fs.files[place + "vendor"] = "0x1ae0\n";
  fs.files[place + "device"] = "0x0063\n";
  fs.files[place + "class"] = "0x120000\n";
  const auto devices = PciDevices(fs);
  ASSERT_TRUE(devices);
  ASSERT_EQ(devices->size(), 1U);
  EXPECT_EQ(devices->front().kind, "0x120000");
  EXPECT_EQ(devices->front().subsystem, "");
  EXPECT_EQ(TpuGeneration(devices->front()), "v5e");
}

TEST(PciDevices, AreUnknownWithoutABus) {
  EXPECT_FALSE(PciDevices(FakeFs()));
}

TEST(TpuGeneration, TellsV2FromV3ByTheSubsystem) {
  const auto generation = [](std::string_view subsystem) {
    return TpuGeneration({.vendor = "0x1ae0",
                          .device = "0x0027",
                          .kind = "0xff0000",
                          .subsystem = std::string(subsystem)});
  };
  EXPECT_EQ(generation("0x004e"), "v2");
  EXPECT_EQ(generation("0x004f"), "v3");
}

TEST(TpuGeneration, KnowsNoneForANetworkCardOfTheSameVendor) {
  EXPECT_EQ(TpuGeneration({.vendor = "0x1ae0",
                           .device = "0x0042",
                           .kind = "0x020000",
                           .subsystem = ""}),
            "");
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

}  // namespace
}  // namespace muster::sys
