// SPDX-License-Identifier: Apache-2.0
#include "diagnose/verdict/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

namespace muster::diagnose {
namespace {

using std::chrono::milliseconds;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

WallTime At(int ms) {
  return WallTime(std::chrono::seconds(1'800'000'000)) + milliseconds(ms);
}

RankEnd Exited(int rank, int code, int at_ms,
               std::vector<std::string> lines = {}) {
  RankEnd end;
  end.rank = rank;
  end.wait_status = code << 8;
  end.at = At(at_ms);
  end.last_lines = std::move(lines);
  end.phase = wire::Phase::kStep;
  end.step = 120;
  return end;
}

RankEnd Signaled(int rank, int signal, int at_ms,
                 std::vector<std::string> lines = {}) {
  RankEnd end = Exited(rank, 0, at_ms, std::move(lines));
  end.wait_status = signal;
  return end;
}

RankEnd Stopped(int rank, int at_ms, int signal = SIGTERM) {
  RankEnd end = Signaled(rank, signal, at_ms);
  end.sent_signal = signal;
  return end;
}

RankEnd Asked(RankEnd end, int signal = SIGTERM) {
  end.sent_signal = signal;
  return end;
}

RankEnd Told(int rank, int at_ms, Cause cause, const char* message) {
  RankEnd end = Exited(rank, 1, at_ms);
  end.error_cause = Label(cause);
  end.error_message = message;
  return end;
}

RankEnd WithFact(RankEnd end, std::string_view name) {
  end.facts.push_back({.name = std::string(name),
                       .fields = {{"kills", std::int64_t{1}},
                                  {"max_rss_bytes", std::int64_t{3} << 30}},
                       .subject = "rank " + std::to_string(end.rank),
                       .by = "agent"});
  return end;
}

RankEnd OomKilled(int rank, int at_ms) {
  return WithFact(Signaled(rank, SIGKILL, at_ms), kOomFact);
}

const std::vector<std::string> kGlooLost = {
    "Traceback (most recent call last):", "  File \"train.py\", line 40",
    "RuntimeError: [gloo/transport/tcp/pair.cc:534] Connection closed by peer"};
const std::vector<std::string> kValueError = {
    "Traceback (most recent call last):", "  File \"train.py\", line 7",
    "ValueError: too small"};

AttemptEnd Of(std::vector<RankEnd> ends) {
  const int size = static_cast<int>(ends.size());
  return {.world_size = size < 2 ? 2 : size, .ends = std::move(ends)};
}

// Who is the root, with which cause and by what, whatever else ended how.
struct Case {
  const char* name;
  AttemptEnd attempt;
  int rank;
  RootKind kind;
  Cause cause;
};
class RootOf : public testing::TestWithParam<Case> {};

TEST_P(RootOf, IsFound) {
  const Case& one = GetParam();
  const Verdict verdict = Judge(one.attempt);
  ASSERT_FALSE(verdict.findings.empty());
  EXPECT_EQ(verdict.rank, one.rank) << verdict.findings[0].what;
  EXPECT_EQ(verdict.kind, one.kind);
  EXPECT_EQ(Label(verdict.findings[0].cause), Label(one.cause));
}

std::string NameOf(const testing::TestParamInfo<Case>& info) {
  std::string name = info.param.name;
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

AttemptEnd WithStall(std::vector<RankEnd> ends) {
  AttemptEnd attempt = Of(std::move(ends));
  attempt.stop_cause = "no-progress";
  attempt.stalls = {{.rank = 1,
                     .phase = wire::Phase::kStep,
                     .step = 7,
                     .state = 'T',
                     .idle = std::chrono::seconds(10),
                     .limit = std::chrono::seconds(10),
                     .at = At(10'000)},
                    {.rank = 0, .step = 7, .state = 'S', .at = At(10'000)}};
  attempt.culprits = 1;
  return attempt;
}

AttemptEnd WithLostHost(Cause cause, std::vector<RankEnd> ends) {
  AttemptEnd attempt = Of(std::move(ends));
  attempt.world_size = 4;
  attempt.lost = {{.ranks = {2, 3},
                   .host = "10.0.0.7:41234",
                   .cause = cause,
                   .message = "nothing came for 3 s",
                   .at = At(3'000)}};
  return attempt;
}

AttemptEnd WithStopCause(Cause cause, std::vector<RankEnd> ends) {
  AttemptEnd attempt = Of(std::move(ends));
  attempt.stop_cause = Label(cause);
  return attempt;
}

INSTANTIATE_TEST_SUITE_P(
    All, RootOf,
    testing::Values(
        Case{"a killed rank seen before its crashing peer",
             Of({Exited(0, 1, 300, kGlooLost), Signaled(1, SIGKILL, 0)}), 1,
             RootKind::kSignal, Cause::kPeerDied},
        Case{"a killed rank seen after its crashing peer",
             Of({Exited(0, 1, 0, kGlooLost), Signaled(1, SIGKILL, 300)}), 1,
             RootKind::kSignal, Cause::kPeerDied},
        Case{"a killed rank that was also sent TERM in the meantime",
             Of({Exited(0, 1, 0, kGlooLost), Asked(Signaled(1, SIGKILL, 4))}),
             1, RootKind::kSignal, Cause::kPeerDied},
        Case{"a killed rank against an exit without a word, soon after",
             Of({Exited(0, 1, 0), Signaled(1, SIGKILL, 20)}), 1,
             RootKind::kSignal, Cause::kPeerDied},
        Case{"an exit of its own long before somebody was killed",
             Of({Exited(0, 1, 0, kValueError), Signaled(1, SIGKILL, 5'000)}), 0,
             RootKind::kProgram, Cause::kAppException},
        Case{"memory before a kill of unknown origin",
             Of({Signaled(0, SIGKILL, 0), OomKilled(1, 10)}), 1,
             RootKind::kSignal, Cause::kOomHost},
        Case{"a rank that lost a process of its own to memory",
             Of({Exited(0, 1, 0, kGlooLost),
                 WithFact(Exited(1, 1, 40, kValueError), kOomCounterFact)}),
             1, RootKind::kProgram, Cause::kOomHost},
        Case{"a rank that saw the kill of another one",
             Of({OomKilled(0, 40), WithFact(Exited(1, 1, 0), kOomCounterFact)}),
             0, RootKind::kSignal, Cause::kOomHost},
        Case{"a crash, with a peer that lost its connection first",
             Of({Exited(0, 1, 0, kGlooLost), Signaled(1, SIGSEGV, 40)}), 1,
             RootKind::kSignal, Cause::kPeerDied},
        Case{"an abort that only says that a peer is gone",
             Of({Exited(0, 1, 300, kValueError),
                 Signaled(1, SIGABRT, 0,
                          {"[E] NCCL watchdog: remote process exited"})}),
             0, RootKind::kProgram, Cause::kAppException},
        Case{"an exit status alone", Of({Exited(0, 1, 0)}), 0,
             RootKind::kProgram, Cause::kAppException},
        Case{"an exit status, others were told to end",
             Of({Stopped(0, 30), Exited(1, 3, 0), Stopped(2, 31, SIGKILL)}), 1,
             RootKind::kProgram, Cause::kAppException},
        Case{"an exit that answers our request is none",
             Of({Asked(Exited(0, 143, 50)), Signaled(1, SIGKILL, 0)}), 1,
             RootKind::kSignal, Cause::kPeerDied},
        Case{"an exception that still unwinds when we ask it to end",
             Of({Exited(0, 1, 0, kGlooLost),
                 Asked(Signaled(1, SIGTERM, 30, kValueError))}),
             1, RootKind::kProgram, Cause::kAppException},
        Case{"a told cause",
             Of({Told(0, 0, Cause::kNumericsNan, "loss is NaN"),
                 Stopped(1, 20)}),
             0, RootKind::kProgram, Cause::kNumericsNan},
        Case{"a told cause against peers that lost somebody",
             Of({Told(0, 0, Cause::kPeerDied, "rank 1 is gone"),
                 Told(1, 90, Cause::kFileCorrupt, "bad header")}),
             1, RootKind::kProgram, Cause::kFileCorrupt},
        Case{"a told cause against its echo",
             WithStopCause(Cause::kNumericsNan,
                           {Asked(Told(0, 0, Cause::kNumericsNan, "stopped")),
                            Told(1, 9, Cause::kNumericsNan, "loss is NaN")}),
             1, RootKind::kProgram, Cause::kNumericsNan},
        Case{"a wait that expired, when nothing else is known",
             Of({Told(0, 0, Cause::kDeadlineExceeded, "rank 1 did not come"),
                 Stopped(1, 20)}),
             0, RootKind::kProgram, Cause::kDeadlineExceeded},
        Case{"a program that is not there",
             Of({Exited(0, 127, 0), Stopped(1, 5)}), 0, RootKind::kProgram,
             Cause::kProgramNotFound},
        Case{"a child of a shell that was killed", Of({Exited(0, 137, 0)}), 0,
             RootKind::kProgram, Cause::kPeerDied},
        Case{"TERM from somebody else",
             Of({Signaled(0, SIGTERM, 0), Stopped(1, 20)}), 0,
             RootKind::kSignal, Cause::kPeerDied},
        Case{"a rank that stands still",
             WithStall({Asked(Told(0, 10'010, Cause::kNoProgress, "stopped")),
                        Stopped(1, 20'000, SIGKILL)}),
             1, RootKind::kStall, Cause::kNoProgress},
        Case{"a death before the standstill of those who wait for it",
             WithStall({Signaled(2, SIGKILL, 0), Stopped(1, 20'000, SIGKILL)}),
             2, RootKind::kSignal, Cause::kPeerDied},
        Case{"a host that fell silent",
             WithLostHost(Cause::kHeartbeatMissed, {Stopped(0, 3'050)}), 2,
             RootKind::kUnmanaged, Cause::kHeartbeatMissed},
        Case{"a host that went, with peers that said so before us",
             WithLostHost(Cause::kPeerDied, {Exited(0, 1, 100, kGlooLost)}), 2,
             RootKind::kUnmanaged, Cause::kPeerDied},
        Case{"a silent host, whose peers failed without a word",
             WithLostHost(Cause::kHeartbeatMissed, {Exited(0, 1, 500)}), 2,
             RootKind::kUnmanaged, Cause::kHeartbeatMissed},
        Case{"only ranks that lost somebody",
             Of({Exited(0, 1, 20, kGlooLost), Exited(1, 1, 10, kGlooLost)}), 1,
             RootKind::kProgram, Cause::kPeerDied}),
    NameOf);

TEST(Verdict, NamesWhatKeptARankFromStarting) {
  RankEnd end = Told(0, 0, Cause::kOsLimit, "fork: EAGAIN");
  end.could_not_start = true;
  EXPECT_EQ(Judge({.world_size = 1, .ends = {end}}).findings.at(0).cause,
            Cause::kOsLimit);
  end.error_cause = "";
  EXPECT_EQ(Judge({.world_size = 1, .ends = {end}}).findings.at(0).cause,
            Cause::kProgramNotFound);
}

TEST(Verdict, IsEmptyWhenNothingFailed) {
  EXPECT_EQ(Judge(Of({Exited(0, 0, 0), Exited(1, 0, 0)})).kind,
            RootKind::kNone);
  EXPECT_THAT(Judge(Of({Stopped(0, 0), Stopped(1, 0)})).findings, IsEmpty());
}

TEST(Verdict, TakesARankAloneAtItsWord) {
  AttemptEnd attempt{.world_size = 1, .ends = {Exited(0, 1, 0, kGlooLost)}};
  EXPECT_EQ(Judge(attempt).findings[0].cause, Cause::kAppException);
}

TEST(Verdict, TellsStatusAndStepOfTheRoot) {
  const Verdict verdict =
      Judge(Of({Exited(0, 1, 0, kGlooLost), Signaled(1, SIGKILL, 300)}));
  EXPECT_EQ(verdict.wait_status, SIGKILL);
  EXPECT_EQ(verdict.step, 120U);
}

TEST(Verdict, HangsVictimsBelowTheRoot) {
  const Verdict verdict = Judge(Of({Exited(0, 1, 300, kGlooLost),
                                    Signaled(1, SIGKILL, 0), Stopped(2, 310)}));
  ASSERT_EQ(verdict.findings.size(), 1U);
  const Finding& root = verdict.findings[0];
  EXPECT_EQ(root.what, "rank 1 was killed by SIGKILL at step 120");
  EXPECT_EQ(root.confidence, Confidence::kCertain);
  EXPECT_THAT(root.subjects, ElementsAre("rank 1"));
  EXPECT_EQ(root.evidence[0].what,
            "was killed by SIGKILL, which muster did not send");
  EXPECT_THAT(root.victims,
              ElementsAre(AllOf(HasSubstr("rank 0 exited with status 1"),
                                HasSubstr("Connection closed by peer"),
                                HasSubstr("300 ms later")),
                          "rank 2: muster stopped it (SIGTERM) at step 120 "
                          "after rank 1 failed"));
}

TEST(Verdict, SaysWhatTheKernelCounted) {
  const Verdict verdict = Judge(Of({OomKilled(0, 0), Stopped(1, 60)}));
  EXPECT_EQ(verdict.findings[0].evidence[0].what,
            "the OOM-kill counter of its cgroup increased by 1; its peak "
            "memory was 3.0 GiB");
}

TEST(Verdict, MakesOneFindingOfTheSameFailure) {
  const Verdict verdict =
      Judge(Of({OomKilled(0, 0), OomKilled(1, 40), Stopped(2, 60)}));
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings[0].what,
            "rank 0 was killed by the kernel's OOM killer at step 120; rank 1 "
            "likewise");
  EXPECT_THAT(verdict.findings[0].subjects, ElementsAre("rank 0", "rank 1"));
}

TEST(Verdict, KeepsFailuresApartThatAreNotTheSame) {
  const Verdict verdict = Judge(
      Of({Told(0, 0, Cause::kFileCorrupt, "bad header"), OomKilled(1, 40)}));
  ASSERT_EQ(verdict.findings.size(), 2U);
  EXPECT_EQ(verdict.findings[0].cause, Cause::kOomHost);
  EXPECT_EQ(verdict.findings[1].cause, Cause::kFileCorrupt);
  EXPECT_THAT(verdict.findings[0].victims, IsEmpty());
}

TEST(Verdict, ShowsTheExceptionAsEvidence) {
  const Verdict verdict = Judge(Of({Exited(0, 1, 0, kValueError)}));
  EXPECT_EQ(verdict.findings[0].what,
            "rank 0 exited with status 1 at step 120: ValueError: too small");
  EXPECT_EQ(verdict.findings[0].evidence[1],
            (Evidence{"ValueError: too small", "rank 0, stderr", At(0)}));
}

TEST(Verdict, NamesTheStateOfARankThatStandsStill) {
  const Verdict verdict = Judge(WithStall({Stopped(1, 20'000, SIGKILL)}));
  const Finding& root = verdict.findings[0];
  EXPECT_EQ(root.what,
            "rank 1 made no progress for 10.0 s (limit 10.0 s) at step 7");
  EXPECT_EQ(root.evidence[0].what,
            "its process is in state T (stopped by a signal)");
  EXPECT_THAT(root.victims, IsEmpty());
}

TEST(Verdict, NamesARankThatHadEndedWellBeforeTheOthersLostIt) {
  const Verdict verdict =
      Judge(Of({Exited(0, 1, 500, kGlooLost), Exited(1, 0, 0)}));
  EXPECT_EQ(verdict.rank, 0);
  EXPECT_EQ(verdict.findings[0].confidence, Confidence::kPossible);
  EXPECT_EQ(verdict.findings[0].evidence[0].what,
            "rank 1 exited with status 0 500 ms before");
}

}  // namespace
}  // namespace muster::diagnose
