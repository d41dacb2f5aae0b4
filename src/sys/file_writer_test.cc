// SPDX-License-Identifier: Apache-2.0
#include "sys/file_writer.h"

#include <gtest/gtest.h>

#include "sys/fs.h"

namespace muster::sys {
namespace {

struct TemporaryFile {
  std::string path = testing::TempDir() + "file_writer_test";
  TemporaryFile() { (void)RealFs().Remove(path).has_value(); }
  ~TemporaryFile() { (void)RealFs().Remove(path).has_value(); }
};

TEST(FileWriter, KeepsSmallAndLargePiecesInOrder) {
  const TemporaryFile file;
  auto writer = FileWriter::Create(file.path);
  ASSERT_TRUE(writer) << writer.error().ToText();
  std::string wanted;
  for (const std::size_t size : {3UL, 300'000UL, 1UL, 0UL, 262'144UL, 7UL}) {
    const std::string piece(size, static_cast<char>('a' + size % 26));
    ASSERT_TRUE(writer->Append(piece));
    wanted += piece;
  }
  ASSERT_TRUE(writer->Finish());
  EXPECT_EQ(RealFs().Read(file.path).value(), wanted);
}

TEST(FileWriter, RefusesAFileThatExists) {
  const TemporaryFile file;
  ASSERT_TRUE(FileWriter::Create(file.path));
  EXPECT_FALSE(FileWriter::Create(file.path));
}

TEST(FileWriter, SaysWhyItCannotMakeTheFile) {
  const auto writer = FileWriter::Create("/proc/nowhere/file");
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().cause(), Cause::kFileMissing);
}

}  // namespace
}  // namespace muster::sys
