// SPDX-License-Identifier: Apache-2.0
#include "sys/file/temp_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "muster/deadline.h"

namespace muster::sys {
namespace {

class RemovedAtEndTest : public testing::Test {
 protected:
  void SetUp() override {
    path_ =
        testing::TempDir() + "removed_at_end_test_" + std::to_string(getpid());
  }
  void Write() const { std::ofstream(path_) << "x"; }
  void TearDown() override { std::filesystem::remove(path_); }
  // Bounded far above what it takes.
  bool Goes() const {
    const Deadline deadline = Deadline::After(std::chrono::seconds(60));
    while (std::filesystem::exists(path_) && !deadline.Expired()) {
      // Nobody tells when another process has removed it.
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return !std::filesystem::exists(path_);
  }

  std::string path_;
};

TEST_F(RemovedAtEndTest, GoesWithItsOwner) {
  {
    auto made = RemovedAtEnd::Make(path_);
    ASSERT_TRUE(made) << made.error().ToText();
    const RemovedAtEnd moved = *std::move(made);
    Write();
    ASSERT_TRUE(std::filesystem::exists(path_));
  }
  EXPECT_TRUE(Goes());
}

TEST_F(RemovedAtEndTest, GoesWithAProcessThatIsKilled) {
  const pid_t pid = fork();
  if (pid == 0) {
    const auto made = RemovedAtEnd::Make(path_);
    Write();
    if (!std::filesystem::exists(path_)) {
      _exit(1);
    }
    raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(waitpid(pid, &status, 0), pid);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_TRUE(Goes());
}

}  // namespace
}  // namespace muster::sys
