// SPDX-License-Identifier: Apache-2.0
#include "sys/library.h"

#include <gtest/gtest.h>

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
