// SPDX-License-Identifier: Apache-2.0
// Whole logs, and what the whole catalog makes of how they go on and end.
#include <gtest/gtest.h>

#include <algorithm>

#include "diagnose/match/log_scanner.h"
#include "diagnose/verdict/answer.h"

namespace muster {
namespace {

const diagnose::Matcher& TheMatcher() {
  static const diagnose::Matcher matcher;
  return matcher;
}

std::vector<Fact> Read(const std::string& name, std::string_view log) {
  diagnose::LogScanner scanner(TheMatcher());
  scanner.Begin({.name = name});
  scanner.Feed(log);
  scanner.End();
  return scanner.TakeFacts();
}

std::vector<Fact> Noted(const std::string& note) {
  diagnose::LogScanner scanner(TheMatcher());
  scanner.AddNotes({&note, 1});
  return scanner.TakeFacts();
}

// The label of the cause, or the kind of the answer.
std::string Verdict(std::vector<Fact> facts) {
  const diagnose::Answer answer = diagnose::Explain(std::move(facts));
  return std::string(answer.findings.empty()
                         ? diagnose::ToString(answer.kind)
                         : Label(answer.findings.front().cause));
}

std::string Verdict(std::string_view log, std::string_view exit = "") {
  std::vector<Fact> facts = Read("log", log);
  if (!exit.empty()) {
    facts.push_back(diagnose::ExitFact(exit));
  }
  return Verdict(std::move(facts));
}

constexpr std::string_view kOom =
    "Traceback (most recent call last):\n"
    "  File \"/w/train.py\", line 90, in <module>\n"
    "    loss.backward()\n"
    "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 "
    "GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.00 GiB is free.\n";

constexpr std::string_view kDisk =
    "Traceback (most recent call last):\n"
    "  File \"/w/train.py\", line 90, in <module>\n"
    "    torch.save(x, f)\n"
    "OSError: [Errno 28] No space left on device\n";

constexpr std::string_view kNan =
    "Traceback (most recent call last):\n"
    "  File \"/w/train.py\", line 90, in <module>\n"
    "    raise FloatingPointError(\"loss is nan\")\n"
    "FloatingPointError: loss is nan\n";

std::string With(std::string_view one, std::string_view other,
                 std::string_view third = "") {
  return std::string(one) + std::string(other) + std::string(third);
}

TEST(WholeLogs, ABarThatIsPaintedOnceMoreIsNoProgress) {
  EXPECT_EQ(Verdict(With(kOom, "  1%|#  | 12/1000 [00:10<14:00,  1.18it/s]\n")),
            "oom-device");
  EXPECT_EQ(
      Verdict("Traceback (most recent call last):\n"
              "  File \"/w/train.py\", line 50, in main\n"
              "    model.load_state_dict(sd)\n"
              "RuntimeError: Error(s) in loading state_dict for Net:\n"
              "\tsize mismatch for head.weight: copying a param with shape "
              "torch.Size([10, 5]) from checkpoint, the shape in current model "
              "is torch.Size([12, 5]).\n"
              "Epoch 0:   0%|          | 0/100 [00:00<?, ?it/s]\n"),
      "ckpt-mismatch");
}

TEST(WholeLogs, TheSummaryOfATrackerIsNoProgress) {
  EXPECT_EQ(
      Verdict(With("Epoch 5: 100%|##| 100/100 [00:10<00:00, 10.0it/s]\n", kOom,
                   "wandb: Waiting for W&B process to finish... (failed 1).\n"
                   "wandb: Run summary:\nwandb:      epoch 5\n"
                   "wandb: train_loss 0.31234\n")),
      "oom-device");
  EXPECT_EQ(Verdict(With(kOom,
                         "COMET INFO:     train_loss [12] : (0.31, 2.5)\n"
                         "COMET INFO:     epoch          : 5\n")),
            "oom-device");
}

TEST(WholeLogs, AJobThatIsOverIsNoProgress) {
  EXPECT_EQ(Verdict(With("step 10 loss 2.0\n", kOom,
                         "Job finished at Wed May  1 10:00:00 UTC 2024\n")),
            "oom-device");
  EXPECT_EQ(Verdict(With("step 10 loss 2.0\n", kDisk, "Done\n")), "disk-full");
}

// Also of a line that is no traceback.
TEST(WholeLogs, WhatIsPrintedHoweverItEndedIsNoProgress) {
  constexpr std::string_view kBus =
      "step 30 loss 0.32\n"
      "ERROR: Unexpected bus error encountered in worker. This might be caused "
      "by insufficient shared memory (shm).\n";
  EXPECT_EQ(Verdict(With(kBus, "wandb: Run summary:\nwandb:   epoch 3\n")),
            "shm-too-small");
  EXPECT_EQ(Verdict(With(kBus, "  3%|#  | 30/1000 [00:10<05:23,  3.00it/s]\n")),
            "shm-too-small");
  EXPECT_EQ(Verdict(With(kBus, "Job finished at Wed Nov 25 10:00:00\n")),
            "shm-too-small");
  EXPECT_EQ(Verdict(With(kBus, "Cleaning up...\nDone.\n")), "shm-too-small");
  EXPECT_EQ(Verdict(With(kBus, "Training finished\n")), "healthy");
}

TEST(WholeLogs, WhatIsPrintedBelowAnExceptionIsNoProgressWhereThatEndedIt) {
  const std::string log =
      With("step 10 loss 2.0\n", kDisk, "step 11 loss 1.9\n");
  EXPECT_EQ(Verdict(log), "healthy");
  EXPECT_EQ(Verdict(log, "1"), "disk-full");
  const std::string caught =
      "Traceback (most recent call last):\n"
      "  File \"/w/train.py\", line 90, in save\n"
      "    torch.save(x, f)\n"
      "OSError: [Errno 28] No space left on device\n"
      "step 11 loss 1.9\n";
  EXPECT_EQ(Verdict(caught, "1"), "unknown");
  EXPECT_EQ(Verdict(caught, "0"), "healthy");
  EXPECT_EQ(Verdict(With(kOom, "resuming from step 10\n", "step 11\n"), "1"),
            "unknown");
}

TEST(WholeLogs, WhatIsNotedOrPassedByInAHealthyLogIsNoCause) {
  EXPECT_EQ(Verdict("INFO: starting server\n"
                    "INFO: tip: lower --max-batch if you see CUDA out of "
                    "memory\n"
                    "INFO: server is ready on 0.0.0.0:8000\n"),
            "healthy");
  std::string log =
      "apt-get install -y munge nftables nlohmann-json3-dev openssh-server\n";
  for (const char* package : {"munge", "nftables", "nlohmann-json3-dev",
                              "openssh-server", "openssh-sftp-server"}) {
    log += "Unpacking " + std::string(package) + " (1.0.6) ...\n";
    log += "Setting up " + std::string(package) + " (1.0.6) ...\n";
  }
  EXPECT_EQ(Verdict(log + "Processing triggers for man-db (2.11.2) ...\n" +
                    "Processing triggers for libc-bin (2.36) ...\n"),
            "healthy");
}

TEST(WholeLogs, AStatusOfZeroIsNoFailure) {
  EXPECT_EQ(Verdict("WARNING: Missing key(s) in state_dict: \"head.weight\", "
                    "left as initialised\n",
                    "0"),
            "healthy");
}

TEST(WholeLogs, ProgressOfAnotherRankIsNone) {
  const std::string_view died =
      "[rank3]: Traceback (most recent call last):\n"
      "[rank3]:   File \"/w/train.py\", line 10, in <module>\n"
      "[rank3]:     loss.backward()\n"
      "[rank3]: torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to "
      "allocate 2.00 GiB.\n";
  EXPECT_EQ(Verdict(With(died, "[rank0]: step 11 loss 2.0\n")), "oom-device");
  EXPECT_EQ(Verdict(With(died, "step 11 loss 2.0\n")), "oom-device");
  EXPECT_EQ(Verdict(With(died, "[rank3]: step 11 loss 2.0\n")), "healthy");
  EXPECT_EQ(Verdict(With(died,
                         "torchrun: Worker group FAILED. 2/3 attempts left; "
                         "will restart worker group\n",
                         "step 11 loss 2.0\nstep 12 loss 1.9\n")),
            "healthy");
  // What it warned of is over once any goes on.
  EXPECT_EQ(
      Verdict("[1,3]<stderr>:[2021-02-18 12:07:44.318092: W "
              "horovod/common/stall_inspector.cc:105] One or more tensors were "
              "submitted to be reduced by subset of ranks.\n"
              "[1,3]<stderr>:Missing ranks:\n"
              "[1,0]<stdout>:Step #10\tLoss: 1.744011\n"),
      "healthy");
}

TEST(WholeLogs, TheRootIsReadHoweverManyRanksEndBeforeIt) {
  std::string log;
  for (int rank = 0; rank < 7; ++rank) {
    log += "[rank" + std::to_string(rank) +
           "]: RuntimeError: [pair.cc:525] Connection closed by peer "
           "[127.0.0.1]:12345\n";
  }
  log +=
      "[rank7]: Traceback (most recent call last):\n"
      "[rank7]:   File \"/w/train.py\", line 5, in main\n"
      "[rank7]:     x = cfg[\"foo\"]\n"
      "[rank7]: KeyError: 'foo'\n";
  EXPECT_EQ(Verdict(log), "app-exception");
}

TEST(WholeLogs, ACaughtExceptionIsNoneTheLessRead) {
  std::string log;
  for (int attempt = 0; attempt < 20; ++attempt) {
    log += "ValueError: sample " + std::to_string(attempt * 37) + " is odd\n";
  }
  EXPECT_EQ(Verdict(With(log, "step 1 loss 3.0\nstep 9 loss 2.0\n", kDisk)),
            "disk-full");
}

TEST(WholeLogs, WhatWasSurvivedIsNotWhatItEndsIn) {
  constexpr std::string_view kSteps = "step 1 loss 3.0\nstep 1000 loss 2.0\n";
  EXPECT_EQ(Verdict(With(kOom, kSteps, kDisk)), "disk-full");
  EXPECT_EQ(Verdict(With("2024-05-01 10:00:00 ERROR wandb: Network error "
                         "(ConnectionError): [Errno -2] Name or service not "
                         "known\n",
                         kSteps, kNan)),
            "numerics-nan");
  EXPECT_EQ(Verdict(With(kDisk, kSteps,
                         "slurmstepd: error: Detected 1 oom_kill event in "
                         "StepId=123.0. Some of the step tasks have been OOM "
                         "Killed.\n")),
            "oom-host");
  EXPECT_EQ(Verdict(With("slurmstepd: error: *** JOB 123 ON node1 CANCELLED AT "
                         "2024-05-01T10:00:00 DUE TO PREEMPTION ***\n"
                         "Resuming from checkpoint at step 100\n",
                         kSteps, kOom)),
            "oom-device");
}

TEST(WholeLogs, WhatItEndsInMayFollowFromWhatStandsBeforeAStep) {
  EXPECT_EQ(Verdict(With(kOom, "step 11 loss 2.0\n",
                         "RuntimeError: [pair.cc:525] Connection closed by "
                         "peer [127.0.0.1]:12345\n")),
            "oom-device");
}

TEST(WholeLogs, TheLogComesBeforeWhatTheMachineShows) {
  std::vector<Fact> facts = Read("kubectl describe pod",
                                 "    Last State:     Terminated\n"
                                 "      Reason:       OOMKilled\n"
                                 "      Exit Code:    137\n");
  EXPECT_EQ(Verdict(facts), "oom-host");
  std::for_each(facts.begin(), facts.end(), diagnose::PutAfterLogs);
  for (Fact& fact :
       Read("log",
            "RuntimeError: Error(s) in loading state_dict for Net:\n"
            "\tsize mismatch for head.weight: copying a param with shape "
            "torch.Size([10, 5]) from checkpoint, the shape in current model "
            "is torch.Size([12, 5]).\n")) {
    facts.push_back(std::move(fact));
  }
  EXPECT_EQ(Verdict(facts), "ckpt-mismatch");
}

TEST(WholeLogs, ALineThatEndsInACarriageReturnIsALine) {
  EXPECT_EQ(Verdict("ConnectionRefusedError: [Errno 111] Connection refused\n"
                    "step 5 loss 2.0\r"),
            "healthy");
}

TEST(WholeLogs, WhatATrackerSumsUpIsNoProgressBehindAnyPrefix) {
  const std::string log = With("step 1 loss 2.0\n", kOom,
                               "wandb: Run summary:\n"
                               "wandb:        epoch 5\n"
                               "wandb:   train/loss 0.1234\n");
  for (const std::string_view prefix :
       {"", "[rank0]: ", "[default0]:", "0: ", "trainer-1  | ",
        "(Trainer pid=12, ip=10.0.0.1) "}) {
    std::string prefixed;
    for (std::size_t at = 0; at < log.size();) {
      const std::size_t end = log.find('\n', at) + 1;
      prefixed.append(prefix).append(log, at, end - at);
      at = end;
    }
    EXPECT_EQ(Verdict(prefixed), "oom-device") << prefix;
  }
}

TEST(WholeLogs, ANumberOfADeviceIsNoCountOfNothing) {
  for (const char* index : {"0", "3"}) {
    EXPECT_EQ(Verdict(std::string("ERROR uncorrectable ECC error on GPU: ") +
                      index + ", stopping\n"),
              "device-hardware-fault")
        << index;
  }
}

TEST(WholeLogs, WhatLooksLikeAListOrASkipMayBeTheFailure) {
  EXPECT_EQ(Verdict("Setting up process group failed: [Errno 98] Address "
                    "already in use\n"),
            "net-port-in-use");
  EXPECT_EQ(Verdict("Unpacking data.tar failed: No space left on device\n"),
            "disk-full");
  EXPECT_EQ(Verdict("Setting up libfoo:amd64 (1.2-3) ...\n"), "healthy");
  EXPECT_NE(Verdict("ERROR cannot skip truncated checkpoint shard 3: "
                    "checkpoint is corrupt\n"),
            "healthy");
}

TEST(WholeLogs, AnErrorInBracketsIsTrouble) {
  const std::string_view failed =
      "2023-01-23 21:14:48,875 [ERROR] Command setup (a --b /c) failed\n";
  EXPECT_EQ(Verdict(failed), "unknown");
  EXPECT_EQ(Verdict(With(failed, "step 1 loss 2.0\nstep 9 loss 1.0\n")),
            "healthy");
}

TEST(WholeLogs, WhatIsKilledAfterItsEndIsNotWell) {
  EXPECT_EQ(Verdict(Noted("training completes, one warning is printed")),
            "healthy");
  EXPECT_EQ(Verdict(Noted("training completes, then the job is killed after "
                          "half an hour")),
            "unknown");
}

TEST(WholeLogs, AnExceptionMayBeginWithANumber) {
  EXPECT_EQ(Verdict("Traceback (most recent call last):\n"
                    "  File \"/w/train.py\", line 9, in <module>\n"
                    "    main()\n"
                    "ValueError: 0.5 is not a valid learning rate\n"),
            "app-exception");
  EXPECT_EQ(Verdict("step 1 loss 2.0\nMeanSquaredError: 0.0312\n"), "healthy");
}

// A log keeps so many facts of one name, and members that were not kept are
// not missing.
TEST(WholeLogs, AWorldThatIsLargerThanWhatIsKeptOfALogMissesNobody) {
  const auto log = [](int said, int of) {
    std::string text = "srun: job 7 queued and waiting for resources\n";
    for (int rank = 0; rank < said; ++rank) {
      text += "Initializing distributed: GLOBAL_RANK: " + std::to_string(rank) +
              ", MEMBER: " + std::to_string(rank + 1) + "/" +
              std::to_string(of) + "\n";
    }
    return text;
  };
  EXPECT_EQ(Verdict(log(64, 64)), "healthy");
  EXPECT_EQ(Verdict(log(65, 65)), "healthy");
  EXPECT_EQ(Verdict(log(200, 200)), "healthy");
  EXPECT_EQ(Verdict(log(63, 64)), "scheduler-env-misread");
}

TEST(WholeLogs, WhatPythonRaisesWhileItEndsIsNoFailure) {
  constexpr std::string_view kIn[] = {
      "  File \"/p/tqdm/std.py\", line 1148, in __del__\n",
      "  File \"/usr/lib/python3.9/multiprocessing/util.py\", line 300, in "
      "_run_finalizers\n    finalizer()\n"};
  for (const std::string_view frame : kIn) {
    const std::string log =
        "step 9 loss 2.0\nTraceback (most recent call last):\n" +
        std::string(frame) +
        "  File \"/p/a.py\", line 3, in close\n"
        "AttributeError: 'NoneType' has no 'set'\n";
    // The line that says so stands above the traceback, and was cut off.
    EXPECT_EQ(Verdict(log), "unknown") << frame;
    EXPECT_EQ(Verdict(With(kOom, log)), "oom-device") << frame;
  }
  EXPECT_EQ(Verdict("step 9 loss 2.0\nError in atexit._run_exitfuncs:\n"
                    "Traceback (most recent call last):\n"
                    "  File \"/p/a.py\", line 3, in close\n"
                    "AttributeError: 'TeeHandler' has no 'close'\n"),
            "healthy");
}

TEST(WholeLogs, AStepThatTouchedItsBoundOfMemoryMayHaveGoneOn) {
  const std::string said =
      "slurmstepd: error: Exceeded step memory limit at some point. Step may "
      "have been partially swapped out to disk.\n";
  EXPECT_EQ(Verdict(said), "unknown");
  // A task that was killed alone makes it possible.
  const diagnose::Answer killed = diagnose::Explain(
      Read("log", said + "srun: error: n1: task 0: Killed\n"));
  ASSERT_FALSE(killed.findings.empty());
  EXPECT_EQ(Label(killed.findings.front().cause), "oom-host");
  EXPECT_EQ(killed.findings.front().confidence, Confidence::kLikely);
  EXPECT_EQ(Verdict("slurmstepd: error: Exceeded step memory limit\n"),
            "oom-host");
}

TEST(WholeLogs, ACrashIsOneInEveryLanguageOfTheShell) {
  for (const char* crash :
       {"Segmentation fault (core dumped)\n", "段错误 (核心已转储)\n",
        "Speicherzugriffsfehler (Speicherabzug geschrieben)\n"}) {
    EXPECT_EQ(Verdict(With("step 10 loss 2.0\n", crash)), "unknown") << crash;
  }
  EXPECT_EQ(Verdict("step 10 loss 2.0\nGetötet\n"), "oom-host");
}

}  // namespace
}  // namespace muster
