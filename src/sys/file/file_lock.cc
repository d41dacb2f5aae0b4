// SPDX-License-Identifier: Apache-2.0
#include "sys/file/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <iterator>
#include <string>
#include <thread>
#include <utility>

#include "base/log.h"
#include "sys/file/fs.h"
#include "sys/file/open_file.h"

namespace muster::sys {
namespace {

// How often a file is looked at whose holder may be about to sign it.
constexpr int kLooks = 10;

// Network file systems without a lock service, or mounted without it; EBADF:
// NFS locks no file that may only be read.
bool HasNoLocks(int error_number) {
  return error_number == ENOLCK || error_number == ENOSYS ||
         error_number == EOPNOTSUPP || error_number == EINVAL ||
         error_number == EBADF;
}

// Of this machine, since it was started; empty where the kernel does not tell.
std::string BootId() {
  return RealFs().Read("/proc/sys/kernel/random/boot_id").value_or("");
}

Status Sign(int fd, const std::string& path, const std::string& id) {
  if (pwrite(fd, id.data(), id.size(), 0) != std::ssize(id) ||
      ftruncate(fd, std::ssize(id)) != 0) {
    const int why = errno;
    return FromErrno("write", path, why);
  }
  return Ok();
}

Result<bool> IsSigned(const std::string& path, const std::string& id) {
  for (int look = 0; look < kLooks; ++look) {
    MUSTER_ASSIGN(const std::string holder, RealFs().Read(path));
    if (holder == id) {
      return true;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

Result<FileLock> LockFile(const std::string& path) {
  const std::string id = BootId();
  auto opened = OpenToWrite(path, O_RDWR | O_CREAT);
  // Another user's, in a folder that several may write to.
  const bool may_sign =
      opened || opened.error().cause() != Cause::kFilePermission;
  if (!may_sign) {
    opened = OpenToRead(path);
  }
  MUSTER_ASSIGN(Fd fd, std::move(opened));
  while (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    const int why = errno;
    if (why == EWOULDBLOCK) {
      MUSTER_ASSIGN(const bool held_here, IsSigned(path, id));
      return FileLock{.held_here = held_here};
    }
    if (HasNoLocks(why)) {
      MUSTER_LOG(
          kWarn,
          "the file system does not support locks: continuing without a lock",
          {{"path", path}, {"error", ErrnoName(why)}});
      break;
    }
    if (why != EINTR) {
      return FromErrno("flock", path, why);
    }
  }
  if (may_sign) {
    MUSTER_TRY(Sign(fd.get(), path, id));
  }
  return FileLock{.file = std::move(fd)};
}

void HoldGrowing(int fd) {
  // Without the lock the file grows all the same, and nobody can tell. Unlike
  // that of flock, this one can be asked about without being taken.
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  fcntl(fd, F_OFD_SETLK, &whole);
}

std::optional<bool> IsGrowing(const std::string& path) {
  const auto fd = OpenToRead(path);
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (!fd || fcntl(fd->get(), F_OFD_GETLK, &whole) != 0) {
    return std::nullopt;
  }
  return whole.l_type != F_UNLCK;
}

}  // namespace muster::sys
