// SPDX-License-Identifier: Apache-2.0
#include "cloud/tpu/tpu_node.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace muster::cloud {
namespace {

TEST(ToQueuedResource, TellsTheWayWhereverItIsAskedFor) {
  const std::pair<const char*, const char*> ways[] = {
      {R"({})", "on-demand"},
      {R"({"guaranteed": {}})", "on-demand"},
      {R"({"spot": {}})", "spot"},
      {R"({"reservationName": "projects/p/locations/z/reservations/r"})",
       "reserved"},
      {R"({"guaranteed": {"reserved": true}})", "reserved"},
      {R"({"tpu": {"nodeSpec": [
             {"node": {"schedulingConfig": {"reserved": true}}}]}})",
       "reserved"},
      {R"({"tpu": {"nodeSpec": [
             {"node": {"schedulingConfig": {"preemptible": true}}}]}})",
       "spot"}};
  for (const auto& [queued, way] : ways) {
    EXPECT_EQ(ToQueuedResource(Json::parse(queued)).scheduling, way) << queued;
  }
}

}  // namespace
}  // namespace muster::cloud
