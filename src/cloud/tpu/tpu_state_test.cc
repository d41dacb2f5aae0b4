// SPDX-License-Identifier: Apache-2.0
#include "cloud/tpu/tpu_state.h"

#include <gmock/gmock.h>

namespace muster::cloud {
namespace {

using ::testing::HasSubstr;

TpuNode NodeInState(const std::string& state,
                    const std::string& type = "v5litepod-8",
                    std::size_t hosts = 1) {
  TpuNode node{.name = "t", .zone = "us-west4-a", .state = state};
  node.accelerator_type = type;
  node.health = "HEALTHY";
  node.endpoints.assign(hosts, "10.0.0.2:8470");
  return node;
}

void ExpectLost(const Outlook& outlook, Cause cause, const char* says) {
  ASSERT_EQ(outlook.way, Way::kLost);
  ASSERT_TRUE(outlook.error);
  EXPECT_EQ(outlook.error->cause(), cause);
  EXPECT_THAT(outlook.error->message(), HasSubstr(says));
}

TEST(TpuState, ReadyHealthyAndCompleteIsThere) {
  EXPECT_EQ(OutlookOf(NodeInState("READY")).way, Way::kThere);
  EXPECT_EQ(OutlookOf(NodeInState("READY", "v4-32", 4)).way, Way::kThere);
  // Two layouts of one type are in use.
  EXPECT_EQ(OutlookOf(NodeInState("READY", "v5litepod-16", 4)).way,
            Way::kThere);
  EXPECT_EQ(OutlookOf(NodeInState("READY", "v5litepod-16", 2)).way,
            Way::kThere);
  EXPECT_EQ(OutlookOf(NodeInState("READY", "v99-8", 3)).way, Way::kThere);
}

TEST(TpuState, AddressesThatAreMissingAreCounted) {
  const Outlook outlook = OutlookOf(NodeInState("READY", "v4-32", 3));
  EXPECT_EQ(outlook.way, Way::kOnTheWay);
  EXPECT_EQ(outlook.state, "READY with 3 of 4 addresses");
}

TEST(TpuState, ReadyButSickIsLost) {
  TpuNode node = NodeInState("READY");
  node.health = "UNHEALTHY_MAINTENANCE";
  node.health_description = "host event";
  ExpectLost(OutlookOf(node), Cause::kTpuUnhealthy,
             "UNHEALTHY_MAINTENANCE (host event)");
}

TEST(TpuState, TakenAwayNamesWhatToDeleteFirst) {
  for (const char* state : {"PREEMPTED", "TERMINATED"}) {
    ExpectLost(OutlookOf(NodeInState(state)), Cause::kPreempted,
               "`muster tpu delete t --zone us-west4-a`");
  }
}

TEST(TpuState, StoppedSaysHowToStart) {
  ExpectLost(OutlookOf(NodeInState("STOPPED")), Cause::kUsageInvalid,
             "`muster tpu start t --zone us-west4-a`");
}

TEST(TpuState, OnTheWaySaysWhatUsuallyComesNext) {
  const Outlook outlook = OutlookOf(NodeInState("CREATING"));
  EXPECT_EQ(outlook.way, Way::kOnTheWay);
  EXPECT_EQ(ProgressText("t", outlook, std::chrono::seconds(12)),
            "`t` is CREATING for 12 s; usually READY within 1 to 10 min, large "
            "slices later");
}

TEST(TpuState, AStateThatIsNewIsOnTheWay) {
  EXPECT_EQ(OutlookOf(NodeInState("POLISHING")).way, Way::kOnTheWay);
}

QueuedResource Queued(const std::string& state) {
  return {.name = "q", .zone = "us-west4-a", .state = state};
}

TEST(TpuState, AQueuedOneEndsWithItsCause) {
  EXPECT_EQ(OutlookOf(Queued("ACTIVE")).way, Way::kThere);
  EXPECT_EQ(OutlookOf(Queued("WAITING_FOR_RESOURCES")).way, Way::kOnTheWay);
  ExpectLost(OutlookOf(Queued("SUSPENDED")), Cause::kPreempted,
             "`muster tpu queued delete q --zone us-west4-a`");
  QueuedResource failed = Queued("FAILED");
  failed.code = 8;
  failed.reason = "There is no more capacity in the zone \"us-west4-a\"";
  ExpectLost(OutlookOf(failed), Cause::kCloudNoCapacity, "never queued again");
  failed.code = 7;
  failed.reason = "Permission 'tpu.nodes.create' denied on 'projects/p'";
  ExpectLost(OutlookOf(failed), Cause::kCloudPermissionDenied, "denied");
}

}  // namespace
}  // namespace muster::cloud
