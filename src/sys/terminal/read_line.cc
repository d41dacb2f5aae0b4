// SPDX-License-Identifier: Apache-2.0
#include "sys/terminal/read_line.h"

#include <poll.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>

#include "sys/file/fs.h"

namespace muster::sys {

Result<std::string> ReadLine(int fd, std::size_t limit, Deadline deadline) {
  std::string line;
  while (line.size() <= limit) {
    pollfd ready{fd, POLLIN, 0};
    const int count = poll(&ready, 1, deadline.PollTimeout());
    if (count == 0 && deadline.Expired()) {
      return Error(Cause::kDeadlineExceeded,
                   "received no complete line in time");
    }
    if (count <= 0) {
      continue;  // a signal, or a little too early
    }
    char byte = 0;
    const auto got = read(fd, &byte, 1);
    const int why = errno;
    if (got < 0 && why != EINTR && why != EAGAIN) {
      return FromErrno("read", "pipe", why);
    }
    if (got == 0) {
      return Error(Cause::kPeerDied,
                   "the peer closed the connection before a complete line");
    }
    if (got > 0 && byte == '\n') {
      return line;
    }
    if (got > 0) {
      line += byte;
    }
  }
  return Error(Cause::kUsageInvalid,
               "the line is longer than " + std::to_string(limit) + " bytes");
}

std::string KindOfMachine() {
  utsname name{};
  return uname(&name) == 0
             ? std::string(name.sysname) + " " + std::string(name.machine)
             : std::string("unknown");
}

}  // namespace muster::sys
