// SPDX-License-Identifier: Apache-2.0
#include "run/identity.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/log.h"
#include "sys/fake/fake_clock.h"
#include "sys/fake/fake_env.h"
#include "sys/fake/fake_fs.h"

namespace muster::run {
namespace {

class IdentityTest : public testing::Test {
 protected:
  IdentityTest() {
    for (int rank = 0; rank < 2; ++rank) {
      cluster_.members.push_back(
          {.rank = rank,
           .index = rank,
           .address = Sourced<Address>{
               Address{"10.0.0." + std::to_string(rank + 1), 2222}, "x"}});
    }
    cluster_.coordinator = cluster_.members[0].address;
    env_.variables = {{"PATH", "/usr/bin:/opt"}, {"RANK", "1"}};
    fs_.files = {{"/opt/python3", "elf"}, {"train.py", "import torch"}};
  }
  wire::Hello Make(std::vector<int> ranks = {1}) {
    return MakeIdentity(host_, cluster_, std::move(ranks),
                        {"python3", "train.py"});
  }

  Cluster cluster_;
  sys::FakeEnv env_;
  sys::FakeClock clock_;
  sys::FakeFs fs_;
  sys::Host host_{env_, clock_, fs_};
};

TEST_F(IdentityTest, TellsWhoItIsAndWhatIsSetHere) {
  const auto hello = Make();
  EXPECT_EQ(hello.host, "testhost");
  EXPECT_EQ(hello.ranks, std::vector{1});
  EXPECT_EQ(hello.members.size(), 2);
  EXPECT_EQ(hello.program, "python3 train.py");
  EXPECT_EQ(hello.environment.at("RANK"), "1");
  EXPECT_EQ(hello.rules.size(), 16U);
}

TEST_F(IdentityTest, AnotherScriptIsAnotherProgram) {
  const auto before = Make().program_digest;
  EXPECT_EQ(Make().program_digest, before);
  fs_.files["train.py"] = "import jax";
  EXPECT_NE(Make().program_digest, before);
}

TEST_F(IdentityTest, OnlyVariablesThatMatterMakeADifference) {
  const auto before = Make().environment_digest;
  env_.variables["RANK"] = "0";
  env_.variables["TERM"] = "xterm";
  EXPECT_EQ(Make().environment_digest, before);
  env_.variables["NCCL_DEBUG"] = "INFO";
  EXPECT_NE(Make().environment_digest, before);
}

TEST_F(IdentityTest, ReadsNoFilesWhereNobodyCompares) {
  EXPECT_EQ(Make({0, 1}).program_digest, "");
}

// As a mount whose server is gone.
class SilentFs : public sys::FakeFs {
 public:
  Result<std::string> Read(const std::string& /*path*/,
                           std::size_t /*limit*/) const override {
    pause();
    return std::string();
  }
};

TEST_F(IdentityTest, DoesNotWaitForFilesThatCannotBeRead) {
  SetLogLevel(LogLevel::kError);
  SilentFs silent;
  silent.files = fs_.files;
  const auto hello =
      MakeIdentity({env_, clock_, silent}, cluster_, {1},
                   {"python3", "train.py"}, std::chrono::milliseconds(20));
  SetLogLevel(LogLevel::kInfo);
  EXPECT_EQ(hello.program_digest, "");
  EXPECT_NE(hello.environment_digest, "");
}

TEST_F(IdentityTest, MeetsAtTheCoordinator) {
  EXPECT_EQ(CoordinatorAddress(cluster_, {20000, 20009}).value,
            (Address{"10.0.0.1", 2222}));
}

TEST_F(IdentityTest, LeavesThePortsOfTfConfigToTheProgram) {
  for (Member& member : cluster_.members) {
    member.address->source = "env TF_CONFIG";
  }
  cluster_.coordinator->source = "rank 0 of env TF_CONFIG";
  const auto peer_check = CoordinatorAddress(cluster_, {20000, 20009});
  EXPECT_EQ(peer_check.value.host, "10.0.0.1");
  EXPECT_GE(peer_check.value.port, 20000);
  EXPECT_LE(peer_check.value.port, 20009);
  EXPECT_EQ(CoordinatorAddress(cluster_, {20000, 20009}), peer_check);
}

}  // namespace
}  // namespace muster::run
