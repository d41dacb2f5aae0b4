// SPDX-License-Identifier: Apache-2.0
#include "sys/terminal/console.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>

#include <array>
#include <thread>

#include "base/text.h"
#include "sys/file/fd.h"
#include "sys/net/stream.h"

namespace muster::sys {
namespace {

using Stream = Console::Stream;

class ConsoleTest : public testing::Test {
 protected:
  void SetUp() override {
    signal(SIGPIPE, SIG_IGN);
    Open(1 << 20);
  }
  void Open(std::size_t limit,
            Duration reader_timeout = std::chrono::seconds(30)) {
    console = std::make_unique<Console>(
        *loop, Console::Options{.out_fd = out.write.get(),
                                .err_fd = err.write.get(),
                                .limit = limit,
                                .reader_timeout = reader_timeout});
  }
  static std::string Seen(const PipeEnds& pipe) {
    std::string text;
    while (*ReadNow(pipe.read.get(), text) == Arrived::kSome) {
    }
    return text;
  }

  std::unique_ptr<Loop> loop = Loop::Make().value();
  PipeEnds out = MakePipe().value();
  PipeEnds err = MakePipe().value();
  std::unique_ptr<Console> console;
};

TEST_F(ConsoleTest, WritesEachStreamToItsOwn) {
  console->Write(Stream::kOut, "one\n");
  console->Write(Stream::kErr, "two\n");
  EXPECT_EQ(Seen(out), "one\n");
  EXPECT_EQ(Seen(err), "two\n");
}

TEST_F(ConsoleTest, QueuesWhatASlowReaderDoesNotTakeYet) {
  const std::string much(300'000, 'x');
  console->Write(Stream::kOut, much + "\n");
  console->Write(Stream::kOut, "end\n");
  std::string text = Seen(out);
  EXPECT_LT(text.size(), much.size());
  auto reads = loop->OnReadable(out.read.get(), [&] {
    text += Seen(out);
    if (text.ends_with("end\n")) {
      loop->Quit();
    }
  });
  loop->Run();
  EXPECT_EQ(text, much + "\nend\n");
}

// A source that never ends, on the console's stdout.
struct Source {
  explicit Source(
      Console& to, std::function<void()> written = [] {})
      : source(to.OnReadable(Stream::kOut, always.get(), [&to, this, written] {
          to.Write(Stream::kOut, std::string(9'999, 'x') + "\n");
          bytes += 10'000;
          written();
        })) {}

  Fd always{open("/dev/zero", O_RDONLY | O_CLOEXEC)};
  std::uint64_t bytes = 0;
  std::unique_ptr<Console::Source> source;
};

TEST_F(ConsoleTest, HoldsSourcesUpWhileAPipeIsFull) {
  Open(100'000);
  std::string text;
  Source source(*console);
  auto feed = loop->Every(std::chrono::milliseconds(1), [&] {
    if (source.source->paused()) {
      EXPECT_LE(source.bytes, text.size() + 300'000);
      text += Seen(out);
    }
    if (text.size() > 2'000'000) {
      loop->Quit();
    }
  });
  loop->Run();
  source.source->Cancel();
  EXPECT_EQ(console->lost().bytes, 0U);
}

TEST_F(ConsoleTest, GoesOnWithoutAReaderThatTakesNothing) {
  Open(100'000, std::chrono::milliseconds(50));
  Source source(*console, [&] {
    if (console->lost().bytes > 100'000) {
      loop->Quit();
    }
  });
  loop->Run();
  source.source->Cancel();
  EXPECT_EQ(console->lost().why,
            "the reader of standard output took nothing for 50 ms");
  auto reads = loop->OnReadable(out.read.get(), [&] { Seen(out); });
  std::string notice;
  auto said = loop->OnReadable(err.read.get(), [&] {
    notice += Seen(err);
    loop->Quit();
  });
  loop->Run();
  EXPECT_EQ(notice, "muster: " + LostText(console->lost()) +
                        " (the log files are complete)\n");
  EXPECT_EQ(CodeAfter(console->lost(), 0), 1);
  EXPECT_EQ(CodeAfter(console->lost(), 7), 7);
}

TEST_F(ConsoleTest, SaysThatAReaderIsGone) {
  out.read.Close();
  console->Write(Stream::kOut, "lost\n");
  console->Write(Stream::kOut, "lost\n");
  console->Write(Stream::kErr, "kept\n");
  EXPECT_EQ(Seen(err),
            "muster: the reader of standard output is gone; the log files are "
            "complete\nkept\n");
  EXPECT_EQ(LostText(console->lost()),
            "10 B of output were not shown: the reader of standard output is "
            "gone");
}

TEST_F(ConsoleTest, SaysThatADiskIsFull) {
  out.write = Fd(open("/dev/full", O_WRONLY | O_CLOEXEC));
  Open(1 << 20);
  console->Write(Stream::kOut, "lost\n");
  EXPECT_NE(Seen(err).find("standard output cannot be written: write of "
                           "`output` failed: ENOSPC"),
            std::string::npos);
  EXPECT_EQ(console->lost().bytes, 5U);
}

TEST_F(ConsoleTest, HasNoLiveLineWithoutATerminal) {
  EXPECT_FALSE(console->terminal());
  console->SetLive("step 1");
  console->Write(Stream::kErr, "text\n");
  EXPECT_EQ(Seen(err), "text\n");
}

// A pseudo-terminal: what is written to `terminal` is read from `screen`.
class ConsoleTerminalTest : public ConsoleTest {
 protected:
  void SetUp() override {
    ConsoleTest::SetUp();
    screen = Fd(posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK));
    if (!screen || grantpt(screen.get()) != 0 || unlockpt(screen.get()) != 0) {
      GTEST_SKIP() << "no pseudo-terminal here";
    }
    std::array<char, 64> name{};
    ASSERT_EQ(ptsname_r(screen.get(), name.data(), name.size()), 0);
    terminal = Fd(open(name.data(), O_RDWR | O_NOCTTY));
  }
  Console Shown(bool raw = false) {
    return {*loop,
            {.out_fd = out.write.get(), .err_fd = terminal.get(), .raw = raw}};
  }
  void ExpectOnScreen(const std::string& expected) {
    std::string text;
    const auto deadline = Deadline::After(std::chrono::seconds(10));
    while (text.size() < expected.size() && !deadline.Expired()) {
      ASSERT_TRUE(ReadNow(screen.get(), text));
    }
    EXPECT_EQ(text, expected);
  }

  Fd screen, terminal;
};

TEST_F(ConsoleTerminalTest, KeepsTheLiveLineBelowAllOthers) {
  Console shown = Shown();
  EXPECT_TRUE(shown.terminal());
  shown.SetLive("step 1");
  shown.Write(Stream::kErr, "text\n");
  shown.Write(Stream::kOut, "elsewhere\n");
  shown.SetLive("step 2");
  shown.SetLive("");
  ExpectOnScreen("step 1\r\x1b[Ktext\r\nstep 1\r\x1b[Kstep 2\r\x1b[K");
}

TEST_F(ConsoleTerminalTest, FiltersOutputAndLosesNoLineOfOurs) {
  Console shown = Shown();
  shown.WriteOutput(Stream::kErr, "a\x1b]0;title\x07 \x1b[31mb\x1b[0m\x1b]52;");
  shown.Write(Stream::kErr, "muster: said\n");
  ExpectOnScreen("a \x1b[31mb\x1b[0mmuster: said\r\n");
}

TEST_F(ConsoleTerminalTest, PassesOutputAsItIsWhenAsked) {
  Console shown = Shown(/*raw=*/true);
  shown.WriteOutput(Stream::kErr, "a\x1b]0;title\x07\x1b[2J");
  ExpectOnScreen("a\x1b]0;title\x07\x1b[2J");
}

TEST_F(ConsoleTest, PassesOutputAsItIsWithoutATerminal) {
  const std::string bytes = "a\x1b]0;t\x07\x9b\xff\x1b[2J";
  console->WriteOutput(Stream::kOut, bytes);
  EXPECT_EQ(Seen(out), bytes);
  console->Write(Stream::kErr, "muster: \x1b[2J\n");
  EXPECT_EQ(Seen(err), "muster: \\x1b[2J\n");
}

TEST_F(ConsoleTest, DrainsAsLongAsItIsRead) {
  console->Write(Stream::kOut, std::string(300'000, 'x'));
  std::jthread reader([&] {
    for (std::size_t size = 0; size < 300'000;) {
      size += Seen(out).size();
    }
  });
  console->Drain();
  EXPECT_EQ(console->lost().bytes, 0U);
}

TEST_F(ConsoleTest, CountsWhatItCannotDrain) {
  console->Write(Stream::kOut, std::string(300'000, 'x'));
  console->Drain(std::chrono::milliseconds(1));
  EXPECT_EQ(console->lost().bytes + Seen(out).size(), 300'000U);
  EXPECT_NE(Seen(err).find("of output were not shown"), std::string::npos);
}

}  // namespace
}  // namespace muster::sys
