// SPDX-License-Identifier: Apache-2.0
#include "wire/hello.h"
#include "base/json.h"

#include <gtest/gtest.h>

namespace muster::wire {
namespace {

Hello Full() {
  Hello hello;
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
  return error ? error->ToText() : "compatible";
}

TEST(Hello, ComesBackAsItWas) {
  auto back = ParseHello(ToJson(Full()).dump());
  ASSERT_TRUE(back) << back.error().ToText();
  EXPECT_EQ(*back, Full());
}

TEST(Hello, NamesTheFieldThatIsWrong) {
  Json json = ToJson(Full());
  json["ports"] = {70000};
  auto hello = HelloFromJson(json);
  ASSERT_FALSE(hello);
  EXPECT_EQ(hello.error().ToText(),
            "net-wrong-endpoint: a hello without a valid `ports`");
}

TEST(Hello, RefusesEachMissingOrMistypedField) {
  const Json whole = ToJson(Full());
  for (const auto& [key, value] : whole.items()) {
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
  ASSERT_TRUE(hello) << hello.error().ToText();
  EXPECT_EQ(hello->protocol, 9);
  EXPECT_TRUE(Incompatible(Full(), *hello));
}

TEST(Incompatible, AllowsAnotherLastPartOfTheVersionOnly) {
  auto theirs = Full();
  theirs.version = "0.1.7";
  EXPECT_EQ(Judged(theirs), "compatible");
  theirs.ranks = {0};
  theirs.version = "0.2.3";
  EXPECT_EQ(Judged(theirs),
            "ver-peer-mismatch: rank 0 (host b, pid 77) is muster 0.2.3 "
            "(protocol 1), rank 1 (host b, pid 77) is muster 0.1.3 (protocol "
            "1): agents of one run may differ in the last part of the version "
            "only");
}

TEST(Incompatible, ComparesTheProtocolFirst) {
  auto theirs = Full();
  theirs.protocol = 2;
  EXPECT_NE(Judged(theirs), "compatible");
}

}  // namespace
}  // namespace muster::wire
