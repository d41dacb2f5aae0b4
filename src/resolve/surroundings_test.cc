// SPDX-License-Identifier: Apache-2.0
// What stands around a cluster and spoils it: proxies, notebooks, credentials.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "resolve/environment/proxies.h"
#include "resolve/self.h"
#include "resolve/testing.h"

namespace muster::resolve {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// The findings of one cause, as texts.
std::vector<std::string> Said(FakeHere& here, Cause cause) {
  std::vector<std::string> texts;
  const auto resolved = here.Ask();
  if (!resolved) {
    return {"refused: " + resolved.error().ToString()};
  }
  for (const Finding& finding : resolved->findings) {
    if (finding.cause == cause) {
      texts.push_back(finding.what);
    }
  }
  return texts;
}

FakeHere TwoRankHosts() {
  FakeHere here;
  here.request.hosts = "10.0.0.1:8476,10.0.0.2:8476";
  return here;
}

TEST(Proxies, ThatDivertMembersAreNamedWithoutTheirPassword) {
  auto here = TwoRankHosts();
  here.env.variables = {{"https_proxy", "http://me:secret@proxy:3128"},
                        {"no_proxy", "localhost,10.0.0.2"}};
  EXPECT_THAT(Said(here, Cause::kNetProxy),
              ElementsAre(AllOf(HasSubstr("https_proxy is `http://proxy:3128`"),
                                HasSubstr("1 of 2 hosts (10.0.0.1)"),
                                Not(HasSubstr("secret")))));
}

TEST(Proxies, ThatLeaveAllMembersOutAreFine) {
  auto here = TwoRankHosts();
  here.env.variables = {{"http_proxy", "http://proxy:3128"},
                        {"no_proxy", "10.0.0.1,10.0.0.2"}};
  EXPECT_THAT(Said(here, Cause::kNetProxy), IsEmpty());
}

TEST(Proxies, AreOnlyPossiblyInTheWayWhereVersionsDiffer) {
  auto here = TwoRankHosts();
  here.env.variables = {{"http_proxy", "http://proxy:3128"},
                        {"no_proxy", "localhost,10.0.0.0/8"}};
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved.has_value());
  ASSERT_EQ(resolved->findings.size(), 1U);
  EXPECT_EQ(resolved->findings[0].confidence, Confidence::kPossible);
  EXPECT_EQ(resolved->findings[0].severity, Severity::kNote);
  EXPECT_THAT(resolved->findings[0].what, HasSubstr("since 1.55"));
}

TEST(Proxies, AreNotSwitchedOffByAStarNorByUpperCase) {
  auto here = TwoRankHosts();
  here.env.variables = {{"http_proxy", "http://proxy:3128"}, {"no_proxy", "*"}};
  EXPECT_THAT(Said(here, Cause::kNetProxy),
              ElementsAre(HasSubstr("2 of 2 hosts")));
  here.env.variables = {{"HTTPS_PROXY", "http://proxy:3128"}};
  EXPECT_THAT(Said(here, Cause::kNetProxy), IsEmpty());
}

TEST(Proxies, MatterOnlyWhereMembersTalk) {
  FakeHere here;
  here.env.variables["http_proxy"] = "http://proxy:3128";
  EXPECT_THAT(Said(here, Cause::kNetProxy), IsEmpty());
  here.request.processes = 2;
  EXPECT_THAT(Said(here, Cause::kNetProxy), IsEmpty());
}

TEST(TpuEnv, LineThatCannotBeReadIsNamed) {
  FakeHere here;
  here.Metadata("instance/attributes/agent-worker-number", "0");
  here.Metadata("instance/attributes/worker-network-endpoints", "a,b");
  here.Metadata("instance/attributes/tpu-env", "ZONE: 'z'\nMEGASCALE_NUM\n");
  EXPECT_THAT(Said(here, Cause::kClusterSpecInvalid),
              ElementsAre(HasSubstr("tpu-env, line 2: `MEGASCALE_NUM` is not "
                                    "KEY: 'VALUE'")));
}

// muster as a shell's child, and the shell a child of `parent`.
FakeHere ChildOf(const std::string& command, const std::string& environment) {
  FakeHere here;
  here.fs.files = {{"/proc/self/status", "Name:\tmuster\nPPid:\t30\n"},
                   {"/proc/30/status", "Name:\tsh\nPPid:\t20\n"},
                   {"/proc/30/cmdline", "sh"},
                   {"/proc/20/status", "Name:\tpython3\nPPid:\t1\n"},
                   {"/proc/20/cmdline", command},
                   {"/proc/20/environ", environment}};
  return here;
}

const std::string kVariables("HOME=/root\0TPU_NAME=grpc://10.0.0.9:8470\0", 41);

TEST(TpuName, ThatAParentHasAndWeDoNotIsNamed) {
  auto here = ChildOf("/usr/bin/python3 --token=secret", kVariables);
  EXPECT_THAT(Said(here, Cause::kLaunchEnvMissing),
              ElementsAre(AllOf(HasSubstr("process 20 (`python3`)"),
                                HasSubstr("TPU_NAME=`grpc://10.0.0.9:8470`"))));
}

TEST(TpuName, ThatAKernelBesideThisTerminalHasIsNamed) {
  auto here = ChildOf(std::string("python3\0/usr/bin/jupyter-lab", 28), "A=b");
  here.fs.files["/proc/77/cmdline"] =
      std::string("python3\0-m\0ipykernel_launcher", 29);
  here.fs.files["/proc/77/environ"] = kVariables;
  EXPECT_THAT(
      Said(here, Cause::kLaunchEnvMissing),
      ElementsAre(HasSubstr("a notebook's kernel, process 77 (`python3`)")));
}

TEST(TpuName, ThatACellSetWillBeLostByARestart) {
  auto here =
      ChildOf(std::string("python3\0-m\0ipykernel_launcher", 29), "A=b");
  here.env.variables["TPU_NAME"] = "grpc://10.0.0.9:8470";
  EXPECT_THAT(Said(here, Cause::kLaunchEnvMissing),
              ElementsAre(HasSubstr("a restarted kernel")));
}

TEST(TpuName, ThatNobodyHasIsNotMissed) {
  auto here =
      ChildOf(std::string("python3\0-m\0ipykernel_launcher", 29), "A=b");
  EXPECT_THAT(Said(here, Cause::kLaunchEnvMissing), IsEmpty());
}

TEST(Notebook, AColabWayOnKaggleIsNamedOnce) {
  FakeHere here;
  here.env.variables = {{"KAGGLE_KERNEL_RUN_TYPE", "Interactive"},
                        {"COLAB_RELEASE_TAG", "release-1"},
                        {"COLAB_TPU_ADDR", "10.0.0.9:8470"}};
  EXPECT_THAT(Said(here, Cause::kTpuModeMismatch),
              ElementsAre(AllOf(HasSubstr("COLAB_TPU_ADDR=10.0.0.9:8470"),
                                HasSubstr("on Kaggle"))));
  EXPECT_EQ(here.Ask()->claims[0].source, "kaggle");
}

TEST(Notebook, AKaggleWayOnColabIsNamed) {
  FakeHere here;
  here.env.variables = {{"COLAB_RELEASE_TAG", "release-1"}, {"ISTPUVM", "1"}};
  EXPECT_THAT(
      Said(here, Cause::kTpuModeMismatch),
      ElementsAre(AllOf(HasSubstr("ISTPUVM=1"), HasSubstr("on Colab"))));
  EXPECT_EQ(here.Ask()->claims[0].source, "colab");
}

TEST(Notebook, AnAddressOfTheOldColabYieldsToTheLocalTpu) {
  FakeHere here;
  here.fs.files["/dev/accel0"] = "";
  here.env.variables = {{"COLAB_GPU", "0"},
                        {"COLAB_TPU_ADDR", "10.0.0.9:8470"}};
  EXPECT_THAT(Said(here, Cause::kTpuModeMismatch),
              ElementsAre(HasSubstr("before 2024")));
  EXPECT_EQ(here.Ask()->cluster.size.value, 1);
}

TEST(Notebook, AnotherMachinesTpuBesideALocalOneIsNamed) {
  FakeHere here;
  here.fs.files["/dev/accel0"] = "";
  here.env.variables["TPU_NAME"] = "grpc://10.0.0.9:8470";
  EXPECT_THAT(Said(here, Cause::kTpuModeMismatch),
              ElementsAre(HasSubstr("a local TPU (/dev/accel*)")));
  here.env.variables["TPU_NAME"] = "my-pod";
  EXPECT_THAT(Said(here, Cause::kTpuModeMismatch),
              ElementsAre(HasSubstr("TPU_NAME is `my-pod`")));
  here.env.variables["TPU_NAME"] = "local";
  EXPECT_THAT(Said(here, Cause::kTpuModeMismatch), IsEmpty());
}

TEST(Coordinator, ThatRankZeroDoesNotOwnIsRemarked) {
  FakeHere here;
  here.env.variables = {{"RANK", "0"},
                        {"WORLD_SIZE", "2"},
                        {"MASTER_ADDR", "10.0.0.77"},
                        {"MASTER_PORT", "29500"}};
  EXPECT_THAT(
      Said(here, Cause::kNetWrongEndpoint),
      ElementsAre(AllOf(HasSubstr("10.0.0.77:29500"), HasSubstr("10.0.0.2"))));
  here.env.variables["MASTER_ADDR"] = "10.0.0.2";
  EXPECT_THAT(Said(here, Cause::kNetWrongEndpoint), IsEmpty());
}

// What --check-self says, or the refusal.
std::string SelfCheck(FakeHere& here) {
  const auto resolved = here.Ask();
  if (!resolved) {
    return "not resolved: " + resolved.error().ToString();
  }
  const auto line = CheckSelf(*resolved, {.env = here.env,
                                          .clock = here.clock,
                                          .fs = here.fs,
                                          .names = &here.names});
  return line ? *line : line.error().ToString();
}

// Rank 1 of two by name; "w-1" is what this host calls itself.
FakeHere ByNames() {
  FakeHere here;
  here.request.hosts = "w-0:8476,w-1:8476";
  here.request.rank = 1;
  return here;
}

TEST(CheckSelf, ComparesInterfacesAndNotNamesOnly) {
  auto here = ByNames();
  here.names.addresses = {{"w-1", {"10.0.0.2"}}};
  EXPECT_THAT(SelfCheck(here), HasSubstr("is at w-1 (10.0.0.2), an address"));
  here.names.addresses = {{"w-1", {"10.0.0.99"}}};
  EXPECT_THAT(SelfCheck(here), AllOf(HasSubstr("net-wrong-endpoint"),
                                     HasSubstr("10.0.0.99, but this host is")));
  here.names.addresses.clear();
  EXPECT_THAT(SelfCheck(here), HasSubstr("net-name-resolution"));
}

TEST(CheckSelf, RefusesALoopbackNameThatOthersMustReach) {
  auto here = ByNames();
  here.names.addresses = {{"w-1", {"127.0.1.1"}}};
  EXPECT_THAT(SelfCheck(here),
              AllOf(HasSubstr("net-loopback-name"), HasSubstr("127.0.1.1")));
  here.request.hosts = "127.0.0.1:8001,127.0.0.1:8002";
  EXPECT_THAT(SelfCheck(here), HasSubstr("they share this host"));
}

TEST(CheckSelf, SaysWhenThereIsNothingToCompare) {
  FakeHere here;
  EXPECT_THAT(SelfCheck(here), HasSubstr("every rank is this host's"));
  here.env.variables = {{"RANK", "1"},
                        {"WORLD_SIZE", "2"},
                        {"MASTER_ADDR", "10.0.0.1"},
                        {"MASTER_PORT", "29500"}};
  EXPECT_THAT(SelfCheck(here), HasSubstr("nothing to compare"));
}

TEST(Sources, ThatAreForcedAreNeverReplacedByOneProcess) {
  FakeHere here;
  here.env.variables["TF_CONFIG"] = "{}";
  here.request.source = "tf-config";
  EXPECT_THAT(here.Refusal(),
              AllOf(HasSubstr("launch-env-missing"), HasSubstr("--source"),
                    HasSubstr("neither a cluster nor a task")));
  here.env.variables["TF_CONFIG"] =
      R"({"cluster": {"worker": ["10.0.0.2:1", "10.0.0.3:1"]}})";
  EXPECT_EQ(here.Ask()->cluster.self->value, 0);
}

TEST(Ports, OfSeveralSlicesAreListed) {
  FakeHere here;
  here.env.variables = {{"TPU_WORKER_HOSTNAMES", "a,b"},
                        {"TPU_WORKER_ID", "1"},
                        {"MEGASCALE_COORDINATOR_ADDRESS", "a:8081"},
                        {"MEGASCALE_NUM_SLICES", "2"},
                        {"MEGASCALE_SLICE_ID", "0"}};
  const auto resolved = here.Ask();
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  ASSERT_EQ(resolved->ports.size(), 3U);
  EXPECT_EQ(resolved->ports[2].port, 8081);
}

// Asks for the TPU `t` with whatever credentials are there.
FakeHere ByName() {
  FakeHere here;
  here.request.cloud = {.tpu = "t", .project = "p", .zone = "z"};
  here.Json("https://tpu.googleapis.com/v2/projects/p/locations/z/nodes/t",
            R"({"state": "READY", "health": "HEALTHY",
                "networkEndpoints": [{"ipAddress": "10.0.0.9"}]})");
  return here;
}

std::string SentToken(const FakeHere& here) {
  const auto& headers = here.http.requests.back().headers;
  const auto found = headers.find("Authorization");
  return found == headers.end() ? "" : found->second;
}

TEST(Credentials, OfAUserAreExchangedForAToken) {
  auto here = ByName();
  here.env.variables["GOOGLE_APPLICATION_CREDENTIALS"] = "/k.json";
  here.fs.files["/k.json"] =
      R"({"type": "authorized_user", "client_id": "i", "client_secret": "s&",
          "refresh_token": "r", "quota_project_id": "q"})";
  here.Json("https://oauth2.googleapis.com/token", R"({"access_token": "T"})");
  EXPECT_EQ(here.Refusal(), "");
  EXPECT_EQ(SentToken(here), "Bearer T");
  EXPECT_EQ(here.http.requests.back().headers.at("x-goog-user-project"), "q");
  EXPECT_THAT(here.http.requests.front().body, HasSubstr("client_secret=s%26"));
}

// Two instances on two pages of the answer, the second at `address`.
FakeHere TwoInstances(const std::string& address) {
  FakeHere here;
  here.env.variables["CLOUDSDK_AUTH_ACCESS_TOKEN"] = "T";
  here.request.cloud.project = "p";
  here.request.cloud.zone = "z";
  here.request.cloud.instance_group = "g";
  const std::string zone =
      "https://compute.googleapis.com/compute/v1/projects/p/zones/z/";
  here.Json(zone + "instanceGroups/g/listInstances",
            R"({"items": [{"instance": "zones/z/instances/a"}],
                "nextPageToken": "two"})");
  here.Json(zone + "instanceGroups/g/listInstances?pageToken=two",
            R"({"items": [{"instance": "zones/z/instances/b"}]})");
  here.Json(zone + "instances/a",
            R"({"networkInterfaces": [{"networkIP": "10.0.0.1"}]})");
  here.Json(zone + "instances/b",
            R"({"networkInterfaces": [{"networkIP": ")" + address + R"("}]})");
  return here;
}

TEST(InstanceGroup, IsReadToItsLastPage) {
  auto here = TwoInstances("10.0.0.2");
  ASSERT_TRUE(here.Ask()) << here.Refusal();
  EXPECT_EQ(here.Ask()->cluster.members.size(), 2U);
}

TEST(InstanceGroup, HasThisHostByItsAddress) {
  auto here = TwoInstances("10.0.0.2");
  ASSERT_TRUE(here.Ask()) << here.Refusal();
  EXPECT_EQ(*here.Ask()->cluster.self,
            (Sourced<int>{1, "the address 10.0.0.2:8470 is this host's"}));
  auto none = TwoInstances("10.0.0.3");
  EXPECT_THAT(none.Refusal(), HasSubstr("net-wrong-endpoint"));
  none.request.rank = 1;
  ASSERT_TRUE(none.Ask()) << none.Refusal();
  EXPECT_EQ(*none.Ask()->cluster.self, (Sourced<int>{1, "flag --rank"}));
}

TEST(Credentials, OfTheMachineAreAskedOfItsMetadataServer) {
  auto here = ByName();
  here.Metadata("instance/service-accounts/default/token",
                R"({"access_token": "M", "expires_in": 3599})");
  here.Metadata("instance/service-accounts/default/email", "sa@p.example");
  EXPECT_EQ(here.Refusal(), "");
  EXPECT_EQ(SentToken(here), "Bearer M");
  here.Json("https://tpu.googleapis.com/v2/projects/p/locations/z/nodes/t",
            R"({"error": {"message": "no"}})", 403);
  EXPECT_THAT(here.Refusal(),
              AllOf(HasSubstr("called as the service account of this machine "
                              "(sa@p.example)"),
                    HasSubstr("tpu.nodes.get"), Not(HasSubstr("Bearer"))));
}

TEST(Credentials, ThatCannotBeUsedAreRefusedByTheirKind) {
  auto here = ByName();
  here.env.variables["GOOGLE_APPLICATION_CREDENTIALS"] = "/k.json";
  here.fs.files["/k.json"] =
      R"({"type": "service_account", "client_email": "sa@p.example",
          "private_key": "SECRET"})";
  EXPECT_THAT(here.Refusal(),
              AllOf(HasSubstr("cloud-auth-missing"),
                    HasSubstr("the private key is not a PEM key"),
                    Not(HasSubstr("SECRET"))));
  here.fs.files["/k.json"] =
      R"({"type": "gdch_service_account", "client_email": "sa@p.example",
          "private_key": "SECRET"})";
  EXPECT_THAT(here.Refusal(),
              AllOf(HasSubstr("cloud-auth-missing"),
                    HasSubstr("`gdch_service_account` of sa@p.example"),
                    HasSubstr("gcloud auth print-access-token"),
                    Not(HasSubstr("SECRET"))));
}

TEST(Credentials, ThatAreBrokenShowNothingOfTheirText) {
  auto here = ByName();
  here.env.variables["GOOGLE_APPLICATION_CREDENTIALS"] = "/k.json";
  here.fs.files["/k.json"] = R"({"private_key": "SECRET" oops)";
  EXPECT_THAT(here.Refusal(),
              AllOf(HasSubstr("/k.json"), HasSubstr("not a JSON object"),
                    Not(HasSubstr("SECRET"))));
  here.fs.files.clear();
  EXPECT_THAT(here.Refusal(), HasSubstr("which does not exist"));
}

}  // namespace
}  // namespace muster::resolve
