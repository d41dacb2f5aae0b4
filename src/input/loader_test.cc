// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <latch>
#include <set>
#include <stdexcept>
#include <thread>

#include "muster/dataset.h"

namespace muster {
namespace {

// Sample i has the features i, i + 0.5 and the label i mod 10.
class Numbers : public Dataset {
 public:
  explicit Numbers(std::uint64_t size) : size_(size) {}
  std::uint64_t size() const override { return size_; }
  std::span<const std::int64_t> sample_shape() const override { return shape_; }
  int classes() const override { return 10; }
  Status Fill(std::span<const std::uint64_t> indices, std::span<float> features,
              std::span<std::int64_t> labels) const override {
    ++fills;
    if (gate != nullptr) {
      gate->wait();
    }
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (indices[i] == throws_at) {
        throw std::runtime_error("no JPEG");
      }
      if (indices[i] == bad_sample) {
        return Error(Cause::kFileCorrupt, "sample is damaged");
      }
      features[2 * i] = static_cast<float>(indices[i]);
      features[2 * i + 1] = static_cast<float>(indices[i]) + 0.5F;
      labels[i] = static_cast<std::int64_t>(indices[i] % 10);
    }
    return Ok();
  }

  mutable std::atomic<int> fills{0};
  std::latch* gate = nullptr;  // Fill waits for it
  std::uint64_t bad_sample = ~0ULL;
  std::uint64_t throws_at = ~0ULL;

 private:
  std::uint64_t size_;
  std::vector<std::int64_t> shape_{2};
};

Deadline Soon() {
  return Deadline::After(std::chrono::seconds(60));
}

// All that is left in a loader; the samples as indices, by batch.
std::vector<std::vector<int>> Drain(Loader& loader) {
  std::vector<std::vector<int>> batches;
  for (;;) {
    auto next = loader.Next(Soon());
    if (!next || !*next) {
      EXPECT_TRUE(next) << next.error().ToString();
      return batches;
    }
    const Batch& batch = **next;
    batches.emplace_back();
    for (std::size_t i = 0; i < batch.count(); ++i) {
      batches.back().push_back(static_cast<int>(batch.features()[2 * i]));
      EXPECT_EQ(batch.labels()[i], batches.back().back() % 10);
    }
  }
}

TEST(Loader, GivesEveryEpochWithItsPartialBatch) {
  const Numbers data(10);
  auto loader =
      Loader::Make(data, {.global_batch = 4, .epochs = 2, .shuffle = false})
          .value();
  EXPECT_EQ(loader->StepsPerEpoch(), 3U);
  const std::vector<std::vector<int>> epoch{{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9}};
  auto both = epoch;
  both.insert(both.end(), epoch.begin(), epoch.end());
  EXPECT_EQ(Drain(*loader), both);
  EXPECT_EQ(loader->position(), 20U);
  EXPECT_FALSE(loader->Next(Soon()).value());
}

TEST(Loader, TheUnionOverRanksDoesNotDependOnTheirNumber) {
  const Numbers data(101);
  const LoaderOptions options{.global_batch = 8, .epochs = 2, .seed = 5};
  const auto alone = Drain(*Loader::Make(data, options).value());
  for (const int size : {2, 3, 4}) {
    std::vector<std::vector<int>> together(alone.size());
    for (int rank = 0; rank < size; ++rank) {
      LoaderOptions mine = options;
      mine.who = {.rank = rank, .size = size};
      const auto part = Drain(*Loader::Make(data, mine).value());
      ASSERT_EQ(part.size(), alone.size());
      for (std::size_t step = 0; step < part.size(); ++step) {
        together[step].insert(together[step].end(), part[step].begin(),
                              part[step].end());
      }
    }
    EXPECT_EQ(together, alone);
  }
}

TEST(Loader, TellsWhatADatasetThrows) {
  Numbers data(10);
  data.throws_at = 5;
  auto loader =
      Loader::Make(data, {.global_batch = 4, .shuffle = false}).value();
  ASSERT_TRUE(loader->Next(Soon()).value());
  const auto next = loader->Next(Soon());
  ASSERT_FALSE(next);
  EXPECT_EQ(next.error().cause(), Cause::kAppException);
  EXPECT_EQ(next.error().message(), "the dataset threw: no JPEG");
}

TEST(Loader, GoesOnFromAPosition) {
  const Numbers data(10);
  const LoaderOptions options{.global_batch = 4, .epochs = 3, .seed = 2};
  auto whole = Drain(*Loader::Make(data, options).value());
  LoaderOptions resumed = options;
  resumed.position = 14;  // after one epoch and one batch
  auto loader = Loader::Make(data, resumed).value();
  EXPECT_EQ(loader->position(), 14U);
  whole.erase(whole.begin(), whole.begin() + 4);
  EXPECT_EQ(Drain(*loader), whole);
}

TEST(Loader, GivesEmptySharesToRanksWithoutASample) {
  const Numbers data(3);
  auto loader =
      Loader::Make(data, {.global_batch = 128, .who = {.rank = 3, .size = 4}})
          .value();
  const auto batch = loader->Next(Soon()).value();
  ASSERT_TRUE(batch);
  EXPECT_EQ(batch->count(), 0U);
  EXPECT_EQ(batch->global().count, 3U);
}

TEST(Loader, RefusesAnEmptyDatasetAndAStrangeRank) {
  const auto empty = Loader::Make(Numbers(0), {.global_batch = 4});
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().cause(), Cause::kUsageInvalid);
  EXPECT_FALSE(Loader::Make(Numbers(1), {.global_batch = 0}));
  EXPECT_FALSE(Loader::Make(
      Numbers(1), {.global_batch = 1, .who = {.rank = 2, .size = 2}}));
}

TEST(Loader, PassesTheErrorOnAfterTheGoodBatches) {
  Numbers data(10);
  data.bad_sample = 5;
  auto loader =
      Loader::Make(data, {.global_batch = 4, .shuffle = false}).value();
  EXPECT_TRUE(loader->Next(Soon()));
  for (int again = 0; again < 2; ++again) {
    const auto next = loader->Next(Soon());
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().cause(), Cause::kFileCorrupt);
  }
}

TEST(Loader, WaitsNoLongerThanItsDeadlineOrAStop) {
  Numbers data(10);
  std::latch gate(1);
  data.gate = &gate;
  auto loader = Loader::Make(data, {.global_batch = 4}).value();
  const auto late =
      loader->Next(Deadline::After(std::chrono::milliseconds(20)));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().cause(), Cause::kDeadlineExceeded);
  std::stop_source stop;
  const std::jthread stopper([&] { stop.request_stop(); });
  const auto cancelled = loader->Next(Soon(), stop.get_token());
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().cause(), Cause::kCancelled);
  gate.count_down();
  EXPECT_TRUE(loader->Next(Soon()).value());
}

TEST(Loader, MeasuresTheInputWait) {
  Duration waited{};
  // Longer each time: only the scheduler knows whether the wait has begun when
  // the gate opens.
  for (auto delay = std::chrono::milliseconds(5);
       waited == Duration{} && delay < std::chrono::seconds(10); delay *= 10) {
    Numbers data(10);
    std::latch gate(1);
    data.gate = &gate;
    auto loader = Loader::Make(data, {.global_batch = 4}).value();
    const std::jthread opener([&gate, delay] {
      std::this_thread::sleep_for(delay);
      gate.count_down();
    });
    const auto batch = loader->Next(Soon()).value();
    ASSERT_TRUE(batch);
    waited = batch->waited();
    EXPECT_EQ(loader->input_wait(), waited);
  }
  EXPECT_GT(waited, Duration{});
}

// The default stack of a thread is made larger than any address space.
TEST(Loader, NamesTheThreadThatItDoesNotGet) {
  pthread_attr_t usual;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  pthread_attr_t huge = usual;
  ASSERT_EQ(pthread_attr_setstacksize(&huge, std::size_t{1} << 60), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  const Numbers data(10);
  const auto loader = Loader::Make(data, {.global_batch = 4});
  pthread_setattr_default_np(&usual);
  ASSERT_FALSE(loader);
  EXPECT_EQ(loader.error().cause(), Cause::kOsLimit);
}

TEST(Loader, MakesNoMoreThanAskedAhead) {
  const Numbers data(1000);
  auto loader = Loader::Make(data, {.global_batch = 1, .ahead = 4}).value();
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(loader->Next(Soon()).value());
    ASSERT_LE(data.fills.load(), i + 1 + 4 + 1);
  }
}

TEST(Loader, BatchesOutliveTheLoaderAndEachOther) {
  const Numbers data(100);
  std::vector<Batch> kept;
  {
    auto loader =
        Loader::Make(data, {.global_batch = 5, .shuffle = false, .ahead = 2})
            .value();
    while (auto batch = loader->Next(Soon()).value()) {
      kept.push_back(std::move(*batch));
    }
  }
  ASSERT_EQ(kept.size(), 20U);
  std::set<const float*> memory;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(kept[i].features()[0], static_cast<float>(5 * i));
    memory.insert(kept[i].features().data());
  }
  EXPECT_EQ(memory.size(), kept.size());
}

TEST(Loader, ReusesTheMemoryOfBatchesThatWereGivenBack) {
  const Numbers data(1000);
  auto loader = Loader::Make(data, {.global_batch = 1, .ahead = 2}).value();
  std::set<const float*> memory;
  while (auto batch = loader->Next(Soon()).value()) {
    memory.insert(batch->features().data());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(batch->features().data()) % 64,
              0U);
  }
  EXPECT_LE(memory.size(), 5U);
}

}  // namespace
}  // namespace muster
