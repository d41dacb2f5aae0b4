// SPDX-License-Identifier: Apache-2.0
#include "sys/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
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

}  // namespace

Result<std::optional<Fd>> LockFile(const std::string& path) {
  Fd fd(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!fd) {
    const int why = errno;
    return FromErrno("open", path, why);
  }
  while (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    const int why = errno;
    if (why == EWOULDBLOCK) {
      return std::optional<Fd>();
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
  return std::optional<Fd>(std::move(fd));
}

}  // namespace muster::sys
