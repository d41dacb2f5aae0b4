// SPDX-License-Identifier: Apache-2.0
#include "sys/terminal/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace muster::sys {

void OpenClosedStandardStreams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
      // The lowest number that is free, which is this one. Children inherit it.
      (void)open("/dev/null", O_RDWR);
    }
  }
}

}  // namespace muster::sys
