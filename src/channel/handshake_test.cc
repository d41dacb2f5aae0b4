// SPDX-License-Identifier: Apache-2.0
#include "channel/handshake.h"
#include "base/json.h"

#include <gtest/gtest.h>

namespace muster::channel {
namespace {

TEST(Refusal, ComesBackWithCauseMessageAndEvidence) {
  const auto error =
      Error(Cause::kDuplicateIdentity, "two claim rank 1")
          .With({.name = "hello.claims", .fields = {{"who", "rank 1"}}});
  const Envelope message = Refusal(Error(error));
  EXPECT_EQ(message.kind, kRefused);
  const Error back = RefusalFrom(message.body);
  EXPECT_EQ(back.ToText(), error.ToText());
  EXPECT_EQ(back.evidence(), error.evidence());
}

TEST(Refusal, BoundsTheEvidence) {
  Json json = Json::parse(Refusal(Error(Cause::kPeerDied, "x")).body);
  for (int i = 0; i < 1000; ++i) {
    json["evidence"].push_back(ToJson(Fact{.name = "f"}));
  }
  json["evidence"].push_back("garbage");
  EXPECT_EQ(RefusalFrom(json.dump()).evidence().size(), 16U);
}

TEST(Refusal, OfUnknownKindIsStillAnError) {
  for (const char* body :
       {"", "{}", "[]", R"({"cause": "no-such-cause"})",
        R"({"cause": 3, "message": []})", R"({"cause": "peer-died"})",
        R"({"cause": "peer-died", "message": ""})"}) {
    EXPECT_EQ(RefusalFrom(body).cause(), Cause::kNetWrongEndpoint) << body;
    EXPECT_FALSE(RefusalFrom(body).message().empty()) << body;
  }
}

TEST(HelloMessage, ReplacesBytesThatAreNoText) {
  wire::Hello hello;
  hello.program = "\xff\xfe";
  const Envelope message = HelloMessage(kIdentity, hello);
  EXPECT_EQ(message.kind, kIdentity);
  EXPECT_TRUE(wire::ParseHello(message.body));
}

TEST(CallMessage, NamesTheAttempt) {
  EXPECT_EQ(CallMessage(3).body, R"({"attempt":3})");
}

}  // namespace
}  // namespace muster::channel
