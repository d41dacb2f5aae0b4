// SPDX-License-Identifier: Apache-2.0
// Files. Every failure names the path and the cause that errno stands for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "muster/error.h"

namespace muster::sys {

// A file that grows at its end. One thread at a time.
class Appender {
 public:
  virtual ~Appender() = default;
  virtual Status Append(std::string_view bytes) = 0;
  // What was appended, and that the file is there, survives a power cut.
  virtual Status Sync() = 0;
};

// file-missing (ENOENT, ENOTDIR, EISDIR, ENXIO, ENODEV, ELOOP, ENAMETOOLONG:
// nothing of the kind is at that path), file-permission (EACCES, EPERM, EROFS),
// disk-full (ENOSPC, EDQUOT), os-limit (EMFILE, ENFILE), file-corrupt (EIO),
// data-path-unreachable (ESTALE), else internal-error with the errno's name.
// Any thread.
class Fs {
 public:
  virtual ~Fs() = default;
  // The whole file; file-corrupt when it is larger than the limit, or no
  // regular file. Does not wait for the other end of a FIFO.
  virtual Result<std::string> Read(const std::string& path,
                                   std::size_t limit = 1U << 30) const = 0;
  // The same of a path that the user has named, which may also be a pipe
  // (`<(command)`); deadline-exceeded when it is silent for 10 s.
  virtual Result<std::string> ReadNamed(const std::string& path,
                                        std::size_t limit = 1U << 30) const {
    return Read(path, limit);
  }
  // Atomic: a temporary file beside it, fsync, rename, fsync of the directory.
  // On failure the old file is untouched and the temporary one is gone.
  virtual Status Write(const std::string& path, std::string_view bytes) = 0;
  // A file to append to, made when it is not there. Does not outlive the Fs.
  virtual Result<std::unique_ptr<Appender>> OpenAppender(
      const std::string& path) = 0;
  // Those that are missing, for the user alone or as the umask has it.
  enum class Access { kByUmask, kOwner };
  virtual Status MakeDirectories(const std::string& path,
                                 Access access = Access::kByUmask) = 0;
  // Names (not paths) in a directory, sorted.
  virtual Result<std::vector<std::string>> List(
      const std::string& path) const = 0;
  virtual bool Exists(const std::string& path) const = 0;
  // A file or an empty directory.
  virtual Status Remove(const std::string& path) = 0;
  // Whatever is there; nothing there is fine. Symbolic links are not followed.
  virtual Status RemoveRecursively(const std::string& path) = 0;
  // Replaces a file at `to`.
  virtual Status Rename(const std::string& from, const std::string& to) = 0;
  // A symbolic link at `path` that says `target`; replaces a link or a file.
  virtual Status Link(const std::string& target, const std::string& path) = 0;
};

class RealFs : public Fs {
 public:
  Result<std::string> Read(const std::string& path,
                           std::size_t limit = 1U << 30) const override;
  Result<std::string> ReadNamed(const std::string& path,
                                std::size_t limit = 1U << 30) const override;
  Status Write(const std::string& path, std::string_view bytes) override;
  Result<std::unique_ptr<Appender>> OpenAppender(
      const std::string& path) override;
  Status MakeDirectories(const std::string& path,
                         Access access = Access::kByUmask) override;
  Result<std::vector<std::string>> List(const std::string& path) const override;
  bool Exists(const std::string& path) const override;
  Status Remove(const std::string& path) override;
  Status RemoveRecursively(const std::string& path) override;
  Status Rename(const std::string& from, const std::string& to) override;
  Status Link(const std::string& target, const std::string& path) override;
};

// "/a/b" + "c" = "/a/b/c".
std::string JoinPath(std::string_view directory, std::string_view name);

// Whether the name is taken on this machine, also by a link to nothing.
bool IsThere(const std::string& path);

// The bytes of a file on this machine. Errors as Fs.
Result<std::uint64_t> SizeOfFile(const std::string& path);

// How far the reading of a file is.
struct ReadingState {
  std::size_t have = 0;
  std::size_t told = 0;  // bytes that the file has; 0: not known (/proc)
  std::size_t limit = 0;
};
// The bytes to make room for: up to one more than the file has or may have, so
// that the last read meets its end; beyond that as many as there are.
std::size_t RoomToRead(const ReadingState& state);

// The cause that an errno of a file or memory operation stands for, and an
// Error "open of `/x` failed: ENOENT (No such file or directory)".
Cause CauseOfErrno(int error_number);
Error FromErrno(std::string_view call, std::string_view object,
                int error_number);
// "ENOENT".
std::string ErrnoName(int error_number);

}  // namespace muster::sys
