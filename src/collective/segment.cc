// SPDX-License-Identifier: Apache-2.0
#include "collective/segment.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <new>
#include <utility>

#include "base/text.h"
#include "sys/file/fs.h"

namespace muster {
namespace {

constexpr std::uint64_t kArenaStride = 1ULL << 40;
constexpr std::size_t kSlotAlignment = 64;
constexpr std::size_t kSmallestStage = 4096;

std::size_t ControlBytes(int size) {
  return sizeof(RankPage) * static_cast<std::size_t>(size);
}

std::uint64_t ArenaOffset(int rank, bool staged) {
  return kArenaStride *
         static_cast<std::uint64_t>(1 + 2 * rank + (staged ? 1 : 0));
}

std::size_t RoundUp(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// What the kernel would refuse with a signal (SIGXFSZ) and not with an error.
Status CheckFileLimit(std::uint64_t end) {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
      limit.rlim_cur >= end) {
    return Ok();
  }
  return Error(
      Cause::kOsLimit,
      "the limit of file sizes (ulimit -f, " + BytesText(limit.rlim_cur) +
          ") also applies to the memory that ranks share, which is one sparse "
          "file of many TiB: start the run with `ulimit -f unlimited`");
}

// Makes the pages of [offset, offset + bytes): a lack of memory is an error
// here and not a SIGBUS at the first touch.
Status MakePages(int fd, std::uint64_t offset, std::size_t bytes) {
  MUSTER_TRY(CheckFileLimit(offset + bytes));
  int error = 0;
  do {
    const int result =
        fallocate(fd, 0, static_cast<off_t>(offset), static_cast<off_t>(bytes));
    error = result == 0 ? 0 : errno;
  } while (error == EINTR);
  if (error == 0) {
    return Ok();
  }
  if (error == ENOSPC || error == ENOMEM) {
    return Error(Cause::kShmTooSmall,
                 "the host does not have " + BytesText(bytes) +
                     " of shared memory left (fallocate failed: " +
                     sys::ErrnoName(error) + ")");
  }
  return sys::FromErrno("fallocate", "the ranks' shared memory", error);
}

Result<void*> MapShared(int fd, std::uint64_t offset, std::size_t bytes) {
  void* address =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
           fd, static_cast<off_t>(offset));
  if (address == MAP_FAILED) {
    return sys::FromErrno("mmap", "the ranks' shared memory", errno);
  }
  // A core dump would otherwise make all the pages of a sparse file.
  madvise(address, bytes, MADV_DONTDUMP);
  return address;
}

void PublishAffinity(RankPage& page) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) {
    return;
  }
  for (std::size_t cpu = 0; cpu < page.cpus.size() * 64; ++cpu) {
    if (CPU_ISSET(cpu, &set)) {
      page.cpus[cpu / 64].fetch_or(std::uint64_t{1} << cpu % 64);
    }
  }
}

}  // namespace

Result<Segment> Segment::Open(const Options& options) {
  Segment segment(options);
  MUSTER_TRY(segment.Map());
  RankPage& own = segment.own();
  if (own.claimed.exchange(1) != 0) {
    return Error(Cause::kDuplicateIdentity, "two processes claim rank " +
                                                std::to_string(options.rank) +
                                                " of the shared-memory group");
  }
  own.group_size.store(static_cast<std::uint32_t>(options.size));
  PublishAffinity(own);
  return segment;
}

Status Segment::Map() {
  const std::size_t control = ControlBytes(options_.size);
  MUSTER_TRY(MakePages(options_.fd, 0, control));
  MUSTER_ASSIGN(control_, MapShared(options_.fd, 0, control));
  for (int rank = 0; rank < options_.size; ++rank) {
    for (const bool staged : {false, true}) {
      MUSTER_ASSIGN(void* base,
                    MapShared(options_.fd, ArenaOffset(rank, staged),
                              options_.arena_bytes));
      arenas_.push_back({.base = static_cast<std::byte*>(base)});
    }
  }
  return Ok();
}

Segment::Segment(Segment&& other) noexcept
    : options_(other.options_),
      control_(std::exchange(other.control_, nullptr)),
      arenas_(std::exchange(other.arenas_, {})),
      free_stages_(std::exchange(other.free_stages_, {})) {}

Segment::~Segment() {
  if (control_ != nullptr) {
    munmap(control_, ControlBytes(options_.size));
  }
  for (const Arena& arena : arenas_) {
    munmap(arena.base, options_.arena_bytes);
  }
}

RankPage& Segment::page(int rank) const {
  // Zeroed memory is a valid page: all its members are trivial or atomic.
  return static_cast<RankPage*>(control_)[rank];
}

Result<std::byte*> Segment::Grow(bool staged, std::size_t bytes) {
  Arena& own = arena(options_.rank, staged);
  const std::size_t rounded = RoundUp(bytes, kSlotAlignment);
  if (rounded < bytes || rounded > options_.arena_bytes - own.used) {
    return Error(
        Cause::kShmTooSmall,
        "rank " + std::to_string(options_.rank) + " needs " + BytesText(bytes) +
            " of shared memory in addition to the " + BytesText(own.used) +
            " it has, but the limit is " + BytesText(options_.arena_bytes));
  }
  const std::size_t start = own.used;
  std::byte* const data = own.base + start;
  if (rounded > 0) {
    MUSTER_TRY(MakePages(options_.fd,
                         ArenaOffset(options_.rank, staged) + start, rounded));
#if defined(MADV_POPULATE_WRITE)
    // Only saves faults later; kernels before 5.14 do not know it.
    const std::size_t page = 4096;
    const std::size_t from = start / page * page;
    madvise(own.base + from, RoundUp(start + rounded, page) - from,
            MADV_POPULATE_WRITE);
#endif
  }
  own.used += rounded;
  return data;
}

Result<void*> Segment::Allocate(std::size_t bytes) {
  MUSTER_ASSIGN(std::byte * data, Grow(false, bytes));
  return static_cast<void*>(data);
}

Result<Segment::Stage> Segment::TakeStage(std::size_t bytes) {
  const std::size_t room = std::bit_ceil(std::max(bytes, kSmallestStage));
  if (const auto found = free_stages_.find(room); found != free_stages_.end()) {
    const Stage stage{.data = found->second, .room = room};
    free_stages_.erase(found);
    return stage;
  }
  MUSTER_ASSIGN(std::byte * data, Grow(true, room));
  return Stage{.data = data, .room = room};
}

void Segment::GiveBack(Stage stage) {
  free_stages_.emplace(stage.room, stage.data);
}

bool Segment::Contains(const void* data, std::size_t bytes) const {
  const Arena& own = arena(options_.rank, false);
  const auto start = reinterpret_cast<std::uintptr_t>(own.base);
  const auto at = reinterpret_cast<std::uintptr_t>(data);
  return at >= start && at - start <= own.used &&
         bytes <= own.used - (at - start);
}

std::uint64_t Segment::OffsetOf(const void* data, bool staged) const {
  return static_cast<std::uint64_t>(static_cast<const std::byte*>(data) -
                                    arena(options_.rank, staged).base);
}

std::byte* Segment::DataOf(int rank, const CallRecord& call) const {
  const std::uint64_t limit = options_.arena_bytes;
  if (call.offset > limit ||
      call.count > (limit - call.offset) / SizeOf(call.dtype)) {
    return nullptr;
  }
  return arena(rank, call.staged).base + call.offset;
}

}  // namespace muster
