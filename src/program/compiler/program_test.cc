// SPDX-License-Identifier: Apache-2.0
#include "program/compiler/program.h"

#include <gtest/gtest.h>

namespace muster::program {
namespace {

struct FakeMachineOfProgram {
  sys::FakeEnv env;
  sys::FakeClock clock;
  sys::FakeFs fs;
  sys::Host host{env, clock, fs};
};

class TopologyRefused : public testing::TestWithParam<const char*> {};

TEST_P(TopologyRefused, BeforeTheCompilerSeesIt) {
  const Status status = CheckTopology(GetParam());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().cause(), Cause::kUsageInvalid);
}

INSTANTIATE_TEST_SUITE_P(Names, TopologyRefused,
                         testing::Values("", "v5e", "v5e-8", "v5litepod:2x4",
                                         ":2x4", "v5e:", "v5e:2", "v5e:2x4x1",
                                         "v5p:2x2", "v5e:0x4", "v5e:2x65",
                                         "v5e:-2x4", "v5e:2x4 ", "v9:2x2",
                                         "v5e:2x99999999999999999999"));

TEST(Topology, TakesEachGeneration) {
  for (const char* name :
       {"v2:2x2", "v3:4x4", "v4:2x2x1", "v5:2x2x1", "v5e:16x16", "v5p:2x2x2",
        "v6e:1x1", "tpu7x:2x2x1"}) {
    EXPECT_TRUE(CheckTopology(name)) << name;
  }
}

TEST(FindTpuPlugin, TakesTheFirstThatIsTold) {
  FakeMachineOfProgram machine;
  const Sourced<std::string> python{"/venv/libtpu.so", "package libtpu 0.0.52"};
  EXPECT_FALSE(FindTpuPlugin(machine.host, "", python));  // no such file
  machine.fs.files["/lib/libtpu.so"] = "";
  EXPECT_EQ(FindTpuPlugin(machine.host, "", python)->source, "system");
  machine.fs.files["/venv/libtpu.so"] = "";
  EXPECT_EQ(FindTpuPlugin(machine.host, "", python), python);
  machine.env.variables["PJRT_NAMES_AND_LIBRARY_PATHS"] = "cpu:/c.so,tpu:/t.so";
  EXPECT_EQ(FindTpuPlugin(machine.host, "", python)->value, "/t.so");
  machine.env.variables["TPU_LIBRARY_PATH"] = "/absent.so";
  EXPECT_EQ(FindTpuPlugin(machine.host, "", python)->value, "/absent.so");
  EXPECT_EQ(FindTpuPlugin(machine.host, "/x.so", python)->source,
            "flag --plugin");
}

TEST(CheckProgram, IsSkippedWithoutACompiler) {
  FakeMachineOfProgram machine;
  machine.fs.files["/p.mlir"] = "module @m {}";
  const auto report =
      CheckProgram({.file = "/p.mlir", .on = "v5e:2x4"}, machine.host);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome.state, OutcomeState::kSkip);
  EXPECT_NE(report->outcome.detail.find("pip install libtpu"),
            std::string::npos);
}

TEST(CheckProgram, SaysThatTheCompilerCouldNotBeAsked) {
  FakeMachineOfProgram machine;
  machine.fs.files["/p.mlir"] = "module @m {}";
  const auto report = CheckProgram({.file = "/p.mlir",
                                    .on = "v5e:2x4",
                                    .plugin = {"/absent/libtpu.so", "test"}},
                                   machine.host);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome.state, OutcomeState::kBroken);
  ASSERT_EQ(report->outcome.findings.size(), 1U);
  EXPECT_EQ(report->outcome.findings[0].cause, Cause::kFileMissing);
}

TEST(CheckProgram, FailsAFileThatIsNoProgram) {
  FakeMachineOfProgram machine;
  machine.fs.files["/p.mlir"] = "";
  const auto report =
      CheckProgram({.file = "/p.mlir", .on = "v5e:2x4"}, machine.host);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome.state, OutcomeState::kFail);
  EXPECT_EQ(report->outcome.findings[0].cause, Cause::kFileCorrupt);
}

TEST(CheckProgram, RefusesAFileThatIsNotThere) {
  FakeMachineOfProgram machine;
  const auto report =
      CheckProgram({.file = "/p.mlir", .on = "v5e:2x4"}, machine.host);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().cause(), Cause::kFileMissing);
}

}  // namespace
}  // namespace muster::program
