// SPDX-License-Identifier: Apache-2.0
#include "channel/message_stream.h"

#include <gtest/gtest.h>

#include "channel/testing.h"
#include "sys/fake/fake_clock.h"

namespace muster::channel {
namespace {

// A wire on which nothing happens but what the test does.
class FakeStream : public Stream {
 public:
  using Stream::Begin;
  using Stream::Ended;
  using Stream::ReadDone;
  using Stream::Stream;
  using Stream::WriteDone;

  int reads = 0;  // under way
  std::vector<std::string> written;
  std::vector<std::string> ends;

 protected:
  void StartRead() override { ++reads; }
  void StartWrite(Envelope message) override {
    written.push_back(message.kind);
  }
  void FinishWriting(bool over) override {
    ends.push_back(over ? "finish over" : "finish");
  }
  void Over() override { ends.push_back("over"); }
  void Cancel() override { ends.push_back("cancel"); }
};

class StreamTest : public ::testing::Test {
 protected:
  StreamTest()
      : loop(std::move(*sys::Loop::Make())),
        stream(std::make_shared<FakeStream>(*loop, clock)),
        link(std::make_unique<StreamLink>(*loop, stream, "peer")) {
    link->OnMessage([this](const Envelope& m) { got.push_back(m.kind); });
    link->OnLost([this](const Error& why) { lost = why; });
    stream->Begin();
  }
  void RunPosted() {
    loop->Post([this] { loop->Quit(); });
    loop->Run();
  }
  void Read(std::string kind) {
    stream->ReadDone(Envelope{std::move(kind), ""});
  }

  using Texts = std::vector<std::string>;
  sys::FakeClock clock;
  std::unique_ptr<sys::Loop> loop;
  std::shared_ptr<FakeStream> stream;
  std::unique_ptr<StreamLink> link;
  Texts got;
  std::optional<Error> lost;
};

TEST_F(StreamTest, WritesOneMessageAtATime) {
  link->Send({"a", ""});
  link->Send({"b", ""});
  EXPECT_EQ(stream->written, (Texts{"a"}));
  stream->WriteDone(true);
  EXPECT_EQ(stream->written, (Texts{"a", "b"}));
}

TEST_F(StreamTest, ReadsOnWhenTheLoopHasTakenTheMessage) {
  EXPECT_EQ(stream->reads, 1);
  Read("a");
  EXPECT_EQ(stream->reads, 1);
  RunPosted();
  EXPECT_EQ(stream->reads, 2);
  EXPECT_EQ(got, (Texts{"a"}));
}

TEST_F(StreamTest, FinishesAfterWhatWasSentBeforeClose) {
  link->Send({"a", ""});
  link->Send({"b", ""});
  link.reset();
  stream->WriteDone(true);
  EXPECT_TRUE(stream->ends.empty());
  stream->WriteDone(true);
  EXPECT_EQ(stream->written, (Texts{"a", "b"}));
  EXPECT_EQ(stream->ends, (Texts{"finish"}));
}

TEST_F(StreamTest, DropsWhatArrivesAfterClose) {
  link->Close();
  Read("late");
  EXPECT_EQ(stream->reads, 2);
  RunPosted();
  EXPECT_TRUE(got.empty());
}

TEST_F(StreamTest, IsOverWhenTheOtherSideEnds) {
  link->Send({"a", ""});
  stream->ReadDone(std::nullopt);
  EXPECT_EQ(stream->ends, (Texts{"over"}));
  stream->WriteDone(false);
  EXPECT_EQ(stream->ends, (Texts{"over", "finish over"}));
  EXPECT_EQ(stream->reads, 1);
  stream->Ended(Error(Cause::kPeerDied, "closed"), stream);
  RunPosted();
  EXPECT_EQ(lost->cause(), Cause::kPeerDied);
}

TEST_F(StreamTest, DeliversAGoodbyeAlthoughAWriteHasFailed) {
  link->Send({"a", ""});
  stream->WriteDone(false);
  link->Send({"b", ""});
  Read("goodbye");
  RunPosted();
  EXPECT_EQ(got, (Texts{"goodbye"}));
  EXPECT_EQ(stream->written, (Texts{"a"}));
}

TEST_F(StreamTest, CancelsNothingAfterTheEnd) {
  stream->ReadDone(std::nullopt);
  stream->Ended(Error(Cause::kPeerDied, "closed"), stream);
  stream->Abort();
  EXPECT_EQ(stream->ends, (Texts{"finish over", "over"}));
}

TEST_F(StreamTest, DeliversWhatWasReadBeforeTheEnd) {
  Read("a");
  stream->Ended(Error(Cause::kPeerDied, "closed"), stream);
  RunPosted();
  EXPECT_EQ(got, (Texts{"a"}));
  EXPECT_TRUE(lost);
}

TEST_F(StreamTest, OpensWithTheFirstThingThatArrives) {
  std::vector<bool> opened;
  stream->WhenOpen(
      [&](const std::optional<Error>& e) { opened.push_back(!e); });
  Read(kBeatKind);
  RunPosted();
  stream->Ended(Error(Cause::kPeerDied, "closed"), stream);
  RunPosted();
  EXPECT_EQ(opened, (std::vector<bool>{true}));
  EXPECT_TRUE(got.empty());
}

TEST_F(StreamTest, TellsWhenItEndsBeforeItOpens) {
  std::optional<Error> why;
  stream->WhenOpen([&](std::optional<Error> e) { why = std::move(e); });
  stream->Ended(Error(Cause::kNetWrongEndpoint, "not here"), stream);
  RunPosted();
  EXPECT_EQ(why->cause(), Cause::kNetWrongEndpoint);
}

TEST_F(StreamTest, BeatsAndIsLostWhenTheOtherSideIsSilent) {
  int beats = 0;
  for (; !lost && beats < 100; ++beats) {
    clock.Advance(kBeat);
    link->Beat();
  }
  EXPECT_EQ(beats, kSilence / kBeat);
  EXPECT_EQ(stream->written, (Texts{kBeatKind}));
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->cause(), Cause::kHeartbeatMissed);
  EXPECT_EQ(lost->message(), "received nothing from peer for 3.0 s");
  EXPECT_EQ(stream->ends, (Texts{"over", "cancel"}));
}

TEST_F(StreamTest, LivesOnBeatsOfTheOtherSide) {
  for (int beats = 0; beats < 100; ++beats) {
    clock.Advance(kBeat);
    Read(kBeatKind);
    RunPosted();
    link->Beat();
  }
  EXPECT_FALSE(lost);
}

TEST_F(StreamTest, MayBeDestroyedByTheHandlerOfItsLoss) {
  link->OnLost([this](const Error&) { link.reset(); });
  for (int beats = 0; link && beats < 100; ++beats) {
    clock.Advance(kBeat);
    link->Beat();
  }
  EXPECT_FALSE(link);
}

}  // namespace
}  // namespace muster::channel
