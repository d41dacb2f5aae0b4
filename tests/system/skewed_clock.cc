// SPDX-License-Identifier: Apache-2.0
// Loaded into a program (LD_PRELOAD), it makes its wall clock go wrong by
// MUSTER_TEST_SKEW seconds.
#include <cstdlib>
#include <ctime>

#include <sys/syscall.h>
#include <unistd.h>

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name): the C
// library's names are reserved.
extern "C" __attribute__((visibility("default"))) int clock_gettime(
    clockid_t clock_id, timespec* tp) noexcept {
  const auto result =
      static_cast<int>(syscall(SYS_clock_gettime, clock_id, tp));
  if (result == 0 && clock_id == CLOCK_REALTIME) {
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nobody sets variables meanwhile.
    const char* skew = std::getenv("MUSTER_TEST_SKEW");
    tp->tv_sec += skew == nullptr ? 0 : std::strtol(skew, nullptr, 10);
  }
  return result;
}
