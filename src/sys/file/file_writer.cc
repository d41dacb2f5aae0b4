// SPDX-License-Identifier: Apache-2.0
#include "sys/file/file_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "sys/file/fs.h"

namespace muster::sys {
namespace {

constexpr std::size_t kGather = 256U << 10;
// Below what write(2) takes at once (2^31), above what a call costs.
constexpr std::size_t kWritePiece = 64U << 20;

std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span<const char>(text.data(), text.size()));
}

}  // namespace

FileWriter::FileWriter(Fd fd, std::string path)
    : fd_(std::move(fd)), path_(std::move(path)) {}

Result<FileWriter> FileWriter::Create(const std::string& path) {
  Fd fd(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd) {
    const int why = errno;
    return FromErrno("open", path, why);
  }
  return FileWriter(std::move(fd), path);
}

Status FileWriter::Append(std::span<const std::byte> bytes) {
  if (pending_.size() + bytes.size() > kGather) {
    MUSTER_TRY(WriteOut(BytesOf(pending_)));
    pending_.clear();
  }
  if (bytes.size() > kGather) {
    return WriteOut(bytes);
  }
  pending_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return Ok();
}

Status FileWriter::Append(std::string_view text) {
  return Append(BytesOf(text));
}

Status FileWriter::WriteOut(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written =
        write(fd_.get(), bytes.data(), std::min(bytes.size(), kWritePiece));
    const int why = errno;
    if (written < 0 && why != EINTR) {
      return FromErrno("write", path_, why);
    }
    bytes =
        bytes.subspan(static_cast<std::size_t>(std::max<ssize_t>(written, 0)));
  }
  return Ok();
}

Status FileWriter::Finish() {
  MUSTER_TRY(WriteOut(BytesOf(pending_)));
  pending_.clear();
  MUSTER_TRY(Sync(fd_.get(), path_));
  // A file system may tell a lack of space as late as here.
  if (close(fd_.Release()) != 0) {
    const int why = errno;
    return FromErrno("close", path_, why);
  }
  return Ok();
}

Status Sync(int fd, const std::string& path) {
  if (fsync(fd) != 0) {
    const int why = errno;
    // Some file systems cannot sync a directory; the data is where it can be.
    if (why != EINVAL && why != ENOTSUP) {
      return FromErrno("fsync", path, why);
    }
  }
  return Ok();
}

Status SyncDirectory(const std::string& path) {
  Fd fd(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) {
    const int why = errno;
    return FromErrno("open", path, why);
  }
  return Sync(fd.get(), path);
}

}  // namespace muster::sys
