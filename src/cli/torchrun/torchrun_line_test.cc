// SPDX-License-Identifier: Apache-2.0
#include "cli/torchrun/torchrun_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sys/fake/fake_env.h"

namespace muster::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Taken {
  CommandLine line;
  std::vector<std::string> notes;
  Status status = Ok();
};

Taken Take(const std::vector<std::string>& words) {
  sys::FakeEnv env;
  env.hostname = "node1";
  Taken taken;
  taken.status = TakeTorchrun(words, env, taken.line, taken.notes);
  return taken;
}

std::string Refusal(const std::vector<std::string>& words) {
  const Taken taken = Take(words);
  return taken.status ? "taken" : taken.status.error().message();
}

TEST(TakeTorchrun, StartsAScriptByPython) {
  const Taken taken =
      Take({"--nproc_per_node=2", "train.py", "--lr", "0.1", "--", "x"});
  ASSERT_TRUE(taken.status) << taken.status.error().ToString();
  EXPECT_EQ(taken.line.cluster.processes, 2);
  EXPECT_THAT(taken.line.command, ElementsAre("python3", "-u", "train.py",
                                              "--lr", "0.1", "--", "x"));
  EXPECT_EQ(taken.line.settings.at("max_restarts"), "0");
  EXPECT_THAT(taken.notes, IsEmpty());
}

TEST(TakeTorchrun, StartsModulesAndOtherPrograms) {
  EXPECT_THAT(Take({"-m", "pkg.train", "a"}).line.command,
              ElementsAre("python3", "-u", "-m", "pkg.train", "a"));
  EXPECT_THAT(Take({"--no-python", "./train", "a"}).line.command,
              ElementsAre("./train", "a"));
  EXPECT_THAT(Take({"--run_path", "t.py"}).line.command,
              ElementsAre("python3", "-u", "t.py"));
  EXPECT_THAT(Refusal({"-m", "--no-python", "x"}), HasSubstr("--no-python"));
}

TEST(TakeTorchrun, KnowsTheHostsOfARendezvous) {
  const auto first = Take({"--nnodes", "2", "--rdzv_backend=c10d",
                           "--rdzv_endpoint=node1:29500", "t.py"});
  EXPECT_EQ(first.line.cluster.nodes, "2");
  EXPECT_EQ(first.line.cluster.node_rank, 0);
  EXPECT_EQ(first.line.cluster.master_port, 29500);
  const auto second = Take({"--nnodes=2:2", "--rdzv-endpoint=node0", "t.py"});
  EXPECT_EQ(second.line.cluster.node_rank, 1);
  EXPECT_EQ(second.line.cluster.master_port, 29400);
  EXPECT_THAT(Refusal({"--nnodes=4", "--rdzv-endpoint=node0", "t.py"}),
              HasSubstr("--node-rank 0 to 3"));
  const auto numbered =
      Take({"--nnodes=4", "--node_rank=3", "--master_addr=node0",
            "--master_port=1234", "t.py"});
  EXPECT_EQ(numbered.line.cluster.node_rank, 3);
  EXPECT_EQ(numbered.line.cluster.master_addr, "node0");
  EXPECT_EQ(numbered.line.cluster.master_port, 1234);
}

TEST(TakeTorchrun, StandaloneIsOneHostWhateverElseIsSaid) {
  const auto taken = Take({"--standalone", "--nnodes=1", "--rdzv-endpoint=x:1",
                           "--nproc-per-node=gpu", "t.py"});
  ASSERT_TRUE(taken.status);
  EXPECT_EQ(taken.line.cluster.nodes, "1");
  EXPECT_EQ(taken.line.cluster.master_addr, std::nullopt);
  EXPECT_EQ(taken.line.cluster.processes_by, "gpu");
}

TEST(TakeTorchrun, TranslatesSettings) {
  const auto taken =
      Take({"--max-restarts=3", "--log_dir", "logs", "--shutdown-timeout=5",
            "--rdzv-conf", "join_timeout=90,x=1", "--virtual-local-rank",
            "--role=trainer", "-r", "3", "-t3", "t.py"});
  const auto other =
      Take({"--max-restarts=3", "--log_dir", "logs", "--shutdown-timeout=5",
            "--rdzv-conf", "join_timeout=90,x=1", "--virtual-local-rank",
            "--role=trainer", "-r", "3", "t.py"});
  EXPECT_TRUE(taken.status) << taken.status.error().ToString();
  EXPECT_EQ(other.line.settings.at("max_restarts"), "3");
  EXPECT_EQ(other.line.settings.at("runs_dir"), "logs");
  EXPECT_EQ(other.line.settings.at("grace"), "5s");
  EXPECT_EQ(other.line.settings.at("gather_timeout"), "90s");
  EXPECT_TRUE(other.line.bind_devices);
  EXPECT_EQ(other.line.environment.at(0).second, "trainer");
  EXPECT_EQ(other.notes.size(), 5U);
}

TEST(TakeTorchrun, RefusesWithTheReason) {
  EXPECT_THAT(Refusal({}), HasSubstr("no script"));
  EXPECT_THAT(Refusal({"--nproc-per-nod=2"}), HasSubstr("no script"));
  EXPECT_THAT(Refusal({"--nproces=2", "t.py"}),
              HasSubstr("no flag of torchrun 2.13"));
  EXPECT_THAT(Refusal({"--nnodes"}), HasSubstr("requires a value"));
  EXPECT_THAT(Refusal({"--local-addr=a", "t.py"}), HasSubstr("--master-addr"));
  EXPECT_THAT(Refusal({"--nproc-per-node=two", "t.py"}),
              HasSubstr("--nproc-per-node"));
}

TEST(TakeTorchrun, SaysOfEachFlagWhatBecomesOfIt) {
  for (const TorchrunFlag& flag : TorchrunFlags()) {
    EXPECT_FALSE(flag.becomes.empty()) << flag.name;
    std::string underscored(flag.name);
    std::replace(underscored.begin() + 2, underscored.end(), '-', '_');
    for (const std::string& name : {std::string(flag.name), underscored}) {
      const std::string value = flag.name == "--nnodes"      ? "1"
                                : flag.name == "--rdzv-conf" ? "a=b"
                                                             : "2";
      std::string word = name;
      word += flag.has_value ? "=" + value : "";
      const std::vector<std::string> words{word, "t.py"};
      const bool refused = flag.treatment == TorchrunFlag::Treatment::kRefused;
      EXPECT_EQ(Refusal(words) != "taken", refused) << name << Refusal(words);
    }
  }
}

}  // namespace
}  // namespace muster::cli
