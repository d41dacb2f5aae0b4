// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/testing.h"

namespace muster::check {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t kMebibyte = 1ULL << 20;

TEST(Space, FailsOnAFullDisk) {
  FakeHost host;
  host.machine.spaces["/home/test"] = {.bytes = 1024 * kMebibyte,
                                       .free_bytes = kMebibyte};
  const Outcome outcome = host.Run("storage.space");
  ASSERT_EQ(Summary(outcome), "fail disk-full");
  EXPECT_THAT(outcome.detail, HasSubstr("1.0 MiB of 1.0 GiB are free"));
}

TEST(Space, TellsInodesFromBytes) {
  FakeHost host;
  host.machine.spaces["/home/test"] = {.bytes = 1024 * kMebibyte * 1024,
                                       .free_bytes = 1024 * kMebibyte * 512,
                                       .files = 1000,
                                       .free_files = 3};
  const Outcome outcome = host.Run("storage.space");
  ASSERT_EQ(Summary(outcome), "fail disk-full");
  EXPECT_THAT(outcome.detail, HasSubstr("3 of 1000 inodes are free"));
}

TEST(Space, WarnsOfLittleAndPassesWithoutInodes) {
  FakeHost host;
  host.machine.spaces["/home/test"] = {.bytes = 10240 * kMebibyte,
                                       .free_bytes = 300 * kMebibyte};
  EXPECT_EQ(Summary(host.Run("storage.space")), "warn disk-full");
  host.machine.spaces["/home/test"].free_bytes = 5000 * kMebibyte;
  EXPECT_EQ(Summary(host.Run("storage.space")), "pass");
}

TEST(Space, IsAskedWhereAFolderWouldBeMade) {
  FakeHost host;
  host.fs.directories.insert("/mnt/ck");
  host.checkpoints = {"/mnt/ck/run-1/step"};
  host.machine.spaces["/mnt/ck"] = {.bytes = 1024 * kMebibyte,
                                    .free_bytes = kMebibyte};
  EXPECT_EQ(Summary(host.Run("storage.space")), "fail disk-full");
}

TEST(Checkpoints, MustBeWritable) {
  FakeHost host;
  EXPECT_EQ(Summary(host.Run("storage.checkpoints")), "skip");
  host.fs.directories.insert("/mnt/ck");
  host.checkpoints = {"/mnt/ck/run-1"};
  EXPECT_EQ(Summary(host.Run("storage.checkpoints")), "pass");
  host.machine.denied["/mnt/ck"] = Cause::kFilePermission;
  EXPECT_EQ(Summary(host.Run("storage.checkpoints")), "fail file-permission");
}

TEST(Checkpoints, MustGoToAFolder) {
  FakeHost host;
  host.fs.files["/mnt/file"] = "";
  host.checkpoints = {"/mnt/file"};
  EXPECT_EQ(Summary(host.Run("storage.checkpoints")), "fail file-missing");
}

TEST(Space, IsFullWhateverAnotherPathShows) {
  FakeHost host;
  host.fs.directories.insert("/full");
  host.fs.directories.insert("/closed");
  host.checkpoints = {"/full", "/closed"};
  host.machine.denied["/closed"] = Cause::kFilePermission;
  EXPECT_EQ(Summary(host.Run("storage.space")), "broken");
  host.machine.spaces["/full"] = {.bytes = 1U << 20, .free_bytes = 0};
  EXPECT_EQ(Summary(host.Run("storage.space")), "fail disk-full");
}

TEST(Checkpoints, AreTriedByAFileThatIsRemoved) {
  FakeHost host;
  host.fs.directories.insert("/mnt/ck");
  host.checkpoints = {"/mnt/ck"};
  EXPECT_EQ(Summary(host.Run("storage.checkpoints")), "pass");
  EXPECT_TRUE(host.fs.List("/mnt/ck")->empty());
}

TEST(Data, MustBeReadable) {
  FakeHost host;
  EXPECT_EQ(Summary(host.Run("storage.data")), "skip");
  host.data = {"/mnt/data", "gs://bucket/data"};
  EXPECT_EQ(Summary(host.Run("storage.data")), "pass");
  host.machine.denied["/mnt/data"] = Cause::kFileMissing;
  EXPECT_EQ(Summary(host.Run("storage.data")), "fail data-path-unreachable");
  host.machine.denied["/mnt/data"] = Cause::kFilePermission;
  EXPECT_EQ(Summary(host.Run("storage.data")), "fail file-permission");
}

TEST(Data, MustBeReadableInsideOfAFolder) {
  FakeHost host;
  host.data = {"/mnt/data"};
  host.fs.directories.insert("/mnt/data");
  EXPECT_EQ(Summary(host.Run("storage.data")), "warn data-path-unreachable");
  host.fs.files["/mnt/data/part-0"] = "1";
  EXPECT_EQ(Summary(host.Run("storage.data")), "pass");
  host.machine.denied["/mnt/data/part-0"] = Cause::kFilePermission;
  const Outcome outcome = host.Run("storage.data");
  ASSERT_EQ(Summary(outcome), "fail file-permission");
  EXPECT_THAT(outcome.findings.front().what, HasSubstr("/mnt/data/part-0"));
}

}  // namespace
}  // namespace muster::check
