// SPDX-License-Identifier: Apache-2.0
// What tests share: folders, and programs that cannot be opened.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

#include "sys/file/fd.h"

namespace muster::sys {

// An empty folder that nobody else has, also where two builds are tested at a
// time; it goes with its owner.
class TemporaryFolder {
 public:
  TemporaryFolder() { EXPECT_NE(mkdtemp(path_.data()), nullptr) << path_; }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code left;
    std::filesystem::remove_all(path_, left);
    EXPECT_FALSE(left) << path_ << ": " << left.message();
  }
  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const {
    return path_ + "/" + std::string(name);
  }

 private:
  std::string path_ = testing::TempDir() + "muster-test-XXXXXX";
};

// A program that nobody can open until it is released, as if it lay on a mount
// whose server is gone: a lease on it is held that is not given back when it
// should.
class LeasedProgram {
 public:
  LeasedProgram() {
    signal(SIGIO, SIG_IGN);  // by which the kernel asks for it
    std::filesystem::copy_file("/bin/true", path_);
    file_ = Fd(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    held_ = fcntl(file_.get(), F_SETLEASE, F_WRLCK) == 0;
  }
  LeasedProgram(const LeasedProgram&) = delete;
  LeasedProgram& operator=(const LeasedProgram&) = delete;
  ~LeasedProgram() {
    Release();
    std::filesystem::remove(path_);
    signal(SIGIO, SIG_DFL);
  }
  const std::string& path() const { return path_; }
  bool held() const { return held_; }
  void Release() { file_.Close(); }

 private:
  const std::string path_ =
      testing::TempDir() + "muster_leased_" + std::to_string(getpid());
  Fd file_;
  bool held_ = false;
};

}  // namespace muster::sys
