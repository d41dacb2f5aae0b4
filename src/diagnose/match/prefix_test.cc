// SPDX-License-Identifier: Apache-2.0
#include "diagnose/match/prefix.h"

#include <gtest/gtest.h>

namespace muster::diagnose {
namespace {

TEST(Prefix, ReadsTimesOfFrameworks) {
  const auto at = ReadPrefix("2024-10-09 15:47:38.568412: E coord.cc:1] x").at;
  ASSERT_TRUE(at);
  EXPECT_EQ(at->time_since_epoch().count(), 1728488858568412);
  EXPECT_EQ(ReadPrefix("[2024-10-09 15:47:38,568] [INFO] x").at,
            *at - std::chrono::microseconds(412));
  EXPECT_EQ(ReadPrefix("2024-10-09T17:47:38.568412+02:00 x").at, at);
  EXPECT_EQ(ReadPrefix("2024-10-09T08:47:38.568412-0700 x").at, at);
  EXPECT_EQ(ReadPrefix("2024-10-09T15:47:38.568412Z x").at, at);
  EXPECT_EQ(ReadPrefix("2024-10-09 15:47:38.568412-rank 3").at, at);
  EXPECT_TRUE(
      ReadPrefix("slurmstepd: *** JOB 6 AT 2022-08-12T02:06:12 ***").at);
  EXPECT_FALSE(ReadPrefix("loss 0.1 at 2024-13-09 15:47:38").at);
}

TEST(Prefix, ReadsRanksOfLaunchers) {
  EXPECT_EQ(ReadPrefix("[rank7]:[E ProcessGroupNCCL.cpp:1] x").rank, 7);
  EXPECT_EQ(ReadPrefix("[1,12]<stderr>:x").rank, 12);
  EXPECT_EQ(ReadPrefix("3: Traceback").rank, 3);
  EXPECT_EQ(ReadPrefix("[Rank 2] Watchdog").rank, 2);
  EXPECT_EQ(ReadPrefix("epoch 3: loss").rank, -1);
  EXPECT_EQ(ReadPrefix("local_rank=0, rank=3, world 8").rank, 3);
}

TEST(Prefix, TakesNoShapeAndNoOptionForARank) {
  EXPECT_EQ(ReadPrefix("Incompatible shapes: [1,224] vs. [1,128]").rank, -1);
  EXPECT_EQ(ReadPrefix("LoraConfig(lora_rank=16, alpha=32)").rank, -1);
  EXPECT_EQ(ReadPrefix("LoraConfig(r=16, rank=64) out of memory").rank, -1);
  EXPECT_EQ(ReadPrefix("LoraConfig(r=max(8, 16), rank=64)").rank, -1);
  EXPECT_EQ(ReadPrefix("LoraConfig(r=16) failed, rank=3 ends").rank, 3);
  EXPECT_EQ(ReadPrefix("failed (rank=3, pid=71)").rank, 3);
}

TEST(Prefix, ReadsTheHostOfNccl) {
  EXPECT_EQ(ReadPrefix("gpu47:4962:5097 [1] NCCL WARN x").host, "gpu47");
  for (const std::string before :
       {"2024-10-09T15:47:38Z ", "2024-10-09 15:47:38 ",
        "3: ", "[1,3]<stdout>:", ""}) {
    EXPECT_EQ(ReadPrefix(before + "gpu47:1:2 [0] NCCL INFO x").host, "gpu47");
  }
  EXPECT_EQ(ReadPrefix("n1: NCCL version 2.14").host, "n1");
  EXPECT_EQ(ReadPrefix("at 10:20 [x] NCCL is there").host, "");
  EXPECT_EQ(ReadPrefix("no such thing").host, "");
}

TEST(Prefix, KnowsLinesOfHelpAndOfChanges) {
  EXPECT_TRUE(IsQuoted("  --abort-on-nan     stop when the loss is nan"));
  EXPECT_TRUE(IsQuoted("  -t, --timeout SEC  abort after so many seconds"));
  EXPECT_TRUE(IsQuoted("+        raise RuntimeError('loss is nan')"));
  EXPECT_TRUE(IsQuoted("@@ -88,7 +88,10 @@ def setup():"));
  EXPECT_TRUE(IsQuoted("usage: train.py [-h] [--timeout TIMEOUT]"));
  EXPECT_TRUE(IsQuoted("                [--timeout TIMEOUT] [--lr LR]"));
  EXPECT_FALSE(IsQuoted("usage: 8.2 GiB, limit exceeded"));
  EXPECT_FALSE(IsQuoted("    --nproc_per_node 2 --use_env main.py"));
  EXPECT_FALSE(IsQuoted("+ python train.py --timeout 3"));
  EXPECT_FALSE(IsQuoted("RuntimeError: loss is nan"));
  EXPECT_FALSE(IsQuoted(""));
}

TEST(Prefix, ReadsTheLevel) {
  EXPECT_EQ(ReadPrefix("I0101 10:00:00.1 7 a.cc:1] all well").level, 'I');
  EXPECT_EQ(ReadPrefix("2024-01-01 10:00:00.1: W tensorflow/x").level, 'W');
  EXPECT_EQ(ReadPrefix("[W socket.cpp:601] [c10d] slow").level, 'W');
  EXPECT_EQ(ReadPrefix("2024-01-01 - trainer - INFO - epoch 3").level, 'I');
  EXPECT_EQ(ReadPrefix("a.py:3: UserWarning: many workers").level, 'W');
  EXPECT_EQ(ReadPrefix("a.py:3: UserWarning: Plan failed with a cudnnException")
                .level,
            'W');
  EXPECT_EQ(ReadPrefix("ERROR:root: it broke").level, 'E');
  EXPECT_EQ(ReadPrefix("host:1:2 [0] NCCL WARN Cuda failure").level, ' ');
}

TEST(Prefix, TakesWhatIsGoneAroundForAWarning) {
  EXPECT_EQ(ReadPrefix("Port 29500 is in use, trying port 29501").level, 'W');
  EXPECT_EQ(ReadPrefix("could not bind on port 40. Attempting port 41.").level,
            'W');
  EXPECT_EQ(
      ReadPrefix("CUDA out of memory. Microbatch will be decreased to 2").level,
      'W');
  EXPECT_EQ(ReadPrefix("21/03/15 09:33:02 WARN BLAS: not loaded").level, 'W');
  EXPECT_EQ(ReadPrefix("2020-11-03 05:11:09.331042 W | etcdserver").level, 'W');
  EXPECT_EQ(ReadPrefix("h:7:9 [0] NCCL WARN Cuda failure").level, ' ');
  EXPECT_EQ(ReadPrefix("0: [NeMo W 2024-05-24 20:43:13 ddpm:301] old").level,
            'W');
  EXPECT_EQ(ReadPrefix("  warnings.warn('not compiled with NCCL')").level, 'W');
  EXPECT_EQ(ReadPrefix("CUDA out of memory. Tried to allocate 2 GiB").level,
            ' ');
}

TEST(Prefix, TakesANoteOfAFailureForMoreThanANote) {
  EXPECT_EQ(ReadPrefix("INFO:tf: Error reported: DataLossError").level, ' ');
  EXPECT_EQ(ReadPrefix("[W socket.cpp:1] bind (errno: 98 - in use)").level,
            ' ');
}

TEST(Prefix, IsTakenOffWhereALauncherPutIt) {
  EXPECT_EQ(WithoutRank("[rank12]: KeyError"), "KeyError");
  EXPECT_EQ(WithoutRank("[rank 0] [rank0]:   File"), "  File");
  EXPECT_EQ(WithoutRank("[default1]:    raise"), "    raise");
  EXPECT_EQ(WithoutRank("[1,3]<stderr>:killed"), "killed");
  for (const std::string_view whole :
       {"[Rank 3] Watchdog caught", "[rank]: x", "[3] x", "[rank3", "[]", "",
        "rank3: x", "[1,3] x", "[ranks]"}) {
    EXPECT_EQ(WithoutRank(whole), whole);
  }
}

TEST(Prefix, OfAProcessIsTakenOff) {
  EXPECT_EQ(WithoutRank("3: KeyError"), "KeyError");
  EXPECT_EQ(WithoutRank(" 3:   File"), "  File");
  EXPECT_EQ(WithoutRank("(Trainer pid=71, ip=10.0.0.1)   File"), "  File");
  EXPECT_EQ(WithoutRank("(EngineCore_0 pid=71) killed"), "killed");
  EXPECT_EQ(WithoutRank("trainer-1  | killed"), "killed");
  EXPECT_EQ(WithoutRank("[pod/train-0/main]   File"), "  File");
  for (const std::string_view whole :
       {"3:x", "123456: x", "(0) killed", "(pid=) x", "(f(x) pid=7) x",
        "Config(pid=7) x", "loss  | 0.5", "ERROR  | x", "-1 | x", "epoch-1",
        "[pod/train-0/main]"}) {
    EXPECT_EQ(WithoutRank(whole), whole);
  }
}

TEST(Prefix, OfATimeIsTakenOffAndTellsNoWriter) {
  const std::string at = "2024-10-09T15:47:38.568412345Z ";
  EXPECT_EQ(WithoutRank(at + "  File"), "  File");
  EXPECT_EQ(WithoutRank("2024-10-09T15:47:38+02:00 killed"), "killed");
  EXPECT_EQ(WithoutRank(at + "trainer-1  | " + at + "killed"), "killed");
  EXPECT_EQ(SpokenOf(at + "trainer-1  | " + at + "killed").who,
            "trainer-1  | ");
  EXPECT_EQ(SpokenOf(at + "killed").who, "");
  EXPECT_EQ(SpokenOf("0: killed").who, "0: ");
  for (const std::string_view whole :
       {"2024-10-09T15:47:38Z", "2024-10-09 15:47:38Z x",
        "2024-10-09T15:47:38 x", "2024-10-09T15:47:38Zx",
        "2024-10-09T15:47:38+2 x"}) {
    EXPECT_EQ(WithoutRank(whole), whole);
  }
}

}  // namespace
}  // namespace muster::diagnose
