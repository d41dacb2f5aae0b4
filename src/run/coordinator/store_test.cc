// SPDX-License-Identifier: Apache-2.0
#include "run/coordinator/store.h"

#include <gtest/gtest.h>

#include "run/coordinator/store_core.h"

namespace muster::run {
namespace {

using std::chrono::milliseconds;

// Asks a core and writes each answer as "token op number value".
class StoreCoreTest : public testing::Test {
 protected:
  std::string Ask(int rank, const wire::RankMessage& message) {
    return Text(
        core.Handle({.token = ++token, .rank = rank, .message = message}, now));
  }
  std::string Text(const StoreCore::Answers& answers) {
    std::string text;
    for (const auto& [of, message] : answers) {
      EXPECT_EQ(message.id, 70U);
      text += std::to_string(of);
      switch (message.op) {
        case wire::RankOp::kDone:
          text += " done " + std::to_string(message.number) + ";";
          break;
        case wire::RankOp::kValue:
          text += " value " + message.value + ";";
          break;
        default:
          text += " " + message.key + ": " + message.value + ";";
      }
    }
    return text;
  }
  static wire::RankMessage Put(std::string key, std::string value) {
    return {.op = wire::RankOp::kPut,
            .id = 70,
            .key = std::move(key),
            .value = std::move(value)};
  }
  static wire::RankMessage Get(std::string key, std::int64_t ms) {
    return {.op = wire::RankOp::kGet,
            .id = 70,
            .number = ms,
            .key = std::move(key)};
  }
  static wire::RankMessage Add(std::string key, std::int64_t amount) {
    return {.op = wire::RankOp::kAdd,
            .id = 70,
            .number = amount,
            .key = std::move(key)};
  }
  static wire::RankMessage Barrier(std::string key, std::int64_t ms) {
    return {.op = wire::RankOp::kBarrier,
            .id = 70,
            .number = ms,
            .key = std::move(key)};
  }

  StoreCore core{std::vector<bool>(3, true)};
  std::uint64_t token = 0;
  StoreCore::Time now{std::chrono::hours(1)};
};

TEST_F(StoreCoreTest, GivesWhatWasPutLast) {
  EXPECT_EQ(Ask(0, Put("a", "1")), "1 done 0;");
  EXPECT_EQ(Ask(1, Put("a", "2")), "2 done 0;");
  EXPECT_EQ(Ask(2, Get("a", 0)), "3 value 2;");
}

TEST_F(StoreCoreTest, AGetWaitsForThePut) {
  EXPECT_EQ(Ask(0, Get("a", 1000)), "");
  EXPECT_EQ(Ask(2, Get("a", -1)), "");
  EXPECT_EQ(Ask(1, Put("b", "x")), "3 done 0;");
  EXPECT_EQ(Ask(1, Put("a", "x")), "4 done 0;1 value x;2 value x;");
  EXPECT_EQ(core.NextDeadline(), std::nullopt);
}

TEST_F(StoreCoreTest, AGetThatWaitsTooLongNamesTheKey) {
  EXPECT_EQ(Ask(0, Get("a", 0)),
            "1 deadline-exceeded: no rank has put `a` within 0.00 ms;");
  EXPECT_EQ(Ask(0, Get("a", 1500)), "");
  EXPECT_EQ(core.NextDeadline(), now + milliseconds(1500));
  EXPECT_EQ(Text(core.Expire(now + milliseconds(1499))), "");
  EXPECT_EQ(Text(core.Expire(now + milliseconds(1500))),
            "2 deadline-exceeded: no rank has put `a` within 1.5 s;");
  EXPECT_EQ(Ask(0, Put("a", "")), "3 done 0;");
}

TEST_F(StoreCoreTest, AddsFromZero) {
  EXPECT_EQ(Ask(0, Get("n", -1)), "");
  EXPECT_EQ(Ask(1, Add("n", 5)), "2 done 5;1 value 5;");
  EXPECT_EQ(Ask(2, Add("n", -7)), "3 done -2;");
  EXPECT_EQ(Ask(0, Put("n", "many")), "4 done 0;");
  EXPECT_EQ(Ask(0, Add("n", 1)),
            "5 usage-invalid: the store rejects `n` of rank 0: its value is "
            "not a number;");
  EXPECT_EQ(Ask(0, Put("n", "9223372036854775807")), "6 done 0;");
  EXPECT_NE(Ask(0, Add("n", 1)).find("usage-invalid"), std::string::npos);
}

TEST_F(StoreCoreTest, ABarrierOpensForAllAndCanBeUsedAgain) {
  for (int round = 0; round < 2; ++round) {
    token = 0;
    EXPECT_EQ(Ask(2, Barrier("b", 1000)), "");
    EXPECT_EQ(Ask(0, Barrier("b", 1000)), "");
    EXPECT_EQ(Ask(1, Barrier("c", 1000)), "");
    EXPECT_EQ(Ask(1, Barrier("b", 1000)), "2 done 0;4 done 0;1 done 0;");
    EXPECT_EQ(Text(core.Expire(now + milliseconds(1000))),
              "3 deadline-exceeded: the barrier `c` was not reached within "
              "1.0 s by ranks 0, 2;");
  }
}

TEST_F(StoreCoreTest, ABarrierNamesWhoIsMissing) {
  EXPECT_EQ(Ask(0, Barrier("b", 10)), "");
  EXPECT_EQ(Ask(2, Barrier("b", 20)), "");
  EXPECT_EQ(Text(core.Expire(now + milliseconds(10))),
            "1 deadline-exceeded: the barrier `b` was not reached within 10 ms "
            "by rank 1;");
  // The one that gave up has to come again.
  EXPECT_EQ(Ask(1, Barrier("b", 20)), "");
  EXPECT_EQ(Ask(0, Barrier("b", 20)), "4 done 0;3 done 0;2 done 0;");
}

TEST_F(StoreCoreTest, ABarrierWaitsOnlyForRanksThatTrain) {
  core = StoreCore({true, true, false});  // the last is a ps
  EXPECT_EQ(Ask(0, Barrier("b", 1000)), "");
  EXPECT_EQ(Ask(2, Barrier("b", 1000)), "");
  EXPECT_EQ(Ask(1, Barrier("b", 1000)), "1 done 0;3 done 0;2 done 0;");
  EXPECT_EQ(Ask(2, Put("a", "x")), "4 done 0;");
}

TEST_F(StoreCoreTest, RefusesWhatMakesNoSense) {
  EXPECT_EQ(Ask(0, Barrier("b", -1)), "");
  EXPECT_NE(Ask(0, Barrier("b", -1)).find("already waits at this barrier"),
            std::string::npos);
  EXPECT_NE(Ask(3, Put("a", "")).find("there are 3 ranks"), std::string::npos);
  EXPECT_NE(Ask(-1, Put("a", "")).find("usage-invalid"), std::string::npos);
  EXPECT_NE(Ask(0, {.op = wire::RankOp::kFact, .id = 70})
                .find("not a store operation"),
            std::string::npos);
}

TEST_F(StoreCoreTest, HoldsOnlySoMuch) {
  EXPECT_NE(
      Ask(0, Put("a", std::string(wire::kMaxStoreValue, 'x'))).find("os-limit"),
      std::string::npos);
  std::string last;
  for (int i = 0; i < 129; ++i) {
    last = Ask(
        0, Put(std::to_string(i), std::string(wire::kMaxStoreValue - 9, 'x')));
  }
  EXPECT_NE(last.find("os-limit"), std::string::npos);
  EXPECT_EQ(Ask(0, Put("0", "small")), "131 done 0;");
  EXPECT_EQ(Ask(0, Put("128", "fits now")), "132 done 0;");
}

TEST_F(StoreCoreTest, RefusesEverythingOnceClosed) {
  EXPECT_EQ(Ask(0, Get("a", -1)), "");
  EXPECT_EQ(Ask(1, Barrier("b", 100)), "");
  EXPECT_EQ(Text(core.Close(Error(Cause::kPeerDied, "rank 2 is gone"))),
            "1 peer-died: rank 2 is gone;2 peer-died: rank 2 is gone;");
  EXPECT_EQ(Ask(0, Put("a", "")), "3 peer-died: rank 2 is gone;");
}

TEST(Store, RefusesAtTheDeadlineByTheLoop) {
  auto loop = sys::Loop::Make().value();
  Store store(*loop, {true, true});
  std::string seen;
  store.Handle(0,
               {.op = wire::RankOp::kGet, .id = 1, .number = 2, .key = "late"},
               [&](const wire::RankMessage& reply) {
                 seen += reply.key;
                 loop->Quit();
               });
  store.Handle(1, {.op = wire::RankOp::kPut, .id = 2, .key = "a", .value = "b"},
               [&](const wire::RankMessage& reply) {
                 seen += reply.op == wire::RankOp::kDone ? "done " : "?";
               });
  loop->Run();
  EXPECT_EQ(seen, "done deadline-exceeded");
}

TEST(Store, AReplyMayAskAgain) {
  auto loop = sys::Loop::Make().value();
  Store store(*loop, {true});
  std::string seen;
  store.Handle(0, {.op = wire::RankOp::kGet, .number = -1, .key = "a"},
               [&](const wire::RankMessage& reply) {
                 seen += reply.value;
                 store.Handle(0, {.op = wire::RankOp::kGet, .key = "a"},
                              [&](const auto& again) { seen += again.value; });
               });
  store.Handle(0, {.op = wire::RankOp::kPut, .key = "a", .value = "x"},
               [](const wire::RankMessage&) {});
  EXPECT_EQ(seen, "xx");
}

}  // namespace
}  // namespace muster::run
