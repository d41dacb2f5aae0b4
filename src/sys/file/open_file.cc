// SPDX-License-Identifier: Apache-2.0
#include "sys/file/open_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"
#include "sys/file/fs.h"

namespace muster::sys {
namespace {

constexpr mode_t kByUmask = 0666;

const char* KindName(mode_t mode) {
  return S_ISDIR(mode)    ? "a folder"
         : S_ISFIFO(mode) ? "a named pipe"
         : S_ISSOCK(mode) ? "a socket"
         : S_ISCHR(mode)  ? "a device"
                          : "a block device";
}

Result<Fd> Open(const std::string& path, int flags, OpenKind kind) {
  Fd fd(
      open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, kByUmask));
  const int no_file = errno;
  struct stat about {};
  if (!fd || fstat(fd.get(), &about) != 0) {
    // ENXIO: a socket, or a pipe that nobody reads.
    return FromErrno("open", path, fd ? errno : no_file);
  }
  const bool pipe = S_ISFIFO(about.st_mode) && kind == OpenKind::kFileOrPipe;
  if (S_ISDIR(about.st_mode)) {
    return FromErrno("open", path, EISDIR);
  }
  if (!S_ISREG(about.st_mode) && !pipe) {
    return Error(Cause::kFileCorrupt, "`" + Printable(path) + "` is " +
                                          KindName(about.st_mode) +
                                          ", not a regular file");
  }
  return fd;
}

}  // namespace

Result<Fd> OpenToRead(const std::string& path, OpenKind kind) {
  return Open(path, O_RDONLY, kind);
}

Result<Fd> OpenToWrite(const std::string& path, int flags) {
  return Open(path, flags, OpenKind::kFile);
}

Result<std::size_t> FileReader::Read(char* into, std::size_t size) {
  const Deadline deadline = Deadline::After(kPipeSilence);
  while (true) {
    const ssize_t got = read(fd_.get(), into, size);
    const int why = errno;
    if (got > 0) {
      begun_ = true;
      return static_cast<std::size_t>(got);
    }
    struct stat about {};
    const bool pipe = fstat(fd_.get(), &about) == 0 && S_ISFIFO(about.st_mode);
    // Nobody has opened it for writing yet, or nobody writes any more.
    if (got == 0 && (!pipe || begun_)) {
      return std::size_t{0};
    }
    if (got < 0 && why != EINTR && why != EAGAIN) {
      return FromErrno("read", path_, why);
    }
    if (deadline.Expired()) {
      return Error(Cause::kDeadlineExceeded,
                   "nothing has come from the pipe `" + Printable(path_) +
                       "` for " + ToString(kPipeSilence));
    }
    pollfd waits{fd_.get(), POLLIN, 0};
    poll(&waits, 1, deadline.PollTimeout());
    begun_ = begun_ || (waits.revents & POLLHUP) != 0;
  }
}

}  // namespace muster::sys
