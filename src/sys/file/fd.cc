// SPDX-License-Identifier: Apache-2.0
#include "sys/file/fd.h"

#include <unistd.h>

namespace muster::sys {

void Fd::Close() {
  if (fd_ >= 0) {
    // Not repeated on EINTR: Linux has closed it even then.
    close(std::exchange(fd_, -1));
  }
}

}  // namespace muster::sys
