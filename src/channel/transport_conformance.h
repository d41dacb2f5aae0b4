// SPDX-License-Identifier: Apache-2.0
// What every transport and its links must do. A transport joins by one
// INSTANTIATE_TEST_SUITE_P.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "channel/inbox.h"
#include "channel/testing.h"
#include "channel/transport.h"

namespace muster::channel {

// One host's transport among several on a loop.
struct TransportUnderTest {
  virtual ~TransportUnderTest() = default;
  virtual Transport& one() = 0;
  virtual Transport& other() = 0;
};

struct TransportKind {
  std::string name;
  std::function<std::unique_ptr<TransportUnderTest>(sys::Loop&)> make;
};

inline void PrintTo(const TransportKind& kind, std::ostream* out) {
  *out << kind.name;
}

class TransportTest : public ::testing::TestWithParam<TransportKind> {
 protected:
  TransportTest()
      : loop(std::move(*sys::Loop::Make())),
        hosts(GetParam().make(*loop)),
        identity(channel::testing::HelloOf(channel::testing::Workers(2), 0)) {}

  bool Until(const std::function<bool()>& done,
             Duration limit = std::chrono::seconds(8)) {
    return channel::testing::RunUntil(*loop, done, limit);
  }

  // One host listens; links are kept in `accepted`.
  void ListenAnywhere(bool links = true) {
    auto listening = hosts->one().Listen(
        {"127.0.0.1", 0}, identity,
        links ? [this](std::unique_ptr<Link>
                           link) { accepted.push_back(std::move(link)); }
              : Transport::OnLink());
    ASSERT_TRUE(listening) << listening.error().ToText();
    listener = *std::move(listening);
  }

  std::unique_ptr<Link> DialIt() {
    std::optional<Result<std::unique_ptr<Link>>> opened;
    hosts->other().Dial(listener->address(),
                        Deadline::After(std::chrono::seconds(5)),
                        [&](Result<std::unique_ptr<Link>> result) {
                          opened.emplace(std::move(result));
                        });
    EXPECT_TRUE(Until([&] { return opened.has_value(); }));
    if (!opened || !*opened) {
      ADD_FAILURE() << (opened ? opened->error().ToText() : "no answer");
      return nullptr;
    }
    return *std::move(*opened);
  }

  Sighting LookAt(const Address& address,
                  Duration limit = std::chrono::seconds(5)) {
    std::optional<Sighting> seen;
    hosts->other().Identify(address, Deadline::After(limit),
                            [&](Sighting sighting) { seen = sighting; });
    EXPECT_FALSE(seen);  // never inside the call
    EXPECT_TRUE(Until([&] { return seen.has_value(); }));
    return seen.value_or(Sighting{});
  }

  // A link of which both ends record what they get.
  struct End {
    std::unique_ptr<Link> link;
    std::vector<Envelope> got;
    std::optional<Error> lost;

    void Watch() {
      link->OnMessage([this](Envelope m) { got.push_back(std::move(m)); });
      link->OnLost([this](const Error& why) { lost = why; });
    }
  };
  void Connect() {
    ListenAnywhere();
    member.link = DialIt();
    ASSERT_TRUE(Until([&] { return !accepted.empty(); }));
    coordinator.link = std::move(accepted.front());
    member.Watch();
    coordinator.Watch();
  }

  std::unique_ptr<sys::Loop> loop;
  std::unique_ptr<TransportUnderTest> hosts;
  wire::Hello identity;
  std::unique_ptr<Listener> listener;
  std::vector<std::unique_ptr<Link>> accepted;
  End coordinator;
  End member;
};

TEST_P(TransportTest, TellsTheIdentityOfWhoListens) {
  ListenAnywhere(/*links=*/false);
  const Sighting seen = LookAt(listener->address());
  ASSERT_EQ(seen.what, Sight::kAgent) << seen.error->ToText();
  EXPECT_EQ(*seen.agent, identity);
}

TEST_P(TransportTest, SeesThatNobodyListens) {
  ListenAnywhere();
  const Address address = listener->address();
  listener.reset();
  const Sighting seen = LookAt(address);
  EXPECT_EQ(seen.what, Sight::kRefused) << ToText(seen.what);
  EXPECT_EQ(seen.error->cause(), Cause::kNetWrongEndpoint);
}

TEST_P(TransportTest, RefusesToListenTwiceAtOneAddress) {
  ListenAnywhere();
  const Address address = listener->address();
  auto twin = hosts->other().Listen(address, identity, nullptr);
  ASSERT_FALSE(twin);
  EXPECT_EQ(twin.error().cause(), Cause::kDuplicateIdentity);
  auto second = hosts->other().Listen(
      address, channel::testing::HelloOf(channel::testing::Workers(2), 1),
      nullptr);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().cause(), Cause::kNetPortInUse);
  EXPECT_NE(second.error().message().find("rank 0 (host h0, pid 100)"),
            std::string::npos);
}

TEST_P(TransportTest, ListensAgainWhereTheListenerWent) {
  ListenAnywhere();
  const Address address = listener->address();
  listener.reset();
  auto again = hosts->one().Listen(address, identity, nullptr);
  EXPECT_TRUE(again) << again.error().ToText();
}

TEST_P(TransportTest, RefusesLinksWhereThereIsNoCoordinator) {
  ListenAnywhere(/*links=*/false);
  std::optional<Cause> cause;
  std::unique_ptr<Link> link;
  hosts->other().Dial(
      listener->address(), Deadline::After(std::chrono::seconds(5)),
      [&](Result<std::unique_ptr<Link>> result) {
        cause = result ? Cause::kInternalError : result.error().cause();
      });
  EXPECT_TRUE(Until([&] { return cause.has_value(); }));
  EXPECT_EQ(cause, Cause::kNetWrongEndpoint);
}

TEST_P(TransportTest, CarriesMessagesBothWaysInOrder) {
  Connect();
  for (int i = 0; i < 100; ++i) {
    member.link->Send({"up", std::to_string(i)});
    coordinator.link->Send({"down", std::to_string(i)});
  }
  ASSERT_TRUE(Until([&] {
    return member.got.size() == 100 && coordinator.got.size() == 100;
  }));
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(coordinator.got[i].kind, "up");
    EXPECT_EQ(member.got[i].body, std::to_string(i));
  }
}

TEST_P(TransportTest, CarriesBytesOfAnyKindAndSize) {
  Connect();
  std::string bytes(kMaxMessage - 100, '\xff');
  bytes[1] = '\0';
  member.link->Send({"big", bytes});
  member.link->Send({"empty", ""});
  ASSERT_TRUE(Until([&] { return coordinator.got.size() == 2; }));
  EXPECT_TRUE(coordinator.got[0].body == bytes);
}

TEST_P(TransportTest, LosesTheLinkOverAMessageThatIsTooLarge) {
  Connect();
  member.link->Send({"huge", std::string(kMaxMessage + 1, 'x')});
  ASSERT_TRUE(Until([&] { return member.lost.has_value(); }));
  EXPECT_EQ(member.lost->cause(), Cause::kInternalError);
  EXPECT_NE(member.lost->message().find("`huge`"), std::string::npos);
}

TEST_P(TransportTest, DeliversWhatWasSentBeforeTheEnd) {
  Connect();
  coordinator.link->Send({"goodbye", "1"});
  coordinator.link->Send({"goodbye", "2"});
  coordinator.link.reset();
  ASSERT_TRUE(Until([&] { return member.lost.has_value(); }));
  EXPECT_EQ(member.got.size(), 2U);
  EXPECT_EQ(member.lost->cause(), Cause::kPeerDied);
}

TEST_P(TransportTest, TellsTheCoordinatorThatAMemberLeft) {
  Connect();
  member.link->Send({"last", ""});
  member.link->Close();
  member.link->Send({"unheard", ""});
  ASSERT_TRUE(Until([&] { return coordinator.lost.has_value(); }));
  EXPECT_EQ(coordinator.got.size(), 1U);
  EXPECT_EQ(coordinator.lost->cause(), Cause::kPeerDied);
  EXPECT_FALSE(member.lost);  // who closes is not told
}

TEST_P(TransportTest, KeepsWhatComesBeforeThereIsAHandler) {
  ListenAnywhere();
  member.link = DialIt();
  member.link->Send({"early", ""});
  ASSERT_TRUE(Until([&] { return !accepted.empty(); }));
  coordinator.link = std::move(accepted.front());
  coordinator.Watch();
  EXPECT_TRUE(coordinator.got.empty());  // never inside the call
  EXPECT_TRUE(Until([&] { return coordinator.got.size() == 1; }));
}

TEST_P(TransportTest, LetsAHandlerDestroyItsLink) {
  Connect();
  coordinator.link->OnMessage(
      [&](const Envelope&) { coordinator.link.reset(); });
  member.link->Send({"a", ""});
  member.link->Send({"b", ""});
  EXPECT_TRUE(Until([&] { return member.lost.has_value(); }));
}

TEST_P(TransportTest, NamesItsPeer) {
  Connect();
  EXPECT_NE(member.link->peer(), "");
  EXPECT_NE(coordinator.link->peer(), "");
}

TEST_P(TransportTest, DropsWhatIsUnderWayWhenItGoes) {
  ListenAnywhere();
  bool called = false;
  hosts->other().Identify(listener->address(),
                          Deadline::After(std::chrono::seconds(5)),
                          [&](const Sighting&) { called = true; });
  hosts->other().Dial(
      listener->address(), Deadline::After(std::chrono::seconds(5)),
      [&](const Result<std::unique_ptr<Link>>&) { called = true; });
  accepted.clear();
  listener.reset();
  hosts.reset();
  EXPECT_FALSE(Until([&] { return called; }, std::chrono::milliseconds(50)));
}

}  // namespace muster::channel
