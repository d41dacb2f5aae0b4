// SPDX-License-Identifier: Apache-2.0
#include "resolve/output/export.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "resolve/environment/versions.h"
#include "resolve/testing.h"

namespace muster::resolve {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// Two workers by address; this host is the second.
FakeHere TwoHosts() {
  FakeHere here;
  here.request.hosts = "10.0.0.1:8476,10.0.0.2:8476";
  return here;
}

TEST(Export, GivesEachFrameworkItsVariables) {
  auto here = TwoHosts();
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToText();
  EXPECT_EQ(ExportFor("tf", *resolved)->at("TF_CONFIG"),
            R"({"cluster":{"worker":["10.0.0.1:8476","10.0.0.2:8476"]},)"
            R"("task":{"type":"worker","index":1}})");
  EXPECT_EQ(ExportFor("jax", *resolved)->at("JAX_PROCESS_ID"), "1");
  EXPECT_EQ(ExportFor("torch", *resolved)->at("MASTER_PORT"), "8476");
  EXPECT_THAT(ExportFor("caffe", *resolved).error().message(),
              HasSubstr("expected tf, jax"));
}

TEST(Export, IsReadBackAsTheSameCluster) {
  auto here = TwoHosts();
  const auto resolved = here.Ask();
  for (const char* framework : {"tf", "jax", "torch"}) {
    FakeHere other;
    other.env.variables = *ExportFor(framework, *resolved);
    const auto again = other.Ask();
    ASSERT_TRUE(again) << framework << again.error().ToText();
    EXPECT_EQ(again->cluster.size.value, 2) << framework;
    EXPECT_EQ(again->cluster.self->value, 1) << framework;
    EXPECT_EQ(again->cluster.coordinator->value,
              resolved->cluster.coordinator->value)
        << framework;
  }
}

TEST(Export, GivesNoRankOfTorchToWhoDoesNotTrain) {
  for (const char* task : {"ps", "evaluator"}) {
    FakeHere here;
    here.env.variables["TF_CONFIG"] =
        R"({"cluster": {"worker": ["10.0.0.3:1", "10.0.0.4:1"],
                        ")" +
        std::string(task) + R"(": ["10.0.0.2:1"]},
            "task": {"type": ")" +
        task + R"(", "index": 0}})";
    const auto resolved = here.Ask();
    ASSERT_TRUE(resolved) << resolved.error().ToText();
    EXPECT_THAT(ExportText("torch", *resolved).error().message(),
                HasSubstr(std::string(task) + " 0"));
    EXPECT_THAT(*ExportText("shell", *resolved),
                AllOf(HasSubstr("TF_CONFIG"), Not(HasSubstr("WORLD_SIZE"))));
  }
}

TEST(Export, GivesEachProcessOfAHostItsOwnTpuPort) {
  FakeHere here;
  here.env.variables = {
      {"TPU_PROCESS_ADDRESSES", "localhost:8476,localhost:8477"},
      {"CLOUD_TPU_TASK_ID", "1"}};
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToText();
  const auto env = ExportFor("torch_xla", *resolved);
  ASSERT_TRUE(env) << env.error().ToText();
  EXPECT_EQ(env->at("TPU_PROCESS_ADDRESSES"), "localhost:8476,localhost:8477");
  EXPECT_EQ(env->at("TPU_PROCESS_PORT"), "8477");
}

TEST(Export, QuotesForTheShellAndPython) {
  FakeHere here;
  here.env.variables["TF_CONFIG"] =
      R"({"cluster": {"it's": ["10.0.0.2:1"], "worker": ["10.0.0.3:1"]},
          "task": {"type": "it's", "index": 0}})";
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToText();
  EXPECT_THAT(*ExportText("tf", *resolved), HasSubstr(R"(it'\''s)"));
  EXPECT_THAT(*ExportText("python", *resolved), HasSubstr(R"(it\'s)"));
}

TEST(Export, OfTasksWithoutAddressesUsesTheirHosts) {
  FakeHere here;
  here.env.variables = {{"SLURM_JOB_ID", "7"},
                        {"SLURM_PROCID", "1"},
                        {"SLURM_LOCALID", "1"},
                        {"SLURM_NTASKS", "3"},
                        {"SLURM_STEP_NODELIST", "n[1-2]"},
                        {"SLURM_STEP_TASKS_PER_NODE", "2,1"}};
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToText();
  EXPECT_THAT(ExportFor("tf", *resolved)->at("TF_CONFIG"),
              HasSubstr(R"(["n1:2222","n1:2223","n2:2222"])"));
}

TEST(Spec, IsWhatPythonPrints) {
  auto here = TwoHosts();
  EXPECT_EQ(SpecText(here.Ask()->cluster),
            "{'worker': ['10.0.0.1:8476', '10.0.0.2:8476']}\n");
}

TEST(Versions, AreOrderedAsPythonOrdersThem) {
  EXPECT_LT(CompareVersions("0.4.9", "0.4.35"), 0);
  EXPECT_EQ(CompareVersions("2.11", "2.11.0"), 0);
  EXPECT_LT(CompareVersions("2.11.0rc1", "2.11.0"), 0);
  EXPECT_GT(CompareVersions("2.11.0.post1", "2.11.0"), 0);
  EXPECT_TRUE(*VersionFits("2.11.3", "==2.11.*"));
  EXPECT_TRUE(*VersionFits("2.11.3", ">=2.11,<2.12"));
  EXPECT_FALSE(*VersionFits("2.12", "~=2.11.0"));
  EXPECT_TRUE(*VersionFits("1.26.4+cu12", "==1.26.4"));
  EXPECT_FALSE(VersionFits("1", "about 2"));
}

// A virtual environment with a package.
void Install(FakeHere& here, const std::string& package,
             const std::string& requirement = "") {
  here.env.variables["VIRTUAL_ENV"] = "/venv";
  here.fs.files["/venv/lib/python3.11/site-packages/" + package +
                ".dist-info/METADATA"] =
      "Metadata-Version: 2.1\nRequires-Dist: " + requirement + "\n\n";
}

TEST(Versions, OfPackagesThatDoNotFitAreNamed) {
  FakeHere here;
  Install(here, "jax-0.4.35", "jaxlib <=0.4.35,>=0.4.34");
  Install(here, "jaxlib-0.5.1");
  const auto packages = FindPythonPackages({here.env, here.clock, here.fs});
  ASSERT_TRUE(packages.has_value());
  const auto findings = CheckVersions(*packages, {});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, Cause::kVerPluginMismatch);
  EXPECT_THAT(findings[0].what, HasSubstr("installed is 0.5.1"));
}

TEST(Versions, OfLibrariesOfOperationsAreWatched) {
  FakeHere here;
  Install(here, "tensorflow_io-0.31.0",
          R"(tensorflow<2.12.0,>=2.11.0; extra == "tensorflow")");
  Install(here, "tensorflow_text-2.11.0", "tensorflow (<2.12,>=2.11.0)");
  Install(here, "tensorflow-2.17.0", "jax; extra == 'and-cuda'");
  const auto packages = FindPythonPackages({here.env, here.clock, here.fs});
  const auto findings = CheckVersions(*packages, {});
  ASSERT_EQ(findings.size(), 2U);
  EXPECT_THAT(findings[0].what, HasSubstr("tensorflow-io 0.31.0 needs"));
  EXPECT_THAT(findings[1].what, HasSubstr("tensorflow-text 2.11.0 needs"));
}

TEST(Versions, OfClientAndTpuRuntimeMustBeTheSame) {
  FakeHere here;
  Install(here, "tensorflow-2.11.0");
  const auto packages = FindPythonPackages({here.env, here.clock, here.fs});
  EXPECT_THAT(CheckVersions(*packages, {.runtime = "tpu-vm-tf-2.11.0-pod"}),
              IsEmpty());
  const auto findings =
      CheckVersions(*packages, {.runtime = "tpu-vm-tf-2.17.0"});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, Cause::kVerClientRuntime);
}

TEST(Versions, ThatAScriptNeedsAreChecked) {
  FakeHere here;
  Install(here, "tensorflow-2.11.0");
  const sys::Host host{here.env, here.clock, here.fs};
  EXPECT_TRUE(CheckRequirement("tensorflow==2.11.*", host));
  EXPECT_THAT(CheckRequirement("tensorflow>=2.12", host).error().message(),
              HasSubstr("installed is 2.11.0"));
  EXPECT_THAT(CheckRequirement("flax", host).error().message(),
              HasSubstr("flax is not installed"));
}

TEST(Versions, AreReadWhereThatPythonLooksInItsOrder) {
  FakeHere here;
  here.env.variables = {{"PATH", "/sbin:/usr/bin"}, {"HOME", "/home/u"}};
  for (const char* file :
       {"/usr/bin/python3", "/usr/bin/python3.11",
        "/usr/lib/python3/dist-packages/numpy-1.24.0.dist-info/METADATA",
        "/usr/lib/python3/dist-packages/jax-0.4.1.dist-info/METADATA",
        "/usr/lib/python3.9/site-packages/flax-1.dist-info/METADATA",
        "/usr/lib/python3.11/os.py",
        "/usr/local/lib/python3.11/dist-packages/jax-0.8.2.dist-info/METADATA",
        "/home/u/.local/lib/python3.11/site-packages/numpy-2.dist-info/x"}) {
    here.fs.files[file] = "";
  }
  const auto packages = FindPythonPackages({here.env, here.clock, here.fs});
  ASSERT_TRUE(packages.has_value());
  EXPECT_EQ(packages->versions.at("jax"), "0.8.2");
  EXPECT_EQ(packages->versions.at("numpy"), "2");
  EXPECT_FALSE(packages->versions.contains("flax"));
}

TEST(Versions, OfATensorflowWithoutTpuBesideChipsAreNamed) {
  FakeHere here;
  Install(here, "tensorflow-2.18.0");
  auto packages = FindPythonPackages({here.env, here.clock, here.fs});
  const auto findings = CheckVersions(*packages, {.chips = 8});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].cause, Cause::kAccelPluginMissing);
  EXPECT_THAT(CheckVersions(*packages, {.chips = 8, .has_libtpu = true}),
              IsEmpty());
  Install(here, "libtpu-0.0.10");
  packages = FindPythonPackages({here.env, here.clock, here.fs});
  EXPECT_THAT(CheckVersions(*packages, {.chips = 8}), IsEmpty());
}

}  // namespace
}  // namespace muster::resolve
