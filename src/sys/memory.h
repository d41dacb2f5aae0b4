// SPDX-License-Identifier: Apache-2.0
// Memory that processes share, and the futex on which they wait in it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "muster/deadline.h"
#include "muster/error.h"

namespace muster::sys {

// A shared, writable mapping that ends with its owner. The pointer is valid
// while the Mapping lives; the descriptor may be closed.
class Mapping {
 public:
  Mapping() = default;
  Mapping(Mapping&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  Mapping& operator=(Mapping&& other) noexcept;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping();

  // The first `bytes` of the file behind fd, which must be that long.
  // os-limit, file-permission.
  static Result<Mapping> Map(int fd, std::size_t bytes);

  void* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

// Waits while `word` has the value `expected`, until somebody wakes it or the
// deadline passes. May return early: test the condition again. Works between
// processes (std::atomic::wait does not).
void FutexWait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
               Deadline deadline);
// Wakes every thread of every process that waits on the word.
void FutexWakeAll(const std::atomic<std::uint32_t>& word);

}  // namespace muster::sys
