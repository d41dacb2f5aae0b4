// SPDX-License-Identifier: Apache-2.0
#include "run/coordinator/coordinator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "base/log.h"
#include "record/events.h"
#include "sys/fake/fake_env.h"
#include "sys/fake/fake_fs.h"

namespace muster::run {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

constexpr int kSigkill = 9;

// An agent that says what the test wants. It answers calls by itself.
class ScriptedAgent {
 public:
  ScriptedAgent(std::unique_ptr<channel::Link> link, wire::Hello hello)
      : link_(std::move(link)), hello_(std::move(hello)) {
    link_->OnMessage([this](channel::Envelope message) { Hear(message); });
  }

  // Called with the plan of each launch, and with each stop.
  std::function<void(const wire::LaunchPlan&)> on_launch;
  std::function<void(const wire::StopRanks&)> on_stop;
  std::function<void()> on_refused = [] {};
  std::string refused;
  std::optional<wire::Goodbye> goodbye;
  std::vector<std::string> heard;
  int attempt = 0;

  template <typename T>
  void Say(const T& message) {
    link_->Send(Encode(message));
  }
  void SayRaw(wire::Envelope message) { link_->Send(std::move(message)); }
  void Ends(int rank, int wait_status, int sent = 0, std::uint64_t step = 0) {
    Say(wire::RankExited{
        .rank = rank,
        .pid = 100 + rank,
        .attempt = attempt,
        .wait_status = wait_status,
        .sent_signal = sent,
        .at = WallTime(std::chrono::seconds(1)),
        .progress = {
            .phase = wire::Phase::kStep, .step = step, .steps = step}});
  }
  void Stops() { Say(wire::Stopped{.attempt = attempt}); }
  // Both ranks, by themselves.
  void EndsWell() {
    Ends(0, 0);
    Ends(1, 0);
    Stops();
  }
  void Leaves() { link_->Close(); }
  void Becomes(wire::Hello hello) { hello_ = std::move(hello); }

 private:
  void Hear(const channel::Envelope& message) {
    heard.push_back(message.kind);
    wire::Dispatch(
        wire::ParseToAgent(message).value(),
        [this](const wire::HelloRequest& call) {
          hello_.attempt = call.attempt;
          Say(wire::HelloReply{hello_});
        },
        [this](const wire::LaunchPlan& plan) {
          attempt = plan.attempt;
          on_launch(plan);
        },
        [this](const wire::StopRanks& stop) {
          if (on_stop) {
            on_stop(stop);
          }
        },
        [this](const wire::Goodbye& said) { goodbye = said; },
        [this](const wire::Refused& said) {
          refused = wire::ErrorOf(said).ToString();
          on_refused();
        },
        [](const auto&) {});
  }

  std::unique_ptr<channel::Link> link_;
  wire::Hello hello_;
};

wire::Hello HelloOfTwoRanks() {
  wire::Hello hello;
  hello.version = "0.1.0";
  hello.host = "a";
  hello.ranks = {0, 1};
  hello.ports = {1, 2, 3, 4};
  return hello;
}

// Of one of those ranks.
wire::Hello HelloOfRank(int rank) {
  wire::Hello hello = HelloOfTwoRanks();
  hello.host = rank == 0 ? "a" : "b";
  hello.ranks = {rank};
  hello.ports = {1, 2};
  return hello;
}

// A run of two ranks under one scripted agent, on a real loop.
class CoordinatorTest : public testing::Test {
 protected:
  CoordinatorTest() {
    SetLogLevel(LogLevel::kError);
    for (int rank = 0; rank < 2; ++rank) {
      cluster_.members.push_back({.rank = rank, .index = rank});
    }
    cluster_.one_host = true;
    cluster_.size = {2, "flag -n"};
    // The usual agent: ends with TERM what it is told to stop.
    agent_.on_launch = [this](const wire::LaunchPlan&) { agent_.Ends(0, 0); };
    agent_.on_stop = [this](const wire::StopRanks&) { agent_.Stops(); };
  }
  ~CoordinatorTest() override { SetLogLevel(LogLevel::kInfo); }

  // Rank 1 is stopped in the first attempt; the second ends well.
  void StandsStillOnce() {
    agent_.on_launch = [this](const wire::LaunchPlan& plan) {
      if (plan.attempt == 2) {
        agent_.EndsWell();
        return;
      }
      wire::Progress progress{.attempt = 1};
      for (int second = 0; second < 14; ++second) {
        progress.now_ns = (1 + second) * std::int64_t{1'000'000'000};
        progress.ranks = {
            {.rank = 0, .progress = {.phase = wire::Phase::kStep}},
            {.rank = 1,
             .progress = {.phase = wire::Phase::kStep},
             .state = 'T'}};
        agent_.Say(progress);
      }
    };
  }

  // Rank 0 ends as it is asked to, rank 1 in this way.
  void InterruptedAsRankOneEnds(const wire::RankExited& end) {
    agent_.on_launch = [this](const wire::LaunchPlan&) {
      coordinator_.Interrupt("SIGINT", false);
    };
    agent_.on_stop = [this, end](const wire::StopRanks&) {
      agent_.Ends(0, 15, 15);
      agent_.Say(end);
      agent_.Stops();
    };
  }

  RunEnd Run() {
    RunEnd result;
    coordinator_.Start(nullptr, cluster_, hello_, [&](const RunEnd& end) {
      result = end;
      loop_->Quit();
    });
    coordinator_.rendezvous().AttendHere(std::move(links_.second), hello_);
    loop_->Run();
    return result;
  }

  // Rank 0 ends well, the others are interrupted long after their grace.
  void RunWhenRankZeroHasEnded() {
    options_.grace = std::chrono::milliseconds(5);
    Coordinator coordinator(*loop_, host_, console_, *journal_, options_);
    sys::Loop::Handle later;
    agent_.on_launch = [&](const wire::LaunchPlan&) {
      agent_.Ends(0, 0);
      later = loop_->After(std::chrono::milliseconds(100),
                           [&] { coordinator.Interrupt("SIGINT", true); });
    };
    coordinator.Start(nullptr, cluster_, hello_,
                      [&](const RunEnd&) { loop_->Quit(); });
    coordinator.rendezvous().AttendHere(std::move(links_.second), hello_);
    loop_->Run();
  }

  // With another agent for rank 1.
  RunEnd RunWith(std::unique_ptr<channel::Link> second) {
    RunEnd result;
    coordinator_.Start(nullptr, cluster_, hello_, [&](const RunEnd& end) {
      result = end;
      loop_->Quit();
    });
    auto& rendezvous = coordinator_.rendezvous();
    agent_.Becomes(HelloOfRank(0));
    rendezvous.AttendHere(std::move(links_.second), HelloOfRank(0));
    rendezvous.AttendHere(std::move(second), HelloOfRank(1));
    loop_->Run();
    return result;
  }

  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const Fact& fact : journal_->facts()) {
      names.push_back(fact.name);
    }
    return names;
  }
  const Fact& Last(std::string_view name) const {
    const auto& facts = journal_->facts();
    return *std::find_if(facts.rbegin(), facts.rend(),
                         [&](const Fact& fact) { return fact.name == name; });
  }
  std::vector<std::string> Causes() const {
    std::vector<std::string> causes;
    for (const Fact& fact : journal_->facts()) {
      if (fact.name == record::kFinding) {
        causes.push_back(fact.Text("cause"));
      }
    }
    return causes;
  }

  sys::FakeEnv env_;
  sys::RealClock clock_;
  sys::FakeFs fs_;
  sys::Host host_{env_, clock_, fs_};
  std::unique_ptr<sys::Loop> loop_ = std::move(sys::Loop::Make()).value();
  sys::Console console_{*loop_, {}};
  std::unique_ptr<record::Journal> journal_ =
      std::move(record::Journal::Open(host_, "runs", "id")).value();
  std::pair<std::unique_ptr<channel::Link>, std::unique_ptr<channel::Link>>
      links_ = channel::InProcessLinks(*loop_);
  Cluster cluster_;
  wire::Hello hello_ = HelloOfTwoRanks();
  ScriptedAgent agent_{std::move(links_.first), hello_};
  RunOptions options_{.run_id = "id",
                      .argv = {"train", "--password", "hunter2hunter2"},
                      .gather_timeout = std::chrono::milliseconds(200)};
  Coordinator coordinator_{*loop_, host_, console_, *journal_, options_};
};

TEST_F(CoordinatorTest, EndsWellWhenAllRanksDo) {
  agent_.on_launch = [&](const wire::LaunchPlan& plan) {
    EXPECT_THAT(plan.ranks, SizeIs(2));
    agent_.EndsWell();
  };
  const auto end = Run();
  EXPECT_EQ(end.exit_code, 0);
  EXPECT_EQ(end.origin, Origin::kProgram);
  EXPECT_EQ(end.text, "all 2 ranks succeeded");
  EXPECT_THAT(Causes(), IsEmpty());
  EXPECT_EQ(journal_->facts().back().name, record::kRunEnded);
}

TEST_F(CoordinatorTest, RecordsTheCommandWithoutItsSecretsAndRunsItWithThem) {
  agent_.on_launch = [&](const wire::LaunchPlan& plan) {
    EXPECT_EQ(plan.ranks.front().argv, options_.argv);
    agent_.EndsWell();
  };
  EXPECT_EQ(Run().exit_code, 0);
  const Fact& started = journal_->facts().front();
  ASSERT_EQ(started.name, record::kRunStarted);
  EXPECT_EQ(started.Text("argv"),
            R"(["train","--password","[removed: secret]"])");
  EXPECT_EQ(started.Text("command"), "train --password '[removed: secret]'");
}

TEST_F(CoordinatorTest, AFailingRankStopsTheOthersAndGivesItsStatus) {
  agent_.on_launch = [&](const wire::LaunchPlan&) { agent_.Ends(1, 3 << 8); };
  agent_.on_stop = [&](const wire::StopRanks& stop) {
    EXPECT_EQ(stop.cause, "peer-died");
    EXPECT_FALSE(stop.now);
    agent_.Ends(0, 15, 15);
    agent_.Stops();
  };
  const auto end = Run();
  EXPECT_EQ(end.exit_code, 3);
  EXPECT_EQ(end.origin, Origin::kProgram);
  EXPECT_EQ(end.cause, "app-exception");
  EXPECT_THAT(Causes(), ElementsAre("app-exception"));
}

TEST_F(CoordinatorTest, RestartsAfterAKillAndThenEndsWell) {
  agent_.on_launch = [&](const wire::LaunchPlan& plan) {
    if (plan.attempt == 1) {
      agent_.Ends(1, kSigkill, 0, 50);
      return;
    }
    agent_.EndsWell();
  };
  agent_.on_stop = [&](const wire::StopRanks&) {
    agent_.Ends(0, 15, 15, 49);
    agent_.Stops();
  };
  EXPECT_EQ(Run().exit_code, 0);
  EXPECT_EQ(agent_.attempt, 2);
  EXPECT_THAT(Causes(), ElementsAre("peer-died"));
  EXPECT_THAT(Names(), Contains(std::string(record::kDecided)));
}

TEST_F(CoordinatorTest, TheSameDeathAtTheSameStepEndsTheRun) {
  agent_.on_launch = [&](const wire::LaunchPlan&) {
    agent_.Ends(1, kSigkill, 0, 50);
  };
  const auto end = Run();
  EXPECT_EQ(end.exit_code, 93);
  EXPECT_EQ(end.origin, Origin::kMuster);
  EXPECT_EQ(agent_.attempt, 2);
}

TEST_F(CoordinatorTest, AnInterruptionStopsTheRanksInOrder) {
  agent_.on_launch = [&](const wire::LaunchPlan&) {
    coordinator_.Interrupt("SIGINT", false);
  };
  agent_.on_stop = [&](const wire::StopRanks& stop) {
    EXPECT_EQ(stop.cause, "cancelled");
    agent_.Ends(0, 15, 15);
    agent_.Ends(1, 15, 15);
    agent_.Stops();
  };
  const auto end = Run();
  EXPECT_EQ(end.exit_code, 130);
  EXPECT_EQ(end.cause, "cancelled");
  EXPECT_EQ(agent_.attempt, 1);
}

TEST_F(CoordinatorTest, ASecondInterruptionKills) {
  agent_.on_launch = [&](const wire::LaunchPlan&) {
    coordinator_.Interrupt("SIGINT", false);
  };
  agent_.on_stop = [&](const wire::StopRanks& stop) {
    if (!stop.now) {
      coordinator_.Interrupt("SIGINT", true);
      return;
    }
    agent_.Stops();
  };
  EXPECT_EQ(Run().exit_code, 130);
}

TEST_F(CoordinatorTest, AnInterruptionBeforeTheStartEndsTheRun) {
  coordinator_.Start(nullptr, cluster_, hello_, [&](const RunEnd& end) {
    EXPECT_EQ(end.exit_code, 130);
    loop_->Quit();
  });
  loop_->Post([&] { coordinator_.Interrupt("SIGTERM", false); });
  loop_->Run();
}

TEST_F(CoordinatorTest, MembersThatDoNotComeKeepTheRunFromStarting) {
  coordinator_.Start(nullptr, cluster_, hello_, [&](const RunEnd& end) {
    EXPECT_EQ(end.exit_code, 125);
    loop_->Quit();
  });
  loop_->Run();
  EXPECT_THAT(Causes(), ElementsAre("rendezvous-timeout"));
}

TEST_F(CoordinatorTest, ALostAgentThatStaysAwayEndsAs75) {
  options_.max_restarts = 0;
  Coordinator coordinator(*loop_, host_, console_, *journal_, options_);
  agent_.on_launch = [&](const wire::LaunchPlan&) { agent_.Leaves(); };
  RunEnd result;
  coordinator.Start(nullptr, cluster_, hello_, [&](const RunEnd& end) {
    result = end;
    loop_->Quit();
  });
  coordinator.rendezvous().AttendHere(std::move(links_.second), hello_);
  loop_->Run();
  EXPECT_EQ(result.exit_code, 75);
  EXPECT_EQ(result.origin, Origin::kMuster);
}

TEST_F(CoordinatorTest, TheLogsOfAFailedRankNameTheCauseAndDecide) {
  agent_.on_launch = [&](const wire::LaunchPlan& plan) {
    if (plan.attempt == 2) {
      agent_.EndsWell();
      return;
    }
    agent_.Ends(1, 1 << 8);
  };
  agent_.on_stop = [&](const wire::StopRanks&) {
    agent_.Ends(0, 15, 15);
    const Fact told{.name = "log.net-port-in-use.0",
                    .fields = {{"rank", 1L}, {"text", "in use"}}};
    agent_.Say(wire::Stopped{.attempt = 1, .logs = {told}});
  };
  EXPECT_EQ(Run().exit_code, 0);
  EXPECT_THAT(Causes(), ElementsAre("net-port-in-use"));
}

TEST_F(CoordinatorTest, AStandstillIsStoppedAndNamed) {
  StandsStillOnce();
  agent_.on_stop = [&](const wire::StopRanks& stop) {
    EXPECT_EQ(stop.cause, "no-progress");
    agent_.Ends(0, 15, 15);
    agent_.Ends(1, 9, 9);
    agent_.Stops();
  };
  EXPECT_EQ(Run().exit_code, 0);
  EXPECT_THAT(Causes(), ElementsAre("no-progress"));
}

TEST_F(CoordinatorTest, AStandstillThatEndsAsAskedIsOneAllTheSame) {
  StandsStillOnce();
  agent_.on_stop = [&](const wire::StopRanks&) {
    agent_.Ends(0, 0, 15);
    agent_.Ends(1, 0, 15);
    agent_.Stops();
  };
  EXPECT_EQ(Run().exit_code, 0);
  EXPECT_EQ(agent_.attempt, 2);
  EXPECT_THAT(Causes(), ElementsAre("no-progress"));
}

TEST_F(CoordinatorTest, RanksThatLeaveWhenStoppedHaveNotDoneTheirWork) {
  cluster_.members[1].task = "ps";
  agent_.on_launch = [&](const wire::LaunchPlan&) { agent_.Ends(1, 1 << 8); };
  agent_.on_stop = [&](const wire::StopRanks&) {
    agent_.Ends(0, 0, 15);
    agent_.Stops();
  };
  EXPECT_EQ(Run().exit_code, 1);
  EXPECT_THAT(Causes(), ElementsAre("app-exception"));
}

TEST_F(CoordinatorTest, AnInterruptionTellsWhatHadFailedBefore) {
  agent_.on_launch = [&](const wire::LaunchPlan&) { agent_.Ends(1, 3 << 8); };
  agent_.on_stop = [&](const wire::StopRanks& stop) {
    if (stop.cause == "cancelled") {
      return;
    }
    coordinator_.Interrupt("SIGINT", false);
    agent_.Ends(0, 15, 15);
    agent_.Stops();
  };
  EXPECT_EQ(Run().exit_code, 130);
  EXPECT_THAT(Causes(), ElementsAre("app-exception", "cancelled"));
}

TEST_F(CoordinatorTest, ServersAreStoppedWhenTheWorkIsDone) {
  cluster_.members[1].task = "ps";
  agent_.on_launch = [&](const wire::LaunchPlan&) { agent_.Ends(0, 0); };
  agent_.on_stop = [&](const wire::StopRanks&) {
    agent_.Ends(1, 15, 15);
    agent_.Stops();
  };
  EXPECT_EQ(Run().exit_code, 0);
}

TEST_F(CoordinatorTest, ASignalAfterTheWorkChangesNothing) {
  cluster_.members[1].task = "ps";
  agent_.on_launch = [&](const wire::LaunchPlan&) { agent_.Ends(0, 0); };
  agent_.on_stop = [&](const wire::StopRanks&) {
    agent_.on_stop = {};
    coordinator_.Interrupt("SIGINT", false);
    agent_.Ends(1, 15, 15);
    agent_.Stops();
  };
  EXPECT_EQ(Run().exit_code, 0);
  EXPECT_THAT(Causes(), IsEmpty());
}

TEST_F(CoordinatorTest, AnInterruptionTellsWhatCouldNotBeStarted) {
  InterruptedAsRankOneEnds({.rank = 1,
                            .attempt = 1,
                            .wait_status = 126 << 8,
                            .could_not_start = true,
                            .error_cause = "deadline-exceeded",
                            .error_message = "no answer"});
  EXPECT_EQ(Run().exit_code, 130);
  EXPECT_THAT(Causes(), ElementsAre("deadline-exceeded", "cancelled"));
}

TEST_F(CoordinatorTest, AnInterruptionTellsWhoWasBeingStarted) {
  InterruptedAsRankOneEnds({.rank = 1,
                            .attempt = 1,
                            .wait_status = kSigkill,
                            .sent_signal = kSigkill});
  EXPECT_EQ(Run().exit_code, 130);
  EXPECT_EQ(Last(record::kFinding).Text("text"),
            "canceled by SIGINT while rank 1 was starting");
}

TEST_F(CoordinatorTest, RanksThatGetTheSignalToo) {
  agent_.on_launch = [&](const wire::LaunchPlan&) {
    coordinator_.Interrupt("SIGTERM", false);
  };
  agent_.on_stop = [&](const wire::StopRanks&) {
    agent_.Ends(0, 15);
    agent_.Ends(1, 15);
    agent_.Stops();
  };
  EXPECT_EQ(Run().exit_code, 130);
  EXPECT_THAT(Causes(), ElementsAre("cancelled"));
}

TEST_F(CoordinatorTest, ARankThatAbortsAsItIsAskedToEndIsNoFailure) {
  agent_.on_launch = [&](const wire::LaunchPlan&) {
    coordinator_.Interrupt("SIGINT", false);
  };
  agent_.on_stop = [&](const wire::StopRanks&) {
    agent_.Ends(0, SIGABRT, 15);
    agent_.Ends(1, 15, 15);
    agent_.Stops();
  };
  EXPECT_EQ(Run().exit_code, 130);
  EXPECT_THAT(Causes(), ElementsAre("cancelled"));
}

TEST_F(CoordinatorTest, SaysWhomItWaitsForWhenTheChiefHasEnded) {
  const char* tasks[] = {"chief", "worker", "ps"};
  cluster_.members.push_back({.rank = 2});
  for (std::size_t rank = 0; rank < 3; ++rank) {
    cluster_.members[rank].task = tasks[rank];
  }
  hello_.ranks = {0, 1, 2};
  hello_.ports = {1, 2, 3, 4, 5, 6};
  agent_.Becomes(hello_);
  RunWhenRankZeroHasEnded();
  EXPECT_THAT(
      Last(record::kRunNote).Text("text"),
      HasSubstr("the chief succeeded, and the run waits for rank 1: a worker"));
}

TEST_F(CoordinatorTest, SaysWhomItWaitsForWhenOthersHaveEnded) {
  RunWhenRankZeroHasEnded();
  EXPECT_EQ(Last(record::kRunNote).Text("text"),
            "the other ranks succeeded, and the run waits for rank 1");
}

TEST_F(CoordinatorTest, RecordsWhatWasLeftBehind) {
  agent_.on_launch = [&](const wire::LaunchPlan&) {
    agent_.Ends(0, 0);
    agent_.Ends(1, 0);
    agent_.Say(wire::Stopped{.attempt = 1, .leftovers = 3});
  };
  EXPECT_EQ(Run().exit_code, 0);
  EXPECT_EQ(Last(record::kAttemptStopped).Number("leftovers"), 3);
}

TEST_F(CoordinatorTest, AnAgentThatLeavesAfterItsRanksStopsNobody) {
  auto links = channel::InProcessLinks(*loop_);
  ScriptedAgent second(std::move(links.first), HelloOfRank(1));
  agent_.on_launch = [&](const wire::LaunchPlan&) {
    agent_.Ends(0, 0);
    agent_.Leaves();
  };
  sys::Loop::Handle later;
  second.on_launch = [&](const wire::LaunchPlan&) {
    later = loop_->After(std::chrono::milliseconds(20), [&] {
      EXPECT_THAT(Names(), Contains("agent.lost"));
      second.Ends(1, 0);
      second.Stops();
    });
  };
  EXPECT_EQ(RunWith(std::move(links.second)).exit_code, 0);
  EXPECT_THAT(second.heard, Not(Contains("stop")));
}

TEST_F(CoordinatorTest, AnAgentSpeaksOfItsOwnRanks) {
  auto links = channel::InProcessLinks(*loop_);
  ScriptedAgent second(std::move(links.first), HelloOfRank(1));
  agent_.on_launch = [&](const wire::LaunchPlan&) {
    agent_.Ends(1, 3 << 8);
    agent_.Ends(0, 0);
    agent_.Stops();
  };
  second.on_launch = [&](const wire::LaunchPlan&) {
    second.Ends(1, 0);
    second.Stops();
  };
  EXPECT_EQ(RunWith(std::move(links.second)).exit_code, 0);
  EXPECT_EQ(Last("coordinator.refused").Number("rank"), 1);
}

TEST_F(CoordinatorTest, AnswersTheStore) {
  agent_.on_launch = [&](const wire::LaunchPlan&) {
    agent_.Say(wire::StoreRequest{
        .rank = 0,
        .attempt = 1,
        .frame = wire::Encode({.op = wire::RankOp::kPut, .key = "k"})});
    agent_.EndsWell();
  };
  EXPECT_EQ(Run().exit_code, 0);
  EXPECT_THAT(agent_.heard, Contains("store-reply"));
}

TEST_F(CoordinatorTest, SurvivesMessagesThatDoNotFit) {
  agent_.on_launch = [&](const wire::LaunchPlan&) {
    agent_.Say(wire::Stopped{.attempt = 7});
    agent_.Ends(99, 0);
    agent_.Ends(-1, 0);
    agent_.Say(wire::RankStarted{.rank = 99});
    agent_.Say(wire::Progress{.ranks = {{.rank = 99}}});
    agent_.Say(wire::StoreRequest{.rank = 99});
    agent_.EndsWell();
  };
  EXPECT_EQ(Run().exit_code, 0);
  EXPECT_EQ(std::ranges::count(Names(), "coordinator.refused"), 4);
}

class CoordinatorRefuses : public CoordinatorTest,
                           public testing::WithParamInterface<wire::Envelope> {
};

TEST_P(CoordinatorRefuses, AnAgentThatItDoesNotUnderstand) {
  agent_.on_launch = [&](const wire::LaunchPlan&) {
    agent_.SayRaw(GetParam());
  };
  agent_.on_refused = [&] { coordinator_.Interrupt("the test", true); };
  Run();
  EXPECT_THAT(agent_.refused, StartsWith("ver-peer-mismatch: "));
  EXPECT_EQ(Last("agent.lost").Text("cause"), "ver-peer-mismatch");
  EXPECT_THAT(Last("agent.lost").Text("text"), StartsWith("ranks 0 to 1"));
}

INSTANTIATE_TEST_SUITE_P(
    All, CoordinatorRefuses,
    testing::Values(wire::Envelope{"who-knows", "{}"},
                    wire::Envelope{"launch", "{}"},
                    wire::Envelope{"exited", R"({"attempt": 1})"},
                    wire::Envelope{"store", "{"}, wire::Envelope{"fact", "3"},
                    wire::Envelope{"peer-check-result",
                                   R"({"attempt": 1, "row": "{"})"}));

}  // namespace
}  // namespace muster::run
