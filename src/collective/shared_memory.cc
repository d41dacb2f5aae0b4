// SPDX-License-Identifier: Apache-2.0
// How a call runs. Every rank writes a record of its call and counts it in
// `arrived`. Once all have arrived, each rank checks that the records agree,
// does its part (all-reduce: sums its slice of all buffers and writes it to
// all; broadcast and all-gather: copies from the others) and counts it in
// `done`. Once all are done, the call is complete. Calls are done in order, so
// two counters per rank suffice for any number of calls in flight.
//
// Bytes, for P ranks and S bytes each: an all-reduce in the segment reads and
// writes P x S / P = S bytes per rank, without a copy; outside of it two copies
// of S are added.
#include "collective/shared_memory.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "collective/calls.h"
#include "collective/futex_event.h"
#include "collective/reduce.h"
#include "collective/segment.h"

namespace muster {
namespace {

// A call in flight, as its own rank knows it.
struct Call {
  CallRecord record;
  Buffer buffer;  // the caller's
  Buffer output;  // of an all-gather
  Segment::Stage stage;
};

class SharedMemory final : public Collective {
 public:
  SharedMemory(const SharedMemoryOptions& options, Segment segment)
      : options_(options),
        segment_(std::move(segment)),
        event_(*options.progress_page),
        parts_(static_cast<std::size_t>(options.size)),
        records_(parts_.size()) {}

  int rank() const override { return options_.rank; }
  int size() const override { return options_.size; }
  std::string_view name() const override { return "shared memory"; }

  Result<void*> Allocate(std::size_t bytes) override {
    return segment_.Allocate(bytes);
  }
  Result<std::unique_ptr<Work>> StartAllReduce(
      Buffer buffer, AllReduceOptions options) override;
  Result<std::unique_ptr<Work>> StartBroadcast(Buffer buffer,
                                               int root) override;
  Result<std::unique_ptr<Work>> StartAllGather(Buffer input,
                                               Buffer output) override;
  Result<std::unique_ptr<Work>> StartBarrier() override;

  // Does what can be done without waiting; true when the call is complete or
  // the group has failed.
  bool Poll(std::uint64_t sequence);
  Status Wait(std::uint64_t sequence, Deadline deadline, std::stop_token stop);

 private:
  // Places the data that other ranks read, and says that this rank has come.
  Result<std::unique_ptr<Work>> Start(Call call, bool shared);
  void Advance();
  Status CheckRecords();
  void DoPart(Call& call);
  Status Finish(Call& call);
  void Announce(std::atomic<std::uint64_t> RankPage::*counter,
                std::uint64_t value);

  std::uint64_t Least(std::atomic<std::uint64_t> RankPage::*counter) const;
  // Whether Advance has something to do.
  bool CanAdvance() const;
  // A word of RankPage::cpus, of all ranks together.
  std::uint64_t CoresOfAll(std::size_t word) const;
  bool EachRankHasACore();
  // Looks for a while; true when there is something to do.
  bool Spin(Deadline deadline);
  Error LateError(std::uint64_t sequence, Duration waited) const;
  Status Fail(Error error) {
    failed_ = std::move(error);
    return *failed_;
  }
  RankPage::Slot& SlotOf(int rank, std::uint64_t sequence) const {
    return segment_.page(rank).slots[sequence % kCallRing];
  }

  SharedMemoryOptions options_;
  Segment segment_;
  FutexEvent event_;
  // Calls started, done by this rank, complete on all; calls_ holds those
  // that are not complete.
  std::uint64_t started_ = 0;
  std::uint64_t done_ = 0;
  std::uint64_t complete_ = 0;
  std::deque<Call> calls_;
  std::vector<std::byte*> parts_;    // scratch: the ranks' data of a call
  std::vector<CallRecord> records_;  // scratch
  std::optional<Error> failed_;
  std::optional<bool> each_has_a_core_;
};

class SharedMemoryWork final : public Work {
 public:
  SharedMemoryWork(SharedMemory& group, std::uint64_t sequence)
      : group_(group), sequence_(sequence) {}
  bool Poll() override { return group_.Poll(sequence_); }
  Status Wait(Deadline deadline, std::stop_token stop) override {
    return group_.Wait(sequence_, deadline, std::move(stop));
  }

 private:
  SharedMemory& group_;
  std::uint64_t sequence_;
};

Result<std::unique_ptr<Work>> SharedMemory::StartAllReduce(
    Buffer buffer, AllReduceOptions options) {
  return Start({.record = {.kind = CallKind::kAllReduce,
                           .dtype = buffer.dtype,
                           .check_finite = options.check_finite,
                           .count = buffer.count},
                .buffer = buffer},
               true);
}

Result<std::unique_ptr<Work>> SharedMemory::StartBroadcast(Buffer buffer,
                                                           int root) {
  if (root < 0 || root >= size()) {
    return Error(Cause::kUsageInvalid,
                 "rank " + std::to_string(root) + " cannot be the root in a " +
                     "group of " + std::to_string(size()));
  }
  return Start({.record = {.kind = CallKind::kBroadcast,
                           .dtype = buffer.dtype,
                           .root = root,
                           .count = buffer.count},
                .buffer = buffer},
               root == rank());
}

Result<std::unique_ptr<Work>> SharedMemory::StartAllGather(Buffer input,
                                                           Buffer output) {
  if (output.dtype != input.dtype ||
      output.count != input.count * static_cast<std::size_t>(size())) {
    return Error(Cause::kCollectiveShapeMismatch,
                 "an all-gather of " + std::to_string(input.count) + " " +
                     std::string(ToString(input.dtype)) + " over " +
                     std::to_string(size()) + " ranks does not fit into " +
                     std::to_string(output.count) + " " +
                     std::string(ToString(output.dtype)));
  }
  return Start({.record = {.kind = CallKind::kAllGather,
                           .dtype = input.dtype,
                           .count = input.count},
                .buffer = input,
                .output = output},
               true);
}

Result<std::unique_ptr<Work>> SharedMemory::StartBarrier() {
  return Start({.record = {.kind = CallKind::kBarrier}}, false);
}

Result<std::unique_ptr<Work>> SharedMemory::Start(Call call, bool shared) {
  if (failed_) {
    return *failed_;
  }
  if (started_ - complete_ == kMaxInFlight) {
    return Error(Cause::kUsageInvalid,
                 std::to_string(kMaxInFlight) +
                     " collectives are in flight; wait for one first");
  }
  const std::size_t bytes = call.buffer.bytes();
  if (shared && bytes > 0) {
    call.record.staged = !segment_.Contains(call.buffer.data, bytes);
    const void* data = call.buffer.data;
    if (call.record.staged) {
      MUSTER_ASSIGN(call.stage, segment_.TakeStage(bytes));
      std::memcpy(call.stage.data, data, bytes);
      data = call.stage.data;
    }
    call.record.offset = segment_.OffsetOf(data, call.record.staged);
  }
  call.record.sequence = ++started_;
  SlotOf(rank(), started_).call = call.record;
  calls_.push_back(call);
  Announce(&RankPage::arrived, started_);
  return std::unique_ptr<Work>(
      std::make_unique<SharedMemoryWork>(*this, started_));
}

// Only who completes the count of all ranks has to wake anybody.
void SharedMemory::Announce(std::atomic<std::uint64_t> RankPage::*counter,
                            std::uint64_t value) {
  (segment_.own().*counter).store(value);
  if (Least(counter) >= value) {
    event_.Ring();
  }
}

std::uint64_t SharedMemory::Least(
    std::atomic<std::uint64_t> RankPage::*counter) const {
  std::uint64_t least = (segment_.page(0).*counter).load();
  for (int other = 1; other < size(); ++other) {
    least = std::min(least, (segment_.page(other).*counter).load());
  }
  return least;
}

bool SharedMemory::CanAdvance() const {
  return (done_ < started_ && Least(&RankPage::arrived) > done_) ||
         (complete_ < done_ && Least(&RankPage::done) > complete_);
}

void SharedMemory::Advance() {
  const std::uint64_t arrived =
      done_ < started_ ? std::min(Least(&RankPage::arrived), started_) : done_;
  while (!failed_ && done_ < arrived) {
    Call& call = calls_[done_ - complete_];
    if (Status agreed = CheckRecords(); !agreed) {
      failed_ = std::move(agreed).error();
      return;
    }
    DoPart(call);
    Announce(&RankPage::done, ++done_);
  }
  const std::uint64_t finished =
      complete_ < done_ ? std::min(Least(&RankPage::done), done_) : complete_;
  while (!failed_ && complete_ < finished) {
    if (Status good = Finish(calls_.front()); !good) {
      failed_ = std::move(good).error();
      return;
    }
    calls_.pop_front();
    ++complete_;
  }
}

// Of the call that is to be done next, on which all ranks have arrived.
Status SharedMemory::CheckRecords() {
  for (int other = 0; other < size(); ++other) {
    const auto their_size = segment_.page(other).group_size.load();
    if (their_size != static_cast<std::uint32_t>(size())) {
      return Error(Cause::kRankWorldMismatch,
                   "rank " + std::to_string(other) + " joined a group of " +
                       std::to_string(their_size) + ", but rank " +
                       std::to_string(rank()) + " a group of " +
                       std::to_string(size()));
    }
    const auto at = static_cast<std::size_t>(other);
    records_[at] = SlotOf(other, done_ + 1).call;
  }
  if (auto mismatch = FindMismatch(records_)) {
    return *std::move(mismatch);
  }
  for (int other = 0; other < size(); ++other) {
    const auto at = static_cast<std::size_t>(other);
    parts_[at] = segment_.DataOf(other, records_[at]);
    if (parts_[at] == nullptr) {
      return Error(Cause::kCollectiveDesync,
                   "rank " + std::to_string(other) +
                       " passed an address outside its memory for its " +
                       Describe(records_[at]));
    }
  }
  return Ok();
}

void SharedMemory::DoPart(Call& call) {
  const std::size_t bytes = call.buffer.bytes();
  switch (call.record.kind) {
    case CallKind::kAllReduce: {
      Stretch part = PartOf(call.record.dtype, call.record.count,
                            static_cast<std::size_t>(rank()), parts_.size());
      part.check_finite = call.record.check_finite;
      SlotOf(rank(), call.record.sequence).not_finite = SumToAll(parts_, part);
      return;
    }
    case CallKind::kBroadcast:
      if (call.record.root != rank() && bytes > 0) {
        std::memcpy(call.buffer.data,
                    parts_[static_cast<std::size_t>(call.record.root)], bytes);
      }
      return;
    case CallKind::kAllGather:
      for (std::size_t other = 0; other < parts_.size() && bytes > 0; ++other) {
        std::memmove(static_cast<std::byte*>(call.output.data) + other * bytes,
                     parts_[other], bytes);
      }
      return;
    case CallKind::kBarrier:
    case CallKind::kNone:
      return;
  }
}

// All ranks have done their parts of the oldest call.
Status SharedMemory::Finish(Call& call) {
  if (call.stage.data != nullptr) {
    if (call.record.kind == CallKind::kAllReduce) {
      std::memcpy(call.buffer.data, call.stage.data, call.buffer.bytes());
    }
    segment_.GiveBack(call.stage);
  }
  if (call.record.kind != CallKind::kAllReduce || !call.record.check_finite) {
    return Ok();
  }
  std::int32_t culprit = size() + 1;
  for (int other = 0; other < size(); ++other) {
    const auto found = SlotOf(other, call.record.sequence).not_finite;
    if (found >= 0) {
      culprit = std::min(culprit, found);
    }
  }
  if (culprit > size()) {
    return Ok();
  }
  return NotFiniteError(call.record, culprit, size());
}

bool SharedMemory::Poll(std::uint64_t sequence) {
  Advance();
  return failed_ || complete_ >= sequence;
}

Status SharedMemory::Wait(std::uint64_t sequence, Deadline deadline,
                          std::stop_token stop) {
  const auto begun = Deadline::Clock::now();
  const wire::ProgressPage& progress_page = *options_.progress_page;
  std::optional<std::stop_callback<std::function<void()>>> on_stop;
  for (;;) {
    Advance();
    if (complete_ >= sequence) {
      return Ok();
    }
    if (failed_) {
      return *failed_;
    }
    if (auto reason = wire::StopReason(progress_page)) {
      return Fail(*std::move(reason));
    }
    if (stop.stop_requested()) {
      return Fail(Error(Cause::kCancelled, "the wait for " +
                                               Describe(calls_.front().record) +
                                               " was canceled by the program"));
    }
    if (deadline.Expired()) {
      return Fail(LateError(sequence, Deadline::Clock::now() - begun));
    }
    if (Spin(deadline)) {
      continue;
    }
    if (stop.stop_possible() && !on_stop) {
      on_stop.emplace(stop, [this] { event_.Wake(); });
    }
    event_.Sleep(deadline, [&] {
      return CanAdvance() || progress_page.stop.load() != 0 ||
             stop.stop_requested();
    });
  }
}

bool SharedMemory::Spin(Deadline deadline) {
  if (options_.spin <= Duration::zero() || !EachRankHasACore()) {
    return false;
  }
  const Deadline until = deadline.Sooner(Deadline::After(options_.spin));
  do {
    for (int look = 0; look < 16; ++look) {
      if (CanAdvance() || options_.progress_page->stop.load() != 0) {
        return true;
      }
#if defined(__x86_64__)
      __builtin_ia32_pause();
#endif
    }
    // Another thread of this rank (the one that makes batches) may want the
    // core; when none does this comes back at once.
    sched_yield();
  } while (!until.Expired());
  return false;
}

std::uint64_t SharedMemory::CoresOfAll(std::size_t word) const {
  std::uint64_t all = 0;
  for (int other = 0; other < size(); ++other) {
    all |= segment_.page(other).cpus[word].load();
  }
  return all;
}

// Known once all ranks have joined; until then nobody spins.
bool SharedMemory::EachRankHasACore() {
  if (!each_has_a_core_) {
    if (Least(&RankPage::arrived) == 0) {
      return false;
    }
    int cpus = 0;
    for (std::size_t word = 0; word < segment_.own().cpus.size(); ++word) {
      cpus += std::popcount(CoresOfAll(word));
    }
    each_has_a_core_ = cpus >= size();
  }
  return *each_has_a_core_;
}

Error SharedMemory::LateError(std::uint64_t sequence, Duration waited) const {
  const auto behind = [&](std::atomic<std::uint64_t> RankPage::*counter) {
    std::vector<int> ranks;
    for (int other = 0; other < size(); ++other) {
      if ((segment_.page(other).*counter).load() < sequence) {
        ranks.push_back(other);
      }
    }
    return ranks;
  };
  Lateness lateness{.late = behind(&RankPage::arrived), .waited = waited};
  if (lateness.late.empty()) {
    lateness.stuck = true;
    lateness.late = behind(&RankPage::done);
  }
  return DeadlineError(SlotOf(rank(), sequence).call, lateness);
}

}  // namespace

Result<std::unique_ptr<Collective>> MakeSharedMemory(
    const SharedMemoryOptions& options) {
  if (options.size < 1 || options.rank < 0 || options.rank >= options.size ||
      static_cast<std::size_t>(options.size) > wire::kProgressSlots ||
      options.progress_page == nullptr || options.segment < 0) {
    return Error(Cause::kUsageInvalid,
                 "rank " + std::to_string(options.rank) + " of " +
                     std::to_string(options.size) +
                     " cannot join a shared-memory group (segment " +
                     std::to_string(options.segment) + ")");
  }
  auto segment = Segment::Open({.fd = options.segment,
                                .rank = options.rank,
                                .size = options.size,
                                .arena_bytes = options.arena_bytes});
  if (!segment) {
    return std::move(segment).error().While("joining the ranks of this host");
  }
  return std::unique_ptr<Collective>(
      std::make_unique<SharedMemory>(options, std::move(segment).value()));
}

}  // namespace muster
