// SPDX-License-Identifier: Apache-2.0
#include "check/facts/shared_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "check/testing.h"

namespace muster::check {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class SharedFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ =
        testing::TempDir() + "shared_files_test_" + std::to_string(getpid());
    std::filesystem::create_directories(root_);
    std::ofstream(root_ + "/train.py") << "pass";
    std::ofstream(root_ + "/c.yaml") << "a: 1";
    host_.env.variables["PATH"] = "/bin";
    host_.fs.files["/bin/python3"] = "";
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  SharedFiles Digests(std::vector<std::string> command,
                      std::vector<std::string> data = {}) {
    Context context = host_.MakeContext();
    context.command = std::move(command);
    context.data = std::move(data);
    return DigestSharedFiles(context);
  }

  FakeHost host_;
  std::string root_;
};

TEST_F(SharedFilesTest, AreTheWordsOfTheCommandThatAreFiles) {
  const auto files =
      Digests({"python3", root_ + "/train.py", "--config=" + root_ + "/c.yaml",
               "--steps", "10"});
  EXPECT_EQ(files.digests.count("program " + root_ + "/train.py"), 1U);
  EXPECT_EQ(files.digests.count("program " + root_ + "/c.yaml"), 1U);
  EXPECT_THAT(files.digests, SizeIs(testing::Le(3U)));
}

TEST_F(SharedFilesTest, TellWhatIsLeftOut) {
  const auto files = Digests({}, {root_, root_ + "/none", "gs://bucket/data"});
  EXPECT_THAT(files.digests, SizeIs(1U));
  EXPECT_THAT(files.seen, ElementsAre("data " + root_ + " 8 B"));
  EXPECT_THAT(files.left_out, ElementsAre(HasSubstr("none")));
}

TEST_F(SharedFilesTest, ChangeWithTheirBytes) {
  const auto before = Digests({root_ + "/train.py"}).digests;
  std::ofstream(root_ + "/train.py") << "pass # 2";
  EXPECT_NE(Digests({root_ + "/train.py"}).digests, before);
}

TEST(CheckpointMarksTest, AreSeenWhereTheFolderIsShared) {
  FakeHost one, other;
  one.checkpoints = other.checkpoints = {"/ck", "gs://bucket/ck"};
  one.fs.directories.insert("/ck");
  Context context = one.MakeContext();
  {
    const CheckpointMarks marks(context);
    EXPECT_THAT(marks.written(), ElementsAre("/ck"));
    EXPECT_THAT(marks.Unseen(marks.mark()), IsEmpty());
    const CheckpointMarks others(other.MakeContext());
    EXPECT_EQ(others.mark(), "");  // it has no such folder
    EXPECT_THAT(others.Unseen(marks.mark()), ElementsAre("/ck"));
  }
  EXPECT_THAT(one.fs.List("/ck").value_or(std::vector<std::string>{"left"}),
              IsEmpty());
}

TEST(CheckpointMarksTest, AreNotWrittenWhereNoFolderIsGiven) {
  FakeHost host;
  const auto before = host.fs.files;
  const CheckpointMarks marks(host.MakeContext());
  EXPECT_EQ(marks.mark(), "");
  EXPECT_EQ(host.fs.files, before);
}

TEST(Program, IsFoundOrNamed) {
  FakeHost host;
  EXPECT_EQ(Summary(host.Run("cluster.program")), "skip");
  host.command = {"python9", "train.py"};
  host.env.variables["PATH"] = "/bin";
  const Outcome outcome = host.Run("cluster.program");
  EXPECT_EQ(Summary(outcome), "fail program-not-found");
  EXPECT_THAT(outcome.detail, HasSubstr("`python9`"));
  host.fs.files["/bin/python9"] = "";
  EXPECT_EQ(Summary(host.Run("cluster.program")), "pass");
}

}  // namespace
}  // namespace muster::check
