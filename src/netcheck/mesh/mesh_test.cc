// SPDX-License-Identifier: Apache-2.0
#include "netcheck/mesh/mesh.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "netcheck/mesh/dialer.h"
#include "netcheck/mesh/peer_json.h"

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

TEST(MeshRow, TakesNoNumberForAnother) {
  for (const char* field :
       {R"({"rank": 18446744073709551615})",
        R"({"claims": [[4294967297, "x"]]})",
        R"({"marks": [[4294967297, "/d"]]})", R"({"pid": 4294967303})",
        R"({"well": [[18446744073709551615, 1, 2, 3]]})"}) {
    EXPECT_FALSE(MeshRowFromJson(Json::parse(field))) << field;
  }
  const auto row = MeshRowFromJson(Json::parse(R"({"heard": [4294967297]})"));
  EXPECT_TRUE(row->heard.empty());
}

TEST(MeshRow, CutsTextsBetweenCharacters) {
  // 511 bytes, then one of two.
  const auto row =
      MeshRowFromJson(Json{{"host", std::string(511, 'x') + "\u00e9"},
                           {"claims", {{1, std::string(600, 'y')}}}});
  ASSERT_TRUE(row);
  EXPECT_EQ(row->host, std::string(511, 'x'));
  EXPECT_EQ(row->claims.at(1).begin()->size(), 512U);
}

TEST(JsonOfFrame, IsNullWhereNoReaderTakesIt) {
  EXPECT_EQ(JsonOfFrame("[1]"), Json::array({1}));
  EXPECT_TRUE(JsonOfFrame("{").is_null());
  EXPECT_TRUE(JsonOfFrame(std::string(1 << 20, '[')).is_null());
}

Json SomeWelcome() {
  return {{"rank", 1},
          {"nonce", "00ff"},
          {"seen_from", "10.0.0.1:4000"},
          {"clock_us", "1790000000000000"}};
}

TEST(MeshWelcome, TellsWhoItIsAndHowItSees) {
  const auto welcome = WelcomeFromJson(SomeWelcome());
  ASSERT_TRUE(welcome) << welcome.error().ToString();
  EXPECT_EQ(welcome->who.rank, 1);
  EXPECT_EQ(welcome->seen_from, "10.0.0.1:4000");
  EXPECT_EQ(welcome->clock,
            WallTime(std::chrono::microseconds(1'790'000'000'000'000)));
}

TEST(MeshWelcome, NamesTheFieldThatIsWrong) {
  // A clock that nobody has, or that is none.
  for (const char* clock : {"9223372036854775807", "-1", "now"}) {
    Json json = SomeWelcome();
    json["clock_us"] = clock;
    EXPECT_NE(WelcomeFromJson(json).error().message().find("`clock_us`"),
              std::string::npos);
  }
  Json json = SomeWelcome();
  json.erase("nonce");
  EXPECT_NE(WelcomeFromJson(json).error().message().find("`nonce`"),
            std::string::npos);
  json["members"] = std::vector<std::string>(70'000);
  EXPECT_FALSE(WelcomeFromJson(json));
}

TEST(MeshIdentity, KeepsABoundedPartOfALongName) {
  const auto who =
      MeshIdentityFromJson(Json{{"members", {std::string(1 << 20, 'm'), 7}}});
  ASSERT_TRUE(who);
  EXPECT_EQ(who->members,
            (std::vector<std::string>{std::string(512, 'm'), ""}));
}

}  // namespace
}  // namespace muster::netcheck
