// SPDX-License-Identifier: Apache-2.0
#include "monitor/resource/accelerator_use.h"
#include "sys/fake/fake_clock.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::monitor {
namespace {

using ::testing::HasSubstr;
using Environment = std::map<std::string, std::string>;

TEST(HiddenBy, NamesWhatKeepsAFrameworkFromATpu) {
  EXPECT_EQ(HiddenBy("tpu", {}), "");
  EXPECT_EQ(HiddenBy("tpu", {{"JAX_PLATFORMS", "tpu,cpu"}}), "");
  EXPECT_EQ(HiddenBy("tpu", {{"JAX_PLATFORMS", ""}}), "");
  EXPECT_EQ(HiddenBy("tpu", {{"JAX_PLATFORMS", "cpu"}}), "JAX_PLATFORMS=cpu");
  EXPECT_EQ(HiddenBy("tpu", {{"PJRT_DEVICE", "CPU"}}), "PJRT_DEVICE=CPU");
  EXPECT_EQ(HiddenBy("tpu", {{"CUDA_VISIBLE_DEVICES", ""}}), "");
}

TEST(HiddenBy, NamesWhatKeepsAFrameworkFromAGpu) {
  EXPECT_EQ(HiddenBy("cuda", {{"CUDA_VISIBLE_DEVICES", "0,1"}}), "");
  EXPECT_EQ(HiddenBy("cuda", {{"CUDA_VISIBLE_DEVICES", ""}}),
            "CUDA_VISIBLE_DEVICES=");
  EXPECT_EQ(HiddenBy("cuda", {{"CUDA_VISIBLE_DEVICES", "-1"}}),
            "CUDA_VISIBLE_DEVICES=-1");
  EXPECT_EQ(HiddenBy("cuda", {{"JAX_PLATFORMS", "gpu"}}), "");
}

class AcceleratorUseTest : public ::testing::Test {
 protected:
  // Until it tells something, or for this long.
  void Watch(Duration longest, const Environment& environment = {}) {
    AcceleratorUse use(*loop, clock, accelerators, [this](Fact fact) {
      told.push_back(std::move(fact));
      loop->Quit();
    });
    use.Begin(environment, "w-0", 1);
    const auto limit = loop->After(longest, [this] { loop->Quit(); });
    const auto time = loop->Every(std::chrono::milliseconds(1), [this] {
      clock.Advance(std::chrono::seconds(1));
    });
    loop->Run();
    use.End();
  }
  static constexpr std::chrono::milliseconds kShort{50};
  static constexpr std::chrono::seconds kLong{60};

  std::unique_ptr<sys::Loop> loop = *sys::Loop::Make();
  sys::FakeClock clock;
  bool opened = false;
  HostAccelerators accelerators{.text = "4 x TPU v4",
                                .platform = "tpu",
                                .missing = "",
                                .wait = std::chrono::milliseconds(20),
                                .opened = [this] { return opened; }};
  std::vector<Fact> told;
};

TEST_F(AcceleratorUseTest, TellsOnceThatNobodyHasOpenedOne) {
  Watch(kLong, {{"JAX_PLATFORMS", "cpu"}});
  ASSERT_EQ(told.size(), 1U);
  const Finding finding = UnusedFinding(told.front());
  EXPECT_EQ(finding.cause, Cause::kAcceleratorUnused);
  EXPECT_EQ(finding.severity, Severity::kWarning);
  EXPECT_THAT(finding.what, HasSubstr("the host has 4 x TPU v4"));
  EXPECT_THAT(finding.what, HasSubstr("`JAX_PLATFORMS=cpu` hides it"));
  EXPECT_EQ(finding.fixes.front().command, "env -u JAX_PLATFORMS muster run");
}

TEST_F(AcceleratorUseTest, SaysWhatIsNotInstalled) {
  accelerators.missing = "libtpu is not installed: pip install libtpu";
  Watch(kLong);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(UnusedFinding(told.front()).what,
              HasSubstr("libtpu is not installed"));
}

TEST_F(AcceleratorUseTest, IsSilentOnceARankHasOpenedOne) {
  opened = true;
  Watch(kShort);
  EXPECT_TRUE(told.empty());
}

TEST_F(AcceleratorUseTest, IsSilentWhereThereIsNone) {
  accelerators.text = "";
  Watch(kShort);
  EXPECT_TRUE(told.empty());
}

}  // namespace
}  // namespace muster::monitor
