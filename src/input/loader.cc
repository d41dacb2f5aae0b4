// SPDX-License-Identifier: Apache-2.0
// Part of muster/dataset.h: a thread makes batches until `ahead` of them are
// ready, sleeps until half of them are taken, and goes on. So it wakes once for
// several batches: a rank often has one core, which the step and this thread
// share.
#include <algorithm>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

#include "base/mutex.h"
#include "base/text.h"
#include "muster/dataset.h"

namespace muster {
namespace {

constexpr std::align_val_t kAlignment{64};

struct AlignedDelete {
  void operator()(float* data) const { ::operator delete(data, kAlignment); }
};

// Waits are ended by a wake; the far deadline is for the interface.
std::chrono::steady_clock::time_point Later() {
  return std::chrono::steady_clock::now() + std::chrono::hours(1);
}

}  // namespace

// The memory of one batch.
struct Batch::Slab {
  std::unique_ptr<float, AlignedDelete> features;
  std::vector<std::int64_t> labels;
};

struct Batch::Pool {
  Mutex mutex;
  std::vector<std::unique_ptr<Slab>> free MUSTER_GUARDED_BY(mutex);
};

Batch::Batch(Batch&& other) noexcept
    : slab_(std::move(other.slab_)),
      pool_(std::move(other.pool_)),
      features_(std::exchange(other.features_, {})),
      labels_(std::exchange(other.labels_, {})),
      global_(other.global_),
      waited_(other.waited_) {}

Batch& Batch::operator=(Batch&& other) noexcept {
  if (this != &other) {
    GiveBack();
    slab_ = std::move(other.slab_);
    pool_ = std::move(other.pool_);
    features_ = std::exchange(other.features_, {});
    labels_ = std::exchange(other.labels_, {});
    global_ = other.global_;
    waited_ = other.waited_;
  }
  return *this;
}

Batch::~Batch() {
  GiveBack();
}

void Batch::GiveBack() {
  if (slab_ != nullptr) {
    MutexLock lock(pool_->mutex);
    pool_->free.push_back(std::move(slab_));
  }
}

struct Loader::Inner {
  Inner(const Dataset& data, const LoaderOptions& asked, Sampler order)
      : dataset(data),
        options(asked),
        sampler(std::move(order)),
        elements(ElementsOf(data)),
        end(data.size() * asked.epochs),
        given(asked.position) {}

  // ---- The thread that makes batches ----
  void Run(const std::stop_token& stop);
  Result<Batch> MakeBatch(std::uint64_t position);
  Result<Batch> TryToMakeBatch(std::uint64_t position);
  Result<std::unique_ptr<Batch::Slab>> TakeSlab();
  bool WaitForRoom(const std::stop_token& stop);

  const Dataset& dataset;
  const LoaderOptions options;
  Sampler sampler;  // of the thread
  const std::size_t elements;
  const std::uint64_t end;  // position after the last epoch
  std::shared_ptr<Batch::Pool> pool = std::make_shared<Batch::Pool>();

  Mutex mutex;
  CondVar changed;
  std::deque<Batch> ready MUSTER_GUARDED_BY(mutex);
  std::optional<Error> error MUSTER_GUARDED_BY(mutex);
  bool over MUSTER_GUARDED_BY(mutex) = false;  // nothing more will come
  bool taker_waits MUSTER_GUARDED_BY(mutex) = false;
  bool maker_waits MUSTER_GUARDED_BY(mutex) = false;

  // Of the thread that calls Next.
  std::uint64_t given;
  Duration waited{};

  std::jthread thread;  // last: ends before what it uses
};

Result<std::unique_ptr<Batch::Slab>> Loader::Inner::TakeSlab() {
  {
    MutexLock lock(pool->mutex);
    if (!pool->free.empty()) {
      auto slab = std::move(pool->free.back());
      pool->free.pop_back();
      return slab;
    }
  }
  const auto size = static_cast<std::uint64_t>(options.who.size);
  const std::size_t most = std::min<std::uint64_t>(
      (options.global_batch - 1) / size + 1, dataset.size());
  const std::size_t bytes = most * elements * sizeof(float);
  auto slab = std::make_unique<Batch::Slab>();
  slab->labels.resize(most);
  slab->features.reset(
      static_cast<float*>(::operator new(bytes, kAlignment, std::nothrow)));
  if (slab->features == nullptr) {
    return Error(Cause::kOomHost, "out of memory for a batch of " +
                                      Count(static_cast<int>(most), "sample") +
                                      " (" + BytesText(bytes) + ")");
  }
  // The pages are made here, not at the first fill of each.
  std::memset(slab->features.get(), 0, bytes);
  return slab;
}

Result<Batch> Loader::Inner::MakeBatch(std::uint64_t position) {
  Batch batch;
  batch.global_ = sampler.At(position);
  const Share share = ShareOf(batch.global_, options.who);
  MUSTER_ASSIGN(batch.slab_, TakeSlab());
  batch.pool_ = pool;
  batch.features_ = {batch.slab_->features.get(), share.count * elements};
  batch.labels_ = {batch.slab_->labels.data(), share.count};
  if (share.count > 0) {
    MUSTER_TRY(dataset.Fill(sampler.Indices(batch.global_.epoch, share),
                            batch.features_, batch.labels_));
  }
  return batch;
}

// A dataset is its user's code, and may throw what we do not.
Result<Batch> Loader::Inner::TryToMakeBatch(std::uint64_t position) {
  try {
    return MakeBatch(position);
  } catch (const std::bad_alloc&) {
    return Error(Cause::kOomHost, "out of memory for a batch");
  } catch (const std::exception& thrown) {
    return Error(Cause::kAppException,
                 "the dataset threw: " + std::string(thrown.what()));
  } catch (...) {
    return Error(Cause::kAppException,
                 "the dataset threw an object that is not a std::exception");
  }
}

// False when the thread is to end.
bool Loader::Inner::WaitForRoom(const std::stop_token& stop) {
  MutexLock lock(mutex);
  if (ready.size() >= options.ahead) {
    maker_waits = true;
    while (maker_waits && !stop.stop_requested()) {
      changed.WaitUntil(mutex, Later());
    }
  }
  return !stop.stop_requested();
}

void Loader::Inner::Run(const std::stop_token& stop) {
  std::uint64_t position = options.position;
  while (position < end && WaitForRoom(stop)) {
    auto batch = TryToMakeBatch(position);
    MutexLock lock(mutex);
    if (batch) {
      position = batch->global().next();
      ready.push_back(std::move(batch).value());
    } else {
      error = std::move(batch).error();
      position = end;
    }
    over = position >= end;
    if (std::exchange(taker_waits, false)) {
      changed.NotifyAll();
    }
  }
}

Result<std::unique_ptr<Loader>> Loader::Make(const Dataset& dataset,
                                             const LoaderOptions& options) {
  if (options.who.size < 1 || options.who.rank < 0 ||
      options.who.rank >= options.who.size) {
    return Error(Cause::kUsageInvalid,
                 "rank " + std::to_string(options.who.rank) + " of " +
                     std::to_string(options.who.size) + " does not exist");
  }
  if (options.ahead < 1) {
    return Error(Cause::kUsageInvalid,
                 "the number of prefetched batches must be at least 1, not 0");
  }
  MUSTER_ASSIGN(Sampler sampler,
                Sampler::Make({.size = dataset.size(),
                               .global_batch = options.global_batch,
                               .seed = options.seed,
                               .shuffle = options.shuffle}));
  auto inner = std::make_unique<Inner>(dataset, options, std::move(sampler));
  Inner& at = *inner;
  {
    MutexLock lock(at.mutex);
    at.over = options.position >= at.end;
  }
  try {
    at.thread =
        std::jthread([&at](const std::stop_token& stop) { at.Run(stop); });
  } catch (const std::system_error& error) {
    return Error(
        Cause::kOsLimit,
        std::string("cannot start a prefetch thread: ") + error.what());
  }
  return std::unique_ptr<Loader>(new Loader(std::move(inner)));
}

Loader::Loader(std::unique_ptr<Inner> inner) : inner_(std::move(inner)) {}

Loader::~Loader() {
  inner_->thread.request_stop();
  MutexLock lock(inner_->mutex);
  inner_->changed.NotifyAll();
}

Result<std::optional<Batch>> Loader::Next(Deadline deadline,
                                          std::stop_token stop) {
  Inner& in = *inner_;
  const auto begun = Deadline::Clock::now();
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
  if (stop.stop_possible()) {
    on_stop.emplace(stop, [&in] {
      MutexLock lock(in.mutex);
      in.changed.NotifyAll();
    });
  }
  MutexLock lock(in.mutex);
  bool waited = false;
  while (in.ready.empty() && !in.over) {
    if (stop.stop_requested()) {
      return Error(Cause::kCancelled, "waiting for a batch was canceled");
    }
    if (deadline.Expired()) {
      return Error(Cause::kDeadlineExceeded,
                   "no batch was ready within " +
                       ToString(Deadline::Clock::now() - begun));
    }
    waited = true;
    in.taker_waits = true;
    in.changed.WaitUntil(in.mutex, deadline.when());
  }
  if (in.ready.empty()) {
    return in.error ? Result<std::optional<Batch>>(*in.error)
                    : std::optional<Batch>();
  }
  Batch batch = std::move(in.ready.front());
  in.ready.pop_front();
  if (in.maker_waits && in.ready.size() <= in.options.ahead / 2) {
    in.maker_waits = false;
    in.changed.NotifyAll();
  }
  in.given = batch.global().next();
  if (waited) {
    batch.waited_ = Deadline::Clock::now() - begun;
    in.waited += batch.waited_;
  }
  return std::optional<Batch>(std::move(batch));
}

std::uint64_t Loader::position() const {
  return inner_->given;
}

std::uint64_t Loader::StepsPerEpoch() const {
  return (inner_->dataset.size() - 1) / inner_->options.global_batch + 1;
}

Duration Loader::input_wait() const {
  return inner_->waited;
}

}  // namespace muster
