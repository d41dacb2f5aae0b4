// SPDX-License-Identifier: Apache-2.0
// The memory that the ranks of one host share: what each rank tells the others,
// and two arenas per rank.
//
//   offset 0                control: one RankPage per rank
//   offset (1 + 2 r) TiB    rank r: memory handed out by Allocate
//   offset (2 + 2 r) TiB    rank r: staging, for buffers outside the segment
//
// The segment is a sparse memfd. A rank makes pages in its own arenas only
// (fallocate never shrinks a file, so ranks need no order) and maps those of
// all others at once; addresses stay valid while the group lives.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "muster/dtype.h"
#include "muster/error.h"

namespace muster {

enum class CallKind : std::uint8_t {
  kNone,
  kAllReduce,
  kBroadcast,
  kAllGather,
  kBarrier
};

// What a rank says of one of its calls. Written before `arrived` counts it.
struct CallRecord {
  std::uint64_t sequence = 0;  // from 1
  CallKind kind = CallKind::kNone;
  DType dtype = DType::kFloat32;
  bool check_finite = false;
  bool staged = false;       // the data lie in the staging arena
  std::int32_t root = 0;     // of a broadcast
  std::uint64_t count = 0;   // elements
  std::uint64_t offset = 0;  // of the data within the arena
};

// Calls that may be in flight. A rank writes over its record of call n at call
// n + kCallRing; with half the ring in flight at most, everybody has read it.
inline constexpr std::size_t kCallRing = 1024;
inline constexpr std::size_t kMaxInFlight = kCallRing / 2;

// Written by its rank, read by all.
struct RankPage {
  std::atomic<std::uint32_t> claimed{0};
  std::atomic<std::uint32_t> group_size{0};
  std::array<std::atomic<std::uint64_t>, 16> cpus{};  // affinity
  alignas(64) std::atomic<std::uint64_t> arrived{0};  // calls it has started
  alignas(64) std::atomic<std::uint64_t> done{0};     // … done its part of
  struct alignas(64) Slot {
    CallRecord call;
    // Of an all-reduce: what SumToAll said of this rank's part.
    std::int32_t not_finite = 0;
  };
  std::array<Slot, kCallRing> slots{};
};

// The segment as one rank sees it. One thread.
class Segment {
 public:
  struct Options {
    int fd = -1;  // not owned
    int rank = 0;
    int size = 1;
    std::size_t arena_bytes = 0;
  };
  // Maps all and claims the rank's page. duplicate-identity: another has
  // claimed it. shm-too-small, os-limit, internal-error (mmap, fallocate).
  static Result<Segment> Open(const Options& options);

  Segment(Segment&& other) noexcept;
  Segment& operator=(Segment&&) = delete;
  ~Segment();

  RankPage& page(int rank) const;
  RankPage& own() const { return page(options_.rank); }

  // Memory of this rank, zeroed, 64-byte aligned, never given back.
  Result<void*> Allocate(std::size_t bytes);

  // Staging memory, aligned like Allocate's, to be returned.
  struct Stage {
    std::byte* data = nullptr;
    std::size_t room = 0;
  };
  Result<Stage> TakeStage(std::size_t bytes);
  void GiveBack(Stage stage);

  // Where `data` lies in an arena of this rank.
  bool Contains(const void* data, std::size_t bytes) const;
  std::uint64_t OffsetOf(const void* data, bool staged) const;
  // The data of a rank's call; null when the record's bounds are not possible.
  std::byte* DataOf(int rank, const CallRecord& call) const;

 private:
  struct Arena {
    std::byte* base = nullptr;
    std::size_t used = 0;  // by this rank
  };
  explicit Segment(const Options& options) : options_(options) {}
  Status Map();
  static std::size_t ArenaIndex(int rank, bool staged) {
    return 2 * static_cast<std::size_t>(rank) + (staged ? 1 : 0);
  }
  Arena& arena(int rank, bool staged) {
    return arenas_[ArenaIndex(rank, staged)];
  }
  const Arena& arena(int rank, bool staged) const {
    return arenas_[ArenaIndex(rank, staged)];
  }
  Result<std::byte*> Grow(bool staged, std::size_t bytes);

  Options options_;
  void* control_ = nullptr;
  std::vector<Arena> arenas_;
  std::multimap<std::size_t, std::byte*> free_stages_;  // by room
};

}  // namespace muster
