// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "check/runner.h"
#include "check/testing.h"
#include "identify/testing.h"
#include "wire/proto_fields.h"

namespace muster::check {
namespace {

using identify::testing::FakeServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// What a worker tells: its devices, by the port that is asked.
struct Told : channel::Caller {
  explicit Told(std::string body) : status(std::move(body)) {}
  channel::CallReply Call(const std::string& method, const std::string&,
                          Deadline) override {
    return method == "/tensorflow.WorkerService/GetStatus"
               ? channel::CallReply{.body = status}
               : channel::CallReply{.code = channel::kCallUnimplemented};
  }
  std::string status;
};

std::string StatusOf(int task, int chips) {
  const std::string at =
      "/job:tpu_worker/replica:0/task:" + std::to_string(task) + "/device:";
  std::string body = wire::BytesField(
      1, wire::BytesField(1, at + "CPU:0") + wire::BytesField(2, "CPU"));
  for (int i = 0; i < chips; ++i) {
    body += wire::BytesField(
        1, wire::BytesField(1, at + "TPU:" + std::to_string(i)) +
               wire::BytesField(2, "TPU"));
  }
  return body;
}

// Workers of a TPU, each with these chips.
class TpuTest : public ::testing::Test {
 protected:
  void AddWorker(int chips, std::optional<int> task = std::nullopt) {
    workers_.push_back(std::make_unique<FakeServer>(
        identify::testing::Answer(std::string("\0\0\0\x04\0\0\0\0\0", 9))));
    const Address& address = workers_.back()->address();
    const int place = static_cast<int>(setup.workers.size());
    told_[address.port] = StatusOf(task.value_or(place), chips);
    setup.source = "test";
    setup.workers.push_back({.text = ToString(address),
                             .address = address,
                             .protocol = "tf",
                             .task = identify::ServedTask{"worker", place}});
  }

  // "pass", "fail device-missing", "skip": by the steps' order. Here, not in
  // children: a process with threads is not to be copied.
  std::vector<std::string> Start() {
    Context context = host.MakeContext();
    context.tpu = setup;
    context.target.wait = std::chrono::seconds(5);
    context.target.callers = [this](const Address& number) {
      return std::make_unique<Told>(told_[number.port]);
    };
    const auto checks = *Select(AllChecks(), std::vector<std::string>{"tpu"});
    std::vector<std::string> summaries;
    outcomes.clear();
    for (const Check* check : checks) {
      const bool skipped =
          !outcomes.empty() && outcomes.back().state != OutcomeState::kPass;
      outcomes.push_back(skipped ? Skip(std::string(check->needs))
                                 : check->run(context));
      summaries.push_back(Summary(outcomes.back()));
    }
    return summaries;
  }
  const Outcome& Step(std::size_t number) const { return outcomes.at(number); }

  FakeHost host;
  TpuSetup setup;
  std::vector<Outcome> outcomes;

 private:
  std::vector<std::unique_ptr<FakeServer>> workers_;
  std::map<std::uint16_t, std::string> told_;
};

TEST_F(TpuTest, StepsComeInTheOrderInWhichAProgramTakesThem) {
  const auto checks = *Select(AllChecks(), std::vector<std::string>{"tpu"});
  std::vector<std::string_view> ids;
  for (const Check* one : checks) {
    ids.push_back(one->id);
  }
  EXPECT_THAT(ids,
              ElementsAre("tpu.resolved", "tpu.connected", "tpu.initialized",
                          "tpu.replicas", "tpu.cluster-spec"));
}

TEST_F(TpuTest, PassesWhereAllIsAsExpected) {
  AddWorker(4);
  AddWorker(4);
  setup.devices = Sourced<int>{8, "v4-16 of test"};
  EXPECT_THAT(Start(), ElementsAre("pass", "pass", "pass", "pass", "pass"));
  EXPECT_EQ(Step(1).detail, "connected 2 of 2 workers");
  EXPECT_EQ(Step(3).detail,
            "8 replicas: 2 workers, 4 accelerators each, 8 expected (v4-16 of "
            "test)");
  EXPECT_THAT(Step(4).lines,
              ElementsAre(HasSubstr("worker 0  "), HasSubstr("worker 1  ")));
}

TEST_F(TpuTest, NobodyNamesATpuAndTheStepsAreSkippedByName) {
  const auto checks = *Select(AllChecks(), std::vector<std::string>{"tpu"});
  const auto answers = RunChecks(checks, host.MakeContext(), {});
  EXPECT_EQ(Summary(answers[0].outcome), "fail launch-env-missing");
  for (std::size_t i = 1; i < answers.size(); ++i) {
    EXPECT_EQ(Summary(answers[i].outcome), "skip");
    EXPECT_THAT(answers[i].outcome.detail,
                HasSubstr("`" + std::string(checks[i - 1]->id) + "`"));
  }
}

TEST_F(TpuTest, AWorkerThatRefusesIsNamedAndEndsTheSteps) {
  AddWorker(4);
  AddWorker(4);
  setup.workers[1].address = sys::Listen({"127.0.0.1", 0})->address;
  ASSERT_THAT(Start(), ElementsAre("pass", "fail net-wrong-endpoint", "skip",
                                   "skip", "skip"));
  EXPECT_EQ(Step(1).detail, "connected 1 of 2 workers");
  EXPECT_THAT(Step(1).findings[0].what, HasSubstr("task 1 of worker"));
}

// Whatever the steps before have seen.
TEST_F(TpuTest, AWorkerThatDoesNotAnswerThisTimeHasNotLostItsChips) {
  AddWorker(4);
  AddWorker(4);
  setup.devices = Sourced<int>{8, "v4-16 of test"};
  ASSERT_THAT(Start(), ElementsAre("pass", "pass", "pass", "pass", "pass"));
  setup.workers[1].address = sys::Listen({"127.0.0.1", 0})->address;
  Context context = host.MakeContext();
  context.tpu = setup;
  for (const char* id :
       {"tpu.initialized", "tpu.replicas", "tpu.cluster-spec"}) {
    EXPECT_EQ(Summary(CheckOf(id).run(context)), "fail net-wrong-endpoint")
        << id;
  }
}

TEST_F(TpuTest, AWorkerWithoutChipsCannotBeInitialised) {
  AddWorker(4);
  AddWorker(0);
  ASSERT_THAT(Start(), ElementsAre("pass", "pass", "fail device-missing",
                                   "skip", "skip"));
  EXPECT_THAT(Step(2).findings[0].what,
              HasSubstr("1 worker of 2 list no TPU device"));
}

TEST_F(TpuTest, AnotherNumberOfReplicasIsNamed) {
  AddWorker(4);
  setup.devices = Sourced<int>{8, "flag --replicas"};
  EXPECT_THAT(Start(), ElementsAre("pass", "pass", "pass",
                                   "fail rank-world-mismatch", "skip"));
}

TEST_F(TpuTest, WorkersInAnotherOrderAreTheLastThingFound) {
  AddWorker(4, 1);
  AddWorker(4, 0);
  EXPECT_THAT(Start(), ElementsAre("pass", "pass", "pass", "pass",
                                   "fail net-wrong-endpoint"));
}

TEST_F(TpuTest, ChipsOfThisHostAreLookedAtAndNotOpened) {
  host.AddTpu();
  setup.source = "source local-tpu";
  setup.chips_here = Sourced<int>{1, "/dev"};
  EXPECT_THAT(Start(), ElementsAre("pass", "pass", "pass", "pass", "pass"));
  EXPECT_EQ(Step(2).detail, "1 chip is visible and free; no device was opened");
  setup.chips_here = Sourced<int>{4, "v4-8"};
  EXPECT_THAT(Start(), ElementsAre("pass", "pass", "pass",
                                   "fail device-missing", "skip"));
}

TEST_F(TpuTest, ChipsThatAreHeldOrAbsentAreTheReason) {
  setup.source = "source gce-tpu-vm";
  EXPECT_THAT(Start(), ElementsAre("pass", "pass", "fail device-missing",
                                   "skip", "skip"));
  host.AddTpu();
  host.machine.holders["/dev/accel0"] = {sys::Holder{41, "python"}};
  EXPECT_THAT(Start(),
              ElementsAre("pass", "pass", "fail device-busy", "skip", "skip"));
}

TEST_F(TpuTest, SaysWhyWorkersCannotBeAskedAndHowManyHostsAreNot) {
  setup.unasked = Error(Cause::kLaunchEnvMissing, "the cluster has 257");
  ASSERT_EQ(Start().front(), "fail launch-env-missing");
  EXPECT_EQ(Step(0).findings[0].what, "the cluster has 257");
  setup.unasked.reset();
  setup.source = "source gce-tpu-vm";
  setup.hosts.assign(2, {.address = sys::Listen({"127.0.0.1", 0})->address,
                         .protocol = "tcp"});
  setup.left_out = 254;
  (void)Start();
  EXPECT_THAT(Step(0).detail, HasSubstr("the chips of 256 hosts"));
  EXPECT_THAT(Step(1).detail, HasSubstr("254 hosts more not probed"));
}

TEST_F(TpuTest, HostsOfASliceThatRefuseAreUp) {
  setup.source = "source gce-tpu-vm";
  host.AddTpu();
  for (int i = 0; i < 2; ++i) {
    const Address address = sys::Listen({"127.0.0.1", 0})->address;
    setup.hosts.push_back(
        {.text = ToString(address), .address = address, .protocol = "tcp"});
  }
  EXPECT_THAT(Start(), ElementsAre("pass", "pass", "pass", "pass", "pass"));
  EXPECT_THAT(Step(1).detail, HasSubstr("2 of 2 hosts are up"));
  setup.hosts[1].address.host = "no-such-host.invalid";
  EXPECT_THAT(Start(), ElementsAre("pass", "fail net-name-resolution", "skip",
                                   "skip", "skip"));
}

}  // namespace
}  // namespace muster::check
