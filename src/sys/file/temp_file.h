// SPDX-License-Identifier: Apache-2.0
// A file that does not outlive who made it, however that ends.
#pragma once

#include <string>
#include <utility>

#include "muster/error.h"
#include "sys/file/fd.h"

namespace muster::sys {

// A process of its own, which no signal of the terminal reaches, waits until
// this goes, or the process of this (Ctrl-C, kill -9), and removes the file.
// Made in a process that has one thread.
class RemovedAtEnd {
 public:
  // The file need not be there yet. os-limit: no process can be made.
  static Result<RemovedAtEnd> Make(const std::string& path);
  RemovedAtEnd(RemovedAtEnd&& other) noexcept
      : pid_(std::exchange(other.pid_, 0)), alive_(std::move(other.alive_)) {}
  RemovedAtEnd& operator=(RemovedAtEnd&&) = delete;
  RemovedAtEnd(const RemovedAtEnd&) = delete;
  RemovedAtEnd& operator=(const RemovedAtEnd&) = delete;
  // The file is gone then, but on a disk that does not answer within a second.
  ~RemovedAtEnd();

 private:
  RemovedAtEnd(int pid, Fd alive) : pid_(pid), alive_(std::move(alive)) {}

  int pid_ = 0;
  Fd alive_;
};

}  // namespace muster::sys
