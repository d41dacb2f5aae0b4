// SPDX-License-Identifier: Apache-2.0
// What every implementation of Collective must do. A new one adds
//
//   INSTANTIATE_TEST_SUITE_P(Gloo, CollectiveConformance,
//                            testing::Values(GlooKind()), NameOfKind);
//
// to one test file, the only one of its program that includes this, and is held
// to all of it. Ranks are threads here.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <latch>
#include <limits>
#include <memory>
#include <ostream>
#include <string>
#include <thread>
#include <vector>

#include "muster/collective.h"
#include "sys/memory.h"
#include "wire/progress_page.h"

namespace muster {

struct CollectiveKind {
  std::string name;
  // What the ranks of one group share (a segment, a store); made before them.
  std::function<std::shared_ptr<void>(int size)> share;
  // Called on each rank's own thread.
  std::function<Result<std::unique_ptr<Collective>>(
      int rank, int size, void* shared, wire::ProgressPage&)>
      make;
  // Names ranks that call something else, instead of meeting the deadline.
  bool names_mismatches = true;
  // Ends waits when the progress page's stop word is set.
  bool obeys_the_board = true;
  std::vector<DType> dtypes = {
      DType::kFloat32, DType::kFloat64, DType::kBFloat16,
      DType::kFloat16, DType::kInt8,    DType::kInt32,
      DType::kInt64,   DType::kUInt8,   DType::kBool};
  std::vector<int> sizes = {1, 2, 3, 4};
};

inline std::ostream& operator<<(std::ostream& out, const CollectiveKind& kind) {
  return out << kind.name;
}

inline std::string NameOfKind(
    const testing::TestParamInfo<CollectiveKind>& info) {
  return info.param.name;
}

// Small whole numbers are exact in every type, so sums can be compared.
inline void SetElement(Buffer buffer, std::size_t at, int value) {
  auto* to = static_cast<std::byte*>(buffer.data) + at * SizeOf(buffer.dtype);
  const auto put = [&](auto typed) { std::memcpy(to, &typed, sizeof typed); };
  const auto number = static_cast<float>(value);
  switch (buffer.dtype) {
    case DType::kFloat32:
      return put(number);
    case DType::kFloat64:
      return put(static_cast<double>(value));
    case DType::kBFloat16: {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &number, sizeof bits);
      return put(static_cast<std::uint16_t>(bits >> 16));
    }
    case DType::kFloat16: {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &number, sizeof bits);
      return put(static_cast<std::uint16_t>(
          value == 0 ? 0 : (bits - 0x38000000) >> 13));
    }
    case DType::kInt8:
    case DType::kUInt8:
      return put(static_cast<std::uint8_t>(value));
    case DType::kInt32:
      return put(std::int32_t{value});
    case DType::kInt64:
      return put(static_cast<std::int64_t>(value));
    case DType::kBool:
      return put(static_cast<std::uint8_t>(value != 0));
  }
}

// What rank r holds at element i before a call, and what all hold after a sum.
inline int ValueOf(int rank, std::size_t at) {
  return static_cast<int>(at % 5) * (rank + 1);
}

class CollectiveConformance : public testing::TestWithParam<CollectiveKind> {
 protected:
  using Body = std::function<void(Collective& group)>;

  static Deadline Soon() { return Deadline::After(std::chrono::seconds(60)); }

  // Runs `body` on `size` ranks at once.
  void OnRanks(int size, const Body& body) {
    const auto shared = GetParam().share(size);
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < size; ++rank) {
      threads.emplace_back([&, rank] {
        auto group = GetParam().make(rank, size, shared.get(), progress_page_);
        ASSERT_TRUE(group) << group.error().ToString();
        EXPECT_EQ((*group)->rank(), rank);
        EXPECT_EQ((*group)->size(), size);
        body(**group);
      });
    }
  }

  // A buffer of the group's own memory, or of ours.
  struct Memory {
    std::vector<std::byte> own;
    Buffer buffer;
  };
  static Memory Make(Collective& group, DType dtype, std::size_t count,
                     bool allocate) {
    Memory memory;
    memory.buffer = {.count = count, .dtype = dtype};
    if (allocate) {
      auto data = group.Allocate(memory.buffer.bytes());
      EXPECT_TRUE(data) << data.error().ToString();
      memory.buffer.data = *data;
    } else {
      memory.own.resize(memory.buffer.bytes());
      memory.buffer.data = memory.own.data();
    }
    return memory;
  }

  static void FillFor(int rank, Buffer buffer) {
    for (std::size_t i = 0; i < buffer.count; ++i) {
      SetElement(buffer, i, ValueOf(rank, i));
    }
  }

  static std::vector<std::byte> SumOver(int size, Buffer like) {
    std::vector<std::byte> bytes(like.bytes());
    like.data = bytes.data();
    for (std::size_t i = 0; i < like.count; ++i) {
      int sum = 0;
      for (int rank = 0; rank < size; ++rank) {
        sum += ValueOf(rank, i);
      }
      SetElement(like, i, sum);
    }
    return bytes;
  }

  static bool Holds(Buffer buffer, const std::vector<std::byte>& bytes) {
    return buffer.bytes() == bytes.size() &&
           (bytes.empty() ||
            std::memcmp(buffer.data, bytes.data(), bytes.size()) == 0);
  }

  wire::ProgressPage progress_page_;
};

TEST_P(CollectiveConformance, SumsEveryTypeAndSize) {
  for (const int size : GetParam().sizes) {
    OnRanks(size, [&](Collective& group) {
      for (const DType dtype : GetParam().dtypes) {
        for (const std::size_t count : {0UL, 1UL, 7UL, 1000UL}) {
          for (const bool allocate : {true, false}) {
            Memory memory = Make(group, dtype, count, allocate);
            FillFor(group.rank(), memory.buffer);
            const auto done = AllReduce(group, memory.buffer, Soon());
            ASSERT_TRUE(done) << done.error().ToString();
            ASSERT_TRUE(Holds(memory.buffer, SumOver(size, memory.buffer)))
                << ToString(dtype) << " x " << count << " on " << size;
          }
        }
      }
    });
  }
}

TEST_P(CollectiveConformance, SumsALargeBuffer) {
  for (const int size : GetParam().sizes) {
    OnRanks(size, [&](Collective& group) {
      for (const bool allocate : {true, false}) {
        Memory memory = Make(group, DType::kFloat32, (1U << 18) + 3, allocate);
        FillFor(group.rank(), memory.buffer);
        const auto done = AllReduce(group, memory.buffer, Soon());
        ASSERT_TRUE(done) << done.error().ToString();
        ASSERT_TRUE(Holds(memory.buffer, SumOver(size, memory.buffer)));
      }
    });
  }
}

TEST_P(CollectiveConformance, BroadcastsFromEveryRoot) {
  for (const int size : GetParam().sizes) {
    OnRanks(size, [&](Collective& group) {
      for (int root = 0; root < size; ++root) {
        for (const std::size_t count : {0UL, 1UL, 7UL, 30000UL}) {
          Memory memory = Make(group, DType::kInt64, count, count == 7);
          FillFor(group.rank(), memory.buffer);
          const auto done = Broadcast(group, memory.buffer, root, Soon());
          ASSERT_TRUE(done) << done.error().ToString();
          Memory wanted = Make(group, DType::kInt64, count, false);
          FillFor(root, wanted.buffer);
          ASSERT_TRUE(Holds(memory.buffer, wanted.own));
        }
      }
    });
  }
}

TEST_P(CollectiveConformance, GathersByRank) {
  for (const int size : GetParam().sizes) {
    OnRanks(size, [&](Collective& group) {
      for (const std::size_t count : {0UL, 1UL, 13UL, 20000UL}) {
        Memory in = Make(group, DType::kFloat64, count, count == 13);
        FillFor(group.rank(), in.buffer);
        const auto ranks = static_cast<std::size_t>(size);
        Memory out = Make(group, DType::kFloat64, count * ranks, false);
        const auto done = AllGather(group, in.buffer, out.buffer, Soon());
        ASSERT_TRUE(done) << done.error().ToString();
        for (std::size_t i = 0; i < count * ranks; ++i) {
          double value = 0;
          std::memcpy(&value, out.own.data() + i * sizeof value, sizeof value);
          ASSERT_EQ(value, ValueOf(static_cast<int>(i / count), i % count));
        }
      }
    });
  }
}

TEST_P(CollectiveConformance, BarrierHoldsUntilAllHaveCome) {
  for (const int size : GetParam().sizes) {
    std::atomic<int> come{0};
    OnRanks(size, [&](Collective& group) {
      for (int round = 1; round <= 20; ++round) {
        ++come;
        const auto done = Barrier(group, Soon());
        ASSERT_TRUE(done) << done.error().ToString();
        ASSERT_GE(come.load(), round * size);
      }
    });
  }
}

TEST_P(CollectiveConformance, RunsSeveralWorksAtOnce) {
  for (const int size : GetParam().sizes) {
    OnRanks(size, [&](Collective& group) {
      std::vector<Memory> buckets;
      for (std::size_t i = 0; i < 12; ++i) {
        buckets.push_back(
            Make(group, DType::kFloat32, 100 * i + 1, i % 2 == 0));
        FillFor(group.rank(), buckets.back().buffer);
      }
      std::vector<std::unique_ptr<Work>> works;
      for (Memory& bucket : buckets) {
        auto work = group.StartAllReduce(bucket.buffer, {});
        ASSERT_TRUE(work) << work.error().ToString();
        works.push_back(std::move(work).value());
        works.front()->Poll();
      }
      for (std::size_t i = works.size(); i-- > 0;) {
        const auto done = works[i]->Wait(Soon(), {});
        ASSERT_TRUE(done) << done.error().ToString();
        ASSERT_TRUE(works[i]->Poll());
        ASSERT_TRUE(Holds(buckets[i].buffer, SumOver(size, buckets[i].buffer)));
      }
    });
  }
}

TEST_P(CollectiveConformance, PollFinishesWithoutAWait) {
  OnRanks(2, [&](Collective& group) {
    Memory memory = Make(group, DType::kFloat32, 5000, true);
    FillFor(group.rank(), memory.buffer);
    auto work = group.StartAllReduce(memory.buffer, {});
    ASSERT_TRUE(work) << work.error().ToString();
    const Deadline deadline = Soon();
    while (!(*work)->Poll()) {
      ASSERT_FALSE(deadline.Expired());
      std::this_thread::yield();
    }
    ASSERT_TRUE((*work)->Wait(Soon(), {}));
    EXPECT_TRUE(Holds(memory.buffer, SumOver(2, memory.buffer)));
  });
}

// Fractions whose sum depends on the order: all ranks must have the same bits,
// in every repetition, whoever comes first.
TEST_P(CollectiveConformance, AllRanksHoldEqualBytesWhateverTheTiming) {
  for (const int size : GetParam().sizes) {
    std::vector<std::vector<float>> results(static_cast<std::size_t>(size));
    for (int round = 0; round < 5; ++round) {
      OnRanks(size, [&](Collective& group) {
        std::vector<float> values(3000);
        for (std::size_t i = 0; i < values.size(); ++i) {
          values[i] = std::sin(static_cast<float>(i + 1) *
                               static_cast<float>(group.rank() + 1));
        }
        for (int pause = 0; pause < (group.rank() + round) % size; ++pause) {
          std::this_thread::yield();
        }
        const auto done = AllReduce(
            group, {.data = values.data(), .count = values.size()}, Soon());
        ASSERT_TRUE(done) << done.error().ToString();
        auto& result = results[static_cast<std::size_t>(group.rank())];
        ASSERT_TRUE(result.empty() || result == values);
        result = values;
      });
    }
    for (const auto& result : results) {
      EXPECT_EQ(result, results[0]);
    }
  }
}

TEST_P(CollectiveConformance, MemoryIsZeroedAndAligned) {
  OnRanks(2, [&](Collective& group) {
    for (const std::size_t bytes : {1UL, 64UL, 100UL, 1UL << 20}) {
      auto data = group.Allocate(bytes);
      ASSERT_TRUE(data) << data.error().ToString();
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(*data) % 64, 0U);
      const auto* first = static_cast<const char*>(*data);
      EXPECT_TRUE(std::all_of(first, first + bytes,
                              [](char byte) { return byte == 0; }));
    }
    EXPECT_TRUE(Barrier(group, Soon()));
  });
}

TEST_P(CollectiveConformance, NamesTheRankWhoseInputIsNotFinite) {
  for (const int size : GetParam().sizes) {
    OnRanks(size, [&](Collective& group) {
      std::vector<float> values(10000, 1.0F);
      if (group.rank() == size - 1) {
        values[9000] = std::numeric_limits<float>::quiet_NaN();
      }
      auto work =
          group.StartAllReduce({.data = values.data(), .count = values.size()},
                               {.check_finite = true});
      ASSERT_TRUE(work) << work.error().ToString();
      const auto done = (*work)->Wait(Soon(), {});
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().cause(), Cause::kNumericsNan);
      EXPECT_THAT(done.error().message(),
                  testing::HasSubstr("rank " + std::to_string(size - 1)));
    });
  }
}

TEST_P(CollectiveConformance, FiniteSumsPassTheCheck) {
  OnRanks(2, [&](Collective& group) {
    std::vector<float> values(10000, std::numeric_limits<float>::max() / 4);
    auto work =
        group.StartAllReduce({.data = values.data(), .count = values.size()},
                             {.check_finite = true});
    ASSERT_TRUE(work) << work.error().ToString();
    EXPECT_TRUE((*work)->Wait(Soon(), {}));
  });
}

TEST_P(CollectiveConformance, AWaitEndsAtItsDeadlineAndTheGroupIsAbandoned) {
  std::latch over(2);
  OnRanks(2, [&](Collective& group) {
    if (group.rank() == 0) {
      const auto begun = std::chrono::steady_clock::now();
      const auto done =
          Barrier(group, Deadline::After(std::chrono::milliseconds(200)));
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().cause(), Cause::kDeadlineExceeded);
      EXPECT_THAT(done.error().message(), testing::HasSubstr("rank 1"));
      EXPECT_LT(std::chrono::steady_clock::now() - begun,
                std::chrono::seconds(20));
      const auto again = Barrier(group, Soon());
      ASSERT_FALSE(again);
      EXPECT_EQ(again.error().message(), done.error().message());
    }
    over.arrive_and_wait();
  });
}

TEST_P(CollectiveConformance, AStopTokenEndsAWait) {
  std::latch over(2);
  std::stop_source stop;
  std::jthread stopper;
  OnRanks(2, [&](Collective& group) {
    if (group.rank() == 0) {
      stopper = std::jthread([&] { stop.request_stop(); });
      const auto done = Barrier(group, Soon(), stop.get_token());
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().cause(), Cause::kCancelled);
    }
    over.arrive_and_wait();
  });
}

TEST_P(CollectiveConformance, TheBoardEndsAWaitWithItsCause) {
  if (!GetParam().obeys_the_board) {
    GTEST_SKIP() << GetParam().name << " does not look at the progress page";
  }
  std::latch over(2);
  OnRanks(2, [&](Collective& group) {
    if (group.rank() == 0) {
      const std::jthread agent([&] {
        progress_page_.stop = 1 + static_cast<std::uint32_t>(Cause::kPeerDied);
        progress_page_.event += 1;
        sys::FutexWakeAll(progress_page_.event);
      });
      const auto done = Barrier(group, Soon());
      ASSERT_FALSE(done);
      EXPECT_EQ(done.error().cause(), Cause::kPeerDied);
    }
    over.arrive_and_wait();
  });
}

TEST_P(CollectiveConformance, NamesBothCallsWhenRanksDisagree) {
  if (!GetParam().names_mismatches) {
    GTEST_SKIP() << GetParam().name << " does not compare the ranks' calls";
  }
  OnRanks(2, [&](Collective& group) {
    std::vector<float> values(group.rank() == 0 ? 100 : 101);
    const auto done = AllReduce(
        group, {.data = values.data(), .count = values.size()}, Soon());
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().cause(), Cause::kCollectiveShapeMismatch);
    EXPECT_THAT(done.error().message(),
                testing::AllOf(testing::HasSubstr("100 F32"),
                               testing::HasSubstr("rank 1"),
                               testing::HasSubstr("101 F32")));
  });
  OnRanks(2, [&](Collective& group) {
    std::vector<float> values(8);
    const Buffer buffer{.data = values.data(), .count = values.size()};
    const auto done = group.rank() == 0 ? AllReduce(group, buffer, Soon())
                                        : Broadcast(group, buffer, 0, Soon());
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().cause(), Cause::kCollectiveDesync);
    EXPECT_THAT(done.error().message(),
                testing::AllOf(testing::HasSubstr("all-reduce"),
                               testing::HasSubstr("broadcast")));
  });
}

TEST_P(CollectiveConformance, RefusesARootOutsideOfTheGroup) {
  OnRanks(1, [&](Collective& group) {
    float value = 0;
    auto work = group.StartBroadcast({.data = &value, .count = 1}, 1);
    ASSERT_FALSE(work);
    EXPECT_EQ(work.error().cause(), Cause::kUsageInvalid);
  });
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CollectiveConformance);

}  // namespace muster
