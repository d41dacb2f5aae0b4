// SPDX-License-Identifier: Apache-2.0
#include "identify/target.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "channel/testing.h"
#include "identify/testing.h"

namespace muster::identify {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

Target One(std::string_view text) {
  auto targets = ParseTargets(text);
  EXPECT_TRUE(targets.has_value()) << text;
  return targets ? targets->front() : Target{};
}

TEST(ParseTargets, TakesSchemesOfTheProtocols) {
  EXPECT_EQ(One("10.0.0.2:8470").protocol, "");
  EXPECT_EQ(One("grpc://10.0.0.2:8470").protocol, "grpc");
  EXPECT_EQ(One("https://[::1]:8443/x").protocol, "tls");
  EXPECT_EQ(One("https://[::1]:8443/x").address, (Address{"::1", 8443}));
  EXPECT_EQ(One("tcp://a:1").protocol, "tcp");
}

TEST(ParseTargets, KnowsWhereAServerIsUsuallyFound) {
  EXPECT_EQ(One("grpc://10.0.0.2").address.port, 8470);
  EXPECT_EQ(One("tpu-metrics://10.0.0.2").address.port, 8431);
  EXPECT_EQ(One("tcpstore://10.0.0.2").address.port, 29500);
}

TEST(ParseTargets, TheFirstSchemeHoldsForTheList) {
  const auto targets = ParseTargets("grpc://a:1, b:2,tf://c,d:4");
  ASSERT_TRUE(targets.has_value());
  ASSERT_EQ(targets->size(), 4U);
  EXPECT_EQ((*targets)[1].protocol, "grpc");
  EXPECT_EQ((*targets)[1].address, (Address{"b", 2}));
  EXPECT_EQ((*targets)[2].address, (Address{"c", 8470}));
  EXPECT_EQ((*targets)[3].protocol, "tf");
}

TEST(ParseTargets, SaysWhatIsWrong) {
  const std::pair<const char*, const char*> cases[] = {
      {"tcpstor://a:1", "did you mean `tcpstore`"},
      {"gopher://a:1", "expected one of"},
      {"10.0.0.2", "HOST:PORT"},
      {"jax://10.0.0.2", "HOST:PORT"},
      {"", "HOST:PORT"},
      {"a:1,,b:2", "HOST:PORT"},
      {"a:99999", "1 to 65535"},
      {"a b:1", "invalid character in the host name"},
      {"grpc://", "the host is missing"}};
  for (const auto& [text, says] : cases) {
    const auto targets = ParseTargets(text);
    ASSERT_FALSE(targets.has_value()) << text;
    EXPECT_EQ(targets.error().cause(), Cause::kUsageInvalid);
    EXPECT_THAT(targets.error().message(), HasSubstr(says));
  }
}

TEST(ParseTargets, AreNotMoreThanThreadsAreStartedFor) {
  std::string list = "a:1";
  for (std::size_t i = 0; i < kMaxTargets; ++i) {
    list += ",a:1";
  }
  EXPECT_FALSE(ParseTargets(list).has_value());
}

TEST(TargetsOfFramework, AreEveryTaskOrTheCoordinator) {
  const Cluster cluster = channel::testing::Workers(2);
  const auto tf = TargetsOfFramework(cluster, "tf");
  ASSERT_EQ(tf->size(), 2U);
  EXPECT_EQ((*tf)[1].task, (ServedTask{.job = "worker", .index = 1}));
  const auto jax = TargetsOfFramework(cluster, "jax");
  ASSERT_EQ(jax->size(), 1U);
  EXPECT_EQ(jax->front().protocol, "jax");
  EXPECT_EQ(TargetsOfFramework(cluster, "torch")->front().protocol, "tcpstore");
  EXPECT_EQ(TargetsOfFramework(Cluster{}, "tf").error().cause(),
            Cause::kLaunchEnvMissing);
}

TEST(IsExpected, TakesWhatWasNamed) {
  const ServerIdentity worker{.protocol = "tf", .grpc = true};
  const ServerIdentity ssh{.protocol = "ssh"};
  const ServerIdentity silent{.protocol = "silent"};
  const ServerIdentity mute{.protocol = "grpc", .grpc = true, .mute = true};
  EXPECT_TRUE(IsExpected(One("grpc://a:1"), worker));
  EXPECT_TRUE(IsExpected(One("tf://a:1"), worker));
  EXPECT_FALSE(IsExpected(One("jax://a:1"), worker));
  EXPECT_FALSE(IsExpected(One("grpc://a:1"), ssh));
  EXPECT_FALSE(IsExpected(One("grpc://a:1"), mute));
  EXPECT_TRUE(IsExpected(One("a:1"), ssh));
  EXPECT_FALSE(IsExpected(One("a:1"), silent));
  EXPECT_TRUE(IsExpected(One("tcp://a:1"), silent));
}

TEST(AskTargets, AnswersForEachInItsPlace) {
  identify::testing::FakeServer ssh(identify::testing::Answer("SSH-2.0-x\r\n"));
  Address refusing;
  {
    auto listening = sys::Listen({"127.0.0.1", 0});
    refusing = listening->address;
  }
  const auto targets =
      ParseTargets(ToString(refusing) + ",ssh://" + ToString(ssh.address()));
  const auto seen =
      AskTargets(*targets, {.connect = seconds(5), .greeting = seconds(5)});
  ASSERT_EQ(seen.size(), 2U);
  ASSERT_TRUE(seen[0].missed.has_value());
  EXPECT_EQ(seen[0].missed->cause(), Cause::kNetWrongEndpoint);
  EXPECT_EQ(seen[1].server.protocol, "ssh");
  EXPECT_EQ(seen[1].number, ToString(ssh.address()));
  EXPECT_EQ(ToJson(seen[1])["who"], seen[1].server.text);
  EXPECT_EQ(ToJson(seen[0])["missed"]["cause"], "net-wrong-endpoint");
}

}  // namespace
}  // namespace muster::identify
