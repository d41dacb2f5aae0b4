// SPDX-License-Identifier: Apache-2.0
#include "netcheck/mesh/prober.h"

#include <gtest/gtest.h>

#include <thread>

#include "sys/net/stream.h"

namespace muster::netcheck {
namespace {

using std::chrono::milliseconds;

// Members of one cluster on the loopback, each with an address of its own, in
// one process; what stands in the place of a member may be something else.
class MeshTest : public testing::Test {
 protected:
  void SetUp() override {
    auto loop = sys::Loop::Make();
    ASSERT_TRUE(loop) << loop.error().ToString();
    loop_ = *std::move(loop);
  }

  void MakeCluster(int size) {
    for (int rank = 0; rank < size; ++rank) {
      const std::string host = "127.0.7." + std::to_string(rank + 1);
      auto listening = sys::Listen({.host = host});
      ASSERT_TRUE(listening) << listening.error().ToString();
      Member member{.rank = rank, .index = rank};
      member.address = {listening->address, "test"};
      cluster_.members.push_back(member);
    }
    cluster_.size = {size, "test"};
  }

  Address AddressOfRank(int rank) const {
    return cluster_.members.at(static_cast<std::size_t>(rank)).address->value;
  }
  MeshTarget TargetOfRank(int rank) const {
    return {rank, AddressOfRank(rank).port};
  }

  // Something else that takes connections in the place of a member.
  void Stand(int rank, std::function<void(sys::Fd)> takes) {
    auto listening = sys::Listen(AddressOfRank(rank));
    ASSERT_TRUE(listening) << listening.error().ToString();
    const int fd = listening->fd.get();
    standing_.push_back(*std::move(listening));
    handles_.push_back(loop_->OnReadable(fd, [fd, takes] {
      while (auto accepted = sys::AcceptNow(fd)) {
        takes(std::move(accepted->fd));
      }
    }));
  }

  static wire::Signer SignerOf(const std::string& key) {
    return [key, plain = wire::PlainSigner()](auto message) {
      return plain(key + std::string(message));
    };
  }

  struct As {
    int rank = 0;
    int claims = -2;  // another rank than its address
    milliseconds wait{1500};
    std::string key = "k";
    Duration most = std::chrono::seconds(110);
  };
  void Start(As as) {
    MeshOptions options{.cluster = cluster_, .wait = as.wait, .most = as.most};
    options.self = {.rank = as.claims == -2 ? as.rank : as.claims,
                    .host = "h" + std::to_string(as.rank),
                    .pid = 100 + as.rank,
                    .version = "0.1.0"};
    options.signer = SignerOf(as.key);
    for (const MeshTarget& target : TargetsOf(cluster_)) {
      if (target.rank != as.rank) {
        options.to_try.push_back(target);
      }
    }
    ++running_;
    const int slot = as.rank;
    members_.push_back(std::make_unique<MeshProber>(
        *loop_, clock_, options, [this, slot](MeshOutcome outcome) {
          outcomes_[slot] = std::move(outcome);
          if (--running_ == 0) {
            loop_->Quit();
          }
        }));
  }
  void StartLater(As as, milliseconds after) {
    ++running_;
    handles_.push_back(loop_->After(after, [this, as] {
      --running_;
      Start(as);
    }));
  }
  // One try of rank 1 at this rank.
  std::unique_ptr<MeshTry> TryAt(int rank,
                                 std::function<void(MeshTried)> done) {
    const auto number =
        sys::Resolve(AddressOfRank(rank), Deadline::After(milliseconds(1000)));
    EXPECT_TRUE(number) << number.error().ToString();
    return std::make_unique<MeshTry>(
        *loop_, clock_,
        MeshTry::Options{.target = TargetOfRank(rank),
                         .number = number->front(),
                         .self = &guest_,
                         .signer = SignerOf("k"),
                         .timeouts = {}},
        std::move(done));
  }
  void Run() { loop_->Run(); }

  const PathResult& Saw(int rank, int other) {
    return outcomes_[rank].rows[rank].paths[TargetOfRank(other)];
  }

  sys::RealClock clock_;
  std::unique_ptr<sys::Loop> loop_;
  Cluster cluster_;
  const MeshIdentity guest_{
      .rank = 1, .host = "h1", .pid = 101, .version = "0.1.0"};
  std::vector<sys::Listening> standing_;
  std::vector<sys::Loop::Handle> handles_;
  std::vector<std::unique_ptr<MeshProber>> members_;
  std::map<int, MeshOutcome> outcomes_;
  int running_ = 0;
};

TEST_F(MeshTest, EveryMemberGetsEveryRow) {
  MakeCluster(4);
  for (int rank = 0; rank < 4; ++rank) {
    Start({.rank = rank});
  }
  Run();
  for (int rank = 0; rank < 4; ++rank) {
    ASSERT_EQ(outcomes_[rank].rows.size(), 4U) << "rank " << rank;
    for (const auto& [from, row] : outcomes_[rank].rows) {
      EXPECT_EQ(row.heard.size(), 3U);
      for (const auto& [target, result] : row.paths) {
        EXPECT_EQ(result.path, Path::kOk)
            << from << " to " << target.rank << ": " << ToString(result.path);
        EXPECT_GT(result.round_trip, Duration::zero());
      }
    }
  }
}

TEST_F(MeshTest, AMemberThatIsNotThereIsRefusedAndTheOthersShareIt) {
  MakeCluster(3);
  Start({.rank = 0});
  Start({.rank = 1});
  Run();
  EXPECT_EQ(Saw(0, 2).path, Path::kRefused);
  EXPECT_GT(Saw(0, 2).tries, 1);
  EXPECT_EQ(outcomes_[0].rows[1].paths[TargetOfRank(2)].path, Path::kRefused);
  EXPECT_EQ(outcomes_[0].rows.count(2), 0U);
}

TEST_F(MeshTest, OneThatComesLateIsWaitedFor) {
  MakeCluster(2);
  Start({.rank = 0});
  StartLater({.rank = 1}, milliseconds(300));
  Run();
  EXPECT_EQ(Saw(0, 1).path, Path::kOk);
  EXPECT_EQ(Saw(0, 1).before, Path::kRefused);
  EXPECT_GT(Saw(0, 1).healed, Duration::zero());
}

TEST_F(MeshTest, SaysWhatAnswersInPlaceOfAMember) {
  MakeCluster(2);
  Stand(1, [](sys::Fd fd) {
    (void)sys::WriteNow(fd.get(), "HTTP/1.0 404 Not Found\r\n\r\n");
  });
  Start({.rank = 0});
  Run();
  EXPECT_EQ(Saw(0, 1).path, Path::kForeign);
  EXPECT_EQ(Saw(0, 1).seen, "an HTTP server (`HTTP/1.0 404 Not Found`)");
}

TEST_F(MeshTest, SaysThatConnectionsAreTakenAndEnded) {
  MakeCluster(2);
  Stand(1, [](sys::Fd) {});
  Start({.rank = 0});
  Run();
  EXPECT_EQ(Saw(0, 1).path, Path::kClosed);
}

TEST_F(MeshTest, SilenceIsBounded) {
  MakeCluster(2);
  std::vector<sys::Fd> kept;
  Stand(1, [&](sys::Fd fd) { kept.push_back(std::move(fd)); });
  Start({.rank = 0});
  Run();
  EXPECT_EQ(Saw(0, 1).path, Path::kSilent);
}

TEST_F(MeshTest, AByteAtATimeIsBounded) {
  MakeCluster(2);
  std::vector<sys::Fd> kept;
  Stand(1, [&](sys::Fd fd) { kept.push_back(std::move(fd)); });
  handles_.push_back(loop_->Every(milliseconds(100), [&] {
    for (const sys::Fd& fd : kept) {
      (void)sys::WriteNow(fd.get(), "M");
    }
  }));
  Start({.rank = 0});
  Run();
  EXPECT_NE(Saw(0, 1).path, Path::kOk);
  EXPECT_NE(Saw(0, 1).path, Path::kUntried);
}

TEST_F(MeshTest, NamesTheMemberThatAnswersForAnother) {
  MakeCluster(3);
  Start({.rank = 0});
  Start({.rank = 1});
  Start({.rank = 2, .claims = 1});
  Run();
  // Rank 1 listens at its address, and so does who came as rank 1 in place of
  // rank 2: at the address of rank 1 there is one of the two.
  EXPECT_EQ(outcomes_[0].rows[0].claims[1].size(), 2U);
}

TEST_F(MeshTest, AnotherKeyIsAStranger) {
  MakeCluster(2);
  Start({.rank = 0});
  Start({.rank = 1, .key = "other"});
  Run();
  EXPECT_EQ(Saw(0, 1).path, Path::kStranger);
  EXPECT_EQ(Saw(1, 0).path, Path::kStranger);
}

TEST_F(MeshTest, GarbageDoesNotDisturb) {
  MakeCluster(2);
  Start({.rank = 0});
  const auto number =
      sys::Resolve(AddressOfRank(0), Deadline::After(milliseconds(1000)));
  ASSERT_TRUE(number) << number.error().ToString();
  std::vector<sys::Dialling> noise;
  handles_.push_back(loop_->After(milliseconds(1), [&] {
    for (int i = 0; i < 100; ++i) {
      noise.push_back(sys::StartDial(number->front()));
    }
  }));
  handles_.push_back(loop_->After(milliseconds(30), [&] {
    for (const sys::Dialling& one : noise) {
      (void)sys::WriteNow(one.fd.get(), std::string(4096, '\x80'));
    }
  }));
  StartLater({.rank = 1}, milliseconds(60));
  Run();
  EXPECT_EQ(Saw(0, 1).path, Path::kOk);
  EXPECT_EQ(Saw(1, 0).path, Path::kOk);
}

TEST_F(MeshTest, TellsAMemberOfAnotherVersionWhichOneItSpeaks) {
  MakeCluster(2);
  Start({.rank = 0});
  const auto number =
      sys::Resolve(AddressOfRank(0), Deadline::After(milliseconds(1000)));
  ASSERT_TRUE(number) << number.error().ToString();
  sys::Dialling older = sys::StartDial(number->front());
  std::string reply;
  handles_.push_back(loop_->After(milliseconds(20), [&] {
    (void)sys::WriteNow(older.fd.get(),
                        "GET /muster/mesh/1 HTTP/1.0\r\n\r\nMUSF");
  }));
  handles_.push_back(loop_->After(
      milliseconds(60), [&] { (void)sys::ReceiveTcp(older.fd.get(), reply); }));
  StartLater({.rank = 1}, milliseconds(80));
  Run();
  EXPECT_EQ(reply, wire::kHandshakeRefusal);
  EXPECT_EQ(Saw(0, 1).path, Path::kOk);
}

TEST_F(MeshTest, ATryKnowsItsEndBeforeItTellsIt) {
  MakeCluster(2);
  std::unique_ptr<MeshTry> attempt;
  std::vector<PathResult> seen;
  sys::Loop::Handle turn;
  const std::function<void()> look = [&] {
    seen.push_back(attempt->SoFar());
    turn = loop_->After(Duration::zero(), look);
  };
  attempt = TryAt(0, [&](MeshTried tried) {
    seen.push_back(tried.result);
    loop_->Quit();
  });
  turn = loop_->After(Duration::zero(), look);
  Run();
  EXPECT_EQ(seen.back().path, Path::kRefused);
  EXPECT_EQ(seen.at(seen.size() - 2), seen.back());
}

// A member that is there, takes rows and gives none.
TEST_F(MeshTest, ARowThatIsOwedIsNotWaitedForWithoutEnd) {
  MakeCluster(2);
  std::unique_ptr<MeshTry> attempt;
  std::unique_ptr<MeshConnection> connection;
  int rows = 0;
  Start({.rank = 0, .wait = milliseconds(300), .most = milliseconds(2200)});
  attempt = TryAt(0, [&](MeshTried tried) {
    ASSERT_EQ(tried.result.path, Path::kOk);
    connection = std::move(tried.connection);
    connection->Begin({.frame =
                           [&](const wire::Frame& frame) {
                             if (frame.kind == wire::FrameKind::kRow &&
                                 ++rows == 1) {
                               std::string need = "[0";
                               for (int i = 0; i < 1000; ++i) {
                                 need += ",0";
                               }
                               connection->Send({.kind = wire::FrameKind::kNeed,
                                                 .body = need + "]"});
                             }
                           },
                       .end = {}});
  });
  Run();
  EXPECT_EQ(outcomes_[0].rows.count(1), 0U);
  // It would be waited for as long as the member lives.
  EXPECT_LT(outcomes_[0].took, milliseconds(20'000));
  // However often one frame asks for it.
  EXPECT_LE(rows, 2);
}

TEST_F(MeshTest, OneThatStoodStillDoesNotBlameItsPeer) {
  MakeCluster(2);
  Start({.rank = 0, .wait = milliseconds(300)});
  Start({.rank = 1, .wait = milliseconds(300)});
  handles_.push_back(loop_->After(Duration::zero(), [] {
    // Longer than both wait.
    std::this_thread::sleep_for(milliseconds(700));
  }));
  Run();
  EXPECT_EQ(Saw(0, 1).path, Path::kOk) << Saw(0, 1).seen;
}

TEST_F(MeshTest, OneWhoOnlyLooksGetsTheRows) {
  MakeCluster(2);
  Start({.rank = 0});
  Start({.rank = 1});
  Start({.rank = -1});
  Run();
  EXPECT_EQ(Saw(-1, 0).path, Path::kOk);
  EXPECT_EQ(outcomes_[-1].rows.size(), 3U);
  EXPECT_EQ(outcomes_[0].rows.size(), 2U);
}

}  // namespace
}  // namespace muster::netcheck
