// SPDX-License-Identifier: Apache-2.0
#include "muster/session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "base/json.h"
#include "sys/env.h"
#include "sys/fake/fake_env.h"
#include "sys/memory.h"
#include "sys/net/net.h"
#include "sys/net/stream.h"
#include "sys/process/process.h"
#include "wire/progress_page.h"
#include "wire/rank_frame.h"

namespace muster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

Deadline Soon() {
  return Deadline::After(milliseconds(50));
}
Deadline Later() {
  return Deadline::After(seconds(30));
}

constexpr const char* kMembership =
    R"({"rank": 1, "world_size": 2, "local_rank": 1, "local_size": 2,
        "slot": 1, "segment_ranks": 2, "attempt": 3, "run": "r", "members": ["h:1", "h:2"],
        "tasks": {"worker": ["h:1", "h:2"]}})";

// An agent's end of the socket, driven by the test.
class FakeAgent {
 public:
  FakeAgent() {
    auto pair = sys::SocketPair().value();
    socket_ = std::move(pair.first);
    environment_.variables[wire::kRankSocketVariable] =
        std::to_string(pair.second.Release());
    progress_page_ = sys::Fd(
        sys::MakeSharedMemory("board", sizeof(wire::ProgressPage)).value());
    segment_ = sys::Fd(sys::MakeSharedMemory("segment", 0).value());
    mapping_ =
        sys::Mapping::Map(progress_page_.get(), sizeof(wire::ProgressPage))
            .value();
    new (mapping_.data()) wire::ProgressPage();
  }

  const sys::Env& environment() const { return environment_; }
  wire::ProgressPage& progress_page() {
    return *static_cast<wire::ProgressPage*>(mapping_.data());
  }

  wire::RankMessage Receive() {
    for (;;) {
      if (auto message = wire::TakeMessage(buffer_).value()) {
        return *message;
      }
      if (!sys::ReceiveSome(socket_.get(), buffer_, nullptr, Later())) {
        ADD_FAILURE() << "the rank has closed its socket";
        return {};
      }
    }
  }

  void Send(const wire::RankMessage& message,
            std::vector<int> descriptors = {}) {
    EXPECT_TRUE(sys::SendAll(socket_.get(), wire::Encode(message), descriptors,
                             Later()));
  }

  void Answer(const wire::RankMessage& request, wire::RankMessage reply) {
    reply.id = request.id;
    Send(reply);
  }

  // Answers the registration as rank 1 of 2.
  void Register(std::string_view membership = kMembership) {
    const wire::RankMessage request = Receive();
    EXPECT_EQ(request.op, wire::RankOp::kRegister);
    EXPECT_EQ(request.number, wire::kRankProtocol);
    Send({.op = wire::RankOp::kRegistered,
          .id = request.id,
          .value = std::string(membership)},
         {progress_page_.get(), segment_.get()});
  }

  std::unique_ptr<Session> Join() {
    const std::jthread answers([this] { Register(); });
    return Session::JoinFrom(environment_).value();
  }

  void HangUp() { socket_.Close(); }

 private:
  sys::Fd socket_;
  sys::Fd progress_page_;
  sys::Fd segment_;
  sys::Mapping mapping_;
  sys::FakeEnv environment_;
  std::string buffer_;
};

TEST(Session, IsAloneWithoutAnAgent) {
  const auto session = Session::JoinFrom(sys::FakeEnv()).value();
  EXPECT_TRUE(session->alone());
  EXPECT_EQ(session->world_size(), 1);
  EXPECT_EQ(session->attempt(), 1);
  EXPECT_GE(session->segment(), 0);
  EXPECT_EQ(session->progress_page().magic, wire::kProgressPageMagic);
  EXPECT_FALSE(session->StopRequested());
  EXPECT_EQ(session->Spec().at("worker").size(), 1U);
}

TEST(Session, KeepsAStoreOfItsOwnWhenAlone) {
  const auto session = Session::JoinFrom(sys::FakeEnv()).value();
  EXPECT_EQ(session->Get("k", Soon()).error().cause(),
            Cause::kDeadlineExceeded);
  std::jthread putter([&] { EXPECT_TRUE(session->Put("k", "v", Later())); });
  EXPECT_EQ(session->Get("k", Later()).value(), "v");
  EXPECT_EQ(session->Add("n", 2, Later()).value(), 2);
  EXPECT_EQ(session->Add("n", 3, Later()).value(), 5);
  EXPECT_EQ(session->Get("n", Later()).value(), "5");
  EXPECT_EQ(session->Add("k", 1, Later()).error().cause(),
            Cause::kUsageInvalid);
  EXPECT_TRUE(session->Barrier("b", Soon()));
}

TEST(Session, RefusesToBeAloneAmongOthers) {
  sys::FakeEnv environment;
  environment.variables["WORLD_SIZE"] = "2";
  const auto session = Session::JoinFrom(environment);
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().cause(), Cause::kLaunchEnvMissing);
}

TEST(Session, NamesADescriptorThatLeadsNowhere) {
  for (const char* text : {"999999", "2", "socket", "-1"}) {
    sys::FakeEnv environment;
    environment.variables[wire::kRankSocketVariable] = text;
    const auto session = Session::JoinFrom(environment);
    ASSERT_FALSE(session);
    EXPECT_EQ(session.error().cause(), Cause::kLaunchEnvMissing);
    EXPECT_THAT(session.error().message(), HasSubstr(text));
  }
}

// A script between agent and program has opened its own log with that number.
TEST(Session, NamesADescriptorThatIsNoSocketOfAnAgent) {
  auto pipe = sys::MakePipe().value();
  const sys::Fd file(sys::MakeSharedMemory("log", 0).value());
  for (const int fd : {pipe.read.get(), pipe.write.get(), file.get()}) {
    sys::FakeEnv environment;
    environment.variables[wire::kRankSocketVariable] = std::to_string(fd);
    const auto session = Session::JoinFrom(environment);
    ASSERT_FALSE(session);
    EXPECT_EQ(session.error().cause(), Cause::kLaunchEnvMissing);
    EXPECT_THAT(session.error().message(), HasSubstr("something else"));
  }
}

TEST(Session, LearnsItsPlaceAtTheRegistration) {
  FakeAgent agent;
  const auto session = agent.Join();
  EXPECT_FALSE(session->alone());
  EXPECT_EQ(session->rank(), 1);
  EXPECT_EQ(session->world_size(), 2);
  EXPECT_EQ(session->local_rank(), 1);
  EXPECT_EQ(session->local_size(), 2);
  EXPECT_EQ(session->attempt(), 3);
  EXPECT_EQ(session->run_id(), "r");
  EXPECT_EQ(session->Spec().at("worker").size(), 2U);
  EXPECT_GE(session->segment(), 0);
}

TEST(Session, SharesTheBoardWithTheAgent) {
  FakeAgent agent;
  const auto session = agent.Join();
  session->slot().step = 7;
  EXPECT_EQ(agent.progress_page().slots[1].step, 7U);
  EXPECT_FALSE(session->StopRequested());
  agent.progress_page().stop = 1 + static_cast<std::uint32_t>(Cause::kPeerDied);
  EXPECT_TRUE(session->StopRequested());
  EXPECT_EQ(session->StopError().cause(), Cause::kPeerDied);
}

TEST(Session, EndsTheJoinOfAnAgentThatNeverAnswers) {
  FakeAgent agent;
  const auto session = Session::JoinFrom(agent.environment(), Soon());
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().cause(), Cause::kDeadlineExceeded);
  EXPECT_THAT(session.error().ToString(), HasSubstr("registering"));
}

TEST(Session, EndsTheJoinOfAnAgentThatIsGone) {
  FakeAgent agent;
  agent.HangUp();
  const auto session = Session::JoinFrom(agent.environment(), Later());
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().cause(), Cause::kPeerDied);
}

TEST(Session, PassesOnWhyTheAgentRefusesIt) {
  FakeAgent agent;
  const std::jthread answers([&] {
    agent.Answer(agent.Receive(), {.op = wire::RankOp::kRefused,
                                   .key = "ver-peer-mismatch",
                                   .value = "protocol 1 is too old"});
  });
  const auto session = Session::JoinFrom(agent.environment(), Later());
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().cause(), Cause::kVerPeerMismatch);
  EXPECT_EQ(session.error().message(), "protocol 1 is too old");
}

TEST(Session, RefusesABoardOfAnotherVersion) {
  FakeAgent agent;
  agent.progress_page().version = 9;
  const std::jthread answers([&] { agent.Register(); });
  const auto session = Session::JoinFrom(agent.environment(), Later());
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().cause(), Cause::kVerPeerMismatch);
}

TEST(Session, RefusesAnAnswerThatMakesNoSense) {
  FakeAgent agent;
  const std::jthread answers([&] { agent.Register(R"({"rank": -1})"); });
  const auto session = Session::JoinFrom(agent.environment(), Later());
  ASSERT_FALSE(session);
  EXPECT_EQ(session.error().cause(), Cause::kInternalError);
}

TEST(Session, AsksTheAgentsStore) {
  FakeAgent agent;
  const auto session = agent.Join();
  const std::jthread answers([&] {
    const auto put = agent.Receive();
    EXPECT_EQ(put.op, wire::RankOp::kPut);
    EXPECT_EQ(put.key + "=" + put.value, "k=v");
    agent.Answer(put, {.op = wire::RankOp::kDone});
    const auto add = agent.Receive();
    EXPECT_EQ(add.op, wire::RankOp::kAdd);
    agent.Answer(add, {.op = wire::RankOp::kDone, .number = add.number + 40});
    const auto barrier = agent.Receive();
    EXPECT_EQ(barrier.op, wire::RankOp::kBarrier);
    EXPECT_GT(barrier.number, 20'000);
    agent.Answer(barrier, {.op = wire::RankOp::kDone});
  });
  EXPECT_TRUE(session->Put("k", "v", Later()));
  EXPECT_EQ(session->Add("n", 2, Later()).value(), 42);
  EXPECT_TRUE(session->Barrier("start", Later()));
}

TEST(Session, PairsRepliesWithTheRequestsOfSeveralThreads) {
  FakeAgent agent;
  const auto session = agent.Join();
  constexpr int kThreads = 8;
  const std::jthread answers([&] {
    std::vector<wire::RankMessage> requests;
    for (int i = 0; i < kThreads; ++i) {
      requests.push_back(agent.Receive());
    }
    for (auto request = requests.rbegin(); request != requests.rend();
         ++request) {
      agent.Answer(*request, {.op = wire::RankOp::kValue,
                              .value = "value of " + request->key});
    }
  });
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, key = std::to_string(i)] {
      EXPECT_EQ(session->Get(key, Later()).value(), "value of " + key);
    });
  }
}

TEST(Session, ALateAnswerIsNotTakenForAnother) {
  FakeAgent agent;
  const auto session = agent.Join();
  EXPECT_EQ(session->Get("first", Soon()).error().cause(),
            Cause::kDeadlineExceeded);
  const std::jthread answers([&] {
    const auto first = agent.Receive();
    const auto second = agent.Receive();
    agent.Answer(first, {.op = wire::RankOp::kValue, .value = "too late"});
    agent.Answer(second, {.op = wire::RankOp::kValue, .value = "in time"});
  });
  EXPECT_EQ(session->Get("second", Later()).value(), "in time");
}

TEST(Session, CarriesTheCauseOfARefusal) {
  FakeAgent agent;
  const auto session = agent.Join();
  const std::jthread answers([&] {
    agent.Answer(agent.Receive(), {.op = wire::RankOp::kRefused,
                                   .key = "deadline-exceeded",
                                   .value = "rank 0 has not come"});
  });
  const auto status = session->Barrier("start", Later());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().cause(), Cause::kDeadlineExceeded);
  EXPECT_THAT(status.error().ToString(),
              testing::AllOf(HasSubstr("rank 0 has not come"),
                             HasSubstr("barrier of `start`")));
}

TEST(Session, EndsAWaitWhenTheAgentIsGone) {
  FakeAgent agent;
  const auto session = agent.Join();
  const std::jthread gone([&] {
    agent.Receive();
    agent.HangUp();
  });
  EXPECT_EQ(session->Get("k", Later()).error().cause(), Cause::kPeerDied);
  EXPECT_EQ(session->Put("k", "v", Later()).error().cause(), Cause::kPeerDied);
}

TEST(Session, EndsAWaitWhenTheAgentStopsTheAttempt) {
  FakeAgent agent;
  const auto session = agent.Join();
  const std::jthread stops([&] {
    agent.Receive();
    agent.Send({.op = wire::RankOp::kStop, .number = 1000, .key = "peer-died"});
  });
  EXPECT_EQ(session->Get("k", Later()).error().cause(), Cause::kPeerDied);
  EXPECT_TRUE(session->StopRequested());
  EXPECT_EQ(session->StopError().cause(), Cause::kPeerDied);
}

TEST(Session, EndsAWaitWhenTheAgentSendsGarbage) {
  FakeAgent agent;
  const auto session = agent.Join();
  const std::jthread garbage([&] {
    agent.Receive();
    agent.Send({.op = static_cast<wire::RankOp>(99)});
  });
  EXPECT_EQ(session->Get("k", Later()).error().cause(), Cause::kFileCorrupt);
}

TEST(Session, RefusesAValueThatTheStoreDoesNotHold) {
  FakeAgent agent;
  const auto session = agent.Join();
  const std::string huge(wire::kMaxStoreValue, 'x');
  const auto status = session->Put("k", huge, Later());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().cause(), Cause::kOsLimit);
  EXPECT_THAT(status.error().message(),
              testing::AllOf(HasSubstr("`k`"), HasSubstr("2.0 MiB")));
}

TEST(Session, TellsFactsAndTheErrorItEndsWith) {
  FakeAgent agent;
  const auto session = agent.Join();
  session->Report({.name = "checkpoint.saved", .subject = "step 10"});
  const wire::RankMessage fact = agent.Receive();
  EXPECT_EQ(fact.op, wire::RankOp::kFact);
  const auto read = FactFromJson(Json::parse(fact.value)).value();
  EXPECT_EQ(read.by, "rank 1");
  EXPECT_EQ(read.name, "checkpoint.saved");
  EXPECT_NE(read.at, WallTime{});

  session->Failed(Error(Cause::kNumericsNan, "the loss is nan")
                      .With({.name = "loss", .subject = "rank 1"})
                      .While("training step 7"));
  const wire::RankMessage failed = agent.Receive();
  EXPECT_EQ(failed.op, wire::RankOp::kFailed);
  EXPECT_EQ(failed.key, "numerics-nan");
  const Json about = Json::parse(failed.value);
  EXPECT_THAT(about["message"].get<std::string>(),
              testing::AllOf(HasSubstr("the loss is nan"),
                             HasSubstr("training step 7")));
  EXPECT_EQ(about["evidence"].size(), 1U);
}

}  // namespace
}  // namespace muster
