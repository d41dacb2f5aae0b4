// SPDX-License-Identifier: Apache-2.0
#include "netcheck/mesh/mesh.h"

#include <gtest/gtest.h>

#include "base/json.h"

namespace muster::netcheck {
namespace {

TEST(MeshRow, SurvivesItsJson) {
  MeshRow row{.rank = 3,
              .host = "w-3",
              .pid = 7,
              .version = "0.1.0",
              .taken = {{8476, "by x"}},
              .other_lists = {{"host b, pid 1", "nothing"}},
              .heard = {0, 2},
              .versions = {{"jax", "0.5.1"}},
              .final = true};
  row.claims[1] = {"host a, pid 1", "host b, pid 2"};
  row.paths[{1, 8476}] = {.path = Path::kNoAnswer,
                          .round_trip = std::chrono::microseconds(42),
                          .tries = 4,
                          .before = Path::kRefused,
                          .seen = "ETIMEDOUT",
                          .number = "10.0.0.2:8476",
                          .answered_as = 2,
                          .sign_of_life = "port 22 is open",
                          .neighbor = std::string(kAnswersArp)};
  const auto back = MeshRowFromJson(ToJson(row));
  ASSERT_TRUE(back) << back.error().ToString();
  EXPECT_EQ(*back, row);
}

TEST(MeshRow, TellsPathsThatWereWellAtOnceInFourNumbers) {
  MeshRow row{.rank = 3};
  PathResult& path = row.paths[{1, 8476}];
  path = {.path = Path::kOk,
          .round_trip = std::chrono::microseconds(42),
          .tries = 1,
          .answered_as = 1,
          .clock_ahead = std::chrono::microseconds(-7)};
  const Json json = ToJson(row);
  EXPECT_EQ(json["well"].dump(), "[[1,8476,42,-7]]");
  EXPECT_EQ(MeshRowFromJson(json).value(), row);
  path.tries = 2;
  EXPECT_EQ(ToJson(row)["well"].size(), 0U);
}

TEST(MeshRow, RefusesPathsOfAnotherForm) {
  for (const char* well : {"[[1,2,3]]", "[7]", "[[1,2,3,\"x\"]]",
                           "[[-1,2,3,4]]", "[[1,70000,3,4]]", "[[1,2,-3,4]]"}) {
    Json json = ToJson(MeshRow{.rank = 1});
    json["well"] = Json::parse(well);
    const auto row = MeshRowFromJson(json);
    ASSERT_FALSE(row) << well;
    EXPECT_NE(row.error().message().find("`well`"), std::string::npos);
  }
}

TEST(MeshRow, NamesTheFieldThatIsWrong) {
  Json json = ToJson(MeshRow{.rank = 1});
  json["pid"] = "seven";
  const auto row = MeshRowFromJson(json);
  ASSERT_FALSE(row);
  EXPECT_NE(row.error().message().find("`pid`"), std::string::npos);
  EXPECT_FALSE(MeshRowFromJson(Json::array()));
}

}  // namespace
}  // namespace muster::netcheck
