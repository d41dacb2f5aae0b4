// SPDX-License-Identifier: Apache-2.0
#include "resolve/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "cluster/cluster_json.h"
#include "resolve/contradictions.h"
#include "resolve/self.h"
#include "resolve/source.h"
#include "sys/fake/fake_clock.h"
#include "sys/fake/fake_env.h"
#include "sys/fake/fake_fs.h"

namespace muster::resolve {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;

// A host with exactly the variables and addresses that a test gives it.
struct Here {
  sys::FakeEnv env;
  sys::FakeClock clock;
  sys::FakeFs fs;
  Request request;

  Here() {
    env.hostname = "w-1";
    env.addresses = {"127.0.0.1", "::1", "10.0.0.2"};
  }
  Result<Resolved> Ask() { return Resolve(request, {env, clock, fs}); }
  Error Wrong() {
    auto resolved = Ask();
    return resolved ? Error(Cause::kInternalError, "it was resolved")
                    : resolved.error();
  }
};

TEST(Resolve, SaysThatNothingDescribesACluster) {
  Here here;
  auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.size,
            (Sourced<int>{1, "default: no source describes a cluster"}));
  EXPECT_TRUE(resolved->cluster.one_host);
  // All but the one that speaks only when it is named.
  EXPECT_EQ(resolved->silent.size(), AllSources().size() - 1);
}

TEST(Resolve, StartsAllRanksHereWithN) {
  Here here;
  here.request.processes = 3;
  auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.members.size(), 3U);
  EXPECT_TRUE(resolved->cluster.one_host);
  EXPECT_FALSE(resolved->cluster.self.has_value());
  EXPECT_EQ(resolved->cluster.size.source, "flag -n");
}

TEST(Resolve, RefusesANumberOfProcessesThatNoHostRuns) {
  for (int processes : {0, -1, 257}) {
    Here here;
    here.request.processes = processes;
    EXPECT_EQ(here.Wrong().cause(), Cause::kClusterSpecInvalid) << processes;
  }
}

TEST(Hosts, FindsTheOwnRankByTheAddressesOfThisHost) {
  Here here;
  here.request.hosts = "10.0.0.1:8476,10.0.0.2:8476";
  auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(*resolved->cluster.self,
            (Sourced<int>{1, "the address 10.0.0.2:8476 is this host's"}));
  EXPECT_EQ(resolved->cluster.coordinator->source, "rank 0 of flag --hosts");
}

TEST(Hosts, ComparesNamesWithTheNameOfThisHost) {
  Here here;
  here.request.hosts = "w-0.ns.svc:8476,w-1.ns.svc:8476";
  ASSERT_TRUE(here.Ask());
  EXPECT_EQ(here.Ask()->cluster.self->value, 1);
}

TEST(Hosts, AsksForTheRankWhenSeveralAddressesAreThisHosts) {
  Here here;
  here.request.hosts = "127.0.0.1:8476,127.0.0.1:8477";
  const Error error = here.Wrong();
  EXPECT_EQ(error.cause(), Cause::kLaunchEnvMissing);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("rank 0 (127.0.0.1:8476)"),
                                     HasSubstr("--rank or MUSTER_RANK")));
  here.env.variables["MUSTER_RANK"] = "1";
  ASSERT_TRUE(here.Ask()) << here.Wrong().ToString();
  EXPECT_EQ(*here.Ask()->cluster.self, (Sourced<int>{1, "env MUSTER_RANK"}));
}

TEST(Hosts, ListsTheOwnAddressesWhenNoneFits) {
  Here here;
  here.request.hosts = "10.0.0.7:8476,10.0.0.8:8476";
  const Error error = here.Wrong();
  EXPECT_EQ(error.cause(), Cause::kNetWrongEndpoint);
  EXPECT_THAT(error.message(),
              HasSubstr("this host is `w-1` with 127.0.0.1, ::1, 10.0.0.2"));
}

struct BadList {
  const char* hosts;
  Cause cause;
  const char* says;
};
class BadHosts : public testing::TestWithParam<BadList> {};

TEST_P(BadHosts, AreNamedWithTheirPlace) {
  Here here;
  here.request.hosts = GetParam().hosts;
  const Error error = here.Wrong();
  EXPECT_EQ(error.cause(), GetParam().cause) << error.ToString();
  EXPECT_THAT(error.ToString(),
              AllOf(HasSubstr("--hosts"), HasSubstr(GetParam().says)));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadHosts,
    testing::Values(
        BadList{"", Cause::kClusterSpecInvalid, "contains no address"},
        BadList{"10.0.0.2:8001,,b:8002", Cause::kClusterSpecInvalid, "entry 2"},
        BadList{":8476", Cause::kClusterSpecInvalid, "the host is missing"},
        BadList{"10.0.0.2:8001,b", Cause::kClusterSpecInvalid,
                "port is missing"},
        BadList{"b:0", Cause::kClusterSpecInvalid, "1 to 65535"},
        BadList{"b:65536", Cause::kClusterSpecInvalid, "1 to 65535"},
        BadList{"b:x", Cause::kClusterSpecInvalid, "position 3"},
        BadList{"fe80::1:8476", Cause::kClusterSpecInvalid, "brackets"},
        BadList{"0.0.0.0:8001,10.0.0.2:8001", Cause::kClusterSpecInvalid,
                "valid only for listening"},
        BadList{"10.0.0.2:8001,10.0.0.2:8001", Cause::kDuplicateIdentity,
                "10.0.0.2:8001"}));

TEST(Hosts, WithoutPortsHaveTheSameOne) {
  Here here;
  here.request.hosts = "a,b";
  here.request.rank = 0;
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  const auto& address = *resolved->cluster.members[1].address;
  EXPECT_EQ(ToString(address.value), "b:8476");
  EXPECT_EQ(address.source, "flag --hosts, default port");
}

TEST(Hosts, ALoopbackAddressBesideOthersIsRemarked) {
  Here here;
  here.request.hosts = "127.0.0.1:8001,b:8001";
  here.request.rank = 0;
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  ASSERT_EQ(resolved->findings.size(), 1U);
  EXPECT_EQ(resolved->findings[0].cause, Cause::kNetLoopbackName);
  EXPECT_EQ(resolved->findings[0].severity, Severity::kWarning);
}

TEST(Rank, MustBeARankOfTheList) {
  Here here;
  here.request.hosts = "10.0.0.1:8476,10.0.0.2:8476";
  here.request.rank = 2;
  const Error error = here.Wrong();
  EXPECT_EQ(error.cause(), Cause::kRankWorldMismatch);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("rank 2 (flag --rank)"),
                                     HasSubstr("ranks are 0 to 1")));
}

TEST(Rank, OfAnotherHostsAddressIsAnError) {
  Here here;
  here.request.hosts = "10.0.0.1:8476,10.0.0.2:8476";
  here.request.rank = 0;
  const Error error = here.Wrong();
  EXPECT_EQ(error.cause(), Cause::kNetWrongEndpoint);
  EXPECT_THAT(error.message(), AllOf(HasSubstr("rank 0 (10.0.0.1:8476)"),
                                     HasSubstr("rank 1 (10.0.0.2:8476)")));
}

TEST(Rank, AloneDescribesNoCluster) {
  Here here;
  here.env.variables["MUSTER_RANK"] = "1";
  const Error error = here.Wrong();
  EXPECT_EQ(error.cause(), Cause::kLaunchEnvMissing);
  EXPECT_THAT(error.message(), HasSubstr("MUSTER_HOSTS"));
}

TEST(Rank, IsNotTheOneOfTheSurroundings) {
  const std::map<std::string, std::string> one_task{
      {"SLURM_JOB_ID", "7"},          {"SLURM_PROCID", "0"},
      {"SLURM_LOCALID", "0"},         {"SLURM_STEP_NUM_TASKS", "1"},
      {"SLURM_STEP_NODELIST", "w-1"}, {"SLURM_NTASKS", "1"}};
  const std::map<std::string, std::string> kaggle{
      {"KAGGLE_KERNEL_RUN_TYPE", "Batch"}};
  for (const auto& variables : {one_task, kaggle}) {
    Here here;
    here.env.variables = variables;
    here.request.hosts = "10.0.0.1:8001,10.0.0.2:8001";
    here.request.rank = 1;
    const auto resolved = here.Ask();
    ASSERT_TRUE(resolved) << resolved.error().ToString();
    EXPECT_EQ(resolved->cluster.self->value, 1);
  }
}

TEST(Rank, ThatIsGivenTwiceMustAgree) {
  Here here;
  here.request.hosts = "10.0.0.1:8476,10.0.0.2:8476";
  here.request.rank = 1;
  here.env.variables["MUSTER_RANK"] = "0";
  EXPECT_THAT(here.Wrong().message(),
              HasSubstr("1 (flag --rank) and 0 (env MUSTER_RANK)"));
}

TEST(ClusterFile, IsWhatResolvePrints) {
  Here here;
  here.request.hosts = "10.0.0.1:8476,10.0.0.2:8476";
  auto printed = here.Ask();
  ASSERT_TRUE(printed);
  here.fs.files["/c.json"] = ToJson(*printed).dump();
  here.request = {.cluster = "/c.json"};
  auto read = here.Ask();
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(read->cluster.members, printed->cluster.members);
  EXPECT_EQ(read->cluster.self->value, 1);
}

TEST(ClusterFile, OfAnotherHostDoesNotTellThisHostsRank) {
  Here here;
  here.fs.files["/c.json"] =
      R"({"members": [{"address": "10.0.0.1:1"}, {"address": "10.0.0.2:1"}],
          "self": 0})";
  here.request.cluster = "/c.json";
  ASSERT_TRUE(here.Ask()) << here.Wrong().ToString();
  EXPECT_EQ(here.Ask()->cluster.self->value, 1);
}

TEST(ClusterFile, NamesTheFileThatIsMissingOrWrong) {
  Here here;
  here.request.cluster = "/c.json";
  EXPECT_EQ(here.Wrong().cause(), Cause::kFileMissing);
  here.fs.files["/c.json"] = "{\"members\": [],}";
  EXPECT_THAT(here.Wrong().message(),
              AllOf(HasSubstr("/c.json"), HasSubstr("column")));
}

TEST(MusterVariables, DescribeAClusterByHosts) {
  Here here;
  here.env.variables["MUSTER_HOSTS"] = "10.0.0.1:8476,10.0.0.2:8476";
  here.env.variables["MUSTER_SIZE"] = "2";
  auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.self->value, 1);
  here.env.variables["MUSTER_SIZE"] = "3";
  EXPECT_EQ(here.Wrong().cause(), Cause::kRankWorldMismatch);
}

TEST(MusterVariables, DescribeAClusterBySizeAndCoordinator) {
  Here here;
  here.env.variables = {{"MUSTER_SIZE", "2"}, {"MUSTER_RANK", "1"}};
  const Error error = here.Wrong();
  EXPECT_EQ(error.cause(), Cause::kLaunchEnvMissing);
  EXPECT_THAT(error.message(),
              HasSubstr("MUSTER_SIZE=2 and MUSTER_RANK=1 are set, "
                        "MUSTER_COORDINATOR is not"));
  here.env.variables["MUSTER_COORDINATOR"] = "10.0.0.1:8476";
  ASSERT_TRUE(here.Ask()) << here.Wrong().ToString();
  EXPECT_EQ(here.Ask()->cluster.coordinator->value.host, "10.0.0.1");
}

TEST(Sources, FlagsWinAndTheOthersAreCompared) {
  Here here;
  here.request.processes = 1;
  here.env.variables = {{"WORLD_SIZE", "1"}, {"RANK", "0"}};
  auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  ASSERT_EQ(resolved->claims.size(), 2U);
  EXPECT_EQ(resolved->claims[0].source, "flags");
  EXPECT_EQ(resolved->claims[1].source, "torch");
}

TEST(Sources, ThatContradictEachOtherAreBothNamed) {
  Here here;
  here.request.hosts = "10.0.0.1:8476,10.0.0.2:8476";
  here.env.variables = {{"WORLD_SIZE", "4"},
                        {"RANK", "2"},
                        {"MASTER_ADDR", "10.0.0.9"},
                        {"MASTER_PORT", "29500"}};
  const Error error = here.Wrong();
  EXPECT_EQ(error.cause(), Cause::kClusterSpecInvalid);
  EXPECT_THAT(
      error.message(),
      AllOf(HasSubstr("the size is 2 (flag --hosts) and 4 (env WORLD_SIZE)"),
            HasSubstr("the rank of this process is 1 (the address "
                      "10.0.0.2:8476 is this host's) and 2 (env RANK)"),
            HasSubstr("10.0.0.9:29500 (env MASTER_ADDR and MASTER_PORT)")));
  EXPECT_EQ(error.evidence().size(), 6U);
}

TEST(Sources, AllRanksHereContradictsOneRankOfSeveral) {
  Here here;
  here.request.processes = 2;
  here.env.variables = {{"WORLD_SIZE", "2"},
                        {"RANK", "1"},
                        {"MASTER_ADDR", "10.0.0.1"},
                        {"MASTER_PORT", "29500"}};
  EXPECT_THAT(here.Wrong().message(),
              HasSubstr("every rank of this host (flag -n) and 1 (env RANK)"));
}

TEST(Sources, ThatSpellAnAddressDifferentlyAreRemarked) {
  Here here;
  here.request.hosts = "w-0:8476,w-1:8476";
  here.env.variables = {{"WORLD_SIZE", "2"},
                        {"RANK", "1"},
                        {"MASTER_ADDR", "10.0.0.1"},
                        {"MASTER_PORT", "29500"}};
  auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  ASSERT_EQ(resolved->findings.size(), 1U);
  EXPECT_EQ(resolved->findings[0].severity, Severity::kWarning);
  EXPECT_THAT(resolved->findings[0].what, HasSubstr("the coordinator is"));
}

TEST(Sources, AgreeOnTheProcessesOfTheOnlyHost) {
  Here here;
  here.request.processes = 8;
  here.env.variables = {
      {"SLURM_JOB_ID", "7"},          {"SLURM_PROCID", "0"},
      {"SLURM_LOCALID", "0"},         {"SLURM_STEP_NUM_TASKS", "1"},
      {"SLURM_STEP_NODELIST", "w-1"}, {"SLURM_NTASKS", "1"},
      {"SKYPILOT_NODE_RANK", "0"},    {"SKYPILOT_NODE_IPS", "10.0.0.2"},
      {"TPU_WORKER_ID", "0"},         {"TPU_WORKER_HOSTNAMES", "localhost"}};
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.size.value, 8);
  EXPECT_THAT(resolved->findings, IsEmpty());
}

TEST(Sources, OfTwoFrameworksMeetOnPortsOfTheirOwn) {
  Here here;
  here.env.variables = {{"WORLD_SIZE", "2"},
                        {"RANK", "1"},
                        {"MASTER_ADDR", "a"},
                        {"MASTER_PORT", "29500"},
                        {"JAX_NUM_PROCESSES", "2"},
                        {"JAX_PROCESS_ID", "1"},
                        {"JAX_COORDINATOR_ADDRESS", "a:1234"}};
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_THAT(resolved->findings, IsEmpty());
  here.env.variables["JAX_COORDINATOR_ADDRESS"] = "b:1234";
  EXPECT_THAT(here.Wrong().message(), HasSubstr("b:1234"));
}

// What the source says of a coordinator that variables of torch tell.
struct Told {
  const char* source;
  std::map<std::string, std::string> variables;
};
class GivenMaster : public testing::TestWithParam<Told> {};

TEST_P(GivenMaster, ComesBeforeTheFirstHost) {
  Here here;
  here.env.variables = GetParam().variables;
  here.env.variables["MASTER_ADDR"] = "m";
  here.env.variables["MASTER_PORT"] = "1234";
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->claims[0].source, GetParam().source);
  EXPECT_EQ(ToString(resolved->cluster.coordinator->value), "m:1234");
  EXPECT_THAT(resolved->findings, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    All, GivenMaster,
    testing::Values(
        Told{"skypilot",
             {{"SKYPILOT_NODE_RANK", "1"},
              {"SKYPILOT_NODE_IPS", "10.0.0.1\n10.0.0.2"}}},
        Told{"aws-batch",
             {{"AWS_BATCH_JOB_NUM_NODES", "2"},
              {"AWS_BATCH_JOB_NODE_INDEX", "1"},
              {"AWS_BATCH_JOB_MAIN_NODE_PRIVATE_IPV4_ADDRESS", "10.0.0.1"}}},
        Told{"sagemaker",
             {{"SM_HOSTS", R"(["algo-1", "algo-2"])"},
              {"SM_CURRENT_HOST", "algo-2"}}},
        Told{"mpi-env", {{"HOROVOD_RANK", "1"}, {"HOROVOD_SIZE", "2"}}},
        Told{"mpi-env",
             {{"MV2_COMM_WORLD_RANK", "1"}, {"MV2_COMM_WORLD_SIZE", "2"}}}));

TEST(Sources, WithParameterServersAgreeOnThoseWhoTrain) {
  Here here;
  here.env.variables = {
      {"TF_CONFIG",
       R"({"cluster": {"worker": ["a:1", "b:1"], "ps": ["c:1"]},
           "task": {"type": "worker", "index": 1}})"},
      {"WORLD_SIZE", "2"},
      {"RANK", "1"},
      {"MASTER_ADDR", "a"},
      {"MASTER_PORT", "29500"}};
  auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_THAT(resolved->findings, IsEmpty());
}

TEST(Sources, DoNotHideAMalformedOneBehindAnother) {
  Here here;
  here.request.processes = 2;
  here.env.variables["TF_CONFIG"] = "{'cluster': 1}";
  EXPECT_THAT(here.Wrong().message(), HasSubstr("TF_CONFIG"));
}

TEST(Text, ShowsEveryValueWithItsSource) {
  Here here;
  here.request.hosts = "10.0.0.1:8476,10.0.0.2:8476";
  EXPECT_EQ(RenderText(*here.Ask()),
            R"(size         2              flag --hosts
rank         1              the address 10.0.0.2:8476 is this host's
coordinator  10.0.0.1:8476  rank 0 of flag --hosts

rank  task      address        source
0     worker 0  10.0.0.1:8476  flag --hosts
1     worker 1  10.0.0.2:8476  flag --hosts

port 8476  coordinator  rank 0 of flag --hosts

source  result
flags   used
23 sources were not used; muster resolve -v shows why
)");
}

TEST(SourceTable, IsSortedByPrecedence) {
  std::vector<std::string> names;
  int last = 0;
  for (const Source* source : AllSources()) {
    EXPECT_GT(source->precedence, last) << source->name;
    EXPECT_FALSE(source->doc.empty()) << source->name;
    last = source->precedence;
    names.emplace_back(source->name);
  }
  EXPECT_EQ(names.front(), "flags");
  EXPECT_THAT(names, testing::IsSupersetOf({"slurm", "tf-config", "tpu"}));
}

TEST(Sources, AreAskedAloneWhenNamed) {
  Here here;
  here.env.variables = {{"WORLD_SIZE", "1"}, {"RANK", "0"}};
  here.request.source = "muster";
  EXPECT_EQ(here.Wrong().cause(), Cause::kClusterSpecInvalid);
  here.request.source = "slurn";
  EXPECT_THAT(here.Wrong().message(), HasSubstr("did you mean `slurm`?"));
}

TEST(Sources, ThatAreVerboseSayWhyTheyAreSilent) {
  Here here;
  here.request.processes = 1;
  const std::string text = RenderText(*here.Ask(), {.verbose = true});
  EXPECT_THAT(text, AllOf(HasSubstr("TF_CONFIG is not set"),
                          HasSubstr("the cluster is known without the "
                                    "network")));
}

}  // namespace
}  // namespace muster::resolve
