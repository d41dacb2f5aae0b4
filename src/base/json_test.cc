// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"
#include "base/json_fields.h"

#include <gtest/gtest.h>

namespace muster {
namespace {

std::string ErrorOf(std::string_view text) {
  auto json = ParseJson(text, Cause::kClusterSpecInvalid, "TF_CONFIG");
  return json ? "" : json.error().ToString();
}

TEST(ParseJson, NamesWhatWasReadAndThePosition) {
  EXPECT_EQ(ErrorOf("{\"cluster\": {\n  \"worker\": [,]}}"),
            "cluster-spec-invalid: TF_CONFIG is not JSON: line 2, column 14, "
            "near `er\": {\\n  \"worker\": [,]}}`");
}

TEST(ParseJson, RefusesAKeyThatComesTwice) {
  EXPECT_EQ(ErrorOf(R"({"task": {"index": 0, "index": 1}})"),
            "cluster-spec-invalid: TF_CONFIG has the key `index` twice");
}

TEST(ParseJson, RefusesDeepNesting) {
  EXPECT_NE(ErrorOf(std::string(100'000, '[')).find("64 levels"),
            std::string::npos);
}

TEST(Dump, ShowsBytesThatAreNoUtf8) {
  const Json json{{"caf\xe9", {"\xff\n", "\xc3\xa9"}}};
  EXPECT_EQ(Dump(json), R"({"caf\\xe9":["\\xff\n","é"]})");
  EXPECT_EQ(DumpAscii(json), R"({"caf\\xe9":["\\xff\n","\u00e9"]})");
}

TEST(Bytes, SurviveTheirJson) {
  for (const std::string text : {"", "caf\xc3\xa9", "caf\xe9", "\xed\xa0\x80",
                                 "\xe0\x80\x80", "\xf5", "\xc3"}) {
    const auto json =
        ParseJson(Dump(BytesToJson(text)), Cause::kFileCorrupt, "the bytes");
    EXPECT_EQ(BytesFromJson(json.value()), text);
  }
  for (const char* wrong :
       {"7", "[]", R"({"bytes":"6"})", R"({"bytes":"zz"})"}) {
    EXPECT_FALSE(BytesFromJson(Json::parse(wrong))) << wrong;
  }
}

TEST(WallTime, SurvivesItsText) {
  const WallTime time(std::chrono::microseconds(1'795'271'719'000'123));
  EXPECT_EQ(ToString(time), "2026-11-21T14:35:19.000123Z");
  EXPECT_EQ(*ParseWallTime(ToString(time)), time);
  const WallTime before(std::chrono::microseconds(-1));
  EXPECT_EQ(ToString(before), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(*ParseWallTime(ToString(before)), before);
}

TEST(WallTime, HasOneForm) {
  for (const char* text :
       {"yesterday", "", "2026-11-21T14:35:19Z", "2026-11-21T14:35:19.0001Z",
        "2026-11-21T14:35:19.   123Z", "2026-11-21T14:35:19.-00123Z",
        "-026-11-21T14:35:19.000123Z", "2026-13-21T14:35:19.000123Z",
        "2026-02-30T14:35:19.000123Z", "2026-11-21T24:00:00.000000Z"}) {
    EXPECT_FALSE(ParseWallTime(text)) << text;
  }
}

TEST(IntegerOf, IsWhatAWordHolds) {
  EXPECT_EQ(IntegerOf(Json::parse("-5")), -5);
  EXPECT_EQ(IntegerOf(Json::parse("9223372036854775807")), INT64_MAX);
  for (const char* text : {"9223372036854775808", "18446744073709551615", "1.0",
                           "\"1\"", "null", "[]"}) {
    EXPECT_FALSE(IntegerOf(Json::parse(text))) << text;
  }
}

TEST(Fact, SurvivesItsJson) {
  const Fact fact{.name = "rank.exited",
                  .fields = {{"signal", std::int64_t{9}},
                             {"ours", false},
                             {"after_s", 1.5},
                             {"state", "Z"}},
                  .subject = "rank 1",
                  .by = "agent 0",
                  .at = WallTime(std::chrono::microseconds(1))};
  EXPECT_EQ(*FactFromJson(ToJson(fact)), fact);
  EXPECT_EQ(fact.Number("signal"), 9);
  EXPECT_EQ(fact.Text("state"), "Z");
  EXPECT_EQ(fact.Number("absent", -1), -1);
}

TEST(Fact, KeepsANumberBeyondAWordAsOneThatIsAboutIt) {
  Json json = ToJson(Fact{.name = "n"});
  json["fields"]["bytes"] = UINT64_MAX;
  EXPECT_EQ(FactFromJson(json)->fields.at("bytes"), FactValue(0x1p64));
}

TEST(Fact, RefusesJsonOfAnotherShape) {
  EXPECT_EQ(FactFromJson(Json{{"nome", 1}}).error().cause(),
            Cause::kFileCorrupt);
}

}  // namespace
}  // namespace muster
