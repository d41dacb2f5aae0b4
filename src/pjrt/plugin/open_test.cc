// SPDX-License-Identifier: Apache-2.0
// With tests/fakes/pjrt_plugin.cc, and with eight devices of the real plug-in
// for CPUs where MUSTER_PJRT_CPU names it.
#include "pjrt/plugin/open.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

namespace muster::pjrt {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::SizeIs;

// None of the fake's behaviors but those that hang takes long.
Result<Opened> Open(const char* behavior, Duration timeout = seconds(60),
                    OpenRequest request = {}) {
  request.plugin = request.plugin.empty() ? MUSTER_FAKE_PJRT : request.plugin;
  request.variables.emplace_back("MUSTER_FAKE_PJRT", behavior);
  return OpenInChild(request, Deadline::After(timeout));
}

TEST(OpenInChild, AddsOverAllDevicesAndSaysWhatTheyAre) {
  std::vector<std::string> heard;
  const auto opened =
      Open("", seconds(60),
           {.hear = [&](const auto& said) { heard.push_back(said); }});
  ASSERT_TRUE(opened) << opened.error().ToString();
  EXPECT_EQ(opened->platform, "cpu");
  EXPECT_EQ(opened->version, "fake runtime\n1.2.3");
  EXPECT_THAT(opened->kinds, AllOf(SizeIs(4), Each("fake")));
  EXPECT_FALSE(heard.empty());
}

TEST(OpenInChild, AsksACpuForAsManyDevicesAsAreWanted) {
  const auto opened = Open("", seconds(60), {.cpu_devices = 8});
  ASSERT_TRUE(opened) << opened.error().ToString();
  EXPECT_THAT(opened->kinds, SizeIs(8));
}

TEST(OpenInChild, SaysWhereAPluginHangs) {
  const auto opened = Open("stuck", seconds(2));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().cause(), Cause::kDeadlineExceeded);
  EXPECT_THAT(opened.error().message(),
              HasSubstr("did not respond in time while opening the devices"));
}

TEST(OpenInChild, TellsADeviceThatIsLost) {
  const auto opened = Open("lost");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().cause(), Cause::kDeviceHardwareFault);
}

TEST(OpenInChild, FindsTheDeviceWithAnotherSum) {
  const auto opened = Open("diverge");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().cause(), Cause::kReplicaDivergence);
  EXPECT_THAT(opened.error().message(), HasSubstr("device 1 has"));
}

TEST(OpenInChild, PassesOnWhatThePluginRefuses) {
  const auto refused = Open("create");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().cause(), Cause::kDeviceMissing);
  const auto version = Open("version");
  ASSERT_FALSE(version);
  EXPECT_EQ(version.error().cause(), Cause::kVerPluginMismatch);
}

TEST(OpenInChild, AddsOverEightDevicesOfARealPlugin) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): a test has one thread.
  const char* plugin = std::getenv("MUSTER_PJRT_CPU");
  if (plugin == nullptr || *plugin == '\0') {
    GTEST_SKIP() << "MUSTER_PJRT_CPU names no plug-in (xla-cpu-pjrt of PyPI)";
  }
  const auto opened =
      Open("", seconds(240), {.plugin = plugin, .cpu_devices = 8});
  ASSERT_TRUE(opened) << opened.error().ToString();
  EXPECT_EQ(opened->platform, "cpu");
  EXPECT_THAT(opened->kinds, SizeIs(8));
}

}  // namespace
}  // namespace muster::pjrt
