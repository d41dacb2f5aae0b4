// SPDX-License-Identifier: Apache-2.0
#include "sys/file/file_digest.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace muster::sys {
namespace {

class FileDigestTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = testing::TempDir() + "file_digest_test_" + std::to_string(getpid());
    std::filesystem::create_directories(root_ + "/a/below");
    std::filesystem::create_directories(root_ + "/b/below");
    for (const char* side : {"/a", "/b"}) {
      Write(std::string(side) + "/one", "1");
      Write(std::string(side) + "/below/two", std::string(3000, 'x'));
    }
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  void Write(const std::string& name, const std::string& bytes) {
    std::ofstream(root_ + name) << bytes;
  }
  FileDigest Of(const std::string& name, const DigestLimits& limits = {}) {
    auto digest = DigestOf(root_ + name, limits,
                           Deadline::After(std::chrono::seconds(60)));
    EXPECT_TRUE(digest) << digest.error().ToText();
    return digest ? *digest : FileDigest();
  }

  std::string root_;
};

TEST_F(FileDigestTest, IsEqualWhereNamesAndBytesAre) {
  EXPECT_EQ(Of("/a").digest, Of("/b").digest);
  EXPECT_EQ(Of("/a").files, 2U);
  EXPECT_EQ(Of("/a").size, 3001U);
  Write("/b/one", "2");
  EXPECT_NE(Of("/a").digest, Of("/b").digest);
}

TEST_F(FileDigestTest, TellsNamesApart) {
  std::filesystem::rename(root_ + "/b/one", root_ + "/b/uno");
  EXPECT_NE(Of("/a").digest, Of("/b").digest);
}

TEST_F(FileDigestTest, ReadsTheEndsOfWhatIsTooLarge) {
  const DigestLimits few{.bytes = 100};
  const auto before = Of("/a/below/two", few);
  EXPECT_FALSE(before.whole);
  Write("/a/below/two", std::string(1500, 'x') + "y" + std::string(1499, 'x'));
  EXPECT_EQ(Of("/a/below/two", few).digest, before.digest);
  Write("/a/below/two", std::string(2999, 'x') + "y");
  EXPECT_NE(Of("/a/below/two", few).digest, before.digest);
}

TEST_F(FileDigestTest, TellsWhyThereIsNone) {
  const auto none = DigestOf(root_ + "/none", {}, Deadline::After(Duration(1)));
  EXPECT_EQ(none.error().cause(), Cause::kFileMissing);
  const auto late =
      DigestOf(root_ + "/a", {}, Deadline::After(Duration::zero()));
  EXPECT_EQ(late.error().cause(), Cause::kDeadlineExceeded);
  const auto many = DigestOf(root_ + "/a", {.files = 1},
                             Deadline::After(std::chrono::seconds(60)));
  EXPECT_EQ(many.error().cause(), Cause::kOsLimit);
}

}  // namespace
}  // namespace muster::sys
