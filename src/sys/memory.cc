// SPDX-License-Identifier: Apache-2.0
#include "sys/memory.h"

#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

#include "sys/file/fd.h"
#include "sys/file/fs.h"
#include "sys/process/process.h"

namespace muster::sys {
namespace {

// The kernel's futex word is a plain int at the same address.
std::uint32_t* Word(const std::atomic<std::uint32_t>& word) {
  static_assert(sizeof word == sizeof(std::uint32_t));
  return const_cast<std::uint32_t*>(
      reinterpret_cast<const std::uint32_t*>(&word));
}

}  // namespace

Mapping& Mapping::operator=(Mapping&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

Mapping::~Mapping() {
  if (data_ != nullptr) {
    munmap(data_, size_);
  }
}

Result<Mapping> Mapping::Map(int fd, std::size_t bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (data == MAP_FAILED) {
    const int why = errno;
    return FromErrno("mmap", std::to_string(bytes) + " bytes", why);
  }
  Mapping mapping;
  mapping.data_ = data;
  mapping.size_ = bytes;
  return mapping;
}

Result<int> MakeSharedMemory(const std::string& name, std::size_t bytes) {
  Fd fd(static_cast<int>(syscall(SYS_memfd_create, name.c_str(), MFD_CLOEXEC)));
  if (!fd) {
    const int why = errno;
    return FromErrno("memfd_create", name, why);
  }
  if (ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) {
    const int why = errno;
    return FromErrno("ftruncate", name, why);
  }
  return fd.Release();
}

void FutexWait(const std::atomic<std::uint32_t>& word, std::uint32_t expected,
               Deadline deadline) {
  const auto remaining = deadline.Remaining();
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(remaining);
  timespec timeout{};
  timeout.tv_sec = seconds.count();
  timeout.tv_nsec = (remaining - seconds).count();
  syscall(SYS_futex, Word(word), FUTEX_WAIT, expected, &timeout, nullptr, 0);
}

void FutexWakeAll(const std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, Word(word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace muster::sys
