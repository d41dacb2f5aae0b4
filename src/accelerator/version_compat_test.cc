// SPDX-License-Identifier: Apache-2.0
#include "accelerator/version_compat.h"

#include <gmock/gmock.h>

namespace muster::accelerator {
namespace {

using ::testing::HasSubstr;

std::string Refused(const std::string& type, const std::string& version,
                    int hosts = 0) {
  const Status status =
      CheckRuntimeVersion({.type = type, .version = version, .hosts = hosts});
  return status ? "" : status.error().ToString();
}

TEST(VersionCompat, TheUsualImageOfEachGenerationFits) {
  for (const char* type :
       {"v2-8", "v3-8", "v4-16", "v5litepod-8", "v5p-8", "v6e-16"}) {
    ASSERT_TRUE(DefaultRuntimeVersion(type)) << type;
    EXPECT_EQ(Refused(type, *DefaultRuntimeVersion(type)), "") << type;
  }
  EXPECT_FALSE(DefaultRuntimeVersion("a100-8"));
}

TEST(VersionCompat, AnImageOfAnotherGenerationNamesTheRightOne) {
  EXPECT_THAT(Refused("v6e-8", "tpu-ubuntu2204-base"),
              HasSubstr("use `v2-alpha-tpuv6e`"));
  EXPECT_THAT(Refused("v4-8", "v2-alpha-tpuv5"),
              HasSubstr("it is for v5p; use `tpu-ubuntu2204-base`"));
}

TEST(VersionCompat, HostsAndPodGoTogether) {
  EXPECT_THAT(Refused("v5litepod-16", "tpu-vm-tf-2.17.0-pjrt", 4),
              HasSubstr("use `tpu-vm-tf-2.17.0-pod-pjrt`"));
  EXPECT_THAT(Refused("v4-8", "tpu-vm-tf-2.17.0-pod", 1),
              HasSubstr("use `tpu-vm-tf-2.17.0`"));
  EXPECT_EQ(Refused("v4-16", "tpu-vm-tf-2.17.0-pod", 2), "");
}

TEST(VersionCompat, HostsFollowFromTheType) {
  EXPECT_EQ(HostCounts("v2-8"), std::vector<int>{1});
  EXPECT_EQ(HostCounts("v4-32"), std::vector<int>{4});
  EXPECT_EQ(HostCounts("v5litepod-8"), std::vector<int>{1});
  EXPECT_EQ(HostCounts("v6e-16"), (std::vector<int>{4, 2}));
  EXPECT_EQ(HostCounts("v99-8"), std::vector<int>{});
}

TEST(VersionCompat, TensorFlowNeedsPjrtFromV5eOn) {
  EXPECT_THAT(Refused("v5p-8", "tpu-vm-tf-2.17.0"),
              HasSubstr("use `tpu-vm-tf-2.17.0-pjrt`"));
  EXPECT_THAT(Refused("v5p-8", "tpu-vm-tf-2.12.0-pjrt"),
              HasSubstr("2.15.0 or later, as in `tpu-vm-tf-2.15.0-pjrt`"));
  EXPECT_THAT(Refused("v3-8", "tpu-vm-tf-2.17.0-pjrt"),
              HasSubstr("use `tpu-vm-tf-2.17.0`"));
}

TEST(VersionCompat, V4HadImagesOfItsOwnBeforeTwoTen) {
  EXPECT_EQ(Refused("v4-16", "tpu-vm-tf-2.9.1-pod-v4", 2), "");
  EXPECT_THAT(Refused("v4-16", "tpu-vm-tf-2.9.1-pod", 2),
              HasSubstr("use `tpu-vm-tf-2.9.1-pod-v4`"));
  EXPECT_THAT(Refused("v4-8", "tpu-vm-tf-2.17.0-v4", 1),
              HasSubstr("use `tpu-vm-tf-2.17.0`"));
}

TEST(VersionCompat, WhatIsUnknownIsLeftToTheApi) {
  EXPECT_EQ(Refused("v9-8", "tpu-ubuntu2204-base"), "");
  EXPECT_EQ(Refused("v4-8", "v2-nightly"), "");
  EXPECT_EQ(Refused("v4-8", "tpu-vm-tf-x"), "");
  EXPECT_EQ(Refused("v4-8", ""), "");
}

TEST(VersionCompat, LaterTpusAreNotOfThisApi) {
  for (const char* type : {"tpu7x-8", "v7x-8", "v7-8"}) {
    EXPECT_THAT(Refused(type, ""), HasSubstr("Compute Engine")) << type;
  }
}

TEST(TpuName, IsCheckedAndMended) {
  for (const std::string& name :
       std::vector<std::string>{"t", "my-tpu-1", std::string(63, 'a')}) {
    EXPECT_TRUE(CheckTpuName(name)) << name;
  }
  EXPECT_THAT(CheckTpuName("My_TPU").error().ToString(),
              HasSubstr("did you mean `my-tpu`?"));
  for (const std::string& name :
       std::vector<std::string>{"", "1t", "t-", "a b", std::string(64, 'a')}) {
    EXPECT_FALSE(CheckTpuName(name)) << name;
  }
}

}  // namespace
}  // namespace muster::accelerator
