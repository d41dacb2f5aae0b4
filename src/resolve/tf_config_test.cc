// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "resolve/resolve.h"
#include "sys/fake/fake_clock.h"
#include "sys/fake/fake_env.h"
#include "sys/fake/fake_fs.h"

namespace muster::resolve {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

Result<Resolved> Ask(const std::string& text) {
  sys::FakeEnv env;
  sys::FakeClock clock;
  sys::FakeFs fs;
  env.variables["TF_CONFIG"] = text;
  return Resolve({}, {env, clock, fs});
}

TEST(TfConfig, NumbersChiefThenWorkersThenOthersThenServers) {
  auto resolved = Ask(R"({"cluster": {"ps": ["d:1"], "evaluator": ["e:1"],
      "worker": ["b:1", "c:1"], "chief": ["a:1"]},
      "task": {"type": "worker", "index": "1"}})");
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  std::vector<std::string> hosts;
  for (const Member& member : resolved->cluster.members) {
    hosts.push_back(member.address->value.host);
  }
  EXPECT_THAT(hosts, ElementsAre("a", "b", "c", "e", "d"));
  EXPECT_EQ(*resolved->cluster.self,
            (Sourced<int>{2, "env TF_CONFIG, task worker 1"}));
  EXPECT_EQ(resolved->cluster.coordinator->value.host, "a");
  EXPECT_EQ(resolved->cluster.WorldSize(), 3);
}

TEST(TfConfig, ReadsAMapFromIndexToAddress) {
  auto resolved = Ask(R"({"cluster": {"worker": {"1": "b:1", "0": "a:1"}},
                          "task": {"type": "worker", "index": 0}})");
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.members[1].address->value.host, "b");
  EXPECT_TRUE(resolved->findings.empty());
}

TEST(TfConfig, RemarksThatASparseMapShowsAPart) {
  auto resolved =
      Ask(R"({"sparseCluster": {"worker": {"3": "b:1"}, "ps": ["c:1"]},
              "task": {"type": "worker", "index": 3}})");
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  ASSERT_EQ(resolved->findings.size(), 1U);
  EXPECT_THAT(resolved->findings[0].what,
              HasSubstr("names 1 task up to index 3"));
}

TEST(TfConfig, WithATaskAndNoClusterIsOneProcess) {
  auto resolved = Ask(R"({"task": {"type": "worker", "index": 0}})");
  ASSERT_TRUE(resolved) << resolved.error().ToString();
  EXPECT_EQ(resolved->cluster.size,
            (Sourced<int>{1, "env TF_CONFIG, without a cluster"}));
}

TEST(TfConfig, ThatIsEmptySaysNothing) {
  for (const char* text : {"", "{}", R"({"cluster": {}, "task": {}})"}) {
    auto resolved = Ask(text);
    ASSERT_TRUE(resolved) << text;
    EXPECT_EQ(resolved->claims[0].source, "default") << text;
  }
}

struct BadConfig {
  const char* text;
  const char* says;
};
class BadTfConfig : public testing::TestWithParam<BadConfig> {};

TEST_P(BadTfConfig, IsNamedWithThePlace) {
  auto resolved = Ask(GetParam().text);
  ASSERT_FALSE(resolved);
  EXPECT_THAT(resolved.error().ToString(),
              AllOf(HasSubstr("TF_CONFIG"), HasSubstr(GetParam().says)));
}

#define TASK R"(, "task": {"type": "worker", "index": 0}})"
INSTANTIATE_TEST_SUITE_P(
    All, BadTfConfig,
    testing::Values(
        BadConfig{R"({"cluster": {"worker": ["a:1",]}})", "line 1, column 31"},
        BadConfig{"[]", "is not an object"},
        BadConfig{R"({"cluster": 3})", ".cluster is not a task map"},
        BadConfig{R"({"cluster": {"worker": "a:1"})" TASK,
                  ".cluster.worker is nei"},
        BadConfig{R"({"cluster": {"worker": [7]})" TASK,
                  ".worker[0] is not an address"},
        BadConfig{R"({"cluster": {"worker": ["a:1", "b"]})" TASK,
                  ".cluster.worker[1] is not an address: `b` is not HOST:PORT: "
                  "the port "
                  "is missing"},
        BadConfig{R"({"cluster": {"worker": ["a:0"]})" TASK, "1 to 65535"},
        BadConfig{
            R"({"cluster": {"worker": ["a:1", "a:1"]})" TASK,
            "the address a:1 is given to worker 0 at a:1 and to worker 1"},
        BadConfig{R"({"cluster": {"worker": {"x": "a:1"}})" TASK,
                  "not a whole number"},
        BadConfig{R"({"cluster": {"worker": {"1": "a:1", "01": "b:1"}})" TASK,
                  "number 1"},
        BadConfig{R"({"cluster": {"chief": ["a:1", "b:1"]})" TASK,
                  ".cluster.chief has 2 addresses"},
        BadConfig{R"({"cluster": {"chief": ["a:1"], "master": ["b:1"]})" TASK,
                  "both `chief` and `master`"},
        BadConfig{R"({"cluster": {"worker": ["a:1"]}, "task": 0})",
                  ".task is not an object"},
        BadConfig{
            R"({"cluster": {"worker": ["a:1"]}, "task": {"type": "worker"}})",
            ".task has no `index`"},
        BadConfig{R"({"cluster": {"worker": ["a:1"]}, "task": {"index": 0}})",
                  ".task has no `type`"},
        BadConfig{R"({"cluster": {"worker": ["a:1"]},
               "task": {"type": "wroker", "index": 0}})",
                  "not in the cluster (worker), did you mean `worker`?"},
        BadConfig{R"({"cluster": {"worker": ["a:1"]},
               "task": {"type": "worker", "index": 1}})",
                  ".task.index is 1, but `worker` has 1 address"},
        BadConfig{R"({"cluster": {"worker": ["a:1"]},
               "task": {"type": "worker", "index": 1.5}})",
                  "1.5, which is not a whole number"},
        BadConfig{R"({"task": {"type": "worker", "index": 1}})",
                  "although there is no `cluster`"},
        BadConfig{R"({"cluster": {"worker": ["a:1", "b:1"]}})",
                  "has a cluster but no task"}));
#undef TASK

}  // namespace
}  // namespace muster::resolve
