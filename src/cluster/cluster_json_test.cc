// SPDX-License-Identifier: Apache-2.0
#include "cluster/cluster_json.h"
#include "base/json.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

Result<Cluster> Read(std::string_view text) {
  MUSTER_ASSIGN(auto json, ParseJson(text, Cause::kClusterSpecInvalid, "c"));
  return ClusterFromJson(json, "`c.json`");
}

std::string Problem(std::string_view text) {
  auto cluster = Read(text);
  return cluster ? "read" : cluster.error().ToString();
}

TEST(ClusterJson, ComesBackAsItWas) {
  Cluster cluster;
  cluster.members.resize(2);
  cluster.members[0].address = {Address{"::1", 80}, "env TF_CONFIG"};
  cluster.members[1] = {
      .rank = 1, .task = "ps", .index = 0, .address = std::nullopt};
  cluster.self = {1, "env TF_CONFIG"};
  cluster.coordinator = {Address{"::1", 80}, "first member"};
  cluster.size = {2, "env TF_CONFIG"};
  const Json json = ToJson(cluster);
  auto back = ClusterFromJson(json, "`x`");
  ASSERT_TRUE(back) << back.error().ToString();
  EXPECT_EQ(ToJson(*back).dump(), json.dump());
  EXPECT_EQ(json["members"][0]["address"]["value"], "[::1]:80");
  EXPECT_TRUE(json["members"][1]["address"].is_null());
}

TEST(ClusterJson, TakesAShortDocumentWrittenByHand) {
  auto cluster = Read(R"({"members": [{"address": "a:1"},
                                      {"address": "b:2"}]})");
  ASSERT_TRUE(cluster) << cluster.error().ToString();
  EXPECT_EQ(cluster->members[1].rank, 1);
  EXPECT_EQ(cluster->members[1].index, 1);
  EXPECT_EQ(cluster->members[1].address->value, (Address{"b", 2}));
  EXPECT_EQ(cluster->members[1].address->source, "`c.json`");
  EXPECT_EQ(cluster->size, (Sourced<int>{2, "`c.json`, members counted"}));
  EXPECT_FALSE(cluster->self);
}

TEST(ClusterJson, NamesThePlaceOfAWrongValue) {
  EXPECT_EQ(Problem(R"({"members": [{"adress": "a:1"}]})"),
            "cluster-spec-invalid: `c.json`: `members[0]` has the unknown key "
            "`adress`, did you mean `address`");
  EXPECT_EQ(Problem(R"({"members": [{"rank": "x"}]})"),
            "cluster-spec-invalid: `c.json`: `members[0].rank` is not a whole "
            "number");
  EXPECT_EQ(Problem(R"({"members": [{"address": {"value": 3}}]})"),
            "cluster-spec-invalid: `c.json`: `members[0].address.value` is not "
            "a string");
  EXPECT_EQ(Problem(R"({"members": [{}], "self": -1})"),
            "cluster-spec-invalid: `c.json`: `self` is -1, which is out of "
            "range");
}

TEST(ClusterJson, RefusesWhatIsNoCluster) {
  EXPECT_EQ(Problem("[]"),
            "cluster-spec-invalid: `c.json`: `the document` is not an object "
            "but array");
  EXPECT_EQ(Problem("{}"),
            "cluster-spec-invalid: `c.json`: `members` is not a list");
  EXPECT_EQ(Problem(R"({"schema": "muster.cluster/9", "members": []})"),
            "cluster-spec-invalid: `c.json`: `schema` is \"muster.cluster/9\", "
            "but muster reads \"muster.cluster/1\"");
  EXPECT_EQ(Problem(R"({"members": [{"rank": 0}, {"rank": 0}]})").substr(0, 18),
            "duplicate-identity");
}

TEST(ClusterJson, NeverAssertsOnItsInput) {
  for (const char* text :
       {"null", "3", R"({"members": 3})", R"({"members": [null]})",
        R"({"members": [{"task": ""}]})", R"({"members": [{"index": 1e99}]})",
        R"({"members": [{"index": 2000000000, "address": "127.0.0.1:1234"}],
        "self": 0})",
        R"({"members": [{"address": ":::"}]})", R"({"members": [{}],
        "size": {"source": "x"}})",
        R"({"members": [{}], "one_host": 1})",
        R"({"members": [{"rank": 99999999999}]})"}) {
    EXPECT_NE(Problem(text), "read") << text;
  }
}

}  // namespace
}  // namespace muster
