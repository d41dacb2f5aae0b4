// SPDX-License-Identifier: Apache-2.0
#include "program/graph/program_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "program/graph/testing.h"

namespace muster::program {
namespace {

using testing::HasSubstr;

struct MachineWithGraphs {
  sys::FakeEnv env;
  sys::FakeClock clock;
  sys::FakeFs fs;
  sys::Host host{env, clock, fs};

  Result<ProgramReport> Check(ProgramRequest request) const {
    request.on = "v5e:2x4";
    return CheckProgram(request, host);
  }
};

std::string Graph(std::string_view op) {
  return program::graph::GraphBytes(
      {program::graph::NodeBytes("x", "Placeholder"),
       program::graph::NodeBytes("y", op, {"x"})});
}

TEST(CheckGraph, IsAskedByWhatTheFileHolds) {
  MachineWithGraphs machine;
  machine.fs.files["/a"] = Graph("Sin");
  machine.fs.files["/b.mlir"] = "node { name: 'y' op: 'PyFunc' }";
  machine.fs.files["/m/saved_model.pb"] =
      wire::NumberField(1, 1) +
      wire::BytesField(2, wire::BytesField(2, Graph("Sin")));
  EXPECT_EQ(machine.Check({.file = "/a"})->outcome.state, OutcomeState::kPass);
  const auto text = machine.Check({.file = "/b.mlir"});
  EXPECT_EQ(text->outcome.state, OutcomeState::kFail);
  EXPECT_EQ(text->graph->form, "GraphDef (text)");
  EXPECT_EQ(text->outcome.findings[0].subjects,
            (std::vector<std::string>{"/b.mlir", "v5e:2x4"}));
  const auto unsigned_model = machine.Check({.file = "/m"});
  ASSERT_FALSE(unsigned_model);  // no signature, and no traced function
  EXPECT_THAT(unsigned_model.error().message(), HasSubstr("signature"));
}

TEST(CheckGraph, FailsAFileThatIsCutShort) {
  MachineWithGraphs machine;
  const std::string whole = Graph("Sin");
  machine.fs.files["/a.pb"] = whole.substr(0, whole.size() - 3);
  machine.fs.files["/m/saved_model.pb"] = "no protobuf at all";
  for (const char* file : {"/a.pb", "/m"}) {
    const auto report = machine.Check({.file = file});
    ASSERT_TRUE(report) << report.error().ToText();
    EXPECT_EQ(report->outcome.state, OutcomeState::kFail);
    EXPECT_EQ(report->outcome.findings[0].cause, Cause::kFileCorrupt);
  }
}

TEST(CheckGraph, RefusesWhatItCannotHeed) {
  MachineWithGraphs machine;
  machine.fs.files["/a.pb"] = Graph("Sin");
  machine.fs.files["/p.mlir"] = "module @m {}";
  machine.fs.files["/empty/readme"] = "";
  for (const ProgramRequest& request :
       {ProgramRequest{.file = "/empty"},
        ProgramRequest{.file = "/a.pb", .replicas = 8},
        ProgramRequest{.file = "/a.pb", .partitions = 8},
        ProgramRequest{.file = "/a.pb", .signature = "none"},
        ProgramRequest{.file = "/p.mlir", .signature = "fit"}}) {
    const auto report = machine.Check(request);
    ASSERT_FALSE(report) << request.file;
    EXPECT_EQ(report.error().cause(), Cause::kUsageInvalid);
  }
}

TEST(CheckGraph, DoesNotReadAFolderThatMayNotBeRead) {
  MachineWithGraphs machine;
  machine.fs.files["/m/saved_model.pb"] = "";
  machine.fs.fail["/m/saved_model.pb"] = Cause::kFilePermission;
  const auto report = machine.Check({.file = "/m"});
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().cause(), Cause::kFilePermission);
}

}  // namespace
}  // namespace muster::program
