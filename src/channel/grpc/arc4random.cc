// SPDX-License-Identifier: Apache-2.0
// arc4random for a program that is linked statically against libstdc++: its
// std::random_device asks for glibc's, which is newer (2.36) than the systems
// that the program has to run on. Part of the program only, never of a library.
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

// NOLINTNEXTLINE(readability-redundant-declaration): not in glibc before 2.36.
extern "C" uint32_t arc4random() noexcept;

extern "C" uint32_t arc4random() noexcept {
  uint32_t number = 0;
  // Four bytes are never given in part; a signal may come before the kernel's
  // pool is ready.
  while (getrandom(&number, sizeof number, 0) !=
         static_cast<ssize_t>(sizeof number)) {
    if (errno != EINTR) {
      abort();
    }
  }
  return number;
}
