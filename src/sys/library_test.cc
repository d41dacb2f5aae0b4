// SPDX-License-Identifier: Apache-2.0
#include "sys/library.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sys/testing.h"

namespace muster::sys {
namespace {

TEST(Library, GivesASymbolOfWhatItLoaded) {
  const auto library = Library::Open("/lib/x86_64-linux-gnu/libm.so.6");
  if (!library && library.error().cause() == Cause::kFileMissing) {
    GTEST_SKIP() << "no libm.so.6 where Debian has it";
  }
  ASSERT_TRUE(library) << library.error().ToString();
  EXPECT_TRUE(library->Symbol("cos"));
  const auto absent = library->Symbol("GetPjrtApi");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().cause(), Cause::kVerPluginMismatch);
}

TEST(Library, SaysThatAFileIsAbsent) {
  const auto library = Library::Open("/nowhere/libtpu.so");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().cause(), Cause::kFileMissing);
}

TEST(Library, TakesNoTextForASharedObject) {
  const auto library = Library::Open("/etc/passwd");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().cause(), Cause::kFileCorrupt);
}

// Of this user, cut short: with a right mode the loader is asked.
class LibraryOfAMode : public testing::Test {
 protected:
  Cause CauseOf(mode_t mode, uid_t owner, gid_t group) {
    const std::string path = folder / "plugin.so";
    std::ofstream(path) << "\177ELF and no more";
    if (chown(path.c_str(), owner, group) != 0) {
      return Cause::kInternalError;
    }
    EXPECT_EQ(chmod(path.c_str(), mode), 0);
    return Library::Open(path).error().cause();
  }
  const TemporaryFolder folder;
  const uid_t user = geteuid();
  const gid_t own_group = getegid();
};

TEST_F(LibraryOfAMode, IsRefusedWhereOthersMayWrite) {
  for (const mode_t mode : {0644U, 0755U, 0600U, 0400U}) {
    EXPECT_EQ(CauseOf(mode, user, own_group), Cause::kFileCorrupt) << mode;
  }
  EXPECT_EQ(CauseOf(0666, user, own_group), Cause::kFilePermission);
  EXPECT_EQ(CauseOf(0757, user, own_group), Cause::kFilePermission);
}

TEST_F(LibraryOfAMode, IsRefusedWhereItBelongsToAnother) {
  if (user != 0) {
    GTEST_SKIP() << "only root gives files away";
  }
  EXPECT_EQ(CauseOf(0644, 65534, 65534), Cause::kFilePermission);
  EXPECT_EQ(CauseOf(0664, 0, 65534), Cause::kFilePermission);
  EXPECT_EQ(CauseOf(0664, 0, 0), Cause::kFileCorrupt) << "root's own group";
}

TEST(Library, IsTheFileThatIsNamedAndNotOneOfTheSearchPath) {
  const TemporaryFolder folder;
  std::ofstream(folder / "libm.so.6") << "\177ELF and no more";
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const auto library = Library::Open("libm.so.6");
  std::filesystem::current_path(before);
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().cause(), Cause::kFileCorrupt);
}

TEST(Library, SaysThatASharedObjectIsCutShort) {
  const TemporaryFolder folder;
  const std::string path = folder / "cut.so";
  std::ofstream(path) << "\177ELF and no more";
  const auto library = Library::Open(path);
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().cause(), Cause::kFileCorrupt)
      << library.error().ToString();
}

}  // namespace
}  // namespace muster::sys
