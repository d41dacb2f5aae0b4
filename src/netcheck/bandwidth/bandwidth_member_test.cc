// SPDX-License-Identifier: Apache-2.0
#include "netcheck/bandwidth/bandwidth_member.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <fstream>

#include "base/json.h"
#include "sys/net/net.h"

namespace muster::netcheck {
namespace {

using std::chrono::milliseconds;

// Members of one cluster on the loopback, each at an address of its own, in one
// process. What is poured is little: no speed is asserted.
class BandwidthTest : public testing::Test {
 protected:
  void SetUp() override {
    auto loop = sys::Loop::Make();
    ASSERT_TRUE(loop) << loop.error().ToString();
    loop_ = *std::move(loop);
  }

  void MakeCluster(int size) {
    for (int rank = 0; rank < size; ++rank) {
      auto listening =
          sys::Listen({.host = "127.0.8." + std::to_string(rank + 1)});
      ASSERT_TRUE(listening) << listening.error().ToString();
      Member member{.rank = rank, .index = rank};
      member.address = {listening->address, "test"};
      cluster_.members.push_back(member);
    }
    cluster_.size = {size, "test"};
  }

  BandwidthOptions OptionsOf(int rank, const std::string& key = "k") {
    return {.cluster = cluster_,
            .self = {.rank = rank,
                     .host = "h" + std::to_string(rank),
                     .pid = 100 + rank},
            .signer =
                [key, plain = wire::PlainSigner()](auto message) {
                  return plain(key + std::string(message));
                },
            .wait = wait_,
            .bounds = {.pings = milliseconds(5),
                       .pour = milliseconds(20),
                       .most = 4ULL << 20},
            .say = [this](const std::string& text) { said_.push_back(text); }};
  }
  void Start(const BandwidthOptions& options) {
    ++running_;
    const int rank = options.self.rank;
    members_[rank] = std::make_unique<BandwidthMember>(
        *loop_, clock_, options,
        [this, rank](Result<BandwidthOutcome> outcome) {
          outcomes_.emplace(rank, std::move(outcome));
          if (--running_ == 0) {
            loop_->Quit();
          }
        });
  }
  void StartLater(int rank, milliseconds after) {
    ++running_;
    handles_.push_back(loop_->After(after, [this, rank] {
      --running_;
      Start(OptionsOf(rank));
    }));
  }
  const BandwidthOutcome& Of(int rank) { return outcomes_.at(rank).value(); }

  sys::RealClock clock_;
  std::unique_ptr<sys::Loop> loop_;
  Cluster cluster_;
  Duration wait_ = std::chrono::seconds(20);
  std::map<int, std::unique_ptr<BandwidthMember>> members_;
  std::map<int, Result<BandwidthOutcome>> outcomes_;
  std::vector<sys::Loop::Handle> handles_;
  std::vector<std::string> said_;
  int running_ = 0;
};

TEST_F(BandwidthTest, EveryLinkIsMeasuredAndAllGetTheSameResult) {
  MakeCluster(4);
  for (int rank = 0; rank < 4; ++rank) {
    Start(OptionsOf(rank));
  }
  loop_->Run();
  ASSERT_EQ(Of(0).links.size(), 6U);
  for (const LinkBandwidth& link : Of(0).links) {
    EXPECT_EQ(link.stopped, "");
    EXPECT_GT(link.pings, 0);
    EXPECT_GT(link.p50, Duration::zero());
    EXPECT_GT(link.there.BytesPerSecond(), 0);
    EXPECT_GT(link.back.BytesPerSecond(), 0);
    EXPECT_GT(link.there.segments, 0U);
    for (const ByteStream& stream : {link.there, link.back}) {
      EXPECT_GT(stream.sender.ran, 0);
      EXPECT_GT(stream.receiver.ran, 0);
    }
  }
  for (int rank = 1; rank < 4; ++rank) {
    EXPECT_EQ(ToJson(Of(rank)), ToJson(Of(0))) << "rank " << rank;
  }
  EXPECT_THAT(said_, testing::Contains("1 of 6 links"));
}

TEST_F(BandwidthTest, TheOrderOfComingDoesNotMatter) {
  MakeCluster(3);
  Start(OptionsOf(2));
  StartLater(1, milliseconds(60));
  StartLater(0, milliseconds(120));
  loop_->Run();
  EXPECT_EQ(Of(2).links.size(), 3U);
}

TEST_F(BandwidthTest, WhoDoesNotComeIsSaid) {
  MakeCluster(3);
  wait_ = std::chrono::seconds(2);
  Start(OptionsOf(0));
  Start(OptionsOf(1));
  loop_->Run();
  EXPECT_EQ(Of(1).absent, std::vector<int>{2});
  EXPECT_EQ(Of(1).links.size(), 1U);
}

TEST_F(BandwidthTest, WithoutRankZeroNothingIsMeasured) {
  MakeCluster(3);
  wait_ = milliseconds(300);
  Start(OptionsOf(1));
  Start(OptionsOf(2));
  loop_->Run();
  ASSERT_FALSE(outcomes_.at(1));
  EXPECT_EQ(outcomes_.at(1).error().cause(), Cause::kDeadlineExceeded);
}

TEST_F(BandwidthTest, AloneNothingIsMeasured) {
  MakeCluster(2);
  wait_ = milliseconds(100);
  Start(OptionsOf(0));
  loop_->Run();
  ASSERT_FALSE(outcomes_.at(0));
  EXPECT_THAT(outcomes_.at(0).error().message(),
              testing::HasSubstr("no other member joined"));
}

TEST_F(BandwidthTest, AnotherKeyDoesNotJoin) {
  MakeCluster(2);
  wait_ = milliseconds(300);
  Start(OptionsOf(0));
  Start(OptionsOf(1, "other"));
  loop_->Run();
  EXPECT_FALSE(outcomes_.at(0));
  EXPECT_FALSE(outcomes_.at(1));
}

TEST_F(BandwidthTest, WhoLeavesIsNotWaitedFor) {
  MakeCluster(4);
  wait_ = std::chrono::seconds(5);
  for (int rank = 0; rank < 4; ++rank) {
    BandwidthOptions options = OptionsOf(rank);
    options.bounds.pour = milliseconds(300);
    options.bounds.most = 1ULL << 30;
    Start(options);
  }
  handles_.push_back(loop_->After(milliseconds(200), [this] {
    members_.erase(3);
    --running_;
  }));
  loop_->Run();
  ASSERT_TRUE(outcomes_.at(0)) << outcomes_.at(0).error().ToString();
  for (const LinkBandwidth& link : Of(0).links) {
    EXPECT_EQ(link.stopped.empty(), link.b != 3) << link.a << " " << link.b;
  }
}

// Names that this process alone sees, instead of the host's own: threads that
// are made later look into the same mounts.
class OwnHostsFile {
 public:
  explicit OwnHostsFile(std::string_view text) {
    const std::string path =
        testing::TempDir() + "hosts." + std::to_string(getpid());
    std::ofstream(path) << text;
    mounted_ =
        unshare(CLONE_NEWNS) == 0 &&
        mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
        mount(path.c_str(), "/etc/hosts", nullptr, MS_BIND, nullptr) == 0;
    unlink(path.c_str());  // The mount keeps it.
  }
  ~OwnHostsFile() {
    if (mounted_) {
      umount("/etc/hosts");
    }
  }
  OwnHostsFile(const OwnHostsFile&) = delete;
  OwnHostsFile& operator=(const OwnHostsFile&) = delete;

  bool Mounted() const { return mounted_; }

 private:
  bool mounted_ = false;
};

TEST_F(BandwidthTest, EveryNumberOfANameIsTried) {
  const OwnHostsFile hosts(
      "127.0.0.1 localhost two-numbers\n127.0.8.99 two-numbers\n");
  if (!hosts.Mounted()) {
    GTEST_SKIP() << "this user may not mount";
  }
  const auto numbers = sys::Resolve({.host = "two-numbers"},
                                    Deadline::After(std::chrono::seconds(2)));
  ASSERT_TRUE(numbers) << numbers.error().ToString();
  ASSERT_NE(numbers->front().Text(), numbers->back().Text());
  MakeCluster(2);
  // Rank 0 is at the last of them alone.
  sys::SocketAddress last = numbers->back();
  last.set_port(cluster_.members[0].address->value.port);
  cluster_.members[0].address->value = *Address::Parse(last.Text());
  Start(OptionsOf(0));
  cluster_.members[0].address->value.host = "two-numbers";
  Start(OptionsOf(1));
  loop_->Run();
  ASSERT_TRUE(outcomes_.at(1)) << outcomes_.at(1).error().ToString();
  ASSERT_EQ(Of(1).links.size(), 1U);
  EXPECT_EQ(Of(1).links[0].stopped, "");
}

TEST_F(BandwidthTest, APortThatSomebodyHoldsIsSaid) {
  MakeCluster(2);
  const auto held = sys::Listen(cluster_.members[0].address->value);
  ASSERT_TRUE(held) << held.error().ToString();
  Start(OptionsOf(0));
  loop_->Run();
  ASSERT_FALSE(outcomes_.at(0));
  EXPECT_EQ(outcomes_.at(0).error().cause(), Cause::kNetPortInUse);
}

}  // namespace
}  // namespace muster::netcheck
