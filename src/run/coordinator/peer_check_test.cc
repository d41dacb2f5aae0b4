// SPDX-License-Identifier: Apache-2.0
#include "run/coordinator/peer_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run/agent/agent_peer_check.h"

namespace muster::run {
namespace {

using testing::IsEmpty;
using testing::SizeIs;

// Members on addresses of the loopback, each with ports that it holds.
class PeerCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    auto loop = sys::Loop::Make();
    ASSERT_TRUE(loop) << loop.error().ToString();
    loop_ = *std::move(loop);
    for (int rank = 0; rank < 3; ++rank) {
      auto held = sys::HoldPorts("", 2, 0, 0);
      ASSERT_TRUE(held) << held.error().ToString();
      const std::string host = "127.0.9." + std::to_string(rank + 1);
      Member member{.rank = rank, .task = "worker", .index = rank};
      member.address = {{host, held->front().address.port}, "test"};
      request_.ports.members.push_back(member);
      if (rank == 0) {
        request_.ports.coordinator = {{host, held->back().address.port},
                                      "test"};
      }
      held_.push_back(*std::move(held));
    }
    request_.ports.size = {3, "test"};
  }

  // The findings of a check in which these ranks take part, with these keys.
  std::vector<Finding> Hold(const std::vector<std::string>& keys) {
    PeerCheck peer_check(request_.ports, 3);
    std::vector<std::unique_ptr<AgentPeerCheck>> agents;
    for (std::size_t rank = 0; rank < keys.size(); ++rank) {
      wire::Hello identity;
      identity.ranks = {static_cast<int>(rank)};
      identity.host = "w-" + std::to_string(rank);
      identity.version = "0.1.0";
      auto agent = AgentPeerCheck::Start(
          *loop_, clock_, request_,
          {.attempt = request_.attempt,
           .identity = &identity,
           .signer = SignerOf(keys[rank]),
           .held = held_[rank]},
          [&, rank](const wire::PeerCheckResult& result) {
            auto row = RowOf(result);
            ASSERT_TRUE(row) << row.error().ToString();
            if (peer_check.Tells(static_cast<int>(rank), *std::move(row))) {
              loop_->Quit();
            }
          });
      EXPECT_TRUE(agent) << agent.error().ToString();
      agents.push_back(*std::move(agent));
    }
    loop_->Run();
    return peer_check.Judge(WallTime{});
  }

  static wire::Signer SignerOf(const std::string& key) {
    return [key](std::string_view) { return key + std::string(31, 'x'); };
  }

  std::unique_ptr<sys::Loop> loop_;
  sys::RealClock clock_;
  wire::PeerCheckRequest request_;
  std::vector<std::vector<sys::Listening>> held_;
};

TEST_F(PeerCheckTest, FindsNothingWhereAllIsWell) {
  EXPECT_THAT(Hold({"a", "a", "a"}), IsEmpty());
}

TEST_F(PeerCheckTest, LeavesNothingAtThePorts) {
  EXPECT_THAT(Hold({"a", "a", "a"}), IsEmpty());
  for (auto& held : held_) {
    const auto port = held.front().address.port;
    held.clear();
    // Without SO_REUSEADDR, as a program of the user may bind.
    EXPECT_TRUE(sys::HoldPorts("", 1, port, port));
  }
}

TEST_F(PeerCheckTest, NamesAPortThatNobodyReaches) {
  held_[0].pop_back();  // that of the store beside rank 0
  const auto findings = Hold({"a", "a", "a"});
  ASSERT_THAT(findings, SizeIs(1U));
  EXPECT_EQ(findings[0].severity, Severity::kError);
  EXPECT_EQ(findings[0].subjects, std::vector<std::string>{"rank 0"});
}

TEST_F(PeerCheckTest, TakesNobodyOfAnotherKey) {
  const auto findings = Hold({"a", "b", "a"});
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].cause, Cause::kNetWrongEndpoint);
}

TEST_F(PeerCheckTest, OfAnotherAttemptIsRefused) {
  wire::Hello identity;
  identity.ranks = {0};
  const auto agent = AgentPeerCheck::Start(*loop_, clock_, request_,
                                           {.attempt = 7,
                                            .identity = &identity,
                                            .signer = SignerOf("a"),
                                            .held = held_[0]},
                                           [](const wire::PeerCheckResult&) {});
  EXPECT_EQ(agent.error().cause(), Cause::kUsageInvalid);
}

TEST_F(PeerCheckTest, TakesNoPortThatIsNotHeld) {
  wire::Hello identity;
  identity.ranks = {1};
  const auto agent = AgentPeerCheck::Start(*loop_, clock_, request_,
                                           {.attempt = 1,
                                            .identity = &identity,
                                            .signer = SignerOf("a"),
                                            .held = held_[2]},
                                           [](const wire::PeerCheckResult&) {});
  EXPECT_EQ(agent.error().cause(), Cause::kUsageInvalid);
}

TEST(PeerCheck, TakesNothingElseForARow) {
  EXPECT_EQ(RowOf({.row = "{"}).error().cause(), Cause::kVerPeerMismatch);
  EXPECT_FALSE(RowOf({.row = "3"}));
  EXPECT_FALSE(RowOf({.row = R"({"rank": "x"})"}));
}

TEST(PeerCheck, CountsAnAgentOnceAndNoRankThatIsNone) {
  Cluster ports;
  ports.members = {{.rank = 0}, {.rank = 1}};
  PeerCheck peer_check(ports, 2);
  EXPECT_FALSE(peer_check.Tells(1, {.rank = 0}));
  EXPECT_FALSE(peer_check.Tells(1, {.rank = 1}));
  EXPECT_FALSE(peer_check.Tells(2, {.rank = 7}));
  EXPECT_TRUE(peer_check.Tells(2, {.rank = 1}));
}

}  // namespace
}  // namespace muster::run
