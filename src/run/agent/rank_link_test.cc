// SPDX-License-Identifier: Apache-2.0
#include "run/agent/rank_link.h"

#include <gtest/gtest.h>

#include <vector>

#include "sys/net/net.h"
#include "sys/net/stream.h"

namespace muster::run {
namespace {

using std::chrono::seconds;

class RankLinkTest : public testing::Test {
 protected:
  void SetUp() override {
    auto ends = sys::SocketPair().value();
    rank = std::move(ends.first);
    link = std::make_unique<RankLink>(
        *loop, std::move(ends.second),
        RankLink::Handlers{.on_message =
                               [this](const wire::RankMessage& message) {
                                 seen += message.key + " ";
                                 if (message.key == "last") {
                                   loop->Quit();
                                 }
                               },
                           .on_end =
                               [this](std::optional<Error> why) {
                                 seen += why ? Label(why->cause()) : "end";
                                 loop->Quit();
                               }});
    limit = loop->After(seconds(10), [this] {
      ADD_FAILURE() << "nothing has come for 10 s";
      loop->Quit();
    });
  }
  void Say(std::string_view bytes) const {
    ASSERT_TRUE(
        sys::SendAll(rank.get(), bytes, {}, Deadline::After(seconds(10))));
  }
  static std::string Frame(std::string key) {
    return wire::Encode({.op = wire::RankOp::kPut, .key = std::move(key)});
  }

  std::unique_ptr<sys::Loop> loop = sys::Loop::Make().value();
  sys::Loop::Handle limit;
  sys::Fd rank;
  std::unique_ptr<RankLink> link;
  std::string seen;
};

TEST_F(RankLinkTest, DeliversFramesHoweverTheyAreCut) {
  const std::string both = Frame("a") + Frame("last");
  Say(both.substr(0, 30));
  auto rest =
      loop->After(std::chrono::milliseconds(1), [&] { Say(both.substr(30)); });
  loop->Run();
  EXPECT_EQ(seen, "a last ");
}

TEST_F(RankLinkTest, DeliversTheLastWordsBeforeTheEnd) {
  Say(Frame("a") + Frame("b"));
  rank.Close();
  loop->Run();
  EXPECT_EQ(seen, "a b end");
  EXPECT_FALSE(link->open());
}

TEST_F(RankLinkTest, DrainsWithoutTheLoop) {
  Say(Frame("a"));
  link->Drain();
  EXPECT_EQ(seen, "a ");
  rank.Close();
  link->Drain();
  link->Drain();
  EXPECT_EQ(seen, "a end");
}

TEST_F(RankLinkTest, GivesUpOnGarbage) {
  Say(Frame("a") + "HTTP/1.1 200 OK\r\n");
  loop->Run();
  EXPECT_EQ(seen, "a file-corrupt");
  link->Send({.op = wire::RankOp::kStop});
}

TEST_F(RankLinkTest, SendsMoreThanTheSocketHolds) {
  const std::string value(3 << 20, 'v');
  link->Send({.op = wire::RankOp::kValue, .value = value});
  std::string buffer;
  auto read = loop->OnReadable(rank.get(), [&] {
    ASSERT_TRUE(sys::ReceiveNow(rank.get(), buffer, nullptr));
    if (auto message = wire::TakeMessage(buffer).value()) {
      EXPECT_EQ(message->value, value);
      loop->Quit();
    }
  });
  loop->Run();
}

TEST_F(RankLinkTest, SendsDescriptorsBesideTheirMessage) {
  auto pipe = sys::MakePipe().value();
  const int descriptors[] = {pipe.write.get()};
  link->Send({.op = wire::RankOp::kRegistered}, descriptors);
  std::string buffer;
  std::vector<sys::Fd> got;
  ASSERT_TRUE(
      sys::ReceiveSome(rank.get(), buffer, &got, Deadline::After(seconds(10))));
  EXPECT_EQ(wire::TakeMessage(buffer).value()->op, wire::RankOp::kRegistered);
  EXPECT_EQ(got.size(), 1U);
}

TEST_F(RankLinkTest, GivesUpOnARankThatTakesNothing) {
  const std::string value(RankLink::kMaxQueued / 4, 'v');
  for (int i = 0; i < 5; ++i) {
    link->Send({.op = wire::RankOp::kValue, .value = value});
  }
  EXPECT_EQ(seen, "");
  loop->Run();
  EXPECT_EQ(seen, "os-limit");
}

TEST_F(RankLinkTest, MayBeDestroyedByWhatItTells) {
  auto ends = sys::SocketPair().value();
  rank = std::move(ends.first);
  link = std::make_unique<RankLink>(
      *loop, std::move(ends.second),
      RankLink::Handlers{.on_message =
                             [this](const wire::RankMessage&) {
                               link.reset();
                               loop->Quit();
                             },
                         .on_end = [](std::optional<Error>) { FAIL(); }});
  Say(Frame("a") + Frame("b"));
  loop->Run();
  EXPECT_EQ(link, nullptr);
}

}  // namespace
}  // namespace muster::run
