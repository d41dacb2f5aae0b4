// SPDX-License-Identifier: Apache-2.0
#include "cloud/tpu/tpu_journal.h"

#include <gmock/gmock.h>

#include <regex>

#include "cloud/testing.h"

namespace muster::cloud {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kPath = "/state/muster/tpu.jsonl";

class Journal : public ::testing::Test {
 protected:
  void SetUp() override { cloud.env.variables["XDG_STATE_HOME"] = "/state"; }
  TpuJournal Open() {
    auto journal = TpuJournal::Open(cloud.host);
    EXPECT_TRUE(journal);
    return *std::move(journal);
  }
  static MadeTpu Node(const std::string& request) {
    return {.kind = "node",
            .project = "p",
            .zone = "us-west4-a",
            .name = "t",
            .request = request,
            .type = "v5litepod-8"};
  }
  static auto Requests(auto... ids) {
    return ElementsAre(Field(&MadeTpu::request, ids)...);
  }

  FakeCloud cloud;
};

TEST_F(Journal, RemembersWhatWasAskedForAfterTheProgramEnded) {
  ASSERT_TRUE(Open().Write(TpuStep::kAsked, Node("a")));
  EXPECT_THAT(Open().Unfinished(), Requests("a"));
  EXPECT_EQ(Open().Unfinished().front().type, "v5litepod-8");
}

TEST_F(Journal, ForgetsWhatIsKeptRefusedOrGone) {
  TpuJournal journal = Open();
  for (const auto& [id, end] : {std::pair("a", TpuStep::kKept),
                                {"b", TpuStep::kRefused},
                                {"c", TpuStep::kGone}}) {
    ASSERT_TRUE(journal.Write(TpuStep::kAsked, Node(id)));
    ASSERT_TRUE(journal.Write(TpuStep::kMade, Node(id)));
    ASSERT_TRUE(journal.Write(end, Node(id)));
  }
  EXPECT_THAT(journal.Unfinished(), IsEmpty());
  EXPECT_THAT(Open().Unfinished(), IsEmpty());
}

TEST_F(Journal, WhatIsBeingRemovedIsUnfinished) {
  TpuJournal journal = Open();
  ASSERT_TRUE(journal.Write(TpuStep::kAsked, Node("a")));
  ASSERT_TRUE(journal.Write(TpuStep::kKept, Node("a")));
  ASSERT_TRUE(journal.Write(TpuStep::kChanging, Node("a"), "stop"));
  EXPECT_THAT(journal.Unfinished(), IsEmpty());
  ASSERT_TRUE(journal.Write(TpuStep::kRemoving, Node("a")));
  EXPECT_THAT(Open().Unfinished(), Requests("a"));
}

TEST_F(Journal, WhatOthersMadeIsNeverUnfinished) {
  ASSERT_TRUE(Open().Write(TpuStep::kRemoving, Node("theirs")));
  EXPECT_THAT(Open().Unfinished(), IsEmpty());
  EXPECT_EQ(Open().Find("theirs"), nullptr);
}

TEST_F(Journal, ATornLastLineIsLeftOutAndStaysAlone) {
  ASSERT_TRUE(Open().Write(TpuStep::kAsked, Node("a")));
  cloud.fs.files[kPath] += R"({"schema":"muster.tpu.jour)";
  TpuJournal journal = Open();
  EXPECT_THAT(journal.Unfinished(), Requests("a"));
  ASSERT_TRUE(journal.Write(TpuStep::kAsked, Node("b")));
  EXPECT_THAT(Open().Unfinished(), Requests("a", "b"));
}

TEST_F(Journal, ADiskThatTakesNothingIsTold) {
  TpuJournal journal = Open();
  cloud.fs.fail[kPath] = Cause::kDiskFull;
  const Status written = journal.Write(TpuStep::kAsked, Node("a"));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().cause(), Cause::kDiskFull);
  EXPECT_THAT(journal.Unfinished(), IsEmpty());
}

TEST_F(Journal, WithoutAHomeThereIsNoPlace) {
  cloud.env.variables.clear();
  const auto journal = TpuJournal::Open(cloud.host);
  ASSERT_FALSE(journal);
  EXPECT_THAT(journal.error().message(), HasSubstr("XDG_STATE_HOME"));
}

TEST_F(Journal, WhatALiveProcessWroteIsAtWork) {
  MadeTpu made = Node("a");
  made.pid = 1;  // which lives everywhere
  made.host = cloud.env.hostname;
  cloud.fs.files["/proc/self/comm"] = "muster\n";
  EXPECT_EQ(IsAtWork(made, cloud.host), AtWork::kNo);
  cloud.fs.files["/proc/1/comm"] = "init\n";
  EXPECT_EQ(IsAtWork(made, cloud.host), AtWork::kNo);
  cloud.fs.files["/proc/1/comm"] = "muster\n";
  EXPECT_EQ(IsAtWork(made, cloud.host), AtWork::kYes);
}

TEST_F(Journal, WhatAnotherHostWroteMayBeAtWorkForADay) {
  MadeTpu made = Node("a");
  made.pid = 1;
  made.at = cloud.clock.WallNow();
  EXPECT_EQ(IsAtWork(made, cloud.host), AtWork::kNo);  // no host is told
  made.host = "another";
  EXPECT_EQ(IsAtWork(made, cloud.host), AtWork::kMaybe);
  EXPECT_EQ(WriterText(made), "process 1 on another");
  cloud.clock.Advance(std::chrono::hours(24));
  EXPECT_EQ(IsAtWork(made, cloud.host), AtWork::kNo);
}

TEST(RequestId, IsAUuidAndNeverTheSame) {
  const std::string id = MakeRequestId();
  EXPECT_TRUE(std::regex_match(
      id, std::regex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                     "[0-9a-f]{12}")))
      << id;
  EXPECT_NE(id, MakeRequestId());
}

}  // namespace
}  // namespace muster::cloud
