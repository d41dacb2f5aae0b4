// SPDX-License-Identifier: Apache-2.0
#include "check/context.h"

#include <gtest/gtest.h>

#include "check/testing.h"

namespace muster::check {
namespace {

TEST(RanksHere, CountsMembersOfTheOwnHost) {
  FakeHost host;
  EXPECT_EQ(RanksHere(host.MakeContext()), 1);
  host.SetCluster({{"10.0.0.1", 1}, {"10.0.0.1", 2}, {"10.0.0.2", 1}});
  EXPECT_EQ(RanksHere(host.MakeContext()), 2);
  host.SetOneHost(4);
  EXPECT_EQ(RanksHere(host.MakeContext()), 4);
}

TEST(RanksHere, BelievesTheLauncher) {
  FakeHost host;
  host.env.variables["LOCAL_WORLD_SIZE"] = "8";
  EXPECT_EQ(RanksHere(host.MakeContext()), 8);
  host.env.variables["LOCAL_WORLD_SIZE"] = "-1";
  EXPECT_EQ(RanksHere(host.MakeContext()), 1);
}

TEST(RanksHere, IsOneWithoutACluster) {
  FakeHost host;
  Context context = host.MakeContext();
  context.cluster = nullptr;
  EXPECT_EQ(RanksHere(context), 1);
}

TEST(SeveralHosts, FollowsTheAddresses) {
  FakeHost host;
  EXPECT_TRUE(SeveralHosts(host.cluster));
  host.SetCluster({{"10.0.0.1", 1}, {"10.0.0.1", 2}});
  EXPECT_FALSE(SeveralHosts(host.cluster));
  host.SetOneHost(2);
  EXPECT_FALSE(SeveralHosts(host.cluster));
}

TEST(ReadLimit, ReadsTheKernelsTable) {
  FakeHost host;
  host.SetLimits("1024", "unlimited", "30000");
  EXPECT_EQ(ReadLimit(host.fs, "Max open files")->soft, 1024);
  EXPECT_EQ(ReadLimit(host.fs, "Max open files")->hard, 65536);
  EXPECT_EQ(ReadLimit(host.fs, "Max locked memory")->soft, std::nullopt);
  EXPECT_FALSE(ReadLimit(host.fs, "Max wishes"));
}

TEST(NearestExisting, ClimbsToWhatIsThere) {
  FakeHost host;
  EXPECT_EQ(NearestExisting(host.host, "runs/7"), "/home/test");
  EXPECT_EQ(NearestExisting(host.host, "/home/test"), "/home/test");
  EXPECT_EQ(NearestExisting(host.host, "/no/such/place"), "/");
}

TEST(Field, TakesTheWholeNameOnly) {
  EXPECT_EQ(Field("MemTotalX: 1 kB\nMemTotal:   22 kB\n", "MemTotal"), 22);
  EXPECT_EQ(Field("MemTotal: many\n", "MemTotal"), std::nullopt);
}

}  // namespace
}  // namespace muster::check
