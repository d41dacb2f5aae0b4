// SPDX-License-Identifier: Apache-2.0
// A wall clock that is LAB_CLOCK_AHEAD seconds ahead, for one process of the
// lab: cc -shared -fPIC clock.c -o clock.so; LD_PRELOAD=clock.so. With
// LAB_CLOCK_FROM it steps when the steady clock shows that second.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int Stepped(void) {
  const char* from = getenv("LAB_CLOCK_FROM");
  struct timespec now = {0, 0};
  return from == NULL ||
         (syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now) == 0 &&
          now.tv_sec >= atol(from));
}

int clock_gettime(clockid_t id, struct timespec* when) {
  const int failed = (int)syscall(SYS_clock_gettime, id, when);
  const char* ahead = getenv("LAB_CLOCK_AHEAD");
  if (failed == 0 && id == CLOCK_REALTIME && ahead != NULL && Stepped()) {
    when->tv_sec += atol(ahead);
  }
  return failed;
}
