// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "resolve/testing.h"
#include "sys/fake/fake_clock.h"
#include "sys/fake/fake_env.h"
#include "sys/fake/fake_fs.h"

namespace muster::resolve {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Result<Resolved> Ask(const Variables& variables) {
  sys::FakeEnv env;
  sys::FakeClock clock;
  sys::FakeFs fs;
  env.variables = variables;
  return Resolve({}, {env, clock, fs});
}

Variables Whole() {
  return {{"RANK", "1"},
          {"WORLD_SIZE", "2"},
          {"LOCAL_RANK", "0"},
          {"MASTER_ADDR", "10.0.0.1"},
          {"MASTER_PORT", "29500"}};
}

TEST(TorchVariables, DescribeTheCluster) {
  auto resolved = Ask(Whole());
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.size, (Sourced<int>{2, "env WORLD_SIZE"}));
  EXPECT_EQ(*resolved->cluster.self, (Sourced<int>{1, "env RANK"}));
  EXPECT_EQ(resolved->cluster.coordinator->value, (Address{"10.0.0.1", 29500}));
  EXPECT_FALSE(resolved->cluster.members[0].address.has_value());
}

TEST(TorchVariables, OfOneProcessNeedNothingElse) {
  auto resolved = Ask({{"WORLD_SIZE", "1"}});
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.self->value, 0);
}

TEST(TorchVariables, TakeAnIpv6AddressWithoutBrackets) {
  Variables variables = Whole();
  variables["MASTER_ADDR"] = "2001:db8::2";
  auto resolved = Ask(variables);
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.coordinator->value.host, "2001:db8::2");
}

TEST(TorchVariables, ThatArePartlySetListBothHalvesAndWhoSetsThem) {
  auto resolved = Ask({{"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}});
  ASSERT_FALSE(resolved);
  EXPECT_EQ(resolved.error().cause(), Cause::kLaunchEnvMissing);
  EXPECT_THAT(resolved.error().message(),
              AllOf(HasSubstr("WORLD_SIZE=2 and MASTER_ADDR=a are set, RANK "
                              "and MASTER_PORT are not"),
                    HasSubstr("torchrun"), HasSubstr("muster run")));
  EXPECT_EQ(resolved.error().evidence()[0].name, "env.partial");
}

struct BadTorchEnv {
  const char* name;
  const char* value;
  Cause cause;
  const char* says;
};
class BadTorch : public testing::TestWithParam<BadTorchEnv> {};

TEST_P(BadTorch, IsNamedWithItsVariable) {
  Variables variables = Whole();
  variables[GetParam().name] = GetParam().value;
  auto resolved = Ask(variables);
  ASSERT_FALSE(resolved);
  EXPECT_EQ(resolved.error().cause(), GetParam().cause)
      << resolved.error().ToString();
  EXPECT_THAT(resolved.error().message(),
              AllOf(HasSubstr(GetParam().name), HasSubstr(GetParam().says)));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadTorch,
    testing::Values(
        BadTorchEnv{"RANK", "", Cause::kLaunchEnvMissing, "RANK is not"},
        BadTorchEnv{"RANK", "2", Cause::kRankWorldMismatch, "ranks are 0 to 1"},
        BadTorchEnv{"RANK", "-1", Cause::kClusterSpecInvalid, "`-1`"},
        BadTorchEnv{"RANK", "None", Cause::kClusterSpecInvalid, "`None`"},
        BadTorchEnv{"WORLD_SIZE", "0", Cause::kClusterSpecInvalid, "from 1 to"},
        BadTorchEnv{"WORLD_SIZE", "2x", Cause::kClusterSpecInvalid, "`2x`"},
        BadTorchEnv{"WORLD_SIZE", "99999999", Cause::kClusterSpecInvalid,
                    "65536"},
        BadTorchEnv{"LOCAL_RANK", "2", Cause::kRankWorldMismatch, "outside"},
        BadTorchEnv{"MASTER_PORT", "0", Cause::kClusterSpecInvalid,
                    "1 to 65535"},
        BadTorchEnv{"MASTER_PORT", "70000", Cause::kClusterSpecInvalid,
                    "1 to 65535"},
        BadTorchEnv{"MASTER_ADDR", "a b", Cause::kClusterSpecInvalid,
                    "position 2"}));

TEST(TorchVariables, KnowThatALocalRankIsNeverAboveTheRank) {
  Variables variables = Whole();
  variables["RANK"] = "0";
  variables["LOCAL_RANK"] = "1";
  EXPECT_EQ(Ask(variables).error().cause(), Cause::kRankWorldMismatch);
}

TEST(TorchVariables, OfAHostAreBelowItsSizes) {
  Variables variables = Whole();
  variables["RANK"] = variables["LOCAL_RANK"] = "9";
  variables["WORLD_SIZE"] = "16";
  variables["LOCAL_WORLD_SIZE"] = "8";
  EXPECT_THAT(Ask(variables).error().message(),
              AllOf(HasSubstr("local rank 9"), HasSubstr("LOCAL_WORLD_SIZE")));
  variables["LOCAL_RANK"] = "1";
  variables["GROUP_RANK"] = "5";
  EXPECT_THAT(Ask(variables).error().message(), HasSubstr("node rank 5"));
  // Nodes of 8, 4 and 4 processes.
  variables["GROUP_RANK"] = "2";
  variables["GROUP_WORLD_SIZE"] = "3";
  EXPECT_TRUE(Ask(variables));
}

TEST(TorchVariables, RefuseALoopbackMasterOfSeveralHosts) {
  Variables variables = Whole();
  variables["MASTER_ADDR"] = "127.0.0.1";
  EXPECT_TRUE(Ask(variables));
  variables["LOCAL_WORLD_SIZE"] = "1";
  EXPECT_EQ(Ask(variables).error().cause(), Cause::kNetLoopbackName);
}

// What a shell before this one left, beside a cluster that is described.
Finding Remarked(std::map<std::string, std::string> left) {
  FakeHere here;
  here.env.variables = std::move(left);
  here.env.variables["TF_CONFIG"] =
      R"({"cluster":{"worker":["10.0.0.2:1","10.0.0.3:1"]},
          "task":{"type":"worker","index":0}})";
  const auto resolved = here.Ask();
  EXPECT_TRUE(resolved) << resolved.error().ToString();
  if (!resolved || resolved->findings.size() != 1) {
    ADD_FAILURE() << "not one finding";
    return {};
  }
  EXPECT_EQ(resolved->claims.front().source, "tf-config");
  return resolved->findings.front();
}

TEST(LeftOver, IsAFindingBesideACompleteDescription) {
  for (const char* name :
       {"MASTER_ADDR", "RANK", "LOCAL_RANK", "JAX_COORDINATOR_ADDRESS"}) {
    const bool jax = std::string(name).starts_with("JAX");
    const Finding finding = Remarked({{name, jax ? "10.0.0.9:1" : "3"}});
    EXPECT_EQ(finding.severity, Severity::kWarning) << name;
    EXPECT_THAT(finding.what, HasSubstr(name));
  }
  EXPECT_THAT(Remarked({{"MASTER_ADDR", "10.0.0.9"}}).what,
              AllOf(HasSubstr("MASTER_ADDR=10.0.0.9 is set"),
                    HasSubstr("torchrun"), HasSubstr("tf-config")));
}

TEST(LeftOver, IsAnErrorWhereNothingElseDescribesACluster) {
  FakeHere here;
  here.env.variables["MASTER_ADDR"] = "10.0.0.9";
  EXPECT_THAT(here.Refusal(), HasSubstr("RANK, WORLD_SIZE and MASTER_PORT"));
  here.env.variables = {{"JAX_COORDINATOR_ADDRESS", "10.0.0.9:1"}};
  EXPECT_THAT(here.Refusal(), HasSubstr("neither JAX_NUM_PROCESSES"));
}

TEST(LeftOver, IsAnErrorOnAHostThatKnowsOnlyItself) {
  FakeHere here;
  here.fs.files = {{"/dev/accel0", ""}};
  here.env.variables["WORLD_SIZE"] = "2";
  EXPECT_THAT(here.Refusal(), HasSubstr("WORLD_SIZE=2 is set"));
}

TEST(Coordinator, OfAVariableServesRanksThatKnowNone) {
  FakeHere here;
  here.env.variables = {{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}};
  EXPECT_THAT(here.Refusal(), HasSubstr("JAX_COORDINATOR_ADDRESS"));
  here.env.variables["JAX_COORDINATOR_ADDRESS"] = "10.0.0.9:1234";
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(muster::ToString(resolved->cluster.coordinator->value),
            "10.0.0.9:1234");
  EXPECT_EQ(resolved->cluster.coordinator->source,
            "env JAX_COORDINATOR_ADDRESS");
}

TEST(Coordinator, OfAVariableWinsForJaxAlone) {
  FakeHere here;
  here.env.variables = {{"SLURM_PROCID", "1"},
                        {"SLURM_LOCALID", "0"},
                        {"SLURM_STEP_NUM_TASKS", "2"},
                        {"SLURM_JOB_ID", "7"},
                        {"SLURM_STEP_NODELIST", "n[1-2]"},
                        {"JAX_COORDINATOR_ADDRESS", "n1:1234"}};
  for (const auto& [profile, port] : {std::pair("jax", 1234),  //
                                      std::pair("torch", 15007)}) {
    here.request.profile = profile;
    const auto resolved = here.Ask();
    ASSERT_TRUE(resolved) << resolved.error().ToString();
    EXPECT_EQ(resolved->cluster.coordinator->value.port, port);
    EXPECT_EQ(resolved->findings.size(), 1U);
  }
}

TEST(HostFile, WithoutThisHostIsNeverThisHostAlone) {
  FakeHere here;
  here.fs.files["hosts"] = "n1 slots=2\nn2 slots=2\n";
  here.request.host_file = "hosts";
  EXPECT_THAT(here.Refusal(), HasSubstr("no host in the host file `hosts`"));
  here.request.rank = 1;
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  // The position of this host; its agent starts two ranks.
  EXPECT_EQ(resolved->cluster.self->value, 2);
  EXPECT_THAT(resolved->cluster.OwnRanks(), ElementsAre(2, 3));
  EXPECT_EQ(resolved->claims.front().rank_hosts,
            (std::vector<std::string>{"n1", "n1", "n2", "n2"}));
}

const std::map<std::string, std::string> kOneTaskPerNode{
    {"SLURM_JOB_ID", "7"},
    {"SLURM_PROCID", "1"},
    {"SLURM_LOCALID", "0"},
    {"SLURM_NODEID", "1"},
    {"SLURM_STEP_NUM_TASKS", "2"},
    {"SLURM_STEP_NODELIST", "n[1-2]"},
    {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"}};

TEST(LauncherInside, OfASlurmTaskTellsTheRanksAndContradictsNothing) {
  const std::map<std::string, std::string> intel{
      {"PMI_RANK", "5"},        {"PMI_SIZE", "8"},     {"MPI_LOCALRANKID", "1"},
      {"MPI_LOCALNRANKS", "4"}, {"MASTER_ADDR", "n1"}, {"MASTER_PORT", "1234"}};
  const std::map<std::string, std::string> open_mpi{
      {"OMPI_COMM_WORLD_RANK", "5"},
      {"OMPI_COMM_WORLD_SIZE", "8"},
      {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
      {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
      {"PMIX_SERVER_URI41", "prterun-n1-7@0.0;tcp4://10.0.0.1:4000"}};
  for (const auto& [variables, source] :
       {std::pair(intel, "mpi-env"), std::pair(open_mpi, "openmpi")}) {
    FakeHere here;
    here.env.variables = variables;
    here.env.variables.insert(kOneTaskPerNode.begin(), kOneTaskPerNode.end());
    const auto resolved = here.Ask();
    ASSERT_TRUE(resolved) << resolved.error().ToString();
    EXPECT_EQ(resolved->claims.front().source, source);
    EXPECT_EQ(resolved->cluster.self->value, 5);
    EXPECT_EQ(resolved->findings.size(), 0U);
  }
}

TEST(LauncherInside, OfABatchScriptTellsTheRanks) {
  for (const char* name : {"PMI", "MV2_COMM_WORLD", "HOROVOD"}) {
    FakeHere here;
    here.env.variables = {{"SLURM_JOB_ID", "5"},       {"SLURM_PROCID", "0"},
                          {"SLURM_LOCALID", "0"},      {"SLURM_NTASKS", "8"},
                          {"MASTER_ADDR", "n1"},       {"MASTER_PORT", "1234"},
                          {"SLURM_JOB_NODELIST", "n1"}};
    here.env.variables[std::string(name) + "_RANK"] = "3";
    here.env.variables[std::string(name) + "_SIZE"] = "8";
    const auto resolved = here.Ask();
    ASSERT_TRUE(resolved) << resolved.error().ToString();
    EXPECT_EQ(resolved->claims.front().source, "mpi-env") << name;
    EXPECT_EQ(resolved->cluster.size.value, 8);
    EXPECT_EQ(resolved->cluster.self->value, 3);
    EXPECT_EQ(resolved->findings.size(), 0U);
  }
}

TEST(LauncherInside, OfAnAllocationIsNotToldToUseAnother) {
  FakeHere here;
  here.env.variables = {
      {"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "1"},
      {"SLURM_JOB_ID", "7"},         {"SLURM_NTASKS", "8"},
      {"SLURM_PROCID", "0"},         {"LSB_JOBID", "7"},
      {"LSB_DJOB_RANKFILE", "/f"}};
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->findings.size(), 0U);
}

TEST(Mpi, IsNotToldItsRanksByWhatTorchLeft) {
  FakeHere here;
  here.env.variables = {{"PMI_RANK", "1"},    {"PMI_SIZE", "2"},
                        {"RANK", "0"},        {"WORLD_SIZE", "1"},
                        {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}};
  auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  ASSERT_GE(resolved->findings.size(), 1U);
  EXPECT_THAT(resolved->findings[0].what,
              HasSubstr("1 (env WORLD_SIZE) and 2 (env PMI_SIZE)"));
  here.env.variables = {{"PMI_RANK", "2"},    {"PMI_SIZE", "8"},
                        {"WORLD_SIZE", "4"},  {"LOCAL_RANK", "7"},
                        {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}};
  resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.size, (Sourced<int>{8, "env PMI_SIZE"}));
}

TEST(Mpi, OfSeveralHostsMeetsAtNoLoopbackAddress) {
  FakeHere here;
  here.env.variables = {{"PMI_RANK", "1"},
                        {"PMI_SIZE", "4"},
                        {"MPI_LOCALNRANKS", "2"},
                        {"MASTER_ADDR", "127.0.0.1"},
                        {"MASTER_PORT", "1"}};
  EXPECT_THAT(here.Refusal(),
              AllOf(HasSubstr("net-loopback-name"),
                    HasSubstr("only 2 (env MPI_LOCALNRANKS) of 4 processes")));
  here.env.variables["MPI_LOCALNRANKS"] = "4";
  EXPECT_EQ(here.Refusal(), "");
}

// Rank 3 of 4, started by Open MPI 5, whose server is at `uri`.
FakeHere OpenMpi5(const std::string& uri) {
  FakeHere here;
  here.env.variables = {{"OMPI_COMM_WORLD_SIZE", "4"},
                        {"OMPI_COMM_WORLD_RANK", "3"},
                        {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                        {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                        {"PMIX_NAMESPACE", "prterun-h1-123@1"},
                        {"PMIX_SERVER_URI2", uri}};
  return here;
}

TEST(Mpi, TakesNoServerOfThisHostForTheLauncher) {
  for (const char* own : {"prterun-h1-123@0.1;tcp4://10.0.0.2:40001",
                          "prterun-h1-123@0.0;tcp4://127.0.0.1:40001"}) {
    auto here = OpenMpi5(own);
    EXPECT_THAT(here.Refusal(), AllOf(HasSubstr("launch-env-missing"),
                                      HasSubstr("set MASTER_ADDR")));
    here.env.variables["OMPI_COMM_WORLD_LOCAL_SIZE"] = "4";
    here.env.variables["MASTER_ADDR"] = "10.0.0.1";
    here.env.variables["MASTER_PORT"] = "1234";
    EXPECT_EQ(here.Refusal(), "");
  }
  auto here = OpenMpi5("prterun-h1-123@0.0;tcp4://10.0.0.1:40001");
  EXPECT_EQ(here.Refusal(), "");
}

TEST(TorchrunLauncher, ThatMayGrowIsNotOneProcessWithoutAWord) {
  for (const char* nodes : {"1:3", "2:2", "2"}) {
    FakeHere here;
    here.env.variables = {{"PET_NNODES", nodes},
                          {"PET_NPROC_PER_NODE", "8"},
                          {"PET_RDZV_BACKEND", "c10d"},
                          {"PET_RDZV_ENDPOINT", "w-0:29400"}};
    EXPECT_THAT(here.Refusal(),
                AllOf(HasSubstr("launch-env-missing"),
                      HasSubstr("`" + std::string(nodes) + "`"),
                      HasSubstr("PET_NODE_RANK"), HasSubstr("at w-0")));
    here.request.processes = 1;
    const auto resolved = here.Ask();
    ASSERT_TRUE(resolved) << resolved.error().ToString();
    EXPECT_EQ(resolved->findings.size(), 0U);
  }
}

TEST(TorchrunLauncher, TellsNothingToTheProcessesThatItStarted) {
  FakeHere here;
  here.env.variables = Whole();
  here.env.variables.insert({{"TORCHELASTIC_RUN_ID", "none"},
                             {"PET_NNODES", "1:2"},
                             {"PET_RDZV_ENDPOINT", "w-0:29400"}});
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.coordinator->value, (Address{"10.0.0.1", 29500}));
  EXPECT_EQ(resolved->findings.size(), 0U);
}

// What the training operator of Kubeflow gives to the second of two pods.
const std::map<std::string, std::string> kSecondOfTwoPods{
    {"MASTER_ADDR", "job-master-0"},
    {"MASTER_PORT", "23456"},
    {"WORLD_SIZE", "2"},
    {"RANK", "1"},
    {"PET_NPROC_PER_NODE", "auto"},
    {"PET_NODE_RANK", "1"},
    {"PET_NNODES", "2"}};

TEST(PyTorchJob, MeetsAtTheMasterOfItsProcesses) {
  FakeHere here;
  here.env.variables = kSecondOfTwoPods;
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.size.value, 2);
  EXPECT_EQ(resolved->cluster.self->value, 1);
  EXPECT_EQ(ToString(resolved->cluster.coordinator->value),
            "job-master-0:23456");
  EXPECT_EQ(resolved->findings.size(), 0U);
}

TEST(PyTorchJob, OfSeveralProcessesPerNodeTellsAllRanks) {
  FakeHere here;
  here.env.variables = kSecondOfTwoPods;
  here.env.variables["WORLD_SIZE"] = "16";
  here.env.variables["PET_NPROC_PER_NODE"] = "8";
  here.env.variables["PET_MASTER_ADDR"] = "job-master-0";
  here.env.variables["PET_MASTER_PORT"] = "23456";
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.size.value, 16);
  EXPECT_EQ(*resolved->cluster.self, (Sourced<int>{8, "env PET_NODE_RANK"}));
  EXPECT_EQ(resolved->cluster.OwnRanks().size(), 8U);
  EXPECT_EQ(resolved->findings.size(), 0U);
}

}  // namespace
}  // namespace muster::resolve
