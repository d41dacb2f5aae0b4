// SPDX-License-Identifier: Apache-2.0
#include "sys/file/file_writer.h"

#include <gtest/gtest.h>

#include "sys/file/fs.h"
#include "sys/testing.h"

namespace muster::sys {
namespace {

TEST(FileWriter, KeepsSmallAndLargePiecesInOrder) {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  auto writer = FileWriter::Create(path);
  ASSERT_TRUE(writer) << writer.error().ToText();
  std::string wanted;
  for (const std::size_t size : {3UL, 300'000UL, 1UL, 0UL, 262'144UL, 7UL}) {
    const std::string piece(size, static_cast<char>('a' + size % 26));
    ASSERT_TRUE(writer->Append(piece));
    wanted += piece;
  }
  ASSERT_TRUE(writer->Finish());
  EXPECT_EQ(RealFs().Read(path).value(), wanted);
}

TEST(FileWriter, RefusesAFileThatExists) {
  const TemporaryFolder folder;
  const std::string path = folder / "file";
  ASSERT_TRUE(FileWriter::Create(path));
  EXPECT_FALSE(FileWriter::Create(path));
}

TEST(FileWriter, SaysWhyItCannotMakeTheFile) {
  const auto writer = FileWriter::Create("/proc/nowhere/file");
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().cause(), Cause::kFileMissing);
}

}  // namespace
}  // namespace muster::sys
