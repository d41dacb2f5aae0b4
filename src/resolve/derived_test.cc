// SPDX-License-Identifier: Apache-2.0
// What users of other resolvers ran into, each with the outcome that it must
// have here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "accelerator/local_devices.h"
#include "base/text.h"
#include "resolve/output/export.h"
#include "resolve/testing.h"

namespace muster::resolve {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using Variables = std::map<std::string, std::string>;

// Variables that cannot be right, and what the refusal must name.
struct BadValue {
  const char* about;
  Variables variables;
  std::vector<std::string> names;
};
class BadEnvironment : public testing::TestWithParam<BadValue> {};

TEST_P(BadEnvironment, IsRefusedByName) {
  FakeHere here;
  here.env.variables = GetParam().variables;
  const std::string refusal = here.Refusal();
  ASSERT_NE(refusal, "");
  for (const std::string& name : GetParam().names) {
    EXPECT_THAT(refusal, HasSubstr(name));
  }
}

const Variables kTwoNodes{{"SLURM_JOB_ID", "7"},
                          {"SLURM_PROCID", "0"},
                          {"SLURM_LOCALID", "0"},
                          {"SLURM_NTASKS", "8"},
                          {"SLURM_STEP_NODELIST", "n[1-2]"}};

Variables With(Variables variables, const Variables& more) {
  variables.insert(more.begin(), more.end());
  return variables;
}

std::string NameOfCase(const testing::TestParamInfo<BadValue>& one) {
  std::string name = one.param.about;
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadEnvironment,
    testing::Values(
        BadValue{"TF_CONFIG with a trailing comma",
                 {{"TF_CONFIG", R"({"cluster": {"worker": ["a:1",]}})"}},
                 {"TF_CONFIG", "line 1, column 31"}},
        BadValue{"one address twice",
                 {{"TF_CONFIG", R"({"cluster": {"worker": ["a:1", "a:1"]},
                               "task": {"type": "worker", "index": 0}})"}},
                 {"a:1", "worker 0", "worker 1"}},
        BadValue{"this host owns the address of another index",
                 {{"TF_CONFIG",
                   R"({"cluster": {"worker": ["10.0.0.2:1", "10.0.0.9:1"]},
                  "task": {"type": "worker", "index": 1}})"}},
                 {"10.0.0.2:1", "10.0.0.9:1"}},
        BadValue{"Slurm and torch disagree",
                 With(kTwoNodes, {{"RANK", "0"},
                                  {"WORLD_SIZE", "4"},
                                  {"MASTER_ADDR", "n1"},
                                  {"MASTER_PORT", "29500"}}),
                 {"WORLD_SIZE=4", "SLURM_NTASKS=8"}},
        BadValue{"ranks of PMIx without an address",
                 {{"PMIX_NAMESPACE", "prterun-n1-77@1"},
                  {"OMPI_COMM_WORLD_SIZE", "2"},
                  {"OMPI_COMM_WORLD_RANK", "1"}},
                 {"coordinator", "MASTER_ADDR", "1 of 2"}},
        BadValue{"a current host that is not listed",
                 {{"SM_HOSTS", R"(["algo-1", "algo-2"])"},
                  {"SM_CURRENT_HOST", "algo-9"}},
                 {"algo-9", "algo-1, algo-2"}},
        BadValue{"a loopback coordinator of two nodes",
                 With(kTwoNodes,
                      {{"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "29500"}}),
                 {"127.0.0.1", "2 nodes", "net-loopback-name"}},
        BadValue{"MASTER_PORT 0",
                 {{"RANK", "0"},
                  {"WORLD_SIZE", "2"},
                  {"MASTER_ADDR", "a"},
                  {"MASTER_PORT", "0"}},
                 {"MASTER_PORT", "1 to 65535"}},
        BadValue{"MASTER_PORT 70000",
                 {{"RANK", "0"},
                  {"WORLD_SIZE", "2"},
                  {"MASTER_ADDR", "a"},
                  {"MASTER_PORT", "70000"}},
                 {"MASTER_PORT", "1 to 65535"}},
        BadValue{"workers without an own id",
                 {{"TPU_WORKER_HOSTNAMES", "a,b"}},
                 {"TPU_WORKER_ID", "Indexed Job", "subdomain"}},
        BadValue{"a slice that there is not",
                 {{"TPU_WORKER_HOSTNAMES", "a,b"},
                  {"TPU_WORKER_ID", "0"},
                  {"MEGASCALE_NUM_SLICES", "2"},
                  {"MEGASCALE_SLICE_ID", "2"}},
                 {"MEGASCALE_SLICE_ID", "MEGASCALE_NUM_SLICES", "0 to 1"}},
        BadValue{"a part of SkyPilot's variables",
                 {{"SKYPILOT_NODE_IPS", "10.0.0.1"}},
                 {"SKYPILOT_NODE_RANK"}},
        BadValue{"a part of AWS Batch's variables",
                 {{"AWS_BATCH_JOB_NODE_INDEX", "1"}},
                 {"AWS_BATCH_JOB_NUM_NODES"}},
        BadValue{"a main node of AWS Batch that is not rank 0",
                 {{"AWS_BATCH_JOB_NUM_NODES", "3"},
                  {"AWS_BATCH_JOB_NODE_INDEX", "0"},
                  {"AWS_BATCH_JOB_MAIN_NODE_INDEX", "2"}},
                 {"AWS_BATCH_JOB_MAIN_NODE_INDEX is 2", "mainNode"}},
        BadValue{"a part of Open MPI's variables",
                 {{"OMPI_COMM_WORLD_RANK", "1"}},
                 {"OMPI_COMM_WORLD_SIZE"}},
        BadValue{
            "a part of MPICH's variables", {{"PMI_RANK", "1"}}, {"PMI_SIZE"}},
        BadValue{"a part of the elastic launcher's variables",
                 {{"TORCHELASTIC_RUN_ID", "r"}},
                 {"TORCHELASTIC_RUN_ID=r", "RANK"}},
        BadValue{
            "a host that is none",
            {{"TPU_WORKER_HOSTNAMES", "a,b\xd2\x1b"}, {"TPU_WORKER_ID", "0"}},
            {"\\xd2", "gke-tpu"}},
        BadValue{"a part of torch's variables inside of Slurm",
                 With(kTwoNodes, {{"RANK", "0"}}),
                 {"RANK=0", "WORLD_SIZE", "MASTER_ADDR"}}),
    NameOfCase);

TEST(Derived, NothingAndAMetadataServerThatHangsIsOneHost) {
  FakeHere here;
  here.http
      .answers
          ["http://metadata.google.internal/computeMetadata/v1/instance/"
           "attributes/agent-worker-number"]
      .fault = "timeout";
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->claims[0].source, "default");
  EXPECT_THAT(RenderText(*resolved),
              HasSubstr("the metadata server is not reachable"));
}

TEST(Derived, VariablesThatSufficeAskNobody) {
  FakeHere here;
  here.env.variables = {{"TPU_WORKER_HOSTNAMES", "a,b"},
                        {"TPU_WORKER_ID", "1"},
                        {"KUBERNETES_SERVICE_HOST", "10.0.0.1"}};
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.size.value, 2);
  EXPECT_EQ(resolved->cluster.self->value, 1);
  EXPECT_EQ(here.http.requests.size(), 0U);
}

TEST(Derived, APageIsNoValueOfTheMetadataServer) {
  FakeHere here;
  here.Metadata("instance/attributes/agent-worker-number", "0");
  here.Metadata("instance/attributes/worker-network-endpoints", "a:1:10.0.0.2");
  here.http
      .answers
          ["http://metadata.google.internal/computeMetadata/v1/"
           "instance/attributes/tpu-env"]
      .response = {.status = 404,
                   .headers = {{"metadata-flavor", "Google"}},
                   .body = "<html>MEGASCALE_NUM_SLICES: '9'</html>"};
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.size.value, 1);
}

struct Name {
  const char* text;
  const char* host;
};
class TpuAddress : public testing::TestWithParam<Name> {};

TEST_P(TpuAddress, InTpuNameNeedsNoApi) {
  FakeHere here;
  here.env.variables["TPU_NAME"] = GetParam().text;
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  const auto& address = resolved->cluster.members[0].address->value;
  EXPECT_EQ(address.host, GetParam().host);
  EXPECT_EQ(address.port, 8470);
  EXPECT_EQ(here.http.requests.size(), 0U);
}

INSTANTIATE_TEST_SUITE_P(All, TpuAddress,
                         testing::Values(Name{"10.0.0.9:8470", "10.0.0.9"},
                                         Name{"grpc://[2001:db8::2]:8470",
                                              "2001:db8::2"},
                                         Name{"grpc://10.0.0.9", "10.0.0.9"}));

TEST(Derived, RankZeroIsOnTheFirstHostOfSlurmsOrder) {
  FakeHere here;
  here.env.variables = {{"SLURM_JOB_ID", "7"},
                        {"SLURM_PROCID", "0"},
                        {"SLURM_LOCALID", "0"},
                        {"SLURM_NTASKS", "2"},
                        {"SLURM_STEP_NODELIST", "n[9-10]"},
                        {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"}};
  ASSERT_TRUE(here.Ask()) << here.Refusal();
  EXPECT_EQ(here.Ask()->claims[0].rank_hosts[0], "n9");
  here.env.variables["SLURM_STEP_NODELIST"] = "n[1-2]-ib0";
  EXPECT_EQ(here.Ask()->cluster.coordinator->value.host, "n1-ib0");
}

// Where SLURM_HOSTFILE places this many tasks.
std::vector<std::string> PlacedByHostFile(const std::string& text,
                                          const std::string& tasks) {
  FakeHere here;
  here.fs.files["/job/hosts"] = text;
  here.env.variables = {{"SLURM_JOB_ID", "7"},
                        {"SLURM_PROCID", "0"},
                        {"SLURM_LOCALID", "0"},
                        {"SLURM_NTASKS", tasks},
                        {"SLURM_STEP_NODELIST", "n[1-3]"},
                        {"SLURM_DISTRIBUTION", "arbitrary"},
                        {"SLURM_HOSTFILE", "/job/hosts"}};
  const auto resolved = here.Ask();
  EXPECT_TRUE(resolved) << here.Refusal();
  return resolved ? resolved->claims[0].rank_hosts : std::vector<std::string>();
}

TEST(Derived, AHostFileOrdersTheTasksOfSlurm) {
  EXPECT_THAT(PlacedByHostFile("n2\nn1\n", "2"),
              testing::ElementsAre("n2", "n1"));
  EXPECT_THAT(PlacedByHostFile("n2*2,n1\nn3  # the last\n", "4"),
              testing::ElementsAre("n2", "n2", "n1", "n3"));
}

TEST(Derived, AnAllocationWithoutAStepIsNoCluster) {
  FakeHere here;
  here.env.variables["SLURM_JOB_ID"] = "7";
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.size.value, 1);
  ASSERT_EQ(resolved->findings.size(), 1U);
  EXPECT_EQ(resolved->findings[0].cause, Cause::kSchedulerEnvMisread);
  EXPECT_THAT(resolved->findings[0].what, HasSubstr("srun"));
}

TEST(Derived, AnIpv6LauncherOfOpenMpiIsItsAddress) {
  FakeHere here;
  here.env.variables = {
      {"OMPI_MCA_orte_hnp_uri", "1531576320.0;tcp6://[fe80::b9b,fe80::c]:1"},
      {"OMPI_COMM_WORLD_SIZE", "2"},
      {"OMPI_COMM_WORLD_RANK", "1"}};
  ASSERT_TRUE(here.Ask()) << here.Refusal();
  EXPECT_EQ(ToString(here.Ask()->cluster.coordinator->value),
            "[fe80::b9b]:62624");
}

TEST(Derived, VariablesOfJaxJobsAreRead) {
  FakeHere here;
  here.env.variables = {{"COORDINATOR_ADDRESS", "job-worker-0"},
                        {"COORDINATOR_PORT", "6666"},
                        {"NUM_PROCESSES", "3"},
                        {"PROCESS_ID", "2"}};
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.size.value, 3);
  EXPECT_EQ(resolved->cluster.self->value, 2);
  EXPECT_EQ(ToString(resolved->cluster.coordinator->value),
            "job-worker-0:6666");
  EXPECT_THAT(
      *ExportText("python", *resolved),
      HasSubstr("jax.distributed.initialize('job-worker-0:6666', 3, 2)"));
}

TEST(Derived, AHostFileThatIsMissingIsAnError) {
  FakeHere here;
  here.request.host_file = "/job/nowhere";
  EXPECT_THAT(here.Refusal(),
              AllOf(HasSubstr("/job/nowhere"), HasSubstr("file-missing")));
  EXPECT_EQ(here.Ask().error().evidence().back().name, "spec.unreadable");
}

TEST(Derived, TwoSourcesThatDisagreeAreReported) {
  FakeHere here;
  here.env.variables = {
      {"SLURM_JOB_ID", "7"},         {"SLURM_PROCID", "1"},
      {"SLURM_LOCALID", "1"},        {"SLURM_NTASKS", "8"},
      {"SLURM_STEP_NODELIST", "n1"}, {"TPU_WORKER_HOSTNAMES", "a,b,c,d"},
      {"TPU_WORKER_ID", "1"}};
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->claims[0].source, "slurm");
  ASSERT_FALSE(resolved->findings.empty());
  EXPECT_THAT(resolved->findings[0].what,
              AllOf(HasSubstr("8 (env SLURM_NTASKS)"),
                    HasSubstr("4 (env TPU_WORKER_HOSTNAMES)")));
}

TEST(Derived, MoreWorkersThanTheTypeHasAreReported) {
  FakeHere here;
  here.Metadata("instance/attributes/agent-worker-number", "0");
  here.Metadata("instance/attributes/worker-network-endpoints",
                "a:1:10.0.0.2,b:2:10.0.0.3,c:3:10.0.0.4,d:4:10.0.0.5");
  here.Metadata("instance/attributes/tpu-env", "ACCELERATOR_TYPE: 'v4-16'\n");
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  ASSERT_EQ(resolved->findings.size(), 1U);
  EXPECT_THAT(resolved->findings[0].what,
              AllOf(HasSubstr("v4-16 has 2 hosts"), HasSubstr("4 addresses")));
}

TEST(Derived, AnEmptyListOfEndpointsIsNotSet) {
  FakeHere here;
  here.env.variables = {{"KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS", ""},
                        {"TPU_NAME", "grpc://10.0.0.9:8470"}};
  ASSERT_TRUE(here.Ask()) << here.Refusal();
  EXPECT_EQ(here.Ask()->cluster.members[0].address->value.host, "10.0.0.9");
}

TEST(Derived, AnUnsetTpuNameOnATpuVmIsTheLocalTpu) {
  FakeHere here;
  here.fs.files["/dev/accel0"] = "";
  here.env.variables["COLAB_RELEASE_TAG"] = "release-1";
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->claims[0].source, "colab");
  EXPECT_THAT(RenderText(*resolved), HasSubstr("tpu='local'"));
  EXPECT_EQ(ExportFor("tf", *resolved)->at("TPU_NAME"), "local");
}

TEST(Derived, ATpuThatIsNotThereListsThoseThatAre) {
  FakeHere here;
  const std::string zone =
      "https://tpu.googleapis.com/v2/projects/p/locations/";
  here.Json(zone + "z/nodes",
            R"({"nodes": [{"name": "projects/p/locations/z/nodes/other"}]})");
  here.Json(zone + "-/nodes",
            R"({"nodes": [{"name": "projects/p/locations/y/nodes/mine"}]})");
  here.request.cloud = {.tpu = "mine", .project = "p", .zone = "z"};
  here.env.variables["CLOUDSDK_AUTH_ACCESS_TOKEN"] = "secret-token";
  EXPECT_THAT(
      here.Refusal(),
      AllOf(HasSubstr("tpu-not-found"), HasSubstr("existing: other"),
            HasSubstr("it is in: y"), testing::Not(HasSubstr("secret-token"))));
}

TEST(Derived, AReadyButUnhealthyTpuIsSaid) {
  FakeHere here;
  here.Json("https://tpu.googleapis.com/v2/projects/p/locations/z/nodes/t",
            R"({"state": "READY", "health": "UNHEALTHY_MAINTENANCE",
                "networkEndpoints": [{"ipAddress": "10.0.0.9"}]})");
  here.request.cloud = {.tpu = "t", .project = "p", .zone = "z"};
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  ASSERT_EQ(resolved->findings.size(), 1U);
  EXPECT_EQ(resolved->findings[0].cause, Cause::kTpuUnhealthy);
}

TEST(Slurm, BatchScriptOfSeveralNodesIsNoStep) {
  FakeHere here;
  here.env.variables = {{"SLURM_JOB_ID", "7"},
                        {"SLURM_PROCID", "0"},
                        {"SLURM_LOCALID", "0"},
                        {"SLURM_JOB_NODELIST", "n[1-2]"},
                        {"SLURM_TASKS_PER_NODE", "1(x2)"}};
  auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.size.value, 1);
  ASSERT_EQ(resolved->findings.size(), 1U);
  EXPECT_THAT(resolved->findings[0].what,
              AllOf(HasSubstr("SLURM_JOB_NODELIST is `n[1-2]`"),
                    HasSubstr("batch script"), HasSubstr("srun")));
  here.request.processes = 4;
  resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.size.value, 4);
}

// Task 1 of two, each on a node of its own.
FakeHere SecondOfTwoTasks() {
  FakeHere here;
  here.env.variables = {{"SLURM_JOB_ID", "7"},
                        {"SLURM_PROCID", "1"},
                        {"SLURM_LOCALID", "0"},
                        {"SLURM_NODEID", "1"},
                        {"SLURM_NTASKS", "2"},
                        {"SLURM_STEP_NUM_TASKS", "2"},
                        {"SLURM_STEP_NODELIST", "n[1-2]"},
                        {"SLURM_STEP_TASKS_PER_NODE", "1(x2)"},
                        {"MASTER_ADDR", "n1"},
                        {"MASTER_PORT", "29500"}};
  return here;
}

TEST(Slurm, TakesTheSizeThatItsScriptExports) {
  auto here = SecondOfTwoTasks();
  here.env.variables["WORLD_SIZE"] = "2";
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.self->value, 1);
  EXPECT_EQ(resolved->findings.size(), 0U);
  here.env.variables["WORLD_SIZE"] = "4";
  EXPECT_THAT(here.Refusal(),
              AllOf(HasSubstr("rank-world-mismatch"),
                    HasSubstr("WORLD_SIZE=4 differs from SLURM_NTASKS=2")));
}

TEST(Slurm, TaskMayStartTheProcessesOfItsNode) {
  auto here = SecondOfTwoTasks();
  here.env.variables.insert({{"RANK", "9"},
                             {"WORLD_SIZE", "16"},
                             {"LOCAL_RANK", "1"},
                             {"LOCAL_WORLD_SIZE", "8"},
                             {"NODE_RANK", "1"}});
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.size.value, 16);
  EXPECT_EQ(resolved->cluster.self->value, 9);
  EXPECT_EQ(resolved->findings.size(), 0U);
}

// The host of the last task, and what is remarked.
std::string Placed(FakeHere& here) {
  const auto resolved = here.Ask();
  if (!resolved) {
    return resolved.error().ToString();
  }
  std::string text = Join(resolved->claims[0].rank_hosts, " ");
  for (const Finding& finding : resolved->findings) {
    text += "; " + finding.what;
  }
  return text;
}

TEST(SlurmTasks, AreDealtAsTheDistributionSays) {
  FakeHere here;
  here.env.variables = {{"SLURM_JOB_ID", "7"},
                        {"SLURM_PROCID", "0"},
                        {"SLURM_LOCALID", "0"},
                        {"SLURM_NODEID", "0"},
                        {"SLURM_STEP_NUM_TASKS", "6"},
                        {"SLURM_STEP_NODELIST", "a,b"},
                        {"SLURM_STEP_TASKS_PER_NODE", "3(x2)"}};
  EXPECT_EQ(Placed(here), "a a a b b b");
  here.env.variables["SLURM_DISTRIBUTION"] = "cyclic";
  EXPECT_EQ(Placed(here), "a b a b a b");
  here.env.variables["SLURM_DISTRIBUTION"] = "plane";
  EXPECT_THAT(Placed(here), HasSubstr("SLURM_DIST_PLANESIZE is not set"));
  here.env.variables["SLURM_DIST_PLANESIZE"] = "2";
  EXPECT_EQ(Placed(here), "a a b b a b");
}

TEST(SlurmTasks, ThatStandElsewhereThanSlurmSaysAreRemarked) {
  FakeHere here;
  here.env.variables = {{"SLURM_JOB_ID", "7"},
                        {"SLURM_PROCID", "3"},
                        {"SLURM_LOCALID", "5"},
                        {"SLURM_NODEID", "0"},
                        {"SLURM_STEP_NUM_TASKS", "4"},
                        {"SLURM_STEP_NODELIST", "a,b"},
                        {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"}};
  EXPECT_THAT(Placed(here), AllOf(HasSubstr("SLURM_NODEID=0 is `a`"),
                                  HasSubstr("SLURM_PROCID=3 belongs to `b`"),
                                  HasSubstr("SLURM_LOCALID=5, but `b` has 2")));
}

TEST(Lsf, WithoutJsrunIsTheJobsOwnScript) {
  FakeHere here;
  here.fs.files["/lsf/ranks"] = "launch\nn1\n";
  here.env.variables = {{"LSB_JOBID", "9"},
                        {"LSB_DJOB_RANKFILE", "/lsf/ranks"}};
  ASSERT_TRUE(here.Ask()) << here.Refusal();
  EXPECT_THAT(here.Ask()->findings[0].what, HasSubstr("jsrun"));
  here.env.variables["JSM_NAMESPACE_SIZE"] = "2";
  EXPECT_THAT(here.Refusal(), HasSubstr("JSM_NAMESPACE_RANK"));
}

TEST(Lsf, SlotsAreNoRanks) {
  FakeHere here;
  here.fs.files["/lsf/ranks"] = "launch\nn1\nn1\nn2\nn2\n";
  here.env.variables = {{"LSB_JOBID", "9"},
                        {"LSB_DJOB_RANKFILE", "/lsf/ranks"},
                        {"JSM_NAMESPACE_SIZE", "2"},
                        {"JSM_NAMESPACE_RANK", "1"},
                        {"JSM_NAMESPACE_LOCAL_RANK", "0"}};
  ASSERT_TRUE(here.Ask()) << here.Refusal();
  EXPECT_TRUE(here.Ask()->claims[0].rank_hosts.empty());
  EXPECT_EQ(here.Ask()->cluster.coordinator->value.host, "n1");
  here.env.variables["JSM_NAMESPACE_SIZE"] = "4";
  ASSERT_TRUE(here.Ask()) << here.Refusal();
  EXPECT_EQ(here.Ask()->claims[0].rank_hosts.size(), 4U);
}

TEST(Gpus, AreCountedAsCudaDoes) {
  FakeHere here;
  for (const auto& [visible, count] :
       {std::pair("-1", 0), std::pair("0,-1,1", 1), std::pair("", 0),
        std::pair("NoDevFiles", 0), std::pair("0, 3", 2),
        std::pair("GPU-aaaa,MIG-bbbb", 2)}) {
    here.env.variables["CUDA_VISIBLE_DEVICES"] = visible;
    EXPECT_EQ(accelerator::CountGpus(
                  {.env = here.env, .clock = here.clock, .fs = here.fs}),
              count)
        << visible;
  }
}

TEST(Derived, ChipsOfThisHostAreComparedWithTheType) {
  FakeHere here;
  here.env.variables = {{"TPU_WORKER_HOSTNAMES", "a,b"},
                        {"TPU_WORKER_ID", "0"},
                        {"TPU_ACCELERATOR_TYPE", "v4-16"}};
  for (int chip = 0; chip < 4; ++chip) {
    here.fs.files["/dev/accel" + std::to_string(chip)] = "";
  }
  EXPECT_EQ(here.Ask()->findings.size(), 0U);
  EXPECT_THAT(RenderText(*here.Ask()), HasSubstr("TPU chips here  4 "));
  here.fs.files.erase("/dev/accel3");
  here.fs.files.erase("/dev/accel2");
  ASSERT_EQ(here.Ask()->findings.size(), 1U);
  EXPECT_THAT(here.Ask()->findings[0].what,
              AllOf(HasSubstr("2 TPU chips"), HasSubstr("4 hosts")));
}

TEST(Derived, ABrokenTpuConfigIsAnErrorWithItsPlace) {
  FakeHere here;
  here.env.variables["TPU_CONFIG"] = R"({"tpu_node_name": "t",})";
  EXPECT_THAT(here.Refusal(),
              AllOf(HasSubstr("TPU_CONFIG"), HasSubstr("line 1, column 23")));
}

TEST(Derived, AnEvaluatorBesideTheClusterIsAlone) {
  FakeHere here;
  here.env.variables["TF_CONFIG"] =
      R"({"cluster": {"chief": ["a:1"], "worker": ["b:1"]},
          "task": {"type": "evaluator", "index": 0}})";
  for (const char* profile : {"", "estimator"}) {
    here.request.profile = profile;
    const auto resolved = here.Ask();
    ASSERT_TRUE(resolved) << resolved.error().ToString();
    EXPECT_EQ(resolved->cluster.size.value, 1);
    EXPECT_EQ(resolved->cluster.members[0].task, "evaluator");
  }
}

TEST(Derived, RanksWithoutAClusterAreRemarked) {
  for (const char* name : {"JAX_NUM_PROCESSES", "TPU_WORKER_ID"}) {
    FakeHere here;
    here.env.variables[name] = "2";
    ASSERT_TRUE(here.Ask()) << here.Refusal();
    ASSERT_EQ(here.Ask()->findings.size(), 1U) << name;
    EXPECT_THAT(here.Ask()->findings[0].what, HasSubstr(name));
  }
}

TEST(Tpu, OfANameIsNotLookedUpWhereTheClusterIsKnown) {
  FakeHere here;
  here.env.variables = {{"TPU_NAME", "leader-0"},
                        {"TPU_WORKER_HOSTNAMES", "a,b"},
                        {"TPU_WORKER_ID", "1"}};
  ASSERT_TRUE(here.Ask()) << here.Refusal();
  EXPECT_EQ(here.Ask()->claims[0].source, "gke-tpu");
  EXPECT_EQ(here.http.requests.size(), 0U);
}

TEST(Tpu, OfTheCommandLineComesBeforeAllVariables) {
  FakeHere here;
  here.env.variables = {{"TPU_WORKER_HOSTNAMES", "a,b"},
                        {"TPU_WORKER_ID", "1"}};
  here.request.cloud.tpu = "grpc://10.0.0.9";
  ASSERT_TRUE(here.Ask()) << here.Refusal();
  EXPECT_EQ(here.Ask()->claims[0].source, "tpu");
}

}  // namespace
}  // namespace muster::resolve
