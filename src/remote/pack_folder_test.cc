// SPDX-License-Identifier: Apache-2.0
#include "remote/pack_folder.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "sys/fake/fake_clock.h"
#include "sys/fake/fake_env.h"
#include "sys/file/fs.h"
#include "sys/testing.h"

namespace muster::remote {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class PackFolderTest : public ::testing::Test {
 protected:
  void Put(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = folder / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  Result<Archive> Pack(const std::string& path) {
    return PackFolder(path, {env, clock, fs});
  }
  Cause WhyNot(const std::string& path) {
    const auto packed = Pack(path);
    EXPECT_FALSE(packed);
    return packed ? Cause::kInternalError : packed.error().cause();
  }

  sys::TemporaryFolder folder;
  sys::FakeEnv env;
  sys::FakeClock clock;
  sys::RealFs fs;
};

TEST_F(PackFolderTest, PacksAllFilesAndSaysHowMany) {
  Put("a.py", "1");
  Put("b/c.py", "234");
  const auto packed = Pack(folder.path());
  ASSERT_TRUE(packed) << packed.error().ToString();
  EXPECT_THAT(packed->bytes, StartsWith("\x1f\x8b"));
  EXPECT_THAT(packed->folder, StartsWith(".muster/copies/"));
  EXPECT_THAT(packed->what, HasSubstr("2 files"));
}

TEST_F(PackFolderTest, TwoOfOneHostGoToFoldersOfTheirOwn) {
  const auto first = Pack(folder.path());
  clock.Advance(std::chrono::seconds(1));
  const auto second = Pack(folder.path());
  ASSERT_TRUE(first && second);
  EXPECT_NE(first->folder, second->folder);
}

TEST_F(PackFolderTest, WhatIsNoFolderIsNotPacked) {
  Put("file", "x");
  EXPECT_EQ(WhyNot(folder / "none"), Cause::kUsageInvalid);
  EXPECT_EQ(WhyNot(folder / "file"), Cause::kUsageInvalid);
}

TEST_F(PackFolderTest, DataIsNotPacked) {
  Put("data", "");
  std::filesystem::resize_file(folder / "data", (256U << 20) + 1);
  EXPECT_EQ(WhyNot(folder.path()), Cause::kUsageInvalid);
}

}  // namespace
}  // namespace muster::remote
