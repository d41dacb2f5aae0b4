// SPDX-License-Identifier: Apache-2.0
#include "diagnose/verdict/last_lines.h"

#include <gtest/gtest.h>

#include <vector>

namespace muster::diagnose {
namespace {

using Lines = std::vector<std::string>;

TEST(PeerIsGone, IsSaidInManyWords) {
  for (const char* line : {
           "RuntimeError: [../gloo/transport/tcp/pair.cc:534] Connection "
           "closed by peer [127.0.0.1]:22941",
           "recvmsg:Connection reset by peer",
           "UnavailableError: failed to connect to all addresses",
           "torch.distributed.DistBackendError: NCCL error: ncclRemoteError",
           "[rank1]:[E ProcessGroupNCCL.cpp:563] Watchdog caught collective "
           "operation timeout",
           "BrokenPipeError: [Errno 32] Broken pipe",
           "tasks are unhealthy (stopped sending heartbeats)",
           "muster: error[peer-died] rank 1 went away",
       }) {
    EXPECT_TRUE(SaysPeerIsGone(line)) << line;
  }
}

TEST(PeerIsGone, IsNotSaidByOwnErrors) {
  for (const char* line : {
           "ValueError: could not convert string to float: 'x'",
           "torch.cuda.OutOfMemoryError: CUDA out of memory.",
           "FileNotFoundError: [Errno 2] No such file or directory: 'a'",
           "ConnectionRefusedError: [Errno 111] Connection refused",
           "",
       }) {
    EXPECT_FALSE(SaysPeerIsGone(line)) << line;
  }
}

TEST(DecisiveLine, IsTheExceptionOfATraceback) {
  EXPECT_EQ(DecisiveLine(Lines{"Traceback (most recent call last):",
                               "  File \"t.py\", line 3, in <module>",
                               "    main()", "queue.Empty", "bye"}),
            "queue.Empty");
  EXPECT_EQ(DecisiveLine(Lines{"[rank1]: Traceback (most recent call last):",
                               "[rank1]:   File \"t.py\", line 3",
                               "[rank1]: ValueError: too small"}),
            "ValueError: too small");
}

TEST(DecisiveLine, IsTheMessageOfAnUncaughtCppException) {
  EXPECT_EQ(DecisiveLine(Lines{"terminate called after throwing an instance "
                               "of 'std::runtime_error'",
                               "  what():  no such tensor"}),
            "what():  no such tensor");
}

TEST(DecisiveLine, IsElseTheLastThatIsNotEmpty) {
  EXPECT_EQ(DecisiveLine(Lines{"usage: t.py", "t.py: error: bad", "", " "}),
            "t.py: error: bad");
  EXPECT_EQ(DecisiveLine(Lines{}), "");
}

TEST(BlamesAPeer, WhenTheExceptionDoes) {
  EXPECT_TRUE(BlamesAPeer(Lines{
      "Traceback (most recent call last):", "  File \"t.py\", line 3",
      "RuntimeError: [/gloo/transport/tcp/pair.cc:534] Connection closed"}));
  EXPECT_TRUE(BlamesAPeer(Lines{
      "tensorflow.python.framework.errors_impl.InternalError: Graph failed",
      "Aborting RingReduce with UNAVAILABLE: recvmsg:Connection reset"}));
}

TEST(BlamesAPeer, NotWhenAnotherExceptionFollowsANoise) {
  EXPECT_FALSE(BlamesAPeer(
      Lines{"W heartbeat is late", "Traceback (most recent call last):",
            "  File \"t.py\", line 3", "ValueError: too small"}));
}

TEST(BlamesAPeer, WhenAChainBeganWithIt) {
  EXPECT_TRUE(BlamesAPeer(
      Lines{"ConnectionResetError: [Errno 104] Connection reset by peer",
            "During handling of the above exception, another occurred:",
            "Traceback (most recent call last):", "  File \"t.py\", line 3",
            "KeyError: 'loss'"}));
}

TEST(OwnException, IsNotTheEndThatWasAskedFor) {
  EXPECT_TRUE(HasOwnException(Lines{"ValueError: too small"}));
  EXPECT_FALSE(HasOwnException(Lines{"KeyboardInterrupt"}));
  EXPECT_FALSE(HasOwnException(
      Lines{"torch.distributed.SignalException: got signal 15"}));
  EXPECT_FALSE(HasOwnException(Lines{"RuntimeError: Socket closed"}));
  EXPECT_FALSE(HasOwnException(Lines{"step 3 loss 2.1"}));
}

}  // namespace
}  // namespace muster::diagnose
