// SPDX-License-Identifier: Apache-2.0
#include "cloud/tpu/worker_address.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "cloud/testing.h"

namespace muster::cloud {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TpuNode Node(const std::string& more = "", const std::string& owner = "p") {
  return ToTpuNode(*ParseJson(
      R"({"name": "projects/p/locations/z-a/nodes/t", "id": "17",
          "state": "READY", "health": "HEALTHY",
          "networkConfig": {"network": "projects/)" +
          owner + R"(/global/networks/own"},
          "networkEndpoints": [
            {"ipAddress": "10.0.0.2",
             "accessConfig": {"externalIp": "198.51.100.2"}},
            {"ipAddress": "10.0.0.3",
             "accessConfig": {"externalIp": "198.51.100.3"}}])" +
          more + "}",
      Cause::kInternalError, "node"));
}

TpuNode WithoutExternal() {
  TpuNode node = Node();
  node.external_addresses.clear();
  return node;
}

// A machine of project `project`, whose number is 1, in a network of the
// project of number `owner`.
void PutInto(const std::string& network, FakeCloud& cloud,
             const std::string& project = "p", const std::string& owner = "1") {
  cloud.env.variables["GCE_METADATA_HOST"] = "m";
  for (const std::string& answer :
       {"projects/" + owner + "/networks/" + network, project,
        std::string("1")}) {
    cloud.http.Answer(200, answer, {{"metadata-flavor", "Google"}});
  }
}

std::string FirstAddress(const TpuNode& node, const FakeCloud& cloud) {
  return FindWorkers(node, "0", AddressChoice::kAuto, cloud.host)
      ->workers[0]
      .address;
}

TEST(TpuReach, FromOutsideTakesExternalAddresses) {
  FakeCloud cloud;
  cloud.env.variables["NO_GCE_CHECK"] = "true";
  const auto found =
      FindWorkers(Node(), "all", AddressChoice::kAuto, cloud.host);
  ASSERT_TRUE(found) << found.error().message();
  ASSERT_EQ(found->workers.size(), 2U);
  EXPECT_EQ(found->workers[1].address, "198.51.100.3");
  EXPECT_EQ(found->workers[1].internal, "10.0.0.3");
  EXPECT_THAT(found->why, HasSubstr("external"));
}

TEST(TpuReach, FromItsNetworkTakesInternalAddresses) {
  FakeCloud own;
  FakeCloud other;
  PutInto("own", own);
  PutInto("other", other);
  EXPECT_EQ(FindWorkers(Node(), "1", AddressChoice::kAuto, own.host)
                ->workers[0]
                .address,
            "10.0.0.3");
  EXPECT_EQ(FindWorkers(Node(), "1", AddressChoice::kAuto, other.host)
                ->workers[0]
                .address,
            "198.51.100.3");
}

TEST(TpuReach, ANetworkOfTheSameNameInAnotherProjectIsAnother) {
  FakeCloud cloud;
  PutInto("own", cloud, "q");
  const auto found = FindWorkers(Node(), "0", AddressChoice::kAuto, cloud.host);
  EXPECT_EQ(found->workers[0].address, "198.51.100.2");
  EXPECT_THAT(found->why, HasSubstr("of another project"));
  FakeCloud again;
  PutInto("own", again, "q");
  EXPECT_EQ(FirstAddress(WithoutExternal(), again), "10.0.0.2");
}

TEST(TpuReach, ANetworkIsComparedByTheNumberOfItsProject) {
  const TpuNode node = Node("", "7");
  for (const auto& [owner, address] :
       {std::pair("7", "10.0.0.2"), {"1", "198.51.100.2"}}) {
    FakeCloud cloud;
    PutInto("own", cloud, "p", owner);
    EXPECT_EQ(FirstAddress(node, cloud), address) << owner;
  }
}

TEST(TpuReach, ASharedNetworkOfAHostProjectIsTakenByItsName) {
  FakeCloud cloud;
  PutInto("own", cloud, "q", "9");
  EXPECT_EQ(FirstAddress(Node(), cloud), "10.0.0.2");
  FakeCloud of_it;  // a network of the machine's own project is another
  PutInto("own", of_it, "p", "9");
  EXPECT_EQ(FirstAddress(Node(), of_it), "198.51.100.2");
}

TEST(TpuReach, OneOfTheWorkersTakesInternalAddresses) {
  FakeCloud cloud;
  cloud.env.variables["NO_GCE_CHECK"] = "true";
  cloud.env.addresses = {"127.0.0.1", "10.0.0.2"};
  const auto found =
      FindWorkers(Node(), "all", AddressChoice::kAuto, cloud.host);
  EXPECT_EQ(found->workers[1].address, "10.0.0.3");
}

TEST(TpuReach, SaysWhichWorkersThereAre) {
  FakeCloud cloud;
  for (const char* which : {"2", "-1", "x", ""}) {
    const auto found =
        FindWorkers(Node(), which, AddressChoice::kInternal, cloud.host);
    ASSERT_FALSE(found) << which;
    EXPECT_EQ(found.error().cause(), Cause::kUsageInvalid);
  }
}

TEST(TpuReach, WithoutExternalAddressesSaysSo) {
  FakeCloud cloud;
  cloud.env.variables["NO_GCE_CHECK"] = "true";
  const TpuNode node = WithoutExternal();
  const auto inside =
      FindWorkers(node, "all", AddressChoice::kAuto, cloud.host);
  EXPECT_EQ(inside->workers[0].address, "10.0.0.2");
  EXPECT_THAT(inside->why, HasSubstr("no external"));
  const auto wanted =
      FindWorkers(node, "all", AddressChoice::kExternal, cloud.host);
  EXPECT_EQ(wanted.error().cause(), Cause::kUsageInvalid);
}

TEST(TpuReach, TakesTheKeyThatGcloudKeeps) {
  FakeCloud cloud;
  cloud.env.variables = {{"HOME", "/h"}, {"USER", "ann"}};
  auto login = FindLogin(Node(), "", "me@example.com", cloud.host);
  EXPECT_EQ(login->key_file, "");
  EXPECT_THAT(login->if_refused, HasSubstr("there is no /h/.ssh/google"));
  cloud.fs.files["/h/.ssh/google_compute_engine"] = "k";
  login = FindLogin(Node(), "", "me@example.com", cloud.host);
  EXPECT_EQ(login->key_file, "/h/.ssh/google_compute_engine");
  EXPECT_EQ(login->known_hosts, "/h/.ssh/google_compute_known_hosts");
  EXPECT_EQ(login->user.value, "ann");
  EXPECT_EQ(FindLogin(Node(), "bob", "", cloud.host)->user.source,
            "flag --user");
}

TEST(TpuReach, WithOsLoginTheUserIsTheAccounts) {
  FakeCloud cloud;
  cloud.env.variables = {{"HOME", "/h"}, {"USER", "ann"}};
  const TpuNode node = Node(R"(, "metadata": {"enable-oslogin": "TRUE"})");
  EXPECT_EQ(FindLogin(node, "", "me.too@example.com", cloud.host)->user.value,
            "me_too_example_com");
  const auto unknown = FindLogin(node, "", "the token of X", cloud.host);
  EXPECT_EQ(unknown.error().cause(), Cause::kUsageInvalid);
}

TEST(TpuReach, AKeyBelongsToOneWorkerOfOneTpu) {
  EXPECT_EQ(HostKeyName(Node(), 1), "tpu.17-1");
}

TEST(TpuReach, SaysWhyNobodyAnswersAnyMore) {
  EXPECT_FALSE(WhyGone(Node()));
  struct Case {
    const char* state;
    const char* health;
    Cause cause;
  };
  for (const Case& one :
       {Case{"PREEMPTED", "HEALTHY", Cause::kPreempted},
        Case{"TERMINATED", "", Cause::kPreempted},
        Case{"REPAIRING", "HEALTHY", Cause::kTpuUnhealthy},
        Case{"READY", "UNHEALTHY_MAINTENANCE", Cause::kTpuUnhealthy}}) {
    TpuNode node = Node();
    node.state = one.state;
    node.health = one.health;
    const auto why = WhyGone(node);
    ASSERT_TRUE(why) << one.state;
    EXPECT_EQ(why->cause, one.cause) << one.state;
    EXPECT_THAT(why->evidence[0].what, HasSubstr(one.state));
  }
}

TEST(TpuReach, WhatIsMadeAnewIsOfTheSameKind) {
  TpuNode node = Node(R"(, "schedulingConfig": {"reserved": true})");
  node.state = "TERMINATED";
  EXPECT_THAT(WhyGone(node)->fixes[1].command, HasSubstr(" --reserved --wait"));
  node.scheduling = "spot";
  node.queued_resource = "q";
  EXPECT_THAT(WhyGone(node)->fixes[1].command,
              HasSubstr(" --spot --queued --wait"));
  node.scheduling = "on-demand";
  EXPECT_THAT(WhyGone(node)->fixes[1].command, Not(HasSubstr("--on-demand")));
}

TEST(TpuReach, AWorkerWithoutAnExternalAddressKeepsItsPlace) {
  const TpuNode node = ToTpuNode(*ParseJson(
      R"({"networkEndpoints": [{"ipAddress": "10.0.0.2"},
          {"ipAddress": "10.0.0.3",
           "accessConfig": {"externalIp": "198.51.100.3"}}]})",
      Cause::kInternalError, "node"));
  EXPECT_THAT(node.external_addresses,
              ::testing::ElementsAre("", "198.51.100.3"));
}

}  // namespace
}  // namespace muster::cloud
