// SPDX-License-Identifier: Apache-2.0
#include "remote/agent_bootstrap.h"

#include <gmock/gmock.h>

#include <optional>

#include "base/text.h"
#include "sys/net/stream.h"

namespace muster::remote {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// A standard input into which a test writes.
class Input {
 public:
  explicit Input(const std::string& text = "") { Write(text); }
  int fd() const { return pipe_.read.get(); }
  void Write(const std::string& text) const {
    EXPECT_EQ(sys::WriteNow(pipe_.write.get(), text).value(), text.size());
  }
  void End() { pipe_.write.Close(); }

 private:
  sys::PipeEnds pipe_ = sys::MakePipe().value();
};

TEST(AgentBootstrap, ComesOutOfItsLineAsItWas) {
  const AgentBootstrap handed{
      .args = {"run", "--env", "A=ü\nb\"c\"", "--", "caf\xe9", ""},
      .token = "0f"};
  const Input input("\n\n" + ToLine(handed) + "stop SIGINT\n");
  const auto read = ReadAgentBootstrap(input.fd());
  ASSERT_TRUE(read) << read.error().ToString();
  EXPECT_EQ(read->args, handed.args);
  EXPECT_EQ(read->token, "0f");
  std::string rest;
  EXPECT_TRUE(sys::ReadNow(input.fd(), rest));
  EXPECT_EQ(rest, "stop SIGINT\n");
}

struct Bad {
  const char* name;
  const char* text;
};
class BadBootstrap : public ::testing::TestWithParam<Bad> {};

TEST_P(BadBootstrap, IsNoUseOfTheProgram) {
  const Input input(std::string(GetParam().text) + "\n");
  const auto read = ReadAgentBootstrap(input.fd());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().cause(), Cause::kUsageInvalid);
}

INSTANTIATE_TEST_SUITE_P(
    All, BadBootstrap,
    ::testing::Values(
        Bad{"NoJson", "run"}, Bad{"NoObject", "[]"},
        Bad{"NoSchema", R"({"args": [], "token": ""})"},
        Bad{"AnotherSchema",
            R"({"schema": "muster.handed/2", "args": [], "token": ""})"},
        Bad{"NoArguments", R"({"schema": "muster.handed/1", "token": ""})"},
        Bad{"ArgumentsThatAreNoList",
            R"({"schema": "muster.handed/1", "args": "run", "token": ""})"},
        Bad{"AnArgumentThatIsNoText",
            R"({"schema": "muster.handed/1", "args": [1], "token": ""})"},
        Bad{"NoToken", R"({"schema": "muster.handed/1", "args": []})"}),
    [](const auto& tested) { return tested.param.name; });

TEST(AgentBootstrap, OfAStarterThatIsGoneIsItsDeath) {
  Input input("\n{");
  input.End();
  const auto read = ReadAgentBootstrap(input.fd());
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().cause(), Cause::kPeerDied);
}

TEST(AgentBootstrap, OfASilentStarterIsNotAwaitedForEver) {
  const Input input("\n");
  const auto read = ReadAgentBootstrap(input.fd(), milliseconds(20));
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().cause(), Cause::kDeadlineExceeded);
}

TEST(ReportLines, AreShortAndAddUpToTheDocument) {
  const std::string mark = ReportMark("secret");
  const std::string document(100'000, 'x');
  auto lines = Split(ReportLines(mark, document), '\n');
  EXPECT_EQ(lines.back(), "");  // behind the last end of line
  lines.pop_back();
  EXPECT_EQ(lines.back(), mark);
  std::string whole;
  for (const std::string& line : lines) {
    ASSERT_TRUE(line.starts_with(mark));
    EXPECT_LT(line.size(), 64U << 10);
    whole += line.substr(mark.size());
  }
  EXPECT_EQ(whole, document);
}

TEST(ReportMark, TellsRunsApartAndNothingOfTheToken) {
  EXPECT_EQ(ReportMark("secret"), ReportMark("secret"));
  EXPECT_NE(ReportMark("secret"), ReportMark("other"));
  EXPECT_THAT(ReportMark("secret"), Not(HasSubstr("secret")));
}

class StarterWatchTest : public ::testing::Test {
 protected:
  void Watch(Duration silence = kSilence) {
    watch.emplace(
        *loop, input.fd(),
        [this](const std::string& by, bool now) {
          heard.push_back((now ? "kill by " : "stop by ") + by);
          loop->Quit();
        },
        [this](const std::string& why) {
          gone.push_back(why);
          loop->Quit();
        },
        silence);
  }
  void UntilHeard(std::size_t count) {
    while (heard.size() < count && limit.active()) {
      loop->Run();
    }
  }
  void UntilGone() {
    while (gone.empty() && limit.active()) {
      loop->Run();
    }
  }

  Input input;
  std::unique_ptr<sys::Loop> loop = sys::Loop::Make().value();
  std::vector<std::string> heard, gone;
  sys::Loop::Handle limit = loop->After(seconds(20), [this] {
    ADD_FAILURE() << "nothing has come for 20 s";
    loop->Quit();
  });
  std::optional<StarterWatch> watch;
};

TEST_F(StarterWatchTest, PassesOnWhoStopsAndWhoKills) {
  Watch();
  input.Write("stop SIGINT\n\nkill SIG");
  UntilHeard(1);
  EXPECT_THAT(heard, ElementsAre("stop by SIGINT"));
  input.Write("TERM\n");
  UntilHeard(2);
  EXPECT_THAT(heard, ElementsAre("stop by SIGINT", "kill by SIGTERM"));
  EXPECT_THAT(gone, IsEmpty());
}

TEST_F(StarterWatchTest, OtherWordsOnlyShowThatTheStarterIsThere) {
  Watch();
  input.Write("\nstopping\nkill\nhello\nstop SIGHUP\n");
  UntilHeard(1);
  EXPECT_THAT(heard, ElementsAre("stop by SIGHUP"));
}

TEST_F(StarterWatchTest, WordsOfAnotherHostDoNotReachTheTerminalAsTheyAre) {
  Watch();
  input.Write("stop \x1b[2J\n");
  UntilHeard(1);
  ASSERT_THAT(heard, SizeIs(1));
  EXPECT_THAT(heard.front(), Not(HasSubstr("\x1b")));
}

TEST_F(StarterWatchTest, ActsOnTheLastWordBeforeTheEnd) {
  Watch();
  input.Write("kill SIGINT\n");
  input.End();
  UntilGone();
  EXPECT_THAT(heard, ElementsAre("kill by SIGINT"));
  EXPECT_THAT(gone, SizeIs(1));
}

TEST_F(StarterWatchTest, ASilentStarterIsGoneOnce) {
  Watch(milliseconds(20));
  UntilGone();
  input.Write("stop SIGINT\n");
  input.End();
  const auto later = loop->After(milliseconds(50), [this] { loop->Quit(); });
  loop->Run();
  EXPECT_THAT(gone, SizeIs(1));
  EXPECT_THAT(heard, IsEmpty());
}

}  // namespace
}  // namespace muster::remote
