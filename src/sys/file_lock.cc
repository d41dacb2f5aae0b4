// SPDX-License-Identifier: Apache-2.0
#include "sys/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "sys/fs.h"

namespace muster::sys {
namespace {

// Network file systems without a lock service, or mounted without it.
bool HasNoLocks(int error_number) {
  return error_number == ENOLCK || error_number == ENOSYS ||
         error_number == EOPNOTSUPP || error_number == EINVAL;
}

// Of this machine, since it was started; empty where the kernel does not tell.
std::string BootId() {
  return RealFs().Read("/proc/sys/kernel/random/boot_id").value_or("");
}

Status Sign(int fd, const std::string& path) {
  const std::string id = BootId();
  if (ftruncate(fd, 0) != 0 ||
      pwrite(fd, id.data(), id.size(), 0) != std::ssize(id)) {
    const int why = errno;
    return FromErrno("write", path, why);
  }
  return Ok();
}

}  // namespace

Result<FileLock> LockFile(const std::string& path) {
  Fd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd) {
    const int why = errno;
    return FromErrno("open", path, why);
  }
  while (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    const int why = errno;
    if (why == EWOULDBLOCK) {
      MUSTER_ASSIGN(const std::string holder, RealFs().Read(path));
      return FileLock{.held_here = holder == BootId()};
    }
    if (HasNoLocks(why)) {
      MUSTER_LOG(kWarn, "the file system knows no locks: nothing is locked",
                 {{"path", path}, {"error", ErrnoName(why)}});
      break;
    }
    if (why != EINTR) {
      return FromErrno("flock", path, why);
    }
  }
  MUSTER_TRY(Sign(fd.get(), path));
  return FileLock{.file = std::move(fd)};
}

}  // namespace muster::sys
