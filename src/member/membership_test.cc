// SPDX-License-Identifier: Apache-2.0
#include "member/membership.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

std::string With(std::string_view change, std::string_view by) {
  std::string json = R"({"rank": 1, "world_size": 4, "local_rank": 1,
    "local_size": 2, "slot": 1, "segment_ranks": 2, "attempt": 3,
    "run": "abc", "members": [], "tasks": {"worker": ["h:1", "h:2"]}})";
  if (const auto at = json.find(change); at != std::string::npos) {
    json.replace(at, change.size(), by);
  }
  return json;
}

TEST(Membership, IsReadFromTheAgentsJson) {
  const auto membership = ParseMembership(With("", ""));
  ASSERT_TRUE(membership) << membership.error().ToString();
  EXPECT_EQ(membership->rank, 1);
  EXPECT_EQ(membership->world_size, 4);
  EXPECT_EQ(membership->local_size, 2);
  EXPECT_EQ(membership->attempt, 3);
  EXPECT_EQ(membership->run_id, "abc");
  EXPECT_EQ(membership->tasks.at("worker").size(), 2U);
}

TEST(Membership, NamesTheFieldThatIsWrong) {
  const auto wrong = [](std::string_view change, std::string_view by) {
    const auto membership = ParseMembership(With(change, by));
    return membership ? "" : membership.error().message();
  };
  using testing::HasSubstr;
  EXPECT_THAT(wrong("\"rank\": 1,", ""), HasSubstr("`rank`"));
  EXPECT_THAT(wrong("\"slot\": 1", "\"slot\": 256"), HasSubstr("`slot`"));
  EXPECT_THAT(wrong("\"local_rank\": 1", "\"local_rank\": 2"),
              HasSubstr("`local_rank`"));
  EXPECT_THAT(wrong("\"attempt\": 3", "\"attempt\": \"3\""),
              HasSubstr("`attempt`"));
  EXPECT_THAT(wrong("[\"h:1\", \"h:2\"]", "[1]"), HasSubstr("`tasks`"));
  EXPECT_THAT(wrong("[\"h:1\", \"h:2\"]", "7"), HasSubstr("`tasks`"));
  EXPECT_THAT(wrong("{\"rank\"", "["), testing::Not(testing::IsEmpty()));
}

}  // namespace
}  // namespace muster
