// SPDX-License-Identifier: Apache-2.0
#include "sys/terminal/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace muster::sys {

void OpenClosedStandardStreams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
      // The lowest number that is free, which is this one. A result that is
      // written to a closed stdout meets an error: a directory takes nothing.
      (void)(fd == STDOUT_FILENO ? open("/", O_RDONLY | O_DIRECTORY)
                                 : open("/dev/null", O_RDWR));
    }
  }
}

}  // namespace muster::sys
