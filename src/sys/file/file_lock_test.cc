// SPDX-License-Identifier: Apache-2.0
#include "sys/file/file_lock.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sys/file/fs.h"

namespace muster::sys {
namespace {

class LockFileTest : public testing::Test {
 protected:
  void SetUp() override { unlink(path_.c_str()); }
  void TearDown() override { unlink(path_.c_str()); }

  std::string path_ =
      testing::TempDir() + "muster_file_lock_" + std::to_string(getpid());
};

TEST_F(LockFileTest, IsHeldByOneUntilItIsClosed) {
  auto first = LockFile(path_).value();
  ASSERT_TRUE(first.file);
  const auto second = LockFile(path_).value();
  EXPECT_FALSE(second.file);
  EXPECT_TRUE(second.held_here);
  first.file.Close();
  EXPECT_TRUE(LockFile(path_).value().file);
}

TEST_F(LockFileTest, SaysThatAnotherMachineHoldsIt) {
  const auto lock = LockFile(path_).value();
  // As it stands there for a machine with another boot.
  ASSERT_EQ(truncate(path_.c_str(), 5), 0);
  const auto second = LockFile(path_).value();
  EXPECT_FALSE(second.file);
  EXPECT_FALSE(second.held_here);
}

TEST_F(LockFileTest, MayBeAnotherUsers) {
  ASSERT_TRUE(LockFile(path_));
  ASSERT_EQ(chmod(path_.c_str(), 0444), 0);
  const pid_t child = fork();
  if (child == 0) {
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0 && seteuid(kNobody) != 0) {
      _exit(2);
    }
    const auto lock = LockFile(path_);
    _exit(lock && lock->file ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(LockFileTest, EndsWithTheProcessThatHeldIt) {
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = LockFile(path_);
    _exit(lock && lock->file ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(LockFile(path_).value().file);
}

TEST_F(LockFileTest, IsNotInheritedByAProgram) {
  auto lock = LockFile(path_).value();
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sleep", "sleep", "30", nullptr);
    _exit(1);
  }
  // The copy that the child had by its fork goes when it becomes the program.
  const std::string program = "/proc/" + std::to_string(child) + "/comm";
  for (int ms = 0; RealFs().Read(program).value() != "sleep\n"; ++ms) {
    ASSERT_LT(ms, 10'000) << "it was not started";
    usleep(1000);
  }
  lock.file.Close();
  EXPECT_TRUE(LockFile(path_).value().file);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST_F(LockFileTest, NamesWhyThereIsNone) {
  EXPECT_EQ(LockFile(path_ + "/deeper").error().cause(), Cause::kFileMissing);
}

TEST_F(LockFileTest, OfAnAppenderTellsThatTheFileGrows) {
  EXPECT_EQ(IsGrowing(path_), std::nullopt);
  RealFs fs;
  auto appender = fs.OpenAppender(path_).value();
  EXPECT_EQ(IsGrowing(path_), true);
  EXPECT_EQ(IsGrowing(path_), true);
  auto second = fs.OpenAppender(path_).value();
  EXPECT_TRUE(second->Append("x"));
  second.reset();
  appender.reset();
  EXPECT_EQ(IsGrowing(path_), false);
}

}  // namespace
}  // namespace muster::sys
