// SPDX-License-Identifier: Apache-2.0
#include "cloud/api/project_zone.h"

#include <gmock/gmock.h>

#include "cloud/testing.h"

namespace muster::cloud {
namespace {

TEST(Place, ComesFromFlagVariableFileOrGcloud) {
  FakeCloud cloud;
  EXPECT_FALSE(FindProject(std::nullopt, "", cloud.host));
  cloud.env.variables["HOME"] = "/h";
  cloud.fs.files["/h/.config/gcloud/active_config"] = "work\n";
  cloud.fs.files["/h/.config/gcloud/configurations/config_work"] =
      "[core]\nproject = gp\n[compute]\nzone = us-west4-a\n";
  EXPECT_EQ(FindProject(std::nullopt, "", cloud.host)->value, "gp");
  EXPECT_EQ(FindZone(std::nullopt, cloud.host)->source,
            "gcloud's configuration `work`");
  EXPECT_EQ(FindProject(std::nullopt, "fp", cloud.host)->value, "fp");
  cloud.env.variables["GCLOUD_PROJECT"] = "vp";
  EXPECT_EQ(FindProject(std::nullopt, "fp", cloud.host)->source,
            "env GCLOUD_PROJECT");
  EXPECT_EQ(FindProject("arg", "fp", cloud.host)->source, "flag --project");
}

TEST(Place, AnotherConfigurationOfGcloudIsTakenByItsVariable) {
  FakeCloud cloud;
  cloud.env.variables = {{"CLOUDSDK_CONFIG", "/c"},
                         {"CLOUDSDK_ACTIVE_CONFIG_NAME", "other"}};
  cloud.fs.files["/c/configurations/config_other"] = "[core]\nproject=op\n";
  EXPECT_EQ(FindProject(std::nullopt, "", cloud.host)->value, "op");
}

TEST(Place, ARegionIsNoZone) {
  for (const char* zone : {"us-west4-a", "europe-west4-b", "us-central2-b"}) {
    EXPECT_TRUE(IsZone(zone)) << zone;
    EXPECT_FALSE(IsRegion(zone)) << zone;
  }
  for (const char* region : {"us-west4", "europe-west4"}) {
    EXPECT_TRUE(IsRegion(region)) << region;
    EXPECT_FALSE(IsZone(region)) << region;
  }
  for (const char* neither : {"", "-", "a", "us-west4-", "US-WEST4-A"}) {
    EXPECT_FALSE(IsZone(neither)) << neither;
  }
}

}  // namespace
}  // namespace muster::cloud
