// SPDX-License-Identifier: Apache-2.0
// Real processes: what is started ends, whoever dies first.
#include "sys/process/spawner.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "sys/cgroup/own_cgroup.h"
#include "sys/env.h"
#include "sys/fake/fake_spawner.h"
#include "sys/file/fs.h"
#include "sys/net/net.h"
#include "sys/net/stream.h"
#include "sys/process/process.h"
#include "sys/process/process_tree.h"
#include "sys/testing.h"

namespace muster::sys {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

// A tree that does not want to end: sessions of its own, orphans, TERM ignored.
// Says one byte on descriptor 5 for each of its three processes, which keep it
// open for as long as they live.
constexpr const char* kStubborn =
    "trap '' TERM HUP INT; "
    "(setsid sh -c 'trap \"\" TERM; (sleep 600 & echo x >&5); echo x >&5; "
    "while :; do sleep 600; done' &); "
    "echo x >&5; while :; do sleep 600; done";

ProcessSpec Shell(const std::string& script) {
  return {.argv = {"sh", "-c", script},
          .environment = RealEnv().All(),
          .directory = "",
          .descriptors = {{1, 1}, {2, 2}},
          .cores = {}};
}

// Reads until `count` bytes have come, or the end; false: neither in time.
bool ReadUntil(int fd, std::size_t count, Deadline deadline) {
  std::string seen;
  while (!deadline.Expired()) {
    const auto arrived = ReadNow(fd, seen);
    if (!arrived || *arrived == Arrived::kEnd) {
      return true;
    }
    if (std::ranges::count(seen, 'x') >= static_cast<std::ptrdiff_t>(count)) {
      return true;
    }
  }
  return false;
}

bool EndsWithin(int fd, seconds limit) {
  return ReadUntil(fd, 1000, Deadline::After(limit));
}

// Once it is there. The warden is the only child of its owner, the guardian
// that of the warden.
int GuardianOf(int owner) {
  const Deadline deadline = Deadline::After(seconds(10));
  while (!deadline.Expired()) {
    for (const auto& warden : Descendants(owner)) {
      for (const auto& one : Descendants(warden.id.pid)) {
        if (warden.parent == owner && one.parent == warden.id.pid) {
          return one.id.pid;
        }
      }
    }
  }
  ADD_FAILURE() << "there is no guardian";
  return getpid();
}

class SpawnerTest : public testing::Test {
 protected:
  void SetUp() override { Fork({}); }

  void Fork(GuardianOptions options) {
    spawner.reset();
    spawner = GuardianSpawner::Fork(std::move(options)).value();
    ASSERT_TRUE(spawner->Attach(*loop));
    limit = loop->After(seconds(20), [this] {
      ADD_FAILURE() << "nothing has come for 20 s";
      loop->Quit();
    });
  }

  wire::Exit Run(const ProcessSpec& spec) {
    wire::Exit seen;
    auto pid = spawner->Start(spec, [&](const wire::Exit& exit) {
      seen = exit;
      loop->Quit();
    });
    EXPECT_TRUE(pid) << (pid ? "" : pid.error().ToString());
    if (pid) {
      loop->Run();
      EXPECT_EQ(seen.pid, *pid);
    }
    return seen;
  }

  // What a command writes to its stdout.
  std::string OutputOf(ProcessSpec spec) {
    auto pipe = MakePipe().value();
    spec.descriptors[1] = pipe.write.get();
    Run(spec);
    pipe.write.Close();
    std::string text;
    while (*ReadNow(pipe.read.get(), text) == Arrived::kSome) {
    }
    return text;
  }

  std::pair<Cause, std::int64_t> FailureOf(const ProcessSpec& spec) {
    auto pid = spawner->Start(spec, [](const wire::Exit&) {});
    EXPECT_FALSE(pid);
    message = pid.error().message();
    return {pid.error().cause(), pid.error().evidence().at(0).Number("code")};
  }

  int KillAll() {
    int killed = -1;
    spawner->KillAll([&](int count) {
      killed = count;
      loop->Quit();
    });
    EXPECT_EQ(killed, -1) << "done was called inside of KillAll";
    loop->Run();
    return killed;
  }

  static void SignalGuardian(int signal = SIGKILL) {
    kill(GuardianOf(getpid()), signal);
  }

  std::unique_ptr<Loop> loop = Loop::Make().value();
  std::unique_ptr<GuardianSpawner> spawner;
  Loop::Handle limit;
  std::string message;
};

TEST_F(SpawnerTest, HoldsWhatItStartsInACgroupOfItsOwn) {
  const std::string group = OutputOf(Shell("cat /proc/self/cgroup"));
  const Containment held = spawner->containment();
  if (held.cgroup.empty()) {
    GTEST_SKIP() << held.why_not;
  }
  EXPECT_EQ(held.why_not, "");
  EXPECT_THAT(group, HasSubstr("0::"));
  EXPECT_THAT(group, HasSubstr(held.cgroup.substr(held.cgroup.rfind('/'))));
  spawner.reset();
  EXPECT_FALSE(std::filesystem::exists(held.cgroup));
}

TEST_F(SpawnerTest, SaysWhyThereIsNoCgroup) {
  Fork({.no_cgroup = "a test"});
  EXPECT_EQ(Run(Shell("exit 3")).code(), 3);
  EXPECT_EQ(spawner->containment().cgroup, "");
  EXPECT_EQ(spawner->containment().why_not, "a test");
}

TEST_F(SpawnerTest, TellsTheStatusOfAnExit) {
  const wire::Exit exit = Run(Shell("exit 7"));
  EXPECT_TRUE(exit.exited());
  EXPECT_EQ(exit.code(), 7);
  EXPECT_EQ(exit.signal(), std::nullopt);
  EXPECT_GT(exit.max_rss_bytes, 100'000);
  EXPECT_GT(exit.at, WallTime(seconds(1'700'000'000)));
}

TEST_F(SpawnerTest, TellsTheSignal) {
  const wire::Exit exit = Run(Shell("kill -SEGV $$"));
  EXPECT_FALSE(exit.exited());
  EXPECT_EQ(exit.signal(), SIGSEGV);
}

TEST_F(SpawnerTest, TellsTheTimeThatWasUsed) {
  const wire::Exit exit =
      Run(Shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"));
  EXPECT_GT(exit.user_s + exit.system_s, 0.001);
}

TEST_F(SpawnerTest, GivesExactlyTheEnvironment) {
  ProcessSpec spec{.argv = {"/usr/bin/env"},
                   .environment = {{"A", "1 2"}, {"B", "\xff"}}};
  EXPECT_EQ(OutputOf(spec), "A=1 2\nB=\xff\n");
}

TEST_F(SpawnerTest, GivesExactlyTheDescriptors) {
  auto open_here = MakePipe().value();
  auto given = MakePipe().value();
  fcntl(open_here.write.get(), F_SETFD, 0);  // not close-on-exec
  auto spec = Shell("exec ls /proc/self/fd");
  spec.descriptors = {{7, given.write.get()}};
  // 3 is the directory that ls reads.
  EXPECT_EQ(OutputOf(spec), "0\n1\n2\n3\n7\n");
}

TEST_F(SpawnerTest, DescriptorsMayTradePlaces) {
  auto one = MakePipe().value();
  auto two = MakePipe().value();
  auto spec = Shell("printf a >&3; printf b >&4");
  const int low = std::min(one.write.get(), two.write.get());
  ASSERT_GT(low, 2);
  spec.descriptors = {{3, one.write.get()}, {4, two.write.get()}};
  EXPECT_EQ(Run(spec).code(), 0);
  std::string text;
  EXPECT_EQ(*ReadNow(one.read.get(), text), Arrived::kSome);
  EXPECT_EQ(*ReadNow(two.read.get(), text), Arrived::kSome);
  EXPECT_EQ(text, "ab");
}

TEST_F(SpawnerTest, EveryRankHasASessionOfItsOwn) {
  const auto text = OutputOf(Shell("cut -d' ' -f1,6 /proc/$$/stat"));
  const auto blank = text.find(' ');
  EXPECT_EQ(text.substr(0, blank), text.substr(blank + 1, blank)) << text;
}

TEST_F(SpawnerTest, SetsCoresAndDirectory) {
  auto spec = Shell("pwd; grep Cpus_allowed_list /proc/self/status");
  spec.directory = "/usr";
  spec.cores = {RealEnv().CoreIds().back().id};
  EXPECT_EQ(OutputOf(spec), "/usr\nCpus_allowed_list:\t" +
                                std::to_string(spec.cores[0]) + "\n");
}

TEST_F(SpawnerTest, RunsOnAnyCoreWhereTheAskedOneIsMissing) {
  auto spec = Shell("exit 3");
  spec.cores = {4095};
  EXPECT_EQ(Run(spec).code(), 3);
}

TEST_F(SpawnerTest, RanksGetTheSignalsWithWhichWeWereStarted) {
  for (const auto inherited : {SIG_DFL, SIG_IGN}) {
    signal(SIGPIPE, inherited);
    SetUp();
    const wire::Exit exit = Run(Shell("kill -PIPE $$; exit 0"));
    EXPECT_EQ(exit.signal() == SIGPIPE, inherited == SIG_DFL);
  }
}

TEST_F(SpawnerTest, SaysWhatWasNotFound) {
  EXPECT_EQ(FailureOf({.argv = {"no-such-program"},
                       .environment = {{"PATH", "/usr/bin:/bin"}}}),
            std::pair(Cause::kProgramNotFound, std::int64_t{127}));
  EXPECT_EQ(message, "`no-such-program` is not on the PATH");
  EXPECT_EQ(FailureOf({.argv = {"./no-such"}}).second, 127);
  EXPECT_EQ(FailureOf({.argv = {}}).first, Cause::kProgramNotFound);
}

TEST_F(SpawnerTest, SaysWhatCannotBeExecuted) {
  EXPECT_EQ(FailureOf({.argv = {"/etc/passwd"}}),
            std::pair(Cause::kProgramNotFound, std::int64_t{126}));
  EXPECT_THAT(message, HasSubstr("EACCES"));
  EXPECT_EQ(FailureOf({.argv = {"/tmp"}}).second, 126);

  const std::string script =
      testing::TempDir() + "muster_script_" + std::to_string(getpid());
  RealFs fs;
  ASSERT_TRUE(fs.Write(script, "#!/no/such/interpreter\n"));
  ASSERT_EQ(chmod(script.c_str(), 0755), 0);
  EXPECT_EQ(FailureOf({.argv = {script}}).second, 126);
  EXPECT_THAT(message, HasSubstr("the interpreter"));
  ASSERT_TRUE(fs.Write(script, "exit 0\n"));
  ASSERT_EQ(chmod(script.c_str(), 0755), 0);
  EXPECT_EQ(FailureOf({.argv = {script}}).second, 126);
  EXPECT_THAT(message, HasSubstr("#!"));
  EXPECT_TRUE(fs.Remove(script));
}

TEST_F(SpawnerTest, SaysThatTheDirectoryOrALimitIsAtFault) {
  auto spec = Shell("exit 0");
  spec.directory = "/no/such/directory";
  EXPECT_EQ(FailureOf(spec), std::pair(Cause::kFileMissing, std::int64_t{126}));
  auto large = Shell("exit 0");
  large.environment["LARGE"] = std::string(4 << 20, 'x');
  EXPECT_EQ(FailureOf(large), std::pair(Cause::kOsLimit, std::int64_t{126}));
}

TEST_F(SpawnerTest, GivesUpAProgramWhoseFileSystemDoesNotAnswer) {
  const LeasedProgram program;
  if (!program.held()) {
    GTEST_SKIP() << "no lease is given here on a file below "
                 << testing::TempDir();
  }
  Fork({.exec_within = milliseconds(500)});
  const Deadline soon = Deadline::After(seconds(10));
  EXPECT_EQ(FailureOf({.argv = {program.path()}}),
            std::pair(Cause::kDeadlineExceeded, std::int64_t{126}));
  EXPECT_FALSE(soon.Expired());
  EXPECT_THAT(message, HasSubstr("does not respond"));
  EXPECT_EQ(Run(Shell("exit 3")).code(), 3) << "the guardian serves no more";
  EXPECT_LE(KillAll(), 1);
  EXPECT_EQ(Descendants(getpid()).size(), 2U) << "more than guardian, warden";
}

TEST_F(SpawnerTest, ServesAllElseWhileAProgramIsWaitedFor) {
  const LeasedProgram program;
  if (!program.held()) {
    GTEST_SKIP() << "no lease is given here";
  }
  const Deadline soon = Deadline::After(seconds(5));
  std::optional<Result<int>> answer;
  spawner->Begin(
      {.argv = {program.path()}},
      [&](Result<int> pid) { answer = std::move(pid); },
      [](const wire::Exit&) { ADD_FAILURE() << "it was never started"; });
  EXPECT_EQ(Run(Shell("exit 3")).code(), 3);
  EXPECT_FALSE(answer);
  KillAll();
  ASSERT_TRUE(answer && !*answer);
  EXPECT_EQ(answer->error().cause(), Cause::kCancelled);
  EXPECT_EQ(answer->error().evidence().at(0).Number("code"), 126);
  EXPECT_FALSE(soon.Expired());
  EXPECT_EQ(Run(Shell("exit 4")).code(), 4);
}

TEST_F(SpawnerTest, StartsAProgramWhoseFileSystemAnswersLate) {
  LeasedProgram program;
  if (!program.held()) {
    GTEST_SKIP() << "no lease is given here";
  }
  std::string seen;
  spawner->Begin(
      {.argv = {program.path()}},
      [&](const Result<int>& pid) { seen += pid ? "started " : "refused "; },
      [&](const wire::Exit& exit) {
        seen += "exited " + std::to_string(exit.wait_status);
        loop->Quit();
      });
  const auto late = loop->After(milliseconds(200), [&] { program.Release(); });
  loop->Run();
  EXPECT_EQ(seen, "started exited 0");
}

TEST_F(SpawnerTest, RefusesWhatIsOnItsWayWhenTheGuardianIsKilled) {
  const LeasedProgram program;
  if (!program.held()) {
    GTEST_SKIP() << "no lease is given here";
  }
  Cause cause{};
  spawner->Begin(
      {.argv = {program.path()}},
      [&](const Result<int>& pid) {
        cause = pid.error().cause();
        loop->Quit();
      },
      [](const wire::Exit&) {});
  SignalGuardian();
  loop->Run();
  EXPECT_EQ(cause, Cause::kPeerDied);
  KillAll();
}

TEST_F(SpawnerTest, SignalsAProcessAndForgivesOneThatIsGone) {
  auto ready = MakePipe().value();
  auto spec = Shell("echo x >&5; exec sleep 600");
  spec.descriptors[5] = ready.write.get();
  wire::Exit seen;
  const int pid = spawner
                      ->Start(spec,
                              [&](const wire::Exit& exit) {
                                seen = exit;
                                loop->Quit();
                              })
                      .value();
  EXPECT_TRUE(ReadUntil(ready.read.get(), 1, Deadline::After(seconds(10))));
  EXPECT_TRUE(spawner->Signal(pid, SIGUSR1));
  loop->Run();
  EXPECT_EQ(seen.signal(), SIGUSR1);
  EXPECT_TRUE(spawner->Signal(pid, SIGUSR1));
  EXPECT_TRUE(spawner->Signal(1, 0));  // not ours: nothing is sent
}

TEST_F(SpawnerTest, TellsExitsThatComeWhileAnotherIsStarted) {
  int exits = 0;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(spawner->Start(Shell("exit 0"), [&](const wire::Exit&) {
      if (++exits == 20) {
        loop->Quit();
      }
    }));
    EXPECT_EQ(exits, 0) << "an exit was told inside of Start";
  }
  loop->Run();
  EXPECT_EQ(exits, 20);
}

TEST_F(SpawnerTest, KillAllFindsEveryDescendant) {
  auto pipe = MakePipe().value();
  auto spec = Shell(kStubborn);
  spec.descriptors[5] = pipe.write.get();
  bool exited = false;
  ASSERT_TRUE(spawner->Start(spec, [&](const wire::Exit& exit) {
    exited = true;
    EXPECT_EQ(exit.signal(), SIGKILL);
  }));
  pipe.write.Close();
  ASSERT_TRUE(ReadUntil(pipe.read.get(), 3, Deadline::After(seconds(10))));
  EXPECT_GE(KillAll(), 3);
  EXPECT_TRUE(exited);
  EXPECT_TRUE(EndsWithin(pipe.read.get(), seconds(1)));
}

TEST_F(SpawnerTest, KillAllOfNothingIsDoneAtOnce) {
  EXPECT_EQ(KillAll(), 0);
}

TEST_F(SpawnerTest, KillAllCountsOnlyWhatWasLeftBehind) {
  auto pipe = MakePipe().value();
  auto spec = Shell("(setsid sleep 600 >&5 &); exit 0");
  spec.descriptors[5] = pipe.write.get();
  EXPECT_EQ(Run(spec).code(), 0);
  pipe.write.Close();
  EXPECT_EQ(KillAll(), 1);
  EXPECT_TRUE(EndsWithin(pipe.read.get(), seconds(1)));
}

TEST_F(SpawnerTest, NothingOutlivesTheSpawner) {
  auto pipe = MakePipe().value();
  auto spec = Shell(kStubborn);
  spec.descriptors[5] = pipe.write.get();
  ASSERT_TRUE(spawner->Start(spec, [](const wire::Exit&) {}));
  pipe.write.Close();
  ASSERT_TRUE(ReadUntil(pipe.read.get(), 3, Deadline::After(seconds(10))));
  spawner.reset();
  EXPECT_TRUE(EndsWithin(pipe.read.get(), seconds(1)));
}

TEST_F(SpawnerTest, EndsEverythingWhenTheGuardianIsKilled) {
  auto pipe = MakePipe().value();
  auto spec = Shell(kStubborn);
  spec.descriptors[5] = pipe.write.get();
  std::string seen;
  ASSERT_TRUE(spawner->Start(spec, [&](const wire::Exit& exit) {
    seen += exit.signal() == SIGKILL ? "exit " : "other ";
    EXPECT_EQ(exit.guardian_signal, SIGKILL);
    spawner->KillAll([&](int) {
      seen += "killed";
      loop->Quit();
    });
  }));
  pipe.write.Close();
  ASSERT_TRUE(ReadUntil(pipe.read.get(), 3, Deadline::After(seconds(10))));
  SignalGuardian();
  loop->Run();
  EXPECT_EQ(seen, "exit killed");
  EXPECT_TRUE(EndsWithin(pipe.read.get(), seconds(1)));
}

TEST_F(SpawnerTest, StartsAnotherGuardianAfterALoss) {
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(spawner->Start(Shell("sleep 60"), [](const wire::Exit&) {}));
    SignalGuardian();
    KillAll();
    EXPECT_EQ(Run(Shell("exit 3")).code(), 3);
  }
  EXPECT_EQ(Run(Shell("sleep 0.2; kill -9 $PPID; sleep 60")).guardian_signal,
            SIGKILL);
}

TEST_F(SpawnerTest, EndsEverythingWhenTheGuardianIsStopped) {
  auto pipe = MakePipe().value();
  auto spec = Shell(kStubborn);
  spec.descriptors[5] = pipe.write.get();
  ASSERT_TRUE(spawner->Start(spec, [](const wire::Exit&) {}));
  pipe.write.Close();
  ASSERT_TRUE(ReadUntil(pipe.read.get(), 3, Deadline::After(seconds(10))));
  SignalGuardian(SIGSTOP);
  const Deadline soon = Deadline::After(seconds(5));
  KillAll();
  EXPECT_FALSE(soon.Expired());
  EXPECT_TRUE(EndsWithin(pipe.read.get(), seconds(1)));
  EXPECT_EQ(Run(Shell("exit 3")).code(), 3);
}

TEST_F(SpawnerTest, MissesNobodyWhoForksAgainAndAgain) {
  auto pipe = MakePipe().value();
  // Each runs another and ends, every 5 ms.
  auto spec = Shell(
      "export R='sleep 0.005; sh -c \"$R\" & exit'; sh -c \"$R\" & sleep 60");
  spec.descriptors[5] = pipe.write.get();
  ASSERT_TRUE(spawner->Start(spec, [](const wire::Exit&) {}));
  pipe.write.Close();
  // Some have forked and ended by then; nothing is asserted of how many.
  std::this_thread::sleep_for(milliseconds(50));
  SignalGuardian();
  KillAll();
  EXPECT_TRUE(EndsWithin(pipe.read.get(), seconds(1)));
}

// What becomes of a program that uses a spawner: a fork of this test.
int ForkOwner(int ready) {
  const pid_t owner = fork();
  if (owner != 0) {
    return owner;
  }
  auto spawner = GuardianSpawner::Fork().value();
  auto loop = Loop::Make().value();
  if (!spawner->Attach(*loop)) {
    _exit(1);
  }
  for (int i = 0; i < 2; ++i) {
    auto spec = Shell(kStubborn);
    spec.descriptors[5] = ready;
    if (!spawner->Start(spec, [](const wire::Exit&) {})) {
      _exit(1);
    }
  }
  loop->Run();
  _exit(0);
}

TEST(Guardian, EndsEveryDescendantWhenItsOwnerIsKilled) {
  auto pipe = MakePipe().value();
  const pid_t owner = ForkOwner(pipe.write.get());
  ASSERT_GT(owner, 0);
  pipe.write.Close();
  ASSERT_TRUE(ReadUntil(pipe.read.get(), 6, Deadline::After(seconds(10))));
  kill(owner, SIGKILL);
  EXPECT_EQ(waitpid(owner, nullptr, 0), owner);
  EXPECT_TRUE(EndsWithin(pipe.read.get(), seconds(5)));
}

TEST(Guardian, NothingIsLeftWhenOwnerAndGuardianAreKilledAtOnce) {
  auto pipe = MakePipe().value();
  const pid_t owner = ForkOwner(pipe.write.get());
  ASSERT_GT(owner, 0);
  pipe.write.Close();
  ASSERT_TRUE(ReadUntil(pipe.read.get(), 6, Deadline::After(seconds(10))));
  kill(GuardianOf(owner), SIGKILL);
  kill(owner, SIGKILL);
  EXPECT_EQ(waitpid(owner, nullptr, 0), owner);
  EXPECT_TRUE(EndsWithin(pipe.read.get(), seconds(5)));
}

TEST(Guardian, OnlyTheNextRunEndsWhatIsLeftWhenAllAreKilledAtOnce) {
  auto pipe = MakePipe().value();
  const pid_t owner = ForkOwner(pipe.write.get());
  ASSERT_GT(owner, 0);
  pipe.write.Close();
  ASSERT_TRUE(ReadUntil(pipe.read.get(), 6, Deadline::After(seconds(10))));
  const int guardian = GuardianOf(owner);
  for (const auto& one : Descendants(owner)) {
    if (one.parent == owner) {
      kill(one.id.pid, SIGKILL);
    }
  }
  kill(guardian, SIGKILL);
  kill(owner, SIGKILL);
  EXPECT_EQ(waitpid(owner, nullptr, 0), owner);
  // Guardian and warden hold it until they are gone, of which nobody tells us.
  const Deadline deadline = Deadline::After(seconds(10));
  bool ended = false;
  while (!ended && !deadline.Expired()) {
    const auto next = OwnCgroup::Make();
    if (!next) {
      GTEST_SKIP() << next.error().message();
    }
    next->Remove();
    std::string text;
    ended =
        ReadNow(pipe.read.get(), text).value_or(Arrived::kEnd) == Arrived::kEnd;
  }
  EXPECT_TRUE(ended);
}

TEST(Guardian, DoesNotHoldTheOutputOfItsOwnerOpen) {
  auto pipe = MakePipe().value();
  const pid_t owner = fork();
  if (owner == 0) {
    dup2(pipe.write.get(), 1);
    pipe.write.Close();
    auto spawner = GuardianSpawner::Fork();
    close(1);
    pause();
    _exit(0);
  }
  pipe.write.Close();
  EXPECT_TRUE(EndsWithin(pipe.read.get(), seconds(10)));
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
}

TEST(Guardian, WorksWithoutStandardStreams) {
  auto pipe = MakePipe().value();
  const pid_t owner = fork();
  if (owner == 0) {
    for (const int fd : {0, 1, 2}) {
      close(fd);
    }
    auto spawner = GuardianSpawner::Fork().value();
    auto loop = Loop::Make().value();
    auto spec = Shell("echo x; echo x >&2; echo x >&5");
    spec.descriptors = {{5, pipe.write.get()}};
    int code = 1;
    const auto started = spawner->Attach(*loop)
                             ? spawner->Start(spec,
                                              [&](const wire::Exit& exit) {
                                                code = exit.code();
                                                loop->Quit();
                                              })
                             : Result<int>(0);
    if (started) {
      loop->Run();
    }
    spawner.reset();
    _exit(code);
  }
  pipe.write.Close();
  int status = 1;
  EXPECT_EQ(waitpid(owner, &status, 0), owner);
  EXPECT_EQ(status, 0);
  std::string text;
  EXPECT_EQ(*ReadNow(pipe.read.get(), text), Arrived::kSome);
  EXPECT_EQ(text, "x\n");
}

TEST(Descendants, SparesAProcessThatOnlyHasTheSameNumber) {
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  ProcessId id;
  std::set<ProcessId> all;
  for (const auto& one : Descendants(getpid())) {
    id = one.id.pid == child ? one.id : id;
    all.insert(one.id);
  }
  ASSERT_EQ(id.pid, child);
  EXPECT_FALSE(KillProcess({child, id.start_ticks + 1}));
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), 0);
  EXPECT_EQ(Sweep(getpid(), all).Step(), 0);
  EXPECT_TRUE(KillProcess(id));
  EXPECT_EQ(waitpid(child, nullptr, 0), child);
}

TEST(FakeSpawner, EndsWhatTheTestEnds) {
  FakeSpawner spawner;
  std::string seen;
  const auto tell = [&](const wire::Exit& exit) {
    seen +=
        std::to_string(exit.pid) + ":" + std::to_string(exit.wait_status) + " ";
  };
  const int first = spawner.Start({.argv = {"a"}}, tell).value();
  const int second = spawner.Start({.argv = {"b"}}, tell).value();
  spawner.End(first, 256);
  spawner.KillAll([&](int killed) { seen += std::to_string(killed); });
  EXPECT_EQ(seen,
            std::to_string(first) + ":256 " + std::to_string(second) + ":9 1");
  spawner.next_error = Error(Cause::kOsLimit, "full");
  EXPECT_FALSE(spawner.Start({.argv = {"c"}}, tell));
  EXPECT_TRUE(spawner.Start({.argv = {"c"}}, tell));
}

}  // namespace
}  // namespace muster::sys
