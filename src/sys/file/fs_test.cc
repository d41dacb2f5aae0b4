// SPDX-License-Identifier: Apache-2.0
#include "sys/file/fs.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "sys/fake/fake_fs.h"
#include "sys/file/byte_source.h"
#include "sys/testing.h"

namespace muster::sys {
namespace {

using Names = std::vector<std::string>;

// What both file systems promise.
class FsTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    root = testing::TempDir() + "muster_fs_test_" + std::to_string(getpid());
    ASSERT_TRUE(fs->RemoveRecursively(root));
    ASSERT_TRUE(fs->MakeDirectories(root));
  }
  void TearDown() override { EXPECT_TRUE(fs->RemoveRecursively(root)); }

  std::string At(std::string_view name) const { return JoinPath(root, name); }
  static Cause CauseOf(const auto& result) {
    return result ? Cause::kUsageInvalid : result.error().cause();
  }

  std::string root;
  std::unique_ptr<Fs> fs =
      GetParam() == std::string("real")
          ? std::unique_ptr<Fs>(std::make_unique<RealFs>())
          : std::unique_ptr<Fs>(std::make_unique<FakeFs>());
};

TEST_P(FsTest, ReadsWhatWasWrittenLast) {
  const std::string bytes(100'000, '\0');
  EXPECT_TRUE(fs->Write(At("a"), "first"));
  EXPECT_TRUE(fs->Write(At("a"), bytes));
  EXPECT_EQ(*fs->Read(At("a")), bytes);
  EXPECT_EQ(*fs->List(root), Names{"a"});
}

TEST_P(FsTest, RefusesAFileLargerThanTheLimit) {
  EXPECT_TRUE(fs->Write(At("a"), "12345"));
  EXPECT_EQ(fs->Read(At("a"), 5).value(), "12345");
  EXPECT_EQ(CauseOf(fs->Read(At("a"), 4)), Cause::kFileCorrupt);
}

TEST_P(FsTest, NamesWhatIsMissing) {
  EXPECT_EQ(CauseOf(fs->Read(At("a"))), Cause::kFileMissing);
  EXPECT_EQ(CauseOf(fs->Write(At("no/a"), "")), Cause::kFileMissing);
  EXPECT_EQ(CauseOf(fs->OpenAppender(At("no/a"))), Cause::kFileMissing);
  EXPECT_EQ(CauseOf(fs->List(At("no"))), Cause::kFileMissing);
  EXPECT_EQ(CauseOf(fs->Remove(At("a"))), Cause::kFileMissing);
  EXPECT_EQ(CauseOf(fs->Rename(At("a"), At("b"))), Cause::kFileMissing);
  EXPECT_TRUE(fs->RemoveRecursively(At("a")));
}

TEST_P(FsTest, AFileIsNoDirectory) {
  EXPECT_TRUE(fs->Write(At("a"), ""));
  EXPECT_EQ(CauseOf(fs->List(At("a"))), Cause::kFileMissing);
  EXPECT_EQ(CauseOf(fs->Write(At("a/b"), "")), Cause::kFileMissing);
  EXPECT_EQ(CauseOf(fs->MakeDirectories(At("a/b"))), Cause::kFileMissing);
  EXPECT_FALSE(fs->Read(root));
}

TEST_P(FsTest, AppendsToWhatIsThere) {
  EXPECT_TRUE(fs->Write(At("a"), "1"));
  for (const char* text : {"2", "34"}) {
    auto appender = fs->OpenAppender(At("a"));
    ASSERT_TRUE(appender);
    EXPECT_TRUE((*appender)->Append(text));
  }
  EXPECT_EQ(*fs->Read(At("a")), "1234");
}

TEST_P(FsTest, ListsNamesSorted) {
  EXPECT_TRUE(fs->MakeDirectories(At("d/e/f")));
  EXPECT_TRUE(fs->MakeDirectories(At("d/e")));
  EXPECT_TRUE(fs->Write(At("b"), ""));
  EXPECT_TRUE(fs->Write(At("d/a"), ""));
  EXPECT_EQ(*fs->List(root), (Names{"b", "d"}));
  EXPECT_EQ(*fs->List(At("d")), (Names{"a", "e"}));
  EXPECT_TRUE(fs->List(At("d/e/f"))->empty());
}

TEST_P(FsTest, RemovesFilesAndEmptyDirectories) {
  EXPECT_TRUE(fs->MakeDirectories(At("d")));
  EXPECT_TRUE(fs->Write(At("d/a"), ""));
  EXPECT_FALSE(fs->Remove(At("d")));
  EXPECT_TRUE(fs->Remove(At("d/a")));
  EXPECT_TRUE(fs->Exists(At("d")));
  EXPECT_TRUE(fs->Remove(At("d")));
  EXPECT_FALSE(fs->Exists(At("d")));
}

TEST_P(FsTest, RemovesATree) {
  EXPECT_TRUE(fs->MakeDirectories(At("d/e")));
  EXPECT_TRUE(fs->Write(At("d/e/a"), ""));
  EXPECT_TRUE(fs->Write(At("dd"), ""));
  EXPECT_TRUE(fs->RemoveRecursively(At("d")));
  EXPECT_EQ(*fs->List(root), Names{"dd"});
}

TEST_P(FsTest, RenamesOverAFile) {
  EXPECT_TRUE(fs->Write(At("a"), "new"));
  EXPECT_TRUE(fs->Write(At("b"), "old"));
  EXPECT_TRUE(fs->Rename(At("a"), At("b")));
  EXPECT_EQ(*fs->Read(At("b")), "new");
  EXPECT_FALSE(fs->Exists(At("a")));
}

TEST_P(FsTest, RenamesADirectoryWithWhatIsInIt) {
  EXPECT_TRUE(fs->MakeDirectories(At("d/e")));
  EXPECT_TRUE(fs->Write(At("d/a"), "1"));
  EXPECT_TRUE(fs->Rename(At("d"), At("f")));
  EXPECT_EQ(*fs->List(At("f")), (Names{"a", "e"}));
  EXPECT_FALSE(fs->Exists(At("d")));
  EXPECT_TRUE(fs->MakeDirectories(At("g/h")));
  EXPECT_FALSE(fs->Rename(At("f"), At("g")));
}

INSTANTIATE_TEST_SUITE_P(Fs, FsTest, testing::Values("real", "fake"),
                         [](const auto& test) { return test.param; });

TEST(FakeFs, FailsAsAsked) {
  FakeFs fs;
  fs.files["/d/a"] = "1";
  auto appender = fs.OpenAppender("/d/a");
  fs.fail.emplace("/d/a", Cause::kDiskFull);
  EXPECT_EQ(fs.Read("/d/a").error().cause(), Cause::kDiskFull);
  EXPECT_EQ((*appender)->Append("2").error().cause(), Cause::kDiskFull);
  EXPECT_EQ(*fs.List("/d"), Names{"a"});
}

TEST(FromErrno, NamesCallPathAndCause) {
  EXPECT_EQ(FromErrno("write", "/d/x", ENOSPC).ToString(),
            "disk-full: write of `/d/x` failed: ENOSPC (No space left on "
            "device)");
}

TEST(RealFs, MakesFoldersForTheOwnerAloneWhenAsked) {
  RealFs fs;
  const TemporaryFolder folder;
  ASSERT_TRUE(fs.MakeDirectories(folder / "a/b", Fs::Access::kOwner));
  for (const char* made : {"a", "a/b"}) {
    struct stat about {};
    ASSERT_EQ(stat((folder / made).c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777U, 0700U) << made;
  }
}

TEST(RealFs, ReadsFilesOfProc) {
  EXPECT_FALSE(RealFs().Read("/proc/self/stat").value().empty());
}

TEST(RealFs, DoesNotFollowALinkWhenItRemoves) {
  RealFs fs;
  const std::string root =
      testing::TempDir() + "muster_link_" + std::to_string(getpid());
  ASSERT_TRUE(fs.MakeDirectories(root + "/kept"));
  ASSERT_TRUE(fs.MakeDirectories(root + "/gone"));
  ASSERT_EQ(symlink((root + "/kept").c_str(), (root + "/gone/link").c_str()),
            0);
  EXPECT_TRUE(fs.RemoveRecursively(root + "/gone"));
  EXPECT_TRUE(fs.Exists(root + "/kept"));
  EXPECT_TRUE(fs.RemoveRecursively(root));
}

TEST(RealFs, ALinkReplacesTheOneBefore) {
  RealFs fs;
  const std::string root =
      testing::TempDir() + "muster_link_test_" + std::to_string(getpid());
  ASSERT_TRUE(fs.MakeDirectories(root + "/a"));
  ASSERT_TRUE(fs.MakeDirectories(root + "/b"));
  ASSERT_TRUE(fs.Write(root + "/b/file", "x"));
  EXPECT_TRUE(fs.Link("a", root + "/latest"));
  EXPECT_TRUE(fs.Link("b", root + "/latest"));
  EXPECT_EQ(*fs.Read(root + "/latest/file"), "x");
  EXPECT_EQ(*fs.List(root), (Names{"a", "b", "latest"}));
  EXPECT_TRUE(fs.RemoveRecursively(root));
}

TEST(RoomToRead, AsksForNoMoreThanTheFileHasWhileItsSizeIsKnown) {
  constexpr std::size_t kMaxCount = 0x7ffff000;  // of one call
  constexpr std::size_t kSize = std::size_t{5} << 30;
  EXPECT_EQ(RoomToRead({.told = kSize, .limit = kSize}), kSize + 1);
  EXPECT_EQ(RoomToRead({.have = kMaxCount, .told = kSize, .limit = kSize}),
            kSize + 1 - kMaxCount);
  EXPECT_EQ(RoomToRead({.have = kSize, .told = kSize, .limit = kSize}), 1U);
  EXPECT_EQ(RoomToRead({.told = kSize, .limit = 100}), 101U);
}

TEST(RoomToRead, DoublesWhereTheSizeIsNotKnownOrWasWrong) {
  EXPECT_EQ(RoomToRead({.limit = 1 << 20}), 4096U);
  EXPECT_EQ(RoomToRead({.have = 8192, .limit = 1 << 20}), 8192U);
  EXPECT_EQ(RoomToRead({.have = 101, .told = 100, .limit = 1 << 20}), 4096U);
}

TEST(FromErrno, NamesTheCauseAndKeepsTheFact) {
  const Error error = FromErrno("open", "/x", ENOENT);
  EXPECT_EQ(error.ToString(),
            "file-missing: open of `/x` failed: ENOENT (No such file or "
            "directory)");
  EXPECT_EQ(error.evidence().at(0).Text("errno"), "ENOENT");
  EXPECT_EQ(CauseOfErrno(EROFS), Cause::kFilePermission);
  EXPECT_EQ(CauseOfErrno(EDQUOT), Cause::kDiskFull);
  EXPECT_EQ(CauseOfErrno(EMFILE), Cause::kOsLimit);
  EXPECT_EQ(CauseOfErrno(EIO), Cause::kFileCorrupt);
  EXPECT_EQ(CauseOfErrno(ESTALE), Cause::kDataPathUnreachable);
  EXPECT_EQ(CauseOfErrno(EDEADLK), Cause::kInternalError);
  for (const int of_the_path : {EISDIR, ENXIO, ELOOP, ENAMETOOLONG, ENOTDIR}) {
    EXPECT_EQ(CauseOfErrno(of_the_path), Cause::kFileMissing) << of_the_path;
  }
}

TEST(RealFs, NamesTheTargetThatItCannotWrite) {
  RealFs fs;
  const auto missing = fs.Write("/nonexistent/x.tgz", "");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().evidence().at(0).Text("object"),
            "/nonexistent/x.tgz");
  const auto folder = fs.Write(testing::TempDir() + ".", "");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().evidence().at(0).Text("object"),
            testing::TempDir() + ".");
}

TEST(FilesBelow, SaysThatItDoesNotGiveAll) {
  const std::string root =
      testing::TempDir() + "muster_below_" + std::to_string(getpid());
  RealFs fs;
  ASSERT_TRUE(fs.MakeDirectories(root + "/deep"));
  for (const char* const name : {"/b", "/deep/a", "/c"}) {
    ASSERT_TRUE(fs.Write(root + name, ""));
  }
  const FileList all = FilesBelow(root, 3);
  EXPECT_EQ(all.paths, Names({root + "/b", root + "/c", root + "/deep/a"}));
  EXPECT_EQ(all.cut, "");
  const FileList two = FilesBelow(root, 2);
  EXPECT_EQ(two.paths.size(), 2U);
  EXPECT_EQ(two.cut, "only the first 2 files in it are read");
  EXPECT_NE(FilesBelow(root + "/nothing", 2).cut, "");
  EXPECT_TRUE(fs.RemoveRecursively(root));
}

TEST(FilesBelow, NamesFoldersThatMayNotBeRead) {
  const TemporaryFolder folder;
  const std::string& root = folder.path();
  RealFs fs;
  ASSERT_EQ(chmod(root.c_str(), 0755), 0);
  ASSERT_TRUE(fs.MakeDirectories(root + "/closed"));
  ASSERT_TRUE(fs.Write(root + "/a", ""));
  ASSERT_TRUE(fs.Write(root + "/closed/b", ""));
  ASSERT_EQ(chmod((root + "/closed").c_str(), 0), 0);
  // Root may read everything, nobody else may.
  const uid_t user = geteuid();
  ASSERT_EQ(seteuid(user == 0 ? 65534 : user), 0);
  const FileList list = FilesBelow(root, 9);
  const FileList closed = FilesBelow(root + "/closed", 9);
  ASSERT_EQ(seteuid(user), 0);
  EXPECT_EQ(list.paths, Names({root + "/a"}));
  EXPECT_EQ(list.refused, Names({root + "/closed"}));
  EXPECT_EQ(list.cut, "");
  EXPECT_EQ(closed.refused, Names({root + "/closed"}));
  ASSERT_EQ(chmod((root + "/closed").c_str(), 0700), 0);
}

}  // namespace
}  // namespace muster::sys
