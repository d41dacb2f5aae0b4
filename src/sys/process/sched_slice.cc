// SPDX-License-Identifier: Apache-2.0
#include "sys/process/sched_slice.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <optional>

namespace muster::sys {
namespace {

using std::chrono::nanoseconds;

// The least that the kernel grants.
constexpr nanoseconds kShort = std::chrono::microseconds(100);

// As in sched_setattr(2): glibc has it since 2.41, and the kernel's header does
// not go together with glibc's before that.
struct Attributes {
  std::uint32_t size = 48;
  std::uint32_t policy = 0;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime_ns = 0;
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};
static_assert(sizeof(Attributes) == 48);

std::optional<Attributes> Own() {
  Attributes attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0) {
    return std::nullopt;
  }
  return attributes;
}

// Other policies have no slice, and what has none is not given one.
void SetOwn(nanoseconds slice) {
  std::optional<Attributes> attributes = Own();
  if (attributes && attributes->policy == SCHED_OTHER) {
    attributes->runtime_ns = static_cast<std::uint64_t>(slice.count());
    // Refused, the thread runs as it did.
    (void)syscall(SYS_sched_setattr, 0, &*attributes, 0);
  }
}

}  // namespace

ShortSlices::ShortSlices() : before_(OwnSlice()) {
  SetOwn(kShort);
}

ShortSlices::~ShortSlices() {
  SetOwn(before_);
}

nanoseconds OwnSlice() {
  const std::optional<Attributes> attributes = Own();
  return nanoseconds(attributes && attributes->policy == SCHED_OTHER
                         ? attributes->runtime_ns
                         : 0);
}

}  // namespace muster::sys
