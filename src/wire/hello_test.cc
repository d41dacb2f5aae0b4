// SPDX-License-Identifier: Apache-2.0
#include "wire/hello.h"
#include "base/json.h"

#include <gtest/gtest.h>

namespace muster::wire {
namespace {

Hello Full() {
  Hello hello;
  hello.rules = "00ff";
  hello.version = "0.1.3";
  hello.cluster_key = "k";
  hello.members = {"worker 0 at a:1", "worker 1 at b:1"};
  hello.ranks = {1};
  hello.host = "b";
  hello.pid = 77;
  hello.attempt = 2;
  hello.clock = WallTime(std::chrono::microseconds(1'800'000'000'000'123));
  hello.program = "train --fast";
  hello.program_digest = "p";
  hello.environment_digest = "e";
  hello.cores = 2;
  hello.core_ids = {4, 6};
  hello.environment = {{"OMP_NUM_THREADS", "2"}};
  hello.addresses = {"10.0.0.7"};
  hello.ports = {4001, 65535};
  hello.findings = {MakeFinding(Cause::kOsLimit, "few files may be open",
                                Confidence::kCertain)};
  return hello;
}

std::string Judged(const Hello& theirs) {
  auto error = Incompatible(Full(), theirs);
  return error ? error->ToString() : "compatible";
}

TEST(Hello, ComesBackAsItWas) {
  auto back = ParseHello(ToJson(Full()).dump());
  ASSERT_TRUE(back) << back.error().ToString();
  EXPECT_EQ(*back, Full());
}

TEST(Hello, NamesTheFieldThatIsWrong) {
  Json json = ToJson(Full());
  json["ports"] = {70000};
  auto hello = HelloFromJson(json);
  ASSERT_FALSE(hello);
  EXPECT_EQ(hello.error().ToString(),
            "net-wrong-endpoint: a hello message without a valid `ports`");
}

TEST(Hello, RefusesEachMissingOrMistypedField) {
  const Json whole = ToJson(Full());
  for (const auto& [key, value] : whole.items()) {
    if (key == "messages") {
      continue;  // who does not say it is of an older version
    }
    Json without = whole;
    without.erase(key);
    EXPECT_FALSE(HelloFromJson(without)) << key;
    Json mistyped = whole;
    mistyped[key] = nullptr;
    EXPECT_FALSE(HelloFromJson(mistyped)) << key;
  }
  Json number = whole;
  number["environment"] = {{"HOME", 3}};
  EXPECT_FALSE(HelloFromJson(number));
}

TEST(Hello, SurvivesGarbage) {
  for (const char* bytes : {"", "{", "3", "[]", "null", "{\"protocol\": -1}",
                            "{\"protocol\": 1e300}", "\xff\xfe", "{\"a\":1}"}) {
    EXPECT_FALSE(ParseHello(bytes)) << bytes;
  }
}

TEST(Hello, OfAnotherProtocolIsReadAsFarAsItsNumber) {
  auto hello = ParseHello(R"({"protocol": 9, "new": "field"})");
  ASSERT_TRUE(hello) << hello.error().ToString();
  EXPECT_EQ(hello->protocol, 9);
  EXPECT_TRUE(Incompatible(Full(), *hello));
}

TEST(Hello, OfOtherMessagesIsReadAsFarAsItSaysWhoItIs) {
  Json json = ToJson(Full());
  json["messages"] = 99;
  json["clock"] = "later versions say it otherwise";
  json.erase("pid");
  auto later = HelloFromJson(json);
  ASSERT_TRUE(later) << later.error().ToString();
  EXPECT_EQ(Judged(*later).substr(0, 82),
            "ver-peer-mismatch: rank 1 (host b, pid 0) is muster 0.1.3 "
            "(protocol 1, messages 99");
}

TEST(Hello, OfAnAgentThatNumbersNoMessagesIsOfAnOlderVersion) {
  Json json = ToJson(Full());
  json.erase("messages");
  json.erase("rules");
  auto older = HelloFromJson(json);
  ASSERT_TRUE(older) << older.error().ToString();
  EXPECT_EQ(older->messages, 0);
  EXPECT_EQ(Judged(*older).substr(0, 24), "ver-peer-mismatch: rank ");
}

TEST(Incompatible, NamesTheRulesOfBoth) {
  auto theirs = Full();
  theirs.ranks = {0};
  theirs.rules = "0a0b";
  EXPECT_EQ(Judged(theirs),
            "ver-peer-mismatch: rank 0 (host b, pid 77) is muster 0.1.3 "
            "(protocol 1, messages 4, rules 0a0b), rank 1 (host b, pid 77) is "
            "muster 0.1.3 (protocol 1, messages 4, rules 00ff): agents of one "
            "run must have the same protocol, messages and rules, and may "
            "differ only in the last part of the version");
}

TEST(Incompatible, AllowsAnotherLastPartOfTheVersionOnly) {
  auto theirs = Full();
  theirs.version = "0.1.7";
  EXPECT_EQ(Judged(theirs), "compatible");
  theirs.ranks = {0};
  theirs.version = "0.2.3";
  EXPECT_EQ(Judged(theirs),
            "ver-peer-mismatch: rank 0 (host b, pid 77) is muster 0.2.3 "
            "(protocol 1, messages 4, rules 00ff), rank 1 (host b, pid 77) is "
            "muster 0.1.3 (protocol 1, messages 4, rules 00ff): agents of one "
            "run must have the same protocol, messages and rules, and may "
            "differ only in the last part of the version");
}

TEST(Incompatible, ComparesTheProtocolFirst) {
  auto theirs = Full();
  theirs.protocol = 2;
  EXPECT_NE(Judged(theirs), "compatible");
}

}  // namespace
}  // namespace muster::wire
