// SPDX-License-Identifier: Apache-2.0
#include "sys/file/private_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace muster::sys {
namespace {

class PrivateFile : public ::testing::Test {
 protected:
  PrivateFile() {
    std::string pattern = ::testing::TempDir() + "privateXXXXXX";
    directory = mkdtemp(pattern.data());
    path = directory + "/secret";
    std::ofstream(path) << "a secret";
    EXPECT_EQ(chmod(path.c_str(), 0600), 0);
  }
  void TearDown() override { std::filesystem::remove_all(directory); }

  // The error's cause and text, or the bytes.
  std::string Read(std::size_t limit = 100) {
    auto bytes = ReadPrivateFile(path, limit);
    return bytes ? *bytes : bytes.error().ToString();
  }

  std::string directory;
  std::string path;
};

TEST_F(PrivateFile, IsRead) {
  EXPECT_EQ(Read(), "a secret");
  ASSERT_EQ(chmod(path.c_str(), 0400), 0);
  EXPECT_EQ(Read(), "a secret");
}

TEST_F(PrivateFile, ThatOthersMayReadIsRefused) {
  for (const mode_t mode : {0604U, 0606U, 0620U, 0644U, 0666U}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    const auto said = Read();
    EXPECT_TRUE(said.starts_with("file-permission: ")) << said;
    EXPECT_NE(said.find("mode 06"), std::string::npos) << said;
  }
}

TEST_F(PrivateFile, MayBeReadByItsGroupWhereRootOwnsIt) {
  ASSERT_EQ(chmod(path.c_str(), 0440), 0);
  const auto said = Read();
  if (geteuid() == 0) {
    EXPECT_EQ(said, "a secret");
  } else {
    EXPECT_TRUE(said.starts_with("file-permission: ")) << said;
  }
}

TEST_F(PrivateFile, OfAnotherUserIsRefused) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can give a file away";
  }
  ASSERT_EQ(chown(path.c_str(), 12345, 12345), 0);
  const auto said = Read();
  EXPECT_TRUE(said.starts_with("file-permission: ")) << said;
  EXPECT_NE(said.find("user 12345"), std::string::npos) << said;
}

TEST_F(PrivateFile, ThatIsNoFileIsRefused) {
  EXPECT_EQ(ReadPrivateFile(directory + "/none", 1).error().cause(),
            Cause::kFileMissing);
  EXPECT_EQ(ReadPrivateFile(directory, 1).error().cause(), Cause::kFileMissing);
  const std::string pipe = directory + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(ReadPrivateFile(pipe, 1).error().cause(), Cause::kFileCorrupt);
}

TEST_F(PrivateFile, HasALimit) {
  EXPECT_EQ(Read(8), "a secret");
  EXPECT_TRUE(Read(7).starts_with("file-corrupt: ")) << Read(7);
}

}  // namespace
}  // namespace muster::sys
