// SPDX-License-Identifier: Apache-2.0
// The strategy over tests/fakes/pjrt_plugin.cc, whose programs give back their
// arguments. tests/system/pjrt_training_test.py trains with a real plug-in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include "muster/pjrt.h"
#include "sys/env.h"
#include "sys/fake/fake_env.h"
#include "wire/progress_page.h"

namespace muster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kSignature =
    "module {\n  func.func public @main(%a: tensor<i32>) -> ";

StepProgram Program() {
  StepProgram program;
  program.local_batch = 2;
  program.state = {{"w", DType::kFloat32, {3}}, {"m", DType::kFloat32, {3}}};
  program.parameters = 1;
  program.batch = {{"x", DType::kFloat32, {2, 5}}};
  program.metrics = {"loss"};
  program.scores = {"right"};
  program.gradient = program.update =
      "module {\n  func.func public @main() {\n  }\n}";
  program.initialize =
      std::string(kSignature) + "(tensor<3xf32>, tensor<3xf32>) {\n  }\n}";
  program.evaluate =
      "module attributes {mhlo.num_replicas = 2 : i32} {\n  func.func public "
      "@main(%a: tensor<i32>) -> (tensor<f32>) {\n  }\n}";
  return program;
}

class StrategyTest : public testing::Test {
 protected:
  void SetUp() override { Behave(""); }

  static void Behave(const char* how) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): a test has one thread.
    setenv("MUSTER_FAKE_PJRT", how, 1);
  }

  Result<PjrtStrategy> Make(const StepProgram& program = Program(),
                            int devices = 2) {
    return PjrtStrategy::Make(*session_, program,
                              {.plugin = MUSTER_FAKE_PJRT,
                               .devices = devices,
                               .create = {{"cpu_device_count", 4}},
                               .wait_limit = std::chrono::milliseconds(300)});
  }

  // A batch of the whole step: two devices with two samples each.
  static TensorView Batch(std::int64_t samples = 4) {
    static const std::array<float, 64> values{};
    return {{"x", DType::kFloat32, {samples, 5}},
            std::as_bytes(std::span(values))
                .first(static_cast<std::size_t>(samples) * 20)};
  }

  static Result<std::vector<float>> Step(PjrtStrategy& strategy,
                                         const TensorView& batch = Batch()) {
    return strategy.Step({&batch, 1});
  }

  static Checkpoint Saved() {
    static const std::array<float, 6> values{1, 2, 3, 4, 5, 6};
    const auto bytes = std::as_bytes(std::span(values));
    Checkpoint checkpoint;
    checkpoint.step = 7;
    checkpoint.specs = {{"m", DType::kFloat32, {3}},
                        {"w", DType::kFloat32, {3}}};
    checkpoint.bytes = {bytes.first(12), bytes.last(12)};
    return checkpoint;
  }

  const sys::FakeEnv environment_{};
  const std::unique_ptr<Session> session_ =
      Session::JoinFrom(environment_).value();
};

TEST_F(StrategyTest, StepsOnAllDevicesAndTellsTheAgent) {
  auto strategy = Make();
  ASSERT_TRUE(strategy) << strategy.error().ToString();
  EXPECT_EQ(strategy->num_replicas_in_sync(), 2);
  EXPECT_EQ(strategy->global_batch(), 4U);
  EXPECT_EQ(strategy->platform(), "PJRT 0.81");
  ASSERT_TRUE(strategy->Initialize(1));
  EXPECT_THAT(Step(*strategy).value(), ElementsAre(0.0F));
  EXPECT_EQ(strategy->step(), 1U);
  const auto progress = wire::ReadSlot(session_->slot());
  EXPECT_EQ(progress.step, 1U);
  EXPECT_EQ(progress.samples, 4U);
  EXPECT_TRUE(strategy->ProveReplicasEqual());
}

TEST_F(StrategyTest, GoesOnFromACheckpointAndGivesItBack) {
  auto strategy = Make();
  ASSERT_TRUE(strategy);
  ASSERT_TRUE(strategy->Restore(Saved()));
  ASSERT_TRUE(Step(*strategy));
  const auto state = strategy->State(1);
  ASSERT_TRUE(state) << state.error().ToString();
  EXPECT_EQ(state->step, 8U);
  EXPECT_EQ(state->specs, Saved().specs);
  EXPECT_TRUE(std::equal(state->bytes[0].begin(), state->bytes[0].end(),
                         Saved().bytes[0].begin(), Saved().bytes[0].end()));
  auto other = Saved();
  other.specs[1].shape = {4};
  EXPECT_EQ(strategy->Restore(other).error().cause(), Cause::kCkptMismatch);
}

TEST_F(StrategyTest, SumsScoresOverTheDevices) {
  auto strategy = Make();
  ASSERT_TRUE(strategy);
  ASSERT_TRUE(strategy->Initialize(1));
  const TensorView batch = Batch();
  EXPECT_THAT(strategy->Evaluate({&batch, 1}).value(), ElementsAre(0.0));
  EXPECT_EQ(strategy->step(), 0U);
}

TEST_F(StrategyTest, NamesTheBatchThatDoesNotFit) {
  auto strategy = Make();
  ASSERT_TRUE(strategy);
  ASSERT_TRUE(strategy->Initialize(1));
  EXPECT_THAT(
      Step(*strategy, Batch(3)).error().ToString(),
      HasSubstr(
          "`x` of a batch is F32 [4, 5], but the given one is F32 [3, 5]"));
  EXPECT_TRUE(Step(*strategy));  // nothing was lost by it
}

TEST_F(StrategyTest, AsksForAStateFirst) {
  auto strategy = Make();
  ASSERT_TRUE(strategy);
  EXPECT_THAT(Step(*strategy).error().ToString(), HasSubstr("no state yet"));
}

TEST_F(StrategyTest, ComparesTheDevicesWithThoseThatAreThere) {
  const auto many = Make(Program(), 5);
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().cause(), Cause::kRankWorldMismatch);
  EXPECT_THAT(many.error().ToString(),
              HasSubstr("has 4 devices, 5 are requested"));
  auto program = Program();
  program.form = StepForm::kSpmd;
  program.devices = 3;
  EXPECT_EQ(Make(program, 2).error().cause(), Cause::kRankWorldMismatch);
}

TEST_F(StrategyTest, FindsAReplicaThatDiffers) {
  auto strategy = Make();
  ASSERT_TRUE(strategy);
  ASSERT_TRUE(strategy->Initialize(1));
  Behave("diverge");
  ASSERT_TRUE(Step(*strategy));
  const Status proved = strategy->ProveReplicasEqual();
  ASSERT_FALSE(proved);
  EXPECT_EQ(proved.error().cause(), Cause::kReplicaDivergence);
  EXPECT_THAT(proved.error().ToString(),
              HasSubstr("after step 1 `w` of replica 1 differs"));
}

TEST_F(StrategyTest, EndsAtALossThatIsNoNumber) {
  auto strategy = Make();
  ASSERT_TRUE(strategy);
  ASSERT_TRUE(strategy->Initialize(1));
  Behave("nan");
  EXPECT_EQ(Step(*strategy).error().cause(), Cause::kNumericsNan);
  EXPECT_EQ(Step(*strategy).error().cause(), Cause::kNumericsNan);  // for good
}

struct Fault {
  const char* behavior;
  Cause cause;
  const char* says;
};

class StrategyFault : public StrategyTest,
                      public testing::WithParamInterface<Fault> {};

TEST_P(StrategyFault, HasACause) {
  // Those of the step come after a state is there.
  Behave(GetParam().behavior);
  auto strategy = Make();
  Status status = strategy ? Ok() : Status(strategy.error());
  if (status) {
    Behave("");
    ASSERT_TRUE(strategy->Initialize(1));
    Behave(GetParam().behavior);
    for (int i = 0; i < 4 && status; ++i) {
      const auto metrics = Step(*strategy);
      status = metrics ? Ok() : Status(metrics.error());
    }
  }
  ASSERT_FALSE(status);
  EXPECT_EQ(Label(status.error().cause()), Label(GetParam().cause));
  EXPECT_THAT(status.error().ToString(), HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    All, StrategyFault,
    testing::Values(
        Fault{"null", Cause::kVerPluginMismatch, "returns no PJRT API"},
        Fault{"create", Cause::kDeviceMissing, "opening the devices"},
        Fault{"few", Cause::kUsageInvalid, "returns 2 results, but step.json"},
        Fault{"refuse", Cause::kUsageInvalid, "Executable expected shape"},
        Fault{"lost", Cause::kDeviceHardwareFault, "device halted"},
        Fault{"late", Cause::kDeadlineExceeded, "did not finish"}),
    [](const auto& one) { return std::string(one.param.behavior); });

}  // namespace
}  // namespace muster
