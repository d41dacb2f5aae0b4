// SPDX-License-Identifier: Apache-2.0
// An agent with real processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <map>
#include <vector>

#include "base/json.h"
#include "run/agent/agent.h"
#include "sys/process/process.h"
#include "sys/testing.h"

namespace muster::run {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::ElementsAre;

struct Seen {
  std::map<int, wire::RankStarted> started;
  std::map<int, wire::RankExited> exited;
  std::optional<wire::Stopped> stopped;
  std::function<void(channel::Envelope)> say;
};

// Sorts what the agent tells.
class ReadingLink : public channel::Link {
 public:
  ReadingLink(sys::Loop& loop, Seen& seen) : loop_(loop), seen_(seen) {}
  void Send(channel::Envelope message) override {
    wire::Dispatch(
        wire::ParseToCoordinator(message).value(),
        [this](const wire::RankStarted& started) {
          seen_.started[started.rank] = started;
          loop_.Quit();
        },
        [this](const wire::RankExited& exited) {
          seen_.exited[exited.rank] = exited;
          loop_.Quit();
        },
        [this](const wire::Stopped& stopped) {
          seen_.stopped = stopped;
          loop_.Quit();
        },
        [](const auto&) {});
  }
  void OnMessage(std::function<void(channel::Envelope)> handler) override {
    seen_.say = std::move(handler);
  }
  void OnLost(std::function<void(const Error&)> /*handler*/) override {}
  void Close() override {}
  std::string peer() const override { return "test"; }

 private:
  sys::Loop& loop_;
  Seen& seen_;
};

class AgentSystemTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(spawner->Attach(*loop));
    root = testing::TempDir() + "muster_agent_" + std::to_string(sys::OwnPid());
    AgentOptions options;
    options.identity.ranks = {0, 1};
    options.log_directory = [this](const wire::LaunchPlan&) { return root; };
    agent = std::make_unique<Agent>(*loop, sys::Host{env, clock, fs}, *spawner,
                                    std::make_unique<ReadingLink>(*loop, seen),
                                    std::move(options));
    agent->Start([](const AgentEnd&) {});
    limit = loop->After(seconds(20), [this] {
      ADD_FAILURE() << "nothing has come for 20 s";
      loop->Quit();
    });
  }
  void TearDown() override { EXPECT_TRUE(fs.RemoveRecursively(root)); }

  void Launch(const std::vector<std::string>& scripts) const {
    wire::LaunchPlan plan{.run_id = "r1", .world_size = 2, .agents = {{0, 1}}};
    for (int rank = 0; rank < 2; ++rank) {
      plan.ranks.push_back(
          {.rank = rank,
           .local_rank = rank,
           .local_size = 2,
           .argv = {"sh", "-c", scripts[static_cast<std::size_t>(rank)]}});
    }
    seen.say(Encode(plan));
  }
  void Stop() const { seen.say(Encode(wire::StopRanks{.cause = "peer-died"})); }
  void Until(const std::function<bool()>& done) const {
    while (!done() && limit.active()) {
      loop->Run();
    }
  }

  // Of what nobody tells.
  void UntilProbed(const std::function<bool()>& done) const {
    const auto look = loop->Every(milliseconds(10), [this] { loop->Quit(); });
    Until(done);
  }

  std::unique_ptr<sys::GuardianSpawner> spawner =
      sys::GuardianSpawner::Fork().value();
  std::unique_ptr<sys::Loop> loop = sys::Loop::Make().value();
  sys::RealEnv env;
  sys::RealClock clock;
  sys::RealFs fs;
  std::string root;
  Seen seen;
  std::unique_ptr<Agent> agent;
  sys::Loop::Handle limit;
};

TEST_F(AgentSystemTest, TheLoopGoesOnWhileAProgramIsWaitedFor) {
  sys::LeasedProgram program;
  if (!program.held()) {
    GTEST_SKIP() << "no lease is given here";
  }
  int beats = 0;
  const auto beat = loop->Every(milliseconds(10), [&] {
    if (++beats == 20) {
      program.Release();
    }
  });
  wire::LaunchPlan plan{.run_id = "r1", .world_size = 2, .agents = {{0, 1}}};
  plan.ranks.push_back({.rank = 0, .local_size = 2, .argv = {"true"}});
  plan.ranks.push_back(
      {.rank = 1, .local_rank = 1, .local_size = 2, .argv = {program.path()}});
  seen.say(Encode(plan));
  Until([&] { return seen.stopped.has_value(); });
  EXPECT_GE(beats, 20);
  EXPECT_EQ(seen.exited.at(0).wait_status, 0);
  EXPECT_EQ(seen.exited.at(1).wait_status, 0);
}

TEST_F(AgentSystemTest, AStopEndsAStartThatHangs) {
  const sys::LeasedProgram program;
  if (!program.held()) {
    GTEST_SKIP() << "no lease is given here";
  }
  const Deadline soon = Deadline::After(seconds(5));
  wire::LaunchPlan plan{.run_id = "r1", .world_size = 1, .agents = {{0}}};
  plan.ranks.push_back({.rank = 0, .argv = {program.path()}});
  seen.say(Encode(plan));
  const auto later = loop->After(milliseconds(50), [&] { Stop(); });
  Until([&] { return seen.stopped.has_value(); });
  EXPECT_FALSE(soon.Expired());
  EXPECT_EQ(seen.exited.at(0).sent_signal, SIGKILL);
  EXPECT_EQ(seen.stopped->leftovers, 0);
}

TEST_F(AgentSystemTest, RunsRanksToTheirEndAndKeepsWhatTheyWrote) {
  Launch({"echo out; echo err >&2; exit 3", "echo two; (sleep 600 &)"});
  Until([&] { return seen.stopped.has_value(); });
  EXPECT_EQ(WEXITSTATUS(seen.exited.at(0).wait_status), 3);
  EXPECT_THAT(seen.exited.at(0).last_lines, ElementsAre("err"));
  EXPECT_EQ(seen.exited.at(1).wait_status, 0);
  EXPECT_EQ(seen.stopped->leftovers, 1);
  EXPECT_EQ(*fs.Read(root + "/rank0.out"), "out\n");
  EXPECT_EQ(*fs.Read(root + "/rank0.err"), "err\n");
  EXPECT_EQ(*fs.Read(root + "/rank1.out"), "two\n");
}

TEST_F(AgentSystemTest, StopsTheOthersWhenOneIsKilled) {
  Launch({"trap 'exit 9' TERM; echo ready; while :; do sleep 0.01; done",
          "while :; do sleep 600; done"});
  Until([&] { return seen.started.contains(1); });
  UntilProbed([&] {
    const auto out = fs.Read(root + "/rank0.out");
    return out && *out == "ready\n";
  });
  kill(seen.started.at(1).pid, SIGKILL);
  Until([&] { return seen.exited.contains(1); });
  EXPECT_EQ(seen.exited.at(1).wait_status, SIGKILL);
  EXPECT_EQ(seen.exited.at(1).sent_signal, 0);
  Stop();
  Until([&] { return seen.stopped.has_value(); });
  EXPECT_EQ(WEXITSTATUS(seen.exited.at(0).wait_status), 9);
  EXPECT_EQ(seen.exited.at(0).sent_signal, SIGTERM);
}

TEST_F(AgentSystemTest, StopsARankThatWasStopped) {
  Launch({"kill -STOP $$", "exit 0"});
  Until([&] { return seen.started.contains(0); });
  const int pid = seen.started.at(0).pid;
  UntilProbed([&] {
    const auto process = sys::ReadProcess(pid);
    return process && process->state == 'T';
  });
  Stop();
  Until([&] { return seen.stopped.has_value(); });
  EXPECT_EQ(seen.exited.at(0).wait_status, SIGTERM);
}

TEST_F(AgentSystemTest, TellsAProgramThatIsNotThere) {
  wire::LaunchPlan plan{.run_id = "r1", .world_size = 1, .agents = {{0}}};
  plan.ranks.push_back({.rank = 0, .argv = {"no-such-program"}});
  seen.say(Encode(plan));
  Until([&] { return seen.stopped.has_value(); });
  EXPECT_TRUE(seen.exited.at(0).could_not_start);
  EXPECT_EQ(WEXITSTATUS(seen.exited.at(0).wait_status), 127);
  EXPECT_EQ(seen.exited.at(0).error_cause, "program-not-found");
}

}  // namespace
}  // namespace muster::run
