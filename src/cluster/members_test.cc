// SPDX-License-Identifier: Apache-2.0
#include "cluster/members.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

Member At(int rank, std::string host, std::uint16_t port) {
  Member member{.rank = rank, .task = "worker", .index = rank, .address = {}};
  member.address = {Address{std::move(host), port}, "flag --hosts"};
  return member;
}

Cluster Two() {
  Cluster cluster;
  cluster.members = {At(0, "a", 1), At(1, "b", 1)};
  cluster.size = {2, "flag --hosts"};
  cluster.self = {1, "flag --rank"};
  return cluster;
}

std::string Verdict(const Cluster& cluster) {
  auto status = CheckMembers(cluster);
  return status ? "sound" : status.error().ToString();
}

TEST(AssignRanks, PutsTheChiefFirstAndServersLast) {
  std::vector<Member> members(5);
  members[0].task = "ps";
  members[1] = {.rank = 0, .task = "worker", .index = 1, .address = {}};
  members[2].task = "evaluator";
  members[3].task = "chief";
  AssignRanks(members);
  std::string order;
  for (const Member& member : members) {
    order += std::to_string(member.rank) + " " + Place(member) + ", ";
  }
  EXPECT_EQ(order,
            "0 chief 0, 1 worker 0, 2 worker 1, 3 evaluator 0, 4 ps 0, ");
}

TEST(CheckMembers, TakesASoundCluster) {
  EXPECT_EQ(Verdict(Two()), "sound");
}

TEST(CheckMembers, NamesBothMembersOfOneAddress) {
  auto cluster = Two();
  cluster.members[1] = At(1, "a", 1);
  EXPECT_EQ(Verdict(cluster),
            "duplicate-identity: the address a:1 is given to worker 0 at a:1 "
            "and to worker 1 at a:1 (flag --hosts)");
}

TEST(CheckMembers, NamesTwoMembersOfOneRankOrPlace) {
  auto cluster = Two();
  cluster.members[1].rank = 0;
  EXPECT_EQ(Verdict(cluster).substr(0, 26), "duplicate-identity: rank 0");
  cluster = Two();
  cluster.members[1].index = 0;
  EXPECT_EQ(Verdict(cluster),
            "duplicate-identity: two members are `worker` number 0: rank 0 "
            "(a:1) and rank 1 (b:1)");
}

TEST(CheckMembers, ComparesSizeMembersAndOwnRank) {
  auto cluster = Two();
  cluster.size = {3, "env WORLD_SIZE"};
  EXPECT_EQ(Verdict(cluster),
            "rank-world-mismatch: the size is 3 (env WORLD_SIZE), but 2 "
            "members are listed");
  cluster = Two();
  cluster.self = {2, "env RANK"};
  EXPECT_EQ(Verdict(cluster),
            "rank-world-mismatch: the rank of this process is 2 (env RANK), "
            "but the size is 2 (flag --hosts), so ranks are 0 to 1");
  cluster = Two();
  cluster.members[1].rank = 7;
  EXPECT_EQ(Verdict(cluster).substr(0, 19), "rank-world-mismatch");
  EXPECT_EQ(Verdict(Cluster{}),
            "cluster-spec-invalid: the cluster has no members");
}

TEST(ClusterKey, DependsOnMembersAndNotOnWhoAsks) {
  auto other = Two();
  other.self = {0, "env RANK"};
  other.members[0].address->source = "env TF_CONFIG";
  EXPECT_EQ(ClusterKey(Two()), ClusterKey(other));
  other.members[0].address->value.port = 2;
  EXPECT_NE(ClusterKey(Two()), ClusterKey(other));
}

TEST(ClusterKey, LeavesOutAddressesUnlessAllAreTold) {
  auto one = Two();
  auto other = Two();
  one.members[1].address = other.members[1].address = std::nullopt;
  other.members[0].address->value.host = "127.0.0.1";
  EXPECT_EQ(ClusterKey(one), ClusterKey(other));
}

TEST(Cluster, GivesTheMapOfTensorFlow) {
  auto cluster = Two();
  cluster.members.push_back(
      {.rank = 2, .task = "ps", .index = 0, .address = {}});
  const std::map<std::string, std::vector<std::string>> expected = {
      {"worker", {"a:1", "b:1"}}, {"ps", {""}}};
  EXPECT_EQ(cluster.Spec(), expected);
  EXPECT_EQ(cluster.WorldSize(), 2);
  EXPECT_EQ(Name(cluster.members[1]), "rank 1 (b:1)");
  EXPECT_EQ(Name(cluster.members[2]), "rank 2");
}

}  // namespace
}  // namespace muster
