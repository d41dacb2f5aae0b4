// SPDX-License-Identifier: Apache-2.0
#include "run/agent/agent.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <thread>
#include <vector>

#include "base/json.h"
#include "record/events.h"
#include "sys/fake/fake_clock.h"
#include "sys/fake/fake_env.h"
#include "sys/fake/fake_fs.h"
#include "sys/fake/fake_spawner.h"
#include "sys/memory.h"
#include "sys/net/net.h"
#include "sys/net/stream.h"
#include "wire/rank_frame.h"

namespace muster::run {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

// The coordinator's side of a link: what it was sent, and what it says.
struct Wire {
  std::vector<channel::Envelope> sent;
  std::vector<Fact> containment;  // said with each attempt's first rank
  std::function<void(channel::Envelope)> handler;
  std::function<void(const Error&)> lost;
  bool closed = false;
};

class FakeLink : public channel::Link {
 public:
  explicit FakeLink(Wire& wire) : wire_(wire) {}
  void Send(channel::Envelope message) override {
    if (message.kind == wire::AgentFact::kKind) {
      const auto parsed = wire::ParseToCoordinator(message);
      const Fact& fact = std::get<wire::AgentFact>(parsed.value()).fact;
      if (fact.name == record::kContainment) {
        wire_.containment.push_back(fact);
        return;
      }
    }
    wire_.sent.push_back(std::move(message));
  }
  void OnMessage(std::function<void(channel::Envelope)> handler) override {
    wire_.handler = std::move(handler);
  }
  void OnLost(std::function<void(const Error&)> handler) override {
    wire_.lost = std::move(handler);
  }
  void Close() override { wire_.closed = true; }
  std::string peer() const override { return "test"; }

 private:
  Wire& wire_;
};

// Keeps the descriptors that a rank would have got.
class KeepingSpawner : public sys::FakeSpawner {
 public:
  void Begin(const sys::ProcessSpec& spec, OnStarted on_started,
             OnExit on_exit) override {
    auto given = std::make_shared<std::map<int, sys::Fd>>();
    for (const auto& [target, fd] : spec.descriptors) {
      (*given)[target] = sys::Fd(fcntl(fd, F_DUPFD_CLOEXEC, 3));
    }
    FakeSpawner::Begin(
        spec,
        [=, this](const Result<int>& pid) {
          if (pid) {
            kept[*pid] = std::move(*given);
          }
          on_started(pid);
        },
        std::move(on_exit));
  }
  std::map<int, std::map<int, sys::Fd>> kept;
};

class AgentTest : public testing::Test {
 protected:
  void SetUp() override {
    env.variables = {{"PATH", "/bin"}, {"RANK", "9"}};
    ASSERT_TRUE(fs.MakeDirectories("/runs"));
    AgentOptions options;
    options.identity.ranks = {0, 1};
    options.name = "agent 0";
    options.log_directory = [](const wire::LaunchPlan& plan) {
      return "/runs/" + plan.run_id;
    };
    options.progress_period = milliseconds(1);
    Make(std::move(options));
    limit = loop->After(seconds(10), [this] {
      ADD_FAILURE() << "nothing has come for 10 s";
      loop->Quit();
    });
  }

  void Make(AgentOptions options) {
    agent = std::make_unique<Agent>(*loop, host, spawner,
                                    std::make_unique<FakeLink>(wire),
                                    std::move(options));
    agent->Start([this](const AgentEnd& why) {
      end = why;
      loop->Quit();
    });
  }

  static wire::LaunchPlan Plan(std::int64_t grace_ms = 10'000) {
    wire::LaunchPlan plan{.run_id = "r1",
                          .attempt = 1,
                          .world_size = 2,
                          .agents = {{0, 1}},
                          .grace_ms = grace_ms};
    for (int rank = 0; rank < 2; ++rank) {
      plan.ranks.push_back({.rank = rank,
                            .local_rank = rank,
                            .local_size = 2,
                            .slot = rank,
                            .argv = {"train", "--fast"},
                            .environment = {{"WORLD_SIZE", {"2", "plan"}}},
                            .unset = {"RANK"},
                            .cores = {rank},
                            .directory = "/work",
                            .name = "rank " + std::to_string(rank),
                            .registered = "{\"rank\": 1}"});
    }
    return plan;
  }
  template <typename T>
  void Say(const T& message) const {
    wire.handler(Encode(message));
  }
  void Launch(std::int64_t grace_ms = 10'000) { Say(Plan(grace_ms)); }
  // Lets the loop come round until `done`.
  void Until(const std::function<bool()>& done) {
    auto look = loop->Every(milliseconds(1), [&] {
      if (done()) {
        loop->Quit();
      }
    });
    while (!done() && limit.active()) {
      loop->Run();
    }
  }
  std::vector<std::string> Kinds() const {
    std::vector<std::string> kinds;
    for (const auto& message : wire.sent) {
      if (message.kind != "progress") {
        kinds.push_back(message.kind);
      }
    }
    return kinds;
  }
  int Count(std::string_view kind) const {
    return static_cast<int>(std::ranges::count_if(
        wire.sent, [&](const auto& message) { return message.kind == kind; }));
  }
  // What the agent has sent of one kind.
  template <typename T>
  T Sent(int index = 0) const {
    for (const auto& message : wire.sent) {
      if (message.kind == T::kKind && index-- == 0) {
        return std::get<T>(wire::ParseToCoordinator(message).value());
      }
    }
    ADD_FAILURE() << "no " << T::kKind;
    return {};
  }
  Fact SentFact(int index = 0) const {
    return Sent<wire::AgentFact>(index).fact;
  }
  wire::RankExited Exited(int index = 0) const {
    return Sent<wire::RankExited>(index);
  }
  int Pid(int rank) const { return 1000 + rank; }
  int AgentFd(int rank) { return spawner.kept[Pid(rank)][3].get(); }
  void RankSays(int rank, const wire::RankMessage& message) {
    ASSERT_TRUE(sys::SendAll(AgentFd(rank), wire::Encode(message), {},
                             Deadline::After(seconds(1))));
  }
  wire::RankMessage RankHears(int rank,
                              std::vector<sys::Fd>* descriptors = nullptr) {
    std::string buffer;
    std::optional<wire::RankMessage> heard;
    Until([&] {
      if (!heard) {
        EXPECT_TRUE(sys::ReceiveNow(AgentFd(rank), buffer, descriptors));
        heard = wire::TakeMessage(buffer).value();
      }
      return heard.has_value();
    });
    return heard.value_or(wire::RankMessage{});
  }

  std::unique_ptr<sys::Loop> loop = sys::Loop::Make().value();
  sys::FakeEnv env;
  sys::FakeClock clock;
  sys::FakeFs fs;
  sys::Host host{env, clock, fs};
  KeepingSpawner spawner;
  Wire wire;
  std::optional<AgentEnd> end;
  std::unique_ptr<Agent> agent;
  sys::Loop::Handle limit;
};

TEST_F(AgentTest, AnswersACallWithPortsThatItHolds) {
  Say(wire::HelloRequest{3});
  const auto hello = Sent<wire::HelloReply>().hello;
  EXPECT_EQ(hello.attempt, 3);
  EXPECT_EQ(hello.cores, 2);
  ASSERT_EQ(hello.ports.size(), 4U);
  const Address offered{.host = "127.0.0.1", .port = hello.ports[0]};
  EXPECT_FALSE(sys::Listen(offered));
  Launch();
  EXPECT_TRUE(sys::Listen(offered));
}

TEST_F(AgentTest, WaitsForAPortThatTheUserFixed) {
  auto taken = sys::Listen({.host = "127.0.0.1", .port = 0});
  AgentOptions options;
  options.identity.ranks = {0};
  options.fixed_ports = {{0, taken->address.port}};
  Make(std::move(options));
  Say(wire::HelloRequest{1});
  EXPECT_THAT(Kinds(), ElementsAre("fact"));
  EXPECT_EQ(SentFact().name, "port.taken");
  EXPECT_EQ(SentFact().Number("port"), taken->address.port);
  const auto port = taken->address.port;
  taken->fd.Close();
  Until([&] { return Count("hello") == 1; });
  EXPECT_EQ(Sent<wire::HelloReply>().hello.ports[0], port);
  EXPECT_EQ(Count("fact"), 1);
}

TEST_F(AgentTest, ExecutesThePlanAsWritten) {
  Launch();
  EXPECT_THAT(Kinds(), ElementsAre("started", "started"));
  ASSERT_EQ(wire.containment.size(), 1U);
  EXPECT_EQ(wire.containment[0].Text("by"), "process tree");
  EXPECT_EQ(wire.containment[0].Text("why_not"), "nothing is started");
  const auto& spec = spawner.processes.at(Pid(1)).spec;
  EXPECT_THAT(spec.argv, ElementsAre("train", "--fast"));
  EXPECT_EQ(spec.directory, "/work");
  EXPECT_THAT(spec.cores, ElementsAre(1));
  EXPECT_EQ(
      spec.environment,
      (std::map<std::string, std::string>{
          {"PATH", "/bin"}, {"WORLD_SIZE", "2"}, {"MUSTER_AGENT_FD", "3"}}));
  EXPECT_EQ(Sent<wire::RankStarted>(1).pid, Pid(1));
}

TEST_F(AgentTest, TellsExitsAndEndsWhatIsLeft) {
  Launch();
  spawner.End(Pid(1), SIGSEGV);
  EXPECT_EQ(Exited().rank, 1);
  EXPECT_EQ(Exited().wait_status, SIGSEGV);
  EXPECT_EQ(Exited().sent_signal, 0);
  EXPECT_EQ(Count("stopped"), 0);
  spawner.leftovers = 2;
  spawner.End(Pid(0), 0);
  EXPECT_THAT(Kinds(),
              ElementsAre("started", "started", "exited", "exited", "stopped"));
  EXPECT_EQ(Sent<wire::Stopped>().leftovers, 2);
}

TEST_F(AgentTest, TellsARankThatCannotBeStartedAndStartsNoFurther) {
  spawner.next_error =
      Error(Cause::kProgramNotFound, "`train` is not on the PATH")
          .With({.name = "spawn.failed",
                 .fields = {{"code", std::int64_t{127}}}});
  Launch();
  EXPECT_TRUE(Exited().could_not_start);
  EXPECT_EQ(Exited().wait_status, 127 << 8);
  EXPECT_EQ(Exited().facts.at(0).name, "spawn.failed");
  Until([&] { return Count("stopped") == 1; });
  EXPECT_THAT(Kinds(), ElementsAre("exited", "exited", "stopped"));
  EXPECT_TRUE(spawner.processes.empty());
}

TEST_F(AgentTest, StartsTheNextRankOnceTheOneBeforeItRuns) {
  spawner.hold = true;
  Launch();
  EXPECT_THAT(Kinds(), IsEmpty());
  spawner.Answer();
  EXPECT_THAT(Kinds(), ElementsAre("started"));
  spawner.End(Pid(0), 0);
  EXPECT_THAT(Kinds(), ElementsAre("started", "exited"));
  spawner.Answer(Error(Cause::kDeadlineExceeded, "does not answer"));
  EXPECT_TRUE(Exited(1).could_not_start);
  EXPECT_EQ(Exited(1).error_cause, "deadline-exceeded");
  Until([&] { return Count("stopped") == 1; });
}

TEST_F(AgentTest, AStopDoesNotWaitForAStart) {
  spawner.hold = true;
  Launch();
  Say(wire::StopRanks{.attempt = 1, .cause = "cancelled"});
  EXPECT_THAT(Kinds(), ElementsAre("exited", "exited", "stopped"));
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(Exited(i).could_not_start);
    EXPECT_EQ(Exited(i).wait_status, SIGKILL);
    EXPECT_EQ(Exited(i).sent_signal, SIGKILL);
    EXPECT_EQ(Exited(i).error_message, "its program has not started yet");
  }
}

TEST_F(AgentTest, ARankThatRunsAfterAStopIsAskedToEnd) {
  spawner.hold = true;
  Launch();
  spawner.Answer();
  Say(wire::StopRanks{.attempt = 1, .cause = "peer-died"});
  spawner.Answer();
  EXPECT_EQ(RankHears(1).op, wire::RankOp::kStop);
  EXPECT_THAT(spawner.signals, Contains(std::pair(Pid(1), SIGTERM)));
  spawner.End(Pid(0), SIGTERM);
  EXPECT_EQ(Count("stopped"), 0);
  spawner.End(Pid(1), SIGTERM);
  EXPECT_EQ(Count("stopped"), 1);
}

TEST_F(AgentTest, ARankThatRunsWhenAllAreKilledWasKilledByUs) {
  spawner.hold = true;
  spawner.loop = loop.get();
  spawner.leftovers = 1;
  Launch();
  Say(wire::StopRanks{.attempt = 1, .cause = "peer-died"});
  spawner.Answer();
  Until([&] { return Count("stopped") == 1; });
  EXPECT_THAT(Kinds(), ElementsAre("exited", "started", "exited", "stopped"));
  EXPECT_EQ(Exited(1).sent_signal, SIGKILL);
  EXPECT_EQ(Sent<wire::Stopped>().leftovers, 1);
}

TEST_F(AgentTest, ASlotOfTheBoardIsNeeded) {
  auto plan = Plan();
  plan.ranks[1].slot = wire::kProgressSlots;
  Say(plan);
  EXPECT_EQ(Exited().error_cause, "os-limit");
}

TEST_F(AgentTest, StopsInOrderAndKillsAfterTheGrace) {
  Launch(2);
  Say(wire::StopRanks{.attempt = 1, .cause = "peer-died"});
  const auto stop = RankHears(0);
  EXPECT_EQ(stop.op, wire::RankOp::kStop);
  EXPECT_EQ(stop.number, 2);
  EXPECT_EQ(stop.key, "peer-died");
  EXPECT_EQ(spawner.signals.at(0), std::pair(Pid(0), SIGTERM));
  EXPECT_EQ(spawner.signals.at(1), std::pair(Pid(0), SIGCONT));
  Until([&] { return Count("stopped") == 1; });
  EXPECT_EQ(Exited(0).sent_signal, SIGKILL);
  EXPECT_EQ(Sent<wire::Stopped>().leftovers, 0);
}

TEST_F(AgentTest, AStopThatIsObeyedTellsTheSignal) {
  Launch();
  Say(wire::StopRanks{.attempt = 1, .cause = "peer-died"});
  spawner.End(Pid(0), SIGTERM);
  spawner.End(Pid(1), 0);
  EXPECT_EQ(Exited(0).sent_signal, SIGTERM);
  EXPECT_EQ(Count("stopped"), 1);
  Say(wire::StopRanks{.attempt = 1, .cause = "peer-died"});
  EXPECT_EQ(Count("stopped"), 1);
}

TEST_F(AgentTest, ASecondStopDoesNotWait) {
  Launch();
  Say(wire::StopRanks{.attempt = 1, .cause = "cancelled"});
  EXPECT_EQ(Count("exited"), 0);
  Say(wire::StopRanks{.attempt = 1, .cause = "cancelled", .now = true});
  EXPECT_EQ(Count("exited"), 2);
  EXPECT_EQ(Count("stopped"), 1);
}

TEST_F(AgentTest, AnswersAStopOfAnAttemptThatItNeverStarted) {
  Say(wire::StopRanks{.attempt = 4, .cause = "cancelled"});
  EXPECT_EQ(Sent<wire::Stopped>().attempt, 4);
}

TEST_F(AgentTest, GivesARankItsPagesAndReadsItsProgress) {
  Launch();
  RankSays(
      1,
      {.op = wire::RankOp::kRegister, .id = 5, .number = wire::kRankProtocol});
  std::vector<sys::Fd> pages;
  const auto registered = RankHears(1, &pages);
  EXPECT_EQ(registered.op, wire::RankOp::kRegistered);
  EXPECT_EQ(registered.id, 5U);
  EXPECT_EQ(registered.value, "{\"rank\": 1}");
  ASSERT_EQ(pages.size(), 2U);
  auto mapping =
      sys::Mapping::Map(pages[0].get(), sizeof(wire::ProgressPage)).value();
  auto* progress_page = static_cast<wire::ProgressPage*>(mapping.data());
  progress_page->slots[1].step = 12;
  const auto before = Count("progress");
  Until([&] { return Count("progress") > before + 1; });
  const auto progress = Sent<wire::Progress>(Count("progress") - 1);
  EXPECT_EQ(progress.ranks.at(1).progress.step, 12U);
  EXPECT_FALSE(progress.ranks.at(1).finalizing);
  progress_page->slots[1].step = 13;
  spawner.End(Pid(1), SIGKILL);
  EXPECT_EQ(Exited().progress.step, 13U);
  Say(wire::StopRanks{.attempt = 1, .cause = "peer-died"});
  EXPECT_EQ(progress_page->stop,
            1 + static_cast<std::uint32_t>(Cause::kPeerDied));
  EXPECT_EQ(progress_page->event, 1U);
}

TEST_F(AgentTest, RefusesAProgramOfAnotherProtocol) {
  Launch();
  RankSays(0,
           {.op = wire::RankOp::kRegister, .number = wire::kRankProtocol + 1});
  EXPECT_EQ(RankHears(0).key, "ver-peer-mismatch");
}

TEST_F(AgentTest, PassesStoreFramesOnAndTheRepliesBack) {
  Launch();
  const wire::RankMessage put{
      .op = wire::RankOp::kPut, .id = 9, .key = "a", .value = "\xff"};
  RankSays(0, put);
  Until([&] { return Count("store") == 1; });
  auto request = Sent<wire::StoreRequest>();
  EXPECT_EQ(wire::TakeMessage(request.frame).value(), put);
  Say(wire::StoreReply{
      .rank = request.rank,
      .attempt = request.attempt,
      .frame = wire::Encode({.op = wire::RankOp::kDone, .id = 9})});
  EXPECT_EQ(RankHears(0).op, wire::RankOp::kDone);
  EXPECT_EQ(Count("fact"), 0);
}

TEST_F(AgentTest, RefusesAValueThatTheLinkCannotCarry) {
  Launch();
  const std::string put = wire::Encode({.op = wire::RankOp::kPut,
                                        .id = 9,
                                        .key = "a",
                                        .value = std::string(5U << 20, 'x')});
  const std::jthread rank([&put, fd = AgentFd(0)] {
    EXPECT_TRUE(sys::SendAll(fd, put, {}, Deadline::After(seconds(20))));
  });
  const wire::RankMessage refused = RankHears(0);
  EXPECT_EQ(refused.op, wire::RankOp::kRefused);
  EXPECT_EQ(refused.id, 9U);
  EXPECT_EQ(refused.key, "os-limit");
  EXPECT_EQ(Count("store"), 0);
}

TEST_F(AgentTest, TellsWhatARankSaidBeforeItEnded) {
  Launch();
  RankSays(0, {.op = wire::RankOp::kFact,
               .value = R"({"name":"x","fields":{},"at":)"
                        R"("2026-11-21T14:35:19.000123Z"})"});
  RankSays(0, {.op = wire::RankOp::kFailed,
               .key = "numerics-nan",
               .value = R"({"message":"loss is nan","evidence":[]})"});
  ASSERT_TRUE(sys::WriteNow(spawner.kept[Pid(0)][2].get(), "line 1\nline 2"));
  spawner.End(Pid(0), 256);
  EXPECT_EQ(Exited().error_cause, "numerics-nan");
  EXPECT_EQ(Exited().error_message, "loss is nan");
  EXPECT_THAT(Exited().last_lines, ElementsAre("line 1", "line 2"));
  EXPECT_EQ(SentFact().name, "x");
  EXPECT_EQ(SentFact().subject, "rank 0");
  EXPECT_EQ(fs.files.at("/runs/r1/rank0.err"), "line 1\nline 2");
  EXPECT_EQ(fs.files.at("/runs/r1/rank0.out"), "");
}

TEST_F(AgentTest, SurvivesGarbageOfARank) {
  Launch();
  ASSERT_TRUE(sys::SendAll(AgentFd(0), std::string(100, '\xff'), {},
                           Deadline::After(seconds(1))));
  RankSays(1, {.op = wire::RankOp::kRegistered});
  RankSays(1, {.op = wire::RankOp::kFact, .value = "nonsense"});
  RankSays(1, {.op = wire::RankOp::kFailed, .key = "no-such-cause"});
  Until([&] { return Count("fact") == 4; });
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(SentFact(i).name, "rank.refused");
  }
  spawner.End(Pid(0), 0);
  EXPECT_EQ(Exited().error_cause, "");
}

TEST_F(AgentTest, TellsAKillForMemory) {
  fs.files["/proc/self/mountinfo"] =
      "30 23 0:26 / /cg rw - cgroup2 cgroup2 rw\n";
  fs.files["/proc/self/cgroup"] = "0::/\n";
  fs.files["/cg/memory.events"] = "oom_kill 4\n";
  Launch();
  fs.files["/cg/memory.events"] = "oom_kill 5\n";
  spawner.End(Pid(0), SIGKILL);
  spawner.End(Pid(1), SIGKILL);
  EXPECT_EQ(Exited(0).facts.at(0).name, "oom.kill");
  EXPECT_EQ(Exited(0).facts.at(0).Number("kills"), 1);
  EXPECT_EQ(Exited(1).facts.at(0).name, "rank.usage");
}

TEST_F(AgentTest, SaysOnceThatThereWillBeNoLogFiles) {
  fs.fail.emplace("/runs/r1", Cause::kDiskFull);
  Launch();
  EXPECT_EQ(Count("fact"), 1);
  EXPECT_EQ(SentFact().name, "log.failed");
  EXPECT_EQ(Count("started"), 2);
}

TEST_F(AgentTest, RefusesASecondLaunchAndGoesOn) {
  Launch();
  Launch();
  EXPECT_EQ(Count("fact"), 1);
  EXPECT_EQ(SentFact().name, "agent.refused");
  EXPECT_EQ(Count("started"), 2);
}

class AgentRefuses : public AgentTest,
                     public testing::WithParamInterface<wire::Envelope> {};

TEST_P(AgentRefuses, WhatItDoesNotUnderstandAsALostLink) {
  wire.handler(GetParam());
  EXPECT_EQ(SentFact().name, "agent.refused");
  EXPECT_EQ(SentFact().Text("kind"), GetParam().kind);
  EXPECT_EQ(SentFact().Text("cause"), "ver-peer-mismatch");
  Launch();
  EXPECT_EQ(Count("started"), 0);
  loop->Run();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->error->cause(), Cause::kVerPeerMismatch);
  EXPECT_TRUE(wire.closed);
}

INSTANTIATE_TEST_SUITE_P(All, AgentRefuses,
                         testing::Values(wire::Envelope{"dance", "{}"},
                                         wire::Envelope{"exited", "{}"},
                                         wire::Envelope{"launch", "{"},
                                         wire::Envelope{"call", "{}"}));

// What a plan makes programs load code from, and why it is rejected.
struct Loaded {
  const char* variable;  // empty: the directory
  bool taken;
};
class AgentOfAStranger : public AgentTest,
                         public testing::WithParamInterface<Loaded> {};

TEST_P(AgentOfAStranger, TakesNothingThatLoadsCode) {
  AgentOptions options;
  options.identity.ranks = {0, 1};
  options.coordinator_proved = false;
  Make(std::move(options));
  wire::LaunchPlan plan = Plan();
  const std::string variable = GetParam().variable;
  for (auto& rank : plan.ranks) {
    rank.directory = variable.empty() ? "/elsewhere" : "";
  }
  plan.ranks[1].environment[variable] = {"x", "plan"};
  Say(plan);
  EXPECT_EQ(Count("started"), GetParam().taken ? 2 : 0);
  if (!GetParam().taken) {
    loop->Run();
    ASSERT_TRUE(end && end->error);
    EXPECT_EQ(end->error->cause(), Cause::kUsageInvalid);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, AgentOfAStranger,
    testing::Values(Loaded{"LD_PRELOAD", false}, Loaded{"PYTHONPATH", false},
                    Loaded{"MUSTER_RUNS_DIR", false}, Loaded{"PATH", false},
                    Loaded{"", false}, Loaded{"MUSTER_RANK", true},
                    Loaded{"PYTHONUNBUFFERED", true}, Loaded{"MODEL", true}));

TEST_F(AgentTest, TellsThatARankEndedWithItsGuardian) {
  Launch();
  spawner.End(Pid(0), SIGKILL, SIGKILL);
  EXPECT_EQ(Exited(0).facts.back().name, "guardian.lost");
  EXPECT_EQ(Exited(0).facts.back().Text("signal_name"), "SIGKILL");
}

TEST_F(AgentTest, AStartThatTheGuardianDidNotLiveToSeeIsNoBadProgram) {
  spawner.next_error = Error(Cause::kPeerDied, "the guardian was killed");
  Launch();
  EXPECT_FALSE(Exited(0).could_not_start);
  EXPECT_EQ(Exited(0).facts.back().name, "guardian.lost");
}

TEST_F(AgentTest, EndsWhenTheCoordinatorRefusesIt) {
  Launch();
  Say(wire::RefusedFor(Error(Cause::kVerPeerMismatch, "`dance` is unknown")));
  spawner.End(Pid(0), SIGTERM);
  spawner.End(Pid(1), SIGTERM);
  loop->Run();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->error->ToString(), "ver-peer-mismatch: `dance` is unknown");
}

TEST_F(AgentTest, EndsWithTheGoodbye) {
  Say(wire::Goodbye{.exit_code = 75, .origin = "muster"});
  loop->Run();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->goodbye->exit_code, 75);
  EXPECT_TRUE(wire.closed);
}

TEST_F(AgentTest, StopsItsRanksWhenTheLinkIsLost) {
  Launch();
  wire.lost(Error(Cause::kHeartbeatMissed, "silent for 3 s"));
  spawner.End(Pid(0), SIGTERM);
  EXPECT_FALSE(end);
  spawner.End(Pid(1), SIGTERM);
  loop->Run();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->error->cause(), Cause::kHeartbeatMissed);
}

TEST_F(AgentTest, AnInterruptStopsTheRanksAndASecondOneAtOnce) {
  Launch();
  agent->Interrupt(false);
  EXPECT_EQ(SentFact().name, "agent.interrupted");
  EXPECT_EQ(Count("exited"), 0);
  agent->Interrupt(true);
  EXPECT_EQ(Count("stopped"), 1);
  loop->Run();
  EXPECT_EQ(end->error->cause(), Cause::kCancelled);
}

TEST_F(AgentTest, LeavesWithoutAWordAndKillsItsRanks) {
  Launch();
  agent->Leave();
  EXPECT_TRUE(wire.closed);
  EXPECT_EQ(Count("fact"), 0);
  loop->Run();
  ASSERT_TRUE(end);
  EXPECT_EQ(end->error->cause(), Cause::kCancelled);
}

TEST_F(AgentTest, StartsTheNextAttemptAfterTheFirst) {
  for (int attempt = 1; attempt <= 2; ++attempt) {
    Say(wire::HelloRequest{attempt});
    auto plan = Plan();
    plan.attempt = attempt;
    Say(plan);
    EXPECT_EQ(Count("started"), 2 * attempt);
    for (int rank = 0; rank < 2; ++rank) {
      spawner.End(1000 + 2 * (attempt - 1) + rank, 0);
    }
    EXPECT_EQ(Count("stopped"), attempt);
  }
  EXPECT_EQ(Count("fact"), 0);
}

TEST_F(AgentTest, KillsWhatRunsWhenItIsDestroyed) {
  Launch();
  agent.reset();
  EXPECT_FALSE(spawner.processes.at(Pid(0)).running);
}

}  // namespace
}  // namespace muster::run
