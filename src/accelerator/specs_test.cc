// SPDX-License-Identifier: Apache-2.0
#include "accelerator/specs.h"

#include <gtest/gtest.h>

#include <string>

namespace muster::accelerator {
namespace {

TEST(ParseTargetDevices, CountsDevicesAsTheNamesDo) {
  const auto devices = [](const char* text) {
    const auto target = ParseTargetDevices(text);
    return target ? std::string(target->specs->name) + " " +
                        std::to_string(target->count)
                  : "";
  };
  EXPECT_EQ(devices("v5e-8"), "v5e 8");
  EXPECT_EQ(devices("v5litepod-16"), "v5e 16");
  EXPECT_EQ(devices("v5e:2x4"), "v5e 8");
  EXPECT_EQ(devices("v4-8"), "v4 4");
  EXPECT_EQ(devices("v3-8"), "v3 8");
  EXPECT_EQ(devices("v3:2x2"), "v3 8");
  EXPECT_EQ(devices("v5p:2x2x1"), "v5p 4");
  EXPECT_EQ(devices("h100"), "h100 1");
  EXPECT_EQ(devices("h100:8"), "h100 8");
  EXPECT_EQ(devices("H100:8"), "h100 8");
  EXPECT_EQ(devices("V5E-8"), "v5e 8");
  EXPECT_EQ(devices("a100-40g"), "a100-40g 1");
  EXPECT_EQ(devices("a100-40g:4"), "a100-40g 4");
  for (const char* text : {"", "v5e-", "v5e-0", "v4-1", "h100-8", "v9-8",
                           "v5e:2xx4", "h100:-1", "v5e:99999x99999"}) {
    EXPECT_EQ(devices(text), "") << text;
  }
}

TEST(SpecsOf, AreFoundByWhatADeviceCallsItself) {
  EXPECT_EQ(SpecsOf("NVIDIA H100 80GB HBM3")->name, "h100");
  EXPECT_EQ(SpecsOf("NVIDIA A100-SXM4-40GB")->name, "a100-40g");
  EXPECT_EQ(SpecsOf("NVIDIA L40S")->name, "l40s");
  EXPECT_EQ(SpecsOf("TPU v5e")->name, "v5e");
  EXPECT_EQ(SpecsOf("NVIDIA A100-PCIE-40GB")->name, "a100-40g");
  EXPECT_EQ(SpecsOf("NVIDIA A100 80GB PCIe")->name, "a100-80g");
  EXPECT_EQ(SpecsOf("NVIDIA H100 NVL")->name, "h100-nvl");
  EXPECT_EQ(SpecsOf("NVIDIA A10G")->name, "a10g");
  EXPECT_EQ(SpecsOf("Tesla V100-PCIE-32GB")->name, "v100-32g");
}

TEST(SpecsOf, AreNotThoseOfANameThatBeginsAlike) {
  for (const char* kind :
       {"Voodoo 2", "NVIDIA L40", "NVIDIA GH200 480GB", "NVIDIA GB200",
        "NVIDIA T400 4GB", "NVIDIA A100X", "Tesla P100-PCIE-12GB",
        "NVIDIA GeForce RTX 4090 Laptop GPU", ""}) {
    EXPECT_EQ(SpecsOf(kind), nullptr) << kind;
  }
}

TEST(ParseTargetDevices, SaysWhichOfSeveralIsMeant) {
  const auto message = [](const char* text) {
    return ParseTargetDevices(text).error().message();
  };
  EXPECT_NE(message("a100").find("did you mean `a100-40g` or `a100-80g`?"),
            std::string::npos);
  EXPECT_NE(message("V100:8").find("`v100-16g` or `v100-32g`?"),
            std::string::npos);
  EXPECT_NE(message("rtx4090").find("did you mean `rtx-4090`?"),
            std::string::npos);
}

}  // namespace
}  // namespace muster::accelerator
