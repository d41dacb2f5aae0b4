// SPDX-License-Identifier: Apache-2.0
// Opening files that others may have put there: never waits for the other end
// of a pipe, and takes nothing but files.
#pragma once

#include <cstddef>
#include <string>

#include "muster/deadline.h"
#include "muster/error.h"
#include "sys/file/fd.h"

namespace muster::sys {

// How long a pipe may send nothing. Its writer may be a program that a shell
// has only just started.
inline constexpr Duration kPipeSilence = std::chrono::seconds(10);

enum class OpenKind {
  kFile,        // a regular file
  kFileOrPipe,  // what the user has named: a FIFO or `<(command)` as well
};

// For reading, not waiting. file-corrupt: something else is there, a FIFO,
// socket or device; errors of open as Fs.
Result<Fd> OpenToRead(const std::string& path, OpenKind kind = OpenKind::kFile);

// The same for writing, with these flags of open(2) besides.
Result<Fd> OpenToWrite(const std::string& path, int flags);

// Reads what was opened so, at most `size` bytes; 0 at its end, which of a pipe
// that nobody has written to yet is awaited. deadline-exceeded: a pipe was
// silent for kPipeSilence.
class FileReader {
 public:
  FileReader(Fd fd, std::string path)
      : fd_(std::move(fd)), path_(std::move(path)) {}
  Result<std::size_t> Read(char* into, std::size_t size);
  int fd() const { return fd_.get(); }
  void Release() { fd_.Release(); }  // not to be closed

 private:
  Fd fd_;
  std::string path_;
  bool begun_ = false;
};

}  // namespace muster::sys
