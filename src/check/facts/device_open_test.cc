// SPDX-License-Identifier: Apache-2.0
// Checks that show accelerators, and that open them with the fake plug-in.
#include "check/facts/device_open.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "check/testing.h"

namespace muster::check {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Has the fake plug-in behave as it is told, in this process's children.
class DeviceOpenTest : public ::testing::Test {
 protected:
  // NOLINTBEGIN(concurrency-mt-unsafe): a test has one thread.
  ~DeviceOpenTest() override { unsetenv("MUSTER_FAKE_PJRT"); }

  Outcome Open(const char* behavior, Duration timeout,
               std::optional<int> replicas = std::nullopt) {
    setenv("MUSTER_FAKE_PJRT", behavior, 1);
    Context context = host.MakeContext();
    context.opening = {
        .asked = true, .refused = {}, .plugin = named, .timeout = timeout};
    context.plugins = [] {
      return std::vector<FoundPlugin>{
          {.platform = "tpu",
           .path = {MUSTER_FAKE_PJRT, "package libtpu 1.2"},
           .version = "libtpu 1.2"}};
    };
    if (replicas) {
      context.tpu.devices = Sourced<int>{*replicas, "flag --replicas"};
    }
    return OpenDevices(context);
  }
  Outcome Open(const char* behavior,
               std::optional<int> replicas = std::nullopt) {
    return Open(behavior, std::chrono::seconds(60), replicas);
  }
  // NOLINTEND(concurrency-mt-unsafe)

  FakeHost host;
  std::string named = MUSTER_FAKE_PJRT;
};

TEST_F(DeviceOpenTest, CountsAddsAndGivesBack) {
  const Outcome outcome = Open("", 4);
  EXPECT_EQ(Summary(outcome), "pass");
  EXPECT_EQ(outcome.detail,
            "4 devices of `cpu`, fake, 4 expected (flag --replicas); their sum "
            "is correct, all closed");
  EXPECT_THAT(outcome.lines, Contains("runtime  fake runtime, 1.2.3"));
}

TEST_F(DeviceOpenTest, IsSkippedWithoutAnAcceleratorAndSaysSo) {
  named = "";
  const Outcome outcome = Open("");
  EXPECT_EQ(Summary(outcome), "skip");
  EXPECT_EQ(outcome.detail, "no accelerator is visible here");
}

TEST_F(DeviceOpenTest, TakesThePluginThatIsFound) {
  named = "";
  host.AddTpu();
  EXPECT_THAT(Open("").lines,
              Contains(HasSubstr("muster_fake_pjrt.so (package libtpu 1.2)")));
  host.fs.files.erase("/dev/accel0");
  host.fs.files["/dev/nvidia0"] = "";
  const Outcome outcome = Open("");
  EXPECT_EQ(Summary(outcome), "skip");
  EXPECT_THAT(outcome.detail, HasSubstr("pip install jax-cuda12-pjrt"));
}

TEST_F(DeviceOpenTest, FindsThePluginOfAPlatformThatIsNamed) {
  named = "tpu";
  EXPECT_THAT(Open("").lines,
              Contains(HasSubstr("muster_fake_pjrt.so (package libtpu 1.2)")));
  named = "cpu";
  EXPECT_THAT(Open("").detail, HasSubstr("pip install xla-cpu-pjrt"));
}

TEST_F(DeviceOpenTest, LeavesChipsAloneThatSomebodyHolds) {
  named = "";
  host.AddTpu();
  host.machine.holders["/dev/accel0"] = {{41, "python3"}};
  const Outcome outcome = Open("");
  EXPECT_EQ(Summary(outcome), "skip");
  EXPECT_THAT(outcome.detail, HasSubstr("process 41 (python3) uses"));
}

TEST_F(DeviceOpenTest, FailsByWhatHappened) {
  EXPECT_EQ(Summary(Open("stuck", std::chrono::milliseconds(500))),
            "fail deadline-exceeded");
  EXPECT_EQ(Summary(Open("version")), "fail ver-plugin-mismatch");
  EXPECT_EQ(Summary(Open("lost")), "fail device-hardware-fault");
  EXPECT_EQ(Summary(Open("diverge")), "fail replica-divergence");
  EXPECT_EQ(Summary(Open("create")), "fail device-missing");
}

TEST_F(DeviceOpenTest, IsThirdStepOfTheTpu) {
  host.AddTpu();
  setenv("MUSTER_FAKE_PJRT", "create", 1);
  Context context = host.MakeContext();
  context.opening = {.asked = true, .refused = {}, .plugin = named};
  const Check& step = CheckOf("tpu.initialized");
  EXPECT_EQ(Summary(step.run(context)), "fail device-missing");
  setenv("MUSTER_FAKE_PJRT", "", 1);
  EXPECT_EQ(Summary(step.run(context)), "pass");
  host.machine.holders["/dev/accel0"] = {{41, "python3"}};
  EXPECT_EQ(Summary(step.run(context)), "fail device-busy");
}

TEST(AcceleratorOpened, OpensNothingUnasked) {
  FakeHost host;
  host.AddTpu();
  const Outcome outcome = host.Run("accelerator.opened");
  EXPECT_EQ(Summary(outcome), "skip");
  EXPECT_THAT(outcome.detail, HasSubstr("--open"));
}

TEST(AcceleratorDevices, ShowsKindDriverHolderAndLock) {
  FakeHost host;
  EXPECT_EQ(Summary(host.Run("accelerator.devices")), "skip");
  const std::string place = "/sys/bus/pci/devices/0000:00:04.0";
  host.fs.files[place + "/vendor"] = "0x1ae0\n";
  host.fs.files[place + "/device"] = "0x005e\n";
  host.fs.directories.insert("/sys/bus/pci/drivers/gasket/0000:00:04.0");
  host.AddTpu();
  host.fs.files["/tmp/libtpu_lockfile"] = "";
  EXPECT_THAT(
      host.Run("accelerator.devices").lines,
      ElementsAre(
          "/dev/accel0  TPU v4  at 0000:00:04.0  driver gasket  "
          "free",
          "lock /tmp/libtpu_lockfile: stale, not opened by any process"));
  host.machine.holders["/dev/accel0"] = {{41, "python3"}};
  EXPECT_THAT(host.Run("accelerator.devices").lines,
              Contains(HasSubstr("held by process 41 (python3)")));
}

TEST(AcceleratorPlugin, WarnsOfATpuWithoutOne) {
  FakeHost host;
  Context context = host.MakeContext();
  std::vector<FoundPlugin> found;
  context.plugins = [&] { return found; };
  const Check& check = CheckOf("accelerator.plugin");
  EXPECT_EQ(Summary(check.run(context)), "skip");
  host.AddTpu();
  EXPECT_EQ(check.run(context).findings.at(0).cause,
            Cause::kAccelPluginMissing);
  found = {{.platform = "tpu",
            .path = {"/x/libtpu.so", "env TPU_LIBRARY_PATH"},
            .version = ""}};
  EXPECT_EQ(check.run(context).detail,
            "unknown version, /x/libtpu.so (env TPU_LIBRARY_PATH)");
}

TEST(AcceleratorPlugin, IsNothingThatTorchNeeds) {
  FakeHost host;
  host.fs.files["/dev/nvidia0"] = "";
  Context context = host.MakeContext();
  context.plugins = [] { return std::vector<FoundPlugin>(); };
  const Check& check = CheckOf("accelerator.plugin");
  EXPECT_EQ(Summary(check.run(context)), "skip");
}

}  // namespace
}  // namespace muster::check
