// SPDX-License-Identifier: Apache-2.0
// In the control group of this process; skipped where none can be made in it.
#include "sys/cgroup/own_cgroup.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "sys/net/net.h"
#include "sys/net/stream.h"

namespace muster::sys {
namespace {

using std::chrono::seconds;

#define MUSTER_OR_SKIP(made)                  \
  if (!(made)) {                              \
    GTEST_SKIP() << (made).error().message(); \
  }

// A process in the group that keeps `fd` open, and is no child of ours that
// anybody waits for.
void LeaveIn(const OwnCgroup& group, int fd) {
  const pid_t child = fork();
  if (child == 0) {
    if (fork() == 0) {
      [[maybe_unused]] auto entered = write(group.entrance(), "0", 1);
      dup2(fd, 1);
      setsid();
      execlp("sh", "sh", "-c", "echo x; exec sleep 600", nullptr);
      _exit(127);
    }
    _exit(0);
  }
  waitpid(child, nullptr, 0);
}

bool Arrives(int fd, Arrived what) {
  std::string text;
  const Deadline deadline = Deadline::After(seconds(10));
  while (!deadline.Expired()) {
    const auto arrived = ReadNow(fd, text);
    if (arrived && *arrived == what) {
      return true;
    }
  }
  return false;
}

TEST(OwnCgroup, EndsWhatIsInItAndGoes) {
  const auto group = OwnCgroup::Make();
  MUSTER_OR_SKIP(group);
  auto pipe = MakePipe().value();
  LeaveIn(*group, pipe.write.get());
  pipe.write.Close();
  ASSERT_TRUE(Arrives(pipe.read.get(), Arrived::kSome));
  group->Remove();
  EXPECT_TRUE(std::filesystem::exists(group->path())) << "it is not empty";
  group->Kill();
  EXPECT_TRUE(Arrives(pipe.read.get(), Arrived::kEnd));
  const Deadline deadline = Deadline::After(seconds(10));
  while (std::filesystem::exists(group->path()) && !deadline.Expired()) {
    group->Remove();  // the kernel takes its processes off one by one
  }
  EXPECT_FALSE(std::filesystem::exists(group->path()));
}

TEST(OwnCgroup, GoesWithTheGroupsBelowIt) {
  const auto group = OwnCgroup::Make();
  MUSTER_OR_SKIP(group);
  std::filesystem::create_directories(group->path() + "/of a rank/below");
  group->Remove();
  EXPECT_FALSE(std::filesystem::exists(group->path()));
}

TEST(OwnCgroup, TheNextOneEndsWhatAKilledOwnerHasLeft) {
  auto pipe = MakePipe().value();
  auto path = MakePipe().value();
  const pid_t owner = fork();
  if (owner == 0) {
    const auto group = OwnCgroup::Make();
    if (!group) {
      _exit(1);
    }
    [[maybe_unused]] auto written =
        write(path.write.get(), group->path().data(), group->path().size());
    LeaveIn(*group, pipe.write.get());
    pause();
  }
  pipe.write.Close();
  path.write.Close();
  std::string left;
  while (ReadNow(path.read.get(), left).value_or(Arrived::kEnd) ==
         Arrived::kNothing) {
  }
  if (left.empty()) {
    waitpid(owner, nullptr, 0);
    const auto group = OwnCgroup::Make();
    MUSTER_OR_SKIP(group);
    FAIL() << "the owner has no group";
  }
  ASSERT_TRUE(Arrives(pipe.read.get(), Arrived::kSome));
  // Of an owner that lives, nothing is ended.
  ASSERT_TRUE(OwnCgroup::Make());
  EXPECT_TRUE(std::filesystem::exists(left));
  kill(owner, SIGKILL);
  waitpid(owner, nullptr, 0);
  const auto next = OwnCgroup::Make();
  ASSERT_TRUE(next);
  next->Remove();
  EXPECT_TRUE(Arrives(pipe.read.get(), Arrived::kEnd));
  rmdir(left.c_str());  // its processes may have been there a moment longer
}

}  // namespace
}  // namespace muster::sys
