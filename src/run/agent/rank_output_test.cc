// SPDX-License-Identifier: Apache-2.0
#include "run/agent/rank_output.h"

#include <gtest/gtest.h>

#include "sys/net/stream.h"

namespace muster::run {
namespace {

using std::chrono::milliseconds;

class LineSplitterTest : public testing::Test {
 protected:
  void Feed(std::string_view bytes) { splitter.Feed(bytes, now); }

  std::string seen;
  LineSplitter::Time now{};
  LineSplitter splitter{
      [this](std::string_view line) { seen += "<" + std::string(line) + ">"; }};
};

TEST_F(LineSplitterTest, CutsAtLineEndsOfBothKinds) {
  Feed("a\nb\r\n\nc");
  EXPECT_EQ(seen, "<a><b><>");
  Feed("d\r");
  Feed("\n");
  EXPECT_EQ(seen, "<a><b><><cd>");
}

TEST_F(LineSplitterTest, GivesTheRestAtTheEnd) {
  Feed("a\nb");
  splitter.Finish();
  splitter.Finish();
  EXPECT_EQ(seen, "<a><b>");
}

TEST_F(LineSplitterTest, CutsALineThatIsTooLong) {
  const std::string piece(LineSplitter::kLongestLine, 'x');
  Feed(piece);
  Feed("y\n");
  EXPECT_EQ(seen, "<" + piece + "><y>");
}

TEST_F(LineSplitterTest, ShowsAProgressBarNowAndThen) {
  for (int percent = 0; percent <= 100; ++percent) {
    Feed("\r" + std::to_string(percent) + " %");
    now += milliseconds(25);
  }
  Feed("\ndone\n");
  EXPECT_EQ(seen, "<0 %><40 %><80 %><100 %><done>");
}

TEST_F(LineSplitterTest, ShowsTheLastStateOfABarThatEndsInAReturn) {
  Feed("1 %\r2 %\r3 %\r");
  splitter.Finish();
  EXPECT_EQ(seen, "<1 %><3 %>");
}

TEST(PlainText, LeavesOutColoursAndShowsControls) {
  EXPECT_EQ(PlainText("\x1b[1;31merror\x1b[0m: \x07 x", 100), "error: \\x07 x");
  EXPECT_EQ(PlainText("\x1b[31", 100), "");
  EXPECT_EQ(PlainText("abcdef", 3), "abc");
}

class RankOutputTest : public testing::Test {
 protected:
  void Open(std::string prefix) {
    RankOutput::Options options{.console = &console,
                                .stream = sys::Console::Stream::kOut,
                                .prefix = std::move(prefix),
                                .file = fs.OpenAppender("/rank0.out").value(),
                                .on_file_error = [this](const Error& error) {
                                  errors += Label(error.cause());
                                }};
    output = std::make_unique<RankOutput>(*loop, clock, std::move(pipe.read),
                                          std::move(options));
  }
  void Say(std::string_view text) const {
    ASSERT_EQ(*sys::WriteNow(pipe.write.get(), text), text.size());
    output->Drain();
  }
  std::string Shown() const {
    std::string text;
    while (*sys::ReadNow(screen.read.get(), text) == sys::Arrived::kSome) {
    }
    return text;
  }

  std::unique_ptr<sys::Loop> loop = sys::Loop::Make().value();
  sys::FakeClock clock;
  sys::FakeFs fs;
  sys::PipeEnds pipe = sys::MakePipe().value();
  sys::PipeEnds screen = sys::MakePipe().value();
  sys::Console console{*loop, {.out_fd = screen.write.get()}};
  std::unique_ptr<RankOutput> output;
  std::string errors;
};

TEST_F(RankOutputTest, PrefixesLinesAndKeepsBytesInTheFile) {
  Open("[rank 0] ");
  Say("a\nb\xff");
  EXPECT_EQ(Shown(), "[rank 0] a\n");
  output->Finish();
  EXPECT_EQ(Shown(), "[rank 0] b\xff\n");
  EXPECT_EQ(fs.files["/rank0.out"], "a\nb\xff");
}

TEST_F(RankOutputTest, LetsASingleRankThroughAsItIs) {
  Open("");
  Say("no end \r yet");
  EXPECT_EQ(Shown(), "no end \r yet");
}

TEST_F(RankOutputTest, GoesOnWithoutAFileAndNamesWhyOnce) {
  Open("");
  fs.fail.emplace("/rank0.out", Cause::kDiskFull);
  Say("a");
  Say("b");
  EXPECT_EQ(Shown(), "ab");
  EXPECT_EQ(errors, "disk-full");
}

TEST_F(RankOutputTest, KeepsTheLastLines) {
  Open("[rank 0] ");
  for (int i = 0; i < 30; ++i) {
    Say(std::to_string(i) + "\n");
  }
  Say("partial");
  const auto lines = output->LastLines();
  ASSERT_EQ(lines.size(), RankOutput::kKeptLines);
  EXPECT_EQ(lines.front(), "11");
  EXPECT_EQ(lines.back(), "partial");
}

TEST_F(RankOutputTest, EndsWithThePipe) {
  Open("[rank 0] ");
  ASSERT_TRUE(sys::WriteNow(pipe.write.get(), "last words"));
  pipe.write.Close();
  loop->Post([&] { loop->Quit(); });
  loop->Run();
  output->Finish();
  EXPECT_EQ(Shown(), "[rank 0] last words\n");
}

}  // namespace
}  // namespace muster::run
